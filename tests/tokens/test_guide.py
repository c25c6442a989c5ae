"""The rules of a mask, held against brute force: byte by byte, token by token, and `re` on whole texts."""

import gc
import re
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import IllegalToken, SettingError
from guidedviz.machines.machine import read
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.vocabulary import Vocabulary
from tests.common import BYTES, bytes_of, legal_tokens, with_end
from tests.machines.oracle import matches, shortest_completion
from tests.strategies import Balanced, draw_walk, regexes, texts, vocabularies

ENGINES = {"index": gv.guide, "trie": partial(gv.guide, engine="trie")}
DECIMAL = r"[0-9]+(\.[0-9]+)?"
NUMBER = gv.regex(DECIMAL)
TOY = Vocabulary([b"3", b".5", b".", b"42", b"4x", b"x", b"", b"<pad>", b"</s>", b"<eot>", b"3"],
                 eos={8, 9}, special={7, 8})  # fmt: skip


def legal_by_hand(v, machine, state):
    """The rules of a mask, one id at a time."""
    legal = []
    for token, piece in enumerate(v.pieces):
        if token in v.eos:
            legal.append(machine.is_accepting(state))
        elif not piece or token in v.special:
            legal.append(False)
        else:
            legal.append(read(machine, piece, state) is not None)
    return legal


def advances(guide, state, token):
    try:
        guide.advance(state, token)
    except IllegalToken:
        return False
    return True


def ways_on(machine, state):
    return [byte for byte in range(256) if machine.step(state, byte) is not None]


@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize(
    ("written", "legal"),
    [("", ["3", "42", "3"]), ("3", ["3", ".5", ".", "42", "</s>", "<eot>", "3"]), ("3.", ["3", "42", "3"]),
     ("3.5", ["3", "42", "</s>", "<eot>", "3"])],
)  # fmt: skip
def test_the_decimal_number_on_a_toy_vocabulary(build, written, legal):
    guide = build(NUMBER, TOY)
    state = read(NUMBER, written.encode())
    assert [TOY.display(token) for token in legal_tokens(guide, state)] == legal


@given(vocabularies(), regexes, st.data())
@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
def test_a_mask_is_brute_force_and_agrees_with_advance_and_explain_on_every_id(build, v, pattern, data):
    machine = gv.regex(pattern)
    guide = build(machine, v)
    for state, _ in draw_walk(data, guide):
        mask = guide.mask(state)
        assert mask.dtype == np.bool_
        assert mask.tolist() == legal_by_hand(v, machine, state)
        for token, legal in enumerate(mask.tolist()):
            assert advances(guide, state, token) == legal
            assert guide.explain(state, token).legal == legal


SCHEMA = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"$ref": "#"}}}
HELD = {
    "a regex": lambda: gv.regex(DECIMAL),
    "a grammar": lambda: gv.grammar('root ::= "(" root ")" | [0-9]+'),
    "a counted repeat": lambda: gv.grammar('root ::= "x"? [0-9]{0,5000}'),
    "a schema": lambda: gv.json_schema(SCHEMA),
    "Earley": lambda: gv.earley('root ::= "(" root ")" | [0-9]+'),
}


def read_some(build, engine):
    """Build a guide, take a few tokens, and forget it."""
    guide = gv.guide(build(), Vocabulary(BYTES[:128]), engine)
    state = guide.initial
    for _ in range(5):
        state = guide.advance(state, legal_tokens(guide, state)[0])


def cycles_after(build, engine):
    """How many objects a collection finds after a guide was forgotten; older objects are not looked through."""
    gc.freeze()
    gc.disable()
    try:
        read_some(build, engine)
        return gc.collect()
    finally:
        gc.enable()


@pytest.mark.parametrize("engine", ["auto", "trie"])
@pytest.mark.parametrize("build", HELD.values(), ids=HELD)
def test_a_guide_that_nobody_holds_is_freed_at_once_with_its_machine_states_and_masks(build, engine):
    read_some(build, engine)  # what is cached stays
    # of three runs the best: other threads of a test process leave cycles, too
    fewest = min(cycles_after(build, engine) for _ in range(3))
    assert fewest == 0


