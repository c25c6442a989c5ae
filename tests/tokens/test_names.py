"""Special tokens under a mask: masks equal reading each name byte by byte, in every engine and along every text."""

import warnings
from itertools import accumulate
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import IllegalToken, PatternError, SpelledTokenWarning, VocabularyError
from guidedviz.machines.machine import read
from guidedviz.machines.names import name_bytes
from guidedviz.machines.special import special
from guidedviz.machines.turn import TURN_STYLES
from tests.common import BYTES, assert_alike, choose_tokens, constant_model, legal_tokens

NAMES = ("<a>", "<b>", "</a>", "<end>")
PIECES = [*b"x y xy < <a> > a".split(), b"\xff", b"\xfe", b""]
PIECES += [*map(str.encode, NAMES), b"<a>"]
END = 13
SPECIAL = {10, 11, 12, 14}
SMALL = gv.Vocabulary(PIECES, eos={END}, special=SPECIAL)
PARTS = ("<a>", "<b>", "</a>", "<end>", "!<a>", '"x"', '"xy"', '"<a>"', "[xy<a>]", "(!</a>)*", "x", "y")

randoms = st.randoms(use_true_random=False)
rows = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3)


def grammar_guide(text):
    return gv.guide(gv.grammar(text), SMALL)


def legal_by_reading(machine, vocabulary, state):
    """The mask from the rule: a text's bytes or a name can be read; EOS, too, where the text may end."""
    mask = np.zeros(len(vocabulary), dtype=bool)
    for token, piece in enumerate(vocabulary.pieces):
        named = token in vocabulary.special | vocabulary.eos
        data = name_bytes(piece) if named else piece
        if piece and (named or not {0xFF, 0xFE} & {*piece}):
            mask[token] = read(machine, data, state) is not None
        mask[token] |= token in vocabulary.eos and machine.is_accepting(state)
    return mask


@st.composite
def grammars(draw):
    """A random grammar whose rules name special tokens; rules x and y may call each other."""
    rules = []
    for name in ("root", "x", "y"):
        options = map(" ".join, draw(st.lists(rows, min_size=1, max_size=3)))
        rules.append(f"{name} ::= " + " | ".join(options))
    return "\n".join(rules)


@given(grammars(), randoms)
def test_masks_are_those_of_reading_in_every_engine_along_a_random_text(text, random):
    try:
        machine = gv.grammar(text)
    except PatternError:
        return  # no text
    split = gv.guide(machine, SMALL, "split")
    tokens = choose_tokens(split, random, 6)
    for state in accumulate(tokens, split.advance, initial=split.initial):
        assert split.mask(state).tolist() == legal_by_reading(machine, SMALL, state).tolist()
    for other in (gv.guide(machine, SMALL, "trie"), gv.guide(gv.earley(text), SMALL)):
        assert_alike(other, split, tokens)


@pytest.mark.parametrize("style", ["hermes", "llama", "mistral", "harmony"])
@pytest.mark.parametrize("choice", ["auto", "required", "pay"])
@pytest.mark.quick(every=3)
def test_engines_have_our_masks_along_a_whole_answer(style, choice):
    """`assets/differences.md` has the walks of all settings; here is one per style and choice."""
    pytest.importorskip("xgrammar")
    pytest.importorskip("llguidance")
    marks = map(str.encode, (*TURN_STYLES[style].special, "</t>"))
    pieces = [*BYTES[:128], b'{"name": "', b'"pay"', b"functions.", *marks]
    end = len(pieces) - 1
    vocabulary = gv.Vocabulary(pieces, eos={end}, special=range(131, end))
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tool = {"name": "pay", "parameters": schema}
    machine = gv.turn([tool, {**tool, "name": "get"}], style, choice)
    tokens = choose_tokens(gv.guide(machine, vocabulary), Random(f"{style} {choice}"), 50, drawn=4)
    found = gv.compare_engines(machine, vocabulary, tokens, ["xgrammar", "llguidance"])
    assert not found.unable
    assert not [one for step in found.steps for one in step.differences]


def test_text_that_spells_a_name_is_never_the_token():
    guide = grammar_guide("root ::= <a> x*\nx ::= [^y]")
    assert legal_tokens(guide, guide.initial) == [10, 14]  # both ids of the name, and no text
    assert guide.forced(guide.initial) == name_bytes("<a>")
    after = guide.advance(guide.initial, 10)
    assert legal_tokens(guide, after) == [0, 3, 4, 5, 6, END]
    with pytest.raises(IllegalToken, match="<a> cannot come"):
        guide.advance(after, 10)


def test_a_reason_says_which_special_token_is_expected():
    guide = grammar_guide('root ::= (<a> | <b>) "x"')
    assert "waits for <a> <b>" in guide.explain(guide.initial, 0).reason
    why = guide.explain(guide.initial, 12)
    assert (why.legal, why.died_at, len(why.states)) == (False, 0, 1)
    assert why.reason.startswith("</a> cannot come")


def test_ids_are_those_of_the_vocabulary():
    machine = gv.grammar("root ::= <[10-12]>", vocabulary=SMALL)
    guide = gv.guide(machine, SMALL)
    assert legal_tokens(guide, guide.initial) == [10, 11, 12, 14]
    with pytest.raises(PatternError, match="write the text of a text token"):
        gv.grammar("root ::= <[0]>", vocabulary=SMALL)


def test_a_name_that_the_vocabulary_lacks_is_refused_with_the_nearest():
    with pytest.raises(VocabularyError, match=r"special token <ent>.*<end>"):
        grammar_guide("root ::= <ent>")


def test_a_run_jumps_over_names_and_keeps_them_in_a_file(tmp_path):
    model = constant_model(PIECES, [0.0] * len(PIECES), eos={END}, special=SPECIAL)
    guide = gv.guide(gv.grammar('root ::= <a> "xyx" </a> ("x" | "y")'), model.vocabulary)
    trace = gv.record(model, "x", guide, jump_forward=True, seed=1)
    assert trace.steps[0].how == "forced"
    assert trace.parts[:4] == ("", "<a>", "xyx", "</a>")
    assert gv.record(model, "x", guide, seed=1).parts == trace.parts
    trace.save(tmp_path / "run.json")
    assert gv.Trace.load(tmp_path / "run.json").parts == trace.parts


def test_a_budget_leaves_room_for_names():
    pieces = [*BYTES[:128], b"<a>", b"<end>"]
    letters = gv.Vocabulary(pieces, eos={129}, special={128})
    guide = gv.guide(gv.grammar('root ::= "x"* <a> "y"'), letters)
    short = gv.within(guide, 9)  # <a> in five bytes, y, EOS, and two more
    state = short.initial
    for _ in range(2):
        state = short.advance(state, ord("x"))
    assert legal_tokens(short, state) == [128]
    after = short.advance(state, 128)
    assert short.is_accepting(short.advance(after, ord("y")))


def test_a_mark_that_looks_like_a_special_token_warns_where_the_vocabulary_has_it():
    inner = gv.tagged(begin="x", end="</a>")
    spelled = gv.tagged(begin="<a>", machine=inner, end=special("<b>"))
    with pytest.warns(SpelledTokenWarning, match=r"'<a>' is a text here.*try: gv.special\('<a>'\)"):
        gv.guide(spelled, SMALL)
    with pytest.warns(SpelledTokenWarning, match="'</a>' is a text here"):
        gv.guide(spelled, SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gv.guide(spelled, gv.Vocabulary([b"a", b"<b>"], special={1}))
        marked = gv.tagged(begin=special("<a>"), end=special("</a>"))
        gv.guide(marked, SMALL)
