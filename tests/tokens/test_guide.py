"""The rules of a mask, held against brute force: byte by byte, token by token, and `re` on whole texts."""

import gc
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import IllegalToken, SettingError
from guidedviz.machines.machine import forced_bytes, read
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.vocabulary import Vocabulary
from tests.common import BYTES, assert_mask_is_told, legal_tokens, with_end
from tests.strategies import Balanced, draw_walk, regexes, vocabularies

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


@given(vocabularies(), regexes, st.data())
@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
def test_a_mask_is_brute_force_and_agrees_with_advance_and_explain_on_every_id(build, v, pattern, data):
    machine = gv.regex(pattern)
    guide = build(machine, v)
    for state, _ in draw_walk(data, guide):
        mask = guide.mask(state)
        assert mask.dtype == np.bool_
        assert not mask.flags.writeable
        assert mask.tolist() == legal_by_hand(v, machine, state)
        assert_mask_is_told(guide, state)
        assert guide.forced(state) == forced_bytes(machine, state)


SCHEMA = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"$ref": "#"}}}
HELD = {
    "a regex": lambda: gv.regex(DECIMAL),
    "a grammar": lambda: gv.grammar('root ::= "(" root ")" | [0-9]+'),
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


@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
def test_eos_keeps_the_state_and_an_old_state_stays_good(build):
    guide = build(NUMBER, TOY)
    number = guide.advance(guide.initial, 0)
    before = guide.mask(number).tolist()
    assert guide.advance(number, 8) == number
    guide.advance(number, 2)
    assert guide.mask(number).tolist() == before


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
    assert (why.token, why.piece, why.died_at, why.reason) == (token, TOY.pieces[token], died_at, reason)
    if token != 3:
        with pytest.raises(IllegalToken, match=re.escape(reason)):
            guide.advance(guide.initial, token)


@given(vocabularies(), regexes, st.data())
def test_a_path_is_the_states_inside_a_token_as_far_as_its_bytes_pass(v, pattern, data):
    machine = gv.regex(pattern)
    guide = gv.guide(machine, v)
    for state, _ in draw_walk(data, guide, steps=3):
        for token, piece in enumerate(v.pieces):
            bytes_of_text = piece if token in v.text_ids else b""
            expected = [state]
            for byte in bytes_of_text:
                expected.append(machine.step(expected[-1], byte))
            assert guide.path(state, token) == tuple(each for each in expected if each is not None)


@pytest.mark.parametrize("token", [-1, 11, "a"])
def test_a_number_that_is_no_token_is_illegal(token):
    guide = gv.guide(NUMBER, TOY)
    for ask in (guide.advance, guide.explain, guide.path):
        with pytest.raises(IllegalToken, match="no such id"):
            ask(guide.initial, token)


OTHER = gv.grammar('root ::= "(" root ")" | "x"')


@pytest.mark.parametrize("build", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("state", [-1, 4, OTHER.initial, "q0", None, []], ids=repr)
def test_a_state_of_another_machine_is_refused(state, build):
    guide = build(NUMBER, TOY)
    taking_a_token = [partial(ask, token=0) for ask in (guide.advance, guide.explain, guide.path)]
    for ask in (guide.mask, guide.is_accepting, guide.forced, *taking_a_token):
        with pytest.raises(SettingError, match="expected a state of"):
            ask(state)


@pytest.mark.parametrize(
    ("machine", "vocabulary", "engine", "said"),
    [
        (NUMBER, TOY, ["index"], r"guide, engine: saw .*expected one of 'auto', 'index'"),
        (NUMBER, TOY, "x" * 999, r"guide, engine: saw .*expected one of 'auto', 'index'"),
        ("a", TOY, "auto", "expected a machine"),
        (NUMBER, ["a"], "auto", "expected a Vocabulary"),
        (OTHER, TOY, "index", "a finite machine"),
    ],
)
def test_what_is_no_machine_no_vocabulary_or_no_engine_is_refused(machine, vocabulary, engine, said):
    with pytest.raises(SettingError, match=said) as raised:
        gv.guide(machine, vocabulary, engine=engine)
    assert len(str(raised.value)) < 250


def test_any_machine_guides_by_the_plain_walk():
    v = with_end([b"(", b")", b"))", b"(()"])
    guide = gv.guide(Balanced(), v)
    assert guide.mask(0).tolist() == [True, False, False, True, True]
    assert guide.mask(1).tolist() == [True, True, False, True, False]
    assert guide.advance(0, 3) == 1
    guide.machine.initial = []
    with pytest.raises(SettingError, match="saw list, expected a value"):
        gv.guide(guide.machine, v)


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