@given(vocabularies(), regexes, st.data())
def test_every_legal_walk_can_be_completed_to_a_text_that_re_accepts(v, pattern, data):
    machine = gv.regex(pattern)
    guide = gv.guide(machine, v)
    if not machine.accepting:
        return
    for state, tokens in draw_walk(data, guide):
        written = bytes_of(v, tokens)
        whole = written + shortest_completion(machine, state)
        assert matches(pattern, whole.decode())
        inside = written.decode("utf-8", "ignore").encode() != written  # the last character is not whole yet
        complete = not inside and matches(pattern, written.decode())
        assert guide.is_accepting(state) == complete


@given(regexes, texts, st.data())
def test_every_way_to_cut_an_accepted_text_is_legal_and_no_cut_of_another_reaches_eos(pattern, text, data):
    data_bytes = text.encode()
    cuts = data.draw(st.lists(st.integers(0, len(data_bytes))))
    ends = sorted({0, *cuts, len(data_bytes)})
    pieces = [data_bytes[a:b] for a, b in pairwise(ends)]
    end = len(pieces)
    vocabulary = with_end(pieces)
    guide = gv.guide(gv.regex(pattern), vocabulary)
    state = guide.initial
    alive = True
    for token in range(end):
        alive = alive and bool(guide.mask(state)[token])
        state = guide.advance(state, token) if alive else state
    ended = alive and bool(guide.mask(state)[end])
    assert ended == matches(pattern, text)


@given(vocabularies(), regexes, st.data())
def test_the_forced_bytes_are_the_beginning_of_every_way_on(v, pattern, data):
    machine = gv.regex(pattern)
    guide = gv.guide(machine, v)
    for state, _ in draw_walk(data, guide, steps=3):
        forced = guide.forced(state)
        for end in range(len(forced)):
            here = read(machine, forced[:end], state)
            assert not guide.is_accepting(here)
            assert ways_on(machine, here) == [forced[end]]
        after = read(machine, forced, state)
        assert guide.is_accepting(after) or len(ways_on(machine, after)) != 1


def test_tokens_may_start_and_end_inside_a_character():
    v = Vocabulary([b"\xc3", b"\xa9", b"\xa8", b"a\xc3", "é".encode()])
    guide = gv.guide(gv.regex("a?é"), v)
    inside = guide.advance(guide.initial, 3)
    assert legal_tokens(guide, guide.initial) == [0, 3, 4]
    assert legal_tokens(guide, inside) == [1]
    assert guide.forced(inside) == b"\xa9"


@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
def test_eos_keeps_the_state_and_an_old_state_stays_good(build):
    guide = build(NUMBER, TOY)
    number = guide.advance(guide.initial, 0)
    before = guide.mask(number).copy()
    assert guide.advance(number, 8) == number
    guide.advance(number, 2)
    assert (guide.mask(number) == before).all()


@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
def test_a_mask_cannot_be_written(build):
    guide = build(NUMBER, TOY)
    with pytest.raises(ValueError, match="read-only"):
        guide.mask(guide.initial)[0] = False


@pytest.mark.parametrize(
    ("token", "died_at", "reason"),
    [(3, None, "every byte passes: q0 to q1"), (4, 1, "after 4, x cannot come: expected . 0-9 or the end"),
     (5, 0, "x cannot come: expected 0-9"), (6, None, "the token has no bytes"),
     (7, None, "a special token is never text"),
     (8, None, "EOS would end the text before it is complete: expected 0-9")],
)  # fmt: skip
def test_an_explanation_names_the_byte_where_a_token_died(token, died_at, reason):
    guide = gv.guide(NUMBER, TOY)
    why = guide.explain(guide.initial, token)
    assert why.token == token
    assert why.piece == TOY.pieces[token]
    assert (why.died_at, why.reason) == (died_at, reason)
    assert why.legal == (token == 3)
    if not why.legal:
        with pytest.raises(IllegalToken, match=re.escape(reason)):
            guide.advance(guide.initial, token)


