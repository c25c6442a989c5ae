"""Special tokens under a mask: masks equal reading each name byte by byte, in every engine and along every text."""

import warnings
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import IllegalToken, PatternError, SpelledTokenWarning, VocabularyError
from guidedviz.machines.grammars.grammar import rules_with
from guidedviz.machines.machine import read
from guidedviz.machines.names import name_bytes
from guidedviz.machines.special import special
from guidedviz.machines.turn import TURN_STYLES
from tests.common import BYTES, constant_model, legal_tokens

NAMES = ("<a>", "<b>", "</a>", "<end>")
PIECES = [*b"x y xy < <a> > a".split(), b"\xff", b"\xfe", b""]
PIECES += [*map(str.encode, NAMES), b"<a>"]
END = 13
SPECIAL = {10, 11, 12, 14}
SMALL = gv.Vocabulary(PIECES, eos={END}, special=SPECIAL)
EVEN = [0.0] * len(PIECES)
PARTS = ("<a>", "<b>", "</a>", "<end>", "!<a>", '"x"', '"xy"', '"<a>"', "[xy<a>]", "(!</a>)*", "x", "y")

randoms = st.randoms(use_true_random=False)
rows = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3)


def grammar_guide(text):
    return gv.guide(gv.grammar(text), SMALL)


def even_model():
    return constant_model(PIECES, EVEN, eos={END}, special=SPECIAL)


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
    guides = [gv.guide(machine, SMALL, engine) for engine in ("split", "trie")]
    states = [guide.initial for guide in guides]
    for _ in range(6):
        expected = legal_by_reading(machine, SMALL, states[0])
        for guide, state in zip(guides, states, strict=True):
            assert guide.mask(state).tolist() == expected.tolist()
        legal = np.flatnonzero(expected).tolist()
        if not legal:
            break
        token = random.choice(legal)
        for number, guide in enumerate(guides):
            states[number] = guide.advance(states[number], token)
        if token == END:
            break


@given(grammars(), randoms)
@pytest.mark.slow
def test_the_real_engines_differ_from_reading_only_in_known_ways(text, random):
    for engine in ("xgrammar", "llguidance", "outlines_core"):
        pytest.importorskip(engine)
    try:
        guide = grammar_guide(text)
    except PatternError:
        return  # no text
    rules = guide.machine.grammar.rules
    if len(rules_with(rules, lambda chars: True)) < len(rules):
        return  # the engines enter a rule that can never finish
    tokens = []
    state = guide.initial
    while len(tokens) < 6:
        legal = [token for token in legal_tokens(guide, state) if token != END]
        if not legal:
            break
        tokens.append(random.choice(legal))
        state = guide.advance(state, tokens[-1])
    found = gv.compare_engines(text, SMALL, tokens)
    kinds = {one.kind for step in found.steps for one in step.differences}
    assert kinds <= {"forced only", "known fault"}, found
    assert not [step for step in found.steps if step.stopped]


@pytest.mark.parametrize("style", ["hermes", "llama", "mistral", "harmony"])
@pytest.mark.parametrize("choice", ["auto", "required", "pay"])
def test_engines_have_our_masks_along_a_whole_answer(style, choice):
    """`assets/differences.md` has the walks of all settings; here is one per style and choice."""
    pytest.importorskip("xgrammar")
    pytest.importorskip("llguidance")
    marks = [*TURN_STYLES[style].special, "</t>"]
    pieces = [*BYTES[:128], b'{"name": "', b'"pay"', b"functions."]
    pieces += map(str.encode, marks)
    end = len(pieces) - 1
    vocabulary = gv.Vocabulary(pieces, eos={end}, special=range(131, end))
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tool = {"name": "pay", "parameters": schema}
    machine = gv.turn([tool, {**tool, "name": "get"}], style, choice)
    guide = gv.guide(machine, vocabulary)
    random = Random(f"{style} {choice}")
    tokens = []
    state = guide.initial
    while len(tokens) < 50:
        legal = legal_tokens(guide, state)
        long = [token for token in legal if token >= 128]
        take_long = long and random.random() < 0.5
        tokens.append(random.choice(long if take_long else legal))
        if tokens[-1] in vocabulary.eos:
            break
        state = guide.advance(state, tokens[-1])
    found = gv.compare_engines(machine, vocabulary, tokens, ["xgrammar", "llguidance"])
    assert not found.unable
    assert not [one for step in found.steps for one in step.differences]


