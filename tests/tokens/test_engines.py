"""The real engines as guides: the same protocol, states that are values, and what they cannot take said by name."""

from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import accumulate
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import GuidedVizError, PatternError, SettingError
from guidedviz.tokens.compare import ask
from guidedviz.tokens.engines import PREPARE, prepared
from tests.common import BYTES, assert_alike, assert_mask_is_told, choose_tokens, legal_tokens, with_end
from tests.strategies import draw_walk

PIECES = list(BYTES)
PIECES += [b"ab", b"aba", b"12", b".5", b"luluk", b"\xed\xa0", b'":', b'", "', b"<s>", b"</s>", b"</t>", b"<p>"]
FIRST = len(PIECES) - 4
SPECIAL = {FIRST, FIRST + 1, FIRST + 3}
V = gv.Vocabulary(PIECES, eos={FIRST + 1}, special=SPECIAL)
P = FIRST + 3
AGAIN = FIRST + 4
END = FIRST + 5  # two ids of <p>, and an EOS id that a machine may name
NAMED = gv.Vocabulary([*PIECES, b"<p>", b"<end>"], {FIRST + 1, END}, {*SPECIAL, AGAIN})
NESTED = 'root ::= "(" root ")" | "x"'


def guide_by(engine, pattern):
    return gv.guide(gv.regex(pattern), V, engine)


@pytest.fixture(params=PREPARE)
def name(request):
    pytest.importorskip(request.param.replace("-", "_"))
    return request.param


@pytest.mark.parametrize("pattern", ["[0-9]{4}-[0-9]{2}", "luluk", "é|è", "a\0b"])
def test_masks_are_ours_on_what_all_read_alike(name, pattern):
    ours = guide_by("trie", pattern)
    theirs = guide_by(name, pattern)
    assert_mask_is_told(theirs, theirs.initial)
    assert_alike(theirs, ours, choose_tokens(ours, Random(0), 8))


def test_a_grammar_in_lark_s_notation_reaches_the_engine_that_reads_it_as_it_is():
    pytest.importorskip("lark")
    text = 'start: "(" start ")" | /[ab]/ <p>'
    asked = ask(text, V)
    assert asked.kind == "lark"
    assert asked.lark(V) == text
    assert "Token(" in asked.gbnf(V)
    found = gv.compare_engines(text, V, "((a", ["xgrammar", "llguidance"])
    assert not found.unable
    assert not any(step.differences for step in found.steps)


@pytest.mark.parametrize("name", ["xgrammar", "llguidance"])
@given(st.data())
def test_old_states_stay_good(name, data):
    pytest.importorskip(name)
    guide = gv.guide(gv.grammar(NESTED), V, name)
    walk = draw_walk(data, guide, steps=6)
    masks = [guide.mask(state).copy() for state, _ in walk]
    for place in data.draw(st.permutations(range(len(walk)))):
        state, tokens = walk[place]
        assert (guide.mask(state) == masks[place]).all()
        again = reduce(guide.advance, tokens, guide.initial)
        assert (again, hash(again)) == (state, hash(state))


def test_the_states_of_a_long_text_stay_good(name):
    guide = guide_by(name, "a+b")
    states = list(accumulate(b"a" * 128 + b"b", guide.advance, initial=guide.initial))
    assert [guide.mask(states[place])[ord("b")] for place in (0, 3, -2, -1)] == [False, True, True, False]
    accepting = [guide.is_accepting(states[place]) for place in (3, -1)]
    assert accepting == [False, True]


def test_two_threads_get_the_masks_that_one_gets(name):
    guides = [guide_by(name, pattern) for pattern in ("[0-9]+", "[a-z]+")]

    def ask_often(guide):
        return [guide.mask(guide.initial).tolist() for _ in range(100)]

    alone = [guide.mask(guide.initial).tolist() for guide in guides]
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(ask_often, guides))
    assert found == [[mask] * 100 for mask in alone]


def test_where_no_token_can_come_the_mask_is_empty_and_no_error():
    pytest.importorskip("llguidance")
    vocabulary = with_end([b"\xc3", b"a"])
    guide = gv.guide(gv.regex("[é-ê]|a"), vocabulary, "llguidance")
    assert not guide.mask(guide.advance(guide.initial, 0)).any()


def test_eos_ends_and_specials_are_no_text(name):
    guide = guide_by(name, ".*")
    mask = guide.mask(guide.initial).tolist()
    assert mask[FIRST : FIRST + 4] == [False, True, True, False]
    assert guide.advance(guide.initial, FIRST + 1) == guide.initial


def test_a_guide_says_where_the_engine_leaves_the_machine():
    pytest.importorskip("outlines_core")
    guide = guide_by("outlines-core", r"[0-9]+(\.[0-9]+)?")
    state = guide.advance(guide.initial, ord("3"))
    why = guide.explain(state, ord("."))
    assert not why.legal
    assert why.reason == "outlines-core forbids it, against the machine: every byte passes: q1 to q2"
    assert guide.explain(state, ord("x")).reason == "x cannot come: expected . 0-9 or the end"
    assert guide.label(state) == "q1"
    assert guide.path(state, ord("4")) == (1, 1)
    pytest.importorskip("xgrammar")
    guide = guide_by("xgrammar", "[^a]b")
    beyond = guide.advance(guide.initial, PIECES.index(b"\xed\xa0"))
    assert guide.label(beyond) == "no state"
    assert guide.stack(beyond) == ()
    assert guide.forced(beyond) == b""