@given(vocabularies(), regexes, st.data())
def test_a_path_is_the_states_inside_a_token_as_far_as_its_bytes_pass(v, pattern, data):
    machine = gv.regex(pattern)
    guide = gv.guide(machine, v)
    for state, _ in draw_walk(data, guide, steps=3):
        for token, piece in enumerate(v.pieces):
            path = guide.path(state, token)
            expected = [read(machine, piece[:end], state) for end in range(len(path))]
            assert path == tuple(expected)
            if token not in v.text_ids:
                assert path == (state,)
            elif guide.mask(state)[token]:
                assert len(path) == len(piece) + 1
                assert path[-1] == guide.advance(state, token)
            else:
                refused = piece[len(path) - 1]
                assert machine.step(path[-1], refused) is None


@pytest.mark.parametrize("token", [-1, 11, "a", None, 1.0])
def test_a_number_that_is_no_token_is_illegal(token):
    guide = gv.guide(NUMBER, TOY)
    for ask in (guide.advance, guide.explain, guide.path):
        with pytest.raises(IllegalToken, match="no such id"):
            ask(guide.initial, token)


def foreign_states():
    other = gv.grammar('root ::= "(" root ")" | "x"').initial
    return {"minus one": -1, "too large": 4, "a stack": other, "a text": "q0", "none": None, "a list": []}


@pytest.mark.parametrize("ask", ["mask", "is_accepting", "forced", "advance", "explain", "path"])
@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("state", foreign_states().values(), ids=foreign_states())
def test_a_state_of_another_machine_is_refused(state, build, ask):
    guide = build(NUMBER, TOY)
    assert guide.mask(1).any()
    assert guide.mask(0).any()
    token = () if ask in ("mask", "is_accepting", "forced") else (0,)
    with pytest.raises(SettingError, match="expected a state of"):
        getattr(guide, ask)(state, *token)


@pytest.mark.parametrize("engine", [None, 3, [], ["index"], b"index", "x" * 999])
def test_an_engine_is_one_of_the_names(engine):
    with pytest.raises(SettingError, match=r"guide, engine: saw .*expected one of 'auto', 'index'") as raised:
        gv.guide(gv.regex("a"), TOY, engine=engine)
    assert len(str(raised.value)) < 250


def test_what_is_no_machine_or_no_vocabulary_is_refused():
    with pytest.raises(SettingError, match="expected a machine"):
        gv.guide("a", TOY)
    with pytest.raises(SettingError, match="expected a Vocabulary"):
        gv.guide(gv.regex("a"), ["a"])


def test_any_machine_guides_by_the_plain_walk():
    v = with_end([b"(", b")", b"))", b"(()"])
    guide = gv.guide(Balanced(), v)
    assert guide.mask(0).tolist() == [True, False, False, True, True]
    assert guide.mask(1).tolist() == [True, True, False, True, False]
    assert guide.advance(0, 3) == 1
    with pytest.raises(SettingError, match="a finite machine"):
        gv.guide(Balanced(), v, engine="index")


def test_a_state_that_is_no_value_is_refused():
    machine = Balanced()
    machine.initial = []
    with pytest.raises(SettingError, match="saw list, expected a value"):
        gv.guide(machine, TOY)


def test_a_guide_of_ones_own_needs_five_things():
    class Own(Guide):
        vocabulary = Vocabulary([b"a", b"b"])
        initial = 0

        def mask(self, state):
            return np.array([True, False])

        def advance(self, state, token):
            return state

        def is_accepting(self, state):
            return False

    own = Own()
    check_guide(own)
    assert own.forced(0) == b""
    assert own.path(0, 0) == ()
    assert own.stack(0) == ()
    assert own.label(0) == "0"
    assert name_guide(own) == "Own"
    assert own.explain(0, 0).reason == "the guide allows it in 0"
    assert own.explain(0, 1).reason == "the guide forbids it in 0; legal there: a"
    with pytest.raises(SettingError, match=r"guide: saw .*expected a guide; try: gv.guide\(machine, vocabulary\)"):
        check_guide(object())