def test_an_index_has_the_same_masks():
    xs = (special("<a>"), gv.regex("x+"), special("</a>"))
    machine = gv.tagged([xs, ("<", gv.regex("y"), special("<end>"))])
    guide = gv.guide(machine, SMALL, "index")
    for state in range(len(machine)):
        expected = legal_by_reading(machine, SMALL, state)
        assert guide.mask(state).tolist() == expected.tolist()
        for token in legal_tokens(guide, state):
            assert guide.index.next_state(state, token) == guide.advance(state, token)


def test_text_that_spells_a_name_is_never_the_token():
    guide = grammar_guide("root ::= <a> x*\nx ::= [^y]")
    assert legal_tokens(guide, guide.initial) == [10, 14]  # both ids of the name, and no text
    after = guide.advance(guide.initial, 10)
    assert legal_tokens(guide, after) == [0, 3, 4, 5, 6, END]
    with pytest.raises(IllegalToken, match="<a> cannot come"):
        guide.advance(after, 10)


def test_a_machine_over_text_takes_no_special_token():
    guide = gv.guide(gv.regex(r"[\s\S]*"), SMALL)
    assert SPECIAL.isdisjoint(legal_tokens(guide, guide.initial))
    assert guide.explain(guide.initial, 10).reason == "a special token is never text"


def test_an_eos_that_a_machine_names_is_legal_where_it_is_read():
    guide = grammar_guide('root ::= "x" <end>')
    after = guide.advance(guide.initial, 0)
    assert legal_tokens(guide, after) == [END]
    assert guide.forced(after) == name_bytes("<end>")
    assert guide.is_accepting(guide.advance(after, END))


def test_a_reason_says_which_special_token_is_expected():
    guide = grammar_guide('root ::= (<a> | <b>) "x"')
    assert "waits for <a> <b>" in guide.explain(guide.initial, 0).reason
    why = guide.explain(guide.initial, 12)
    assert not why.legal
    assert why.died_at == 0
    assert len(why.states) == 1
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


def test_a_jump_appends_special_ids():
    model = even_model()
    guide = gv.guide(gv.grammar('root ::= <a> "xyx" </a> ("x" | "y")'), model.vocabulary)
    trace = gv.record(model, "x", guide, jump_forward=True, seed=1)
    assert trace.steps[0].how == "forced"
    assert trace.text[:3] == "xyx"
    assert trace.parts[:4] == ("", "<a>", "xyx", "</a>")
    assert gv.record(model, "x", guide, seed=1).parts == trace.parts


def test_a_trace_keeps_its_names_in_a_file(tmp_path):
    model = even_model()
    guide = gv.guide(gv.grammar('root ::= <a> "x" <end>'), model.vocabulary)
    trace = gv.record(model, "x", guide)
    trace.save(tmp_path / "run.json")
    again = gv.Trace.load(tmp_path / "run.json")
    assert again.text == trace.text == "x"
    assert again.parts == trace.parts == ("", "<a>", "x", "<end>", "")


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


def test_earley_reads_the_same_names():
    text = "root ::= <a> x* </a>\nx ::= [xy] | !</a>"
    chart = gv.guide(gv.earley(text), SMALL)
    stack = grammar_guide(text)
    in_chart = chart.initial
    in_stack = stack.initial
    for token in (10, 0, 11, 2, 12):
        assert chart.mask(in_chart).tolist() == stack.mask(in_stack).tolist()
        in_chart = chart.advance(in_chart, token)
        in_stack = stack.advance(in_stack, token)
    assert chart.is_accepting(in_chart)


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