@pytest.mark.parametrize("text", ["root ::= root{0}", "root ::= a{0,3}\na ::= (root)"])
def test_a_grammar_that_crashes_xgrammar_is_refused(text):
    pytest.importorskip("xgrammar")
    with pytest.raises(PatternError, match=r"'xgrammar': saw .*crashes"):
        prepared("xgrammar", V)(ask(text))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("xgrammar", "root ::= .", r"EBNF parser error at line 1, column 10: Rule \".\" is not defined"),
        ("llguidance", r"ab\Z", "invalid regex"),
        ("outlines-core", r"ab\Z", "Failed to build DFA"),
    ],
)
def test_what_an_engine_cannot_read_is_said_in_its_own_words(name, text, said):
    pytest.importorskip(name.replace("-", "_"))
    with pytest.raises(PatternError, match=f"engine '{name}': saw .*{said}"):
        prepared(name, V)(ask(text))


@pytest.mark.parametrize(
    ("name", "machine", "vocabulary", "said"),
    [
        ("llguidance", gv.regex("a"), gv.Vocabulary([b"a"]), "saw a vocabulary without EOS"),
        ("outlines-core", gv.regex("a"), gv.Vocabulary([b"a"]), "saw a vocabulary without EOS"),
        ("outlines-core", gv.grammar(NESTED), V, "saw a grammar with a stack, expected a finite machine"),
        ("outlines-core", gv.grammar("root ::= <p>"), NAMED, "saw a machine that names special tokens, expected a"),
    ],
)
def test_what_an_engine_cannot_take_is_refused(name, machine, vocabulary, said):
    pytest.importorskip(name.replace("-", "_"))
    with pytest.raises(GuidedVizError, match=said):
        gv.guide(machine, vocabulary, name)


@pytest.mark.parametrize("state", [None, -1, []])
def test_what_is_no_state_of_an_engine_is_refused(name, state):
    guide = guide_by(name, "[0-9]+")
    for method in (guide.mask, guide.is_accepting, guide.forced, guide.stack):
        with pytest.raises(SettingError, match=f"expected a state of guide.*{name}.*guide.initial"):
            method(state)
    for method in (guide.advance, guide.explain, guide.path):
        with pytest.raises(SettingError, match="expected a state of guide"):
            method(state, 1)


@pytest.mark.parametrize("name", ["xgrammar", "llguidance"])
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('root ::= <p> "a" | !<s> "b"', [P, ord("a")]),  # the sets of llguidance must not overlap
        ("root ::= (!<s>)* <s> root | [0-9]", [P, ord("<"), ord("s"), FIRST, AGAIN, FIRST, ord("0")]),
        (f'root ::= (<[{FIRST}]> | "<s>") "a"', [ord("<"), ord("s"), ord(">"), ord("a")]),
        ('root ::= (<p> <s>){2,3} "é"', [P, FIRST, AGAIN, FIRST, 0xC3, 0xA9]),
    ],
)
def test_an_engine_gets_special_tokens_in_its_notation(name, text, tokens):
    pytest.importorskip(name)
    machine = gv.grammar(text, vocabulary=NAMED)
    ours = gv.guide(machine, NAMED, "trie")
    theirs = gv.guide(machine, NAMED, name)
    mine = ours.initial
    state = theirs.initial
    for token in tokens:
        differ = (ours.mask(mine) != theirs.mask(state)).nonzero()[0]
        assert set(differ) <= {*NAMED.eos, PIECES.index(b"\xed\xa0")}, "xgrammar takes surrogates, and no EOS for !<s>"
        mine = ours.advance(mine, token)
        state = theirs.advance(state, token)
        assert state.at == mine
    assert theirs.is_accepting(state)


def test_an_eos_that_the_machine_names_moves_it():
    pytest.importorskip("llguidance")
    guide = gv.guide(gv.grammar("root ::= <p>* <end>"), NAMED, "llguidance")
    assert legal_tokens(guide, guide.initial) == [P, AGAIN, END]
    after = guide.advance(guide.initial, END)
    assert guide.machine.is_accepting(after.at)
    assert guide.is_accepting(after)
    ended = gv.guide(gv.grammar('root ::= "a" <end>?'), NAMED, "llguidance")
    text = ended.advance(ended.initial, ord("a"))
    assert ended.advance(text, FIRST + 1) == text  # the end of the text
    assert ended.advance(text, END).at != text.at  # the named token


def test_a_tag_of_special_tokens_is_whole_in_every_notation():
    digit = (gv.special("<p>"), gv.regex("[0-9]"), gv.special("<s>"))
    machine = gv.tagged([digit, ("<", gv.json(), "")])
    asked = ask(machine)
    assert f"Token({P},{AGAIN})" in asked.gbnf(NAMED)
    assert f"<[{P}-{AGAIN}]>" in asked.lark(NAMED)
    assert not {"⟪", "⟫"} & {*asked.gbnf(NAMED)}
