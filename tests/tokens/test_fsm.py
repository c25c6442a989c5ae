"""A machine wired by hand over tokens: the lesson's object, equal to the pattern it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import SettingError
from guidedviz.machines.pushdown.pda import grammar
from guidedviz.machines.regular.compare import shortest_difference
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.by_hand import GuidedFSM, char_classes
from guidedviz.tokens.vocabulary import Vocabulary

BARD = Vocabulary([c.encode() for c in "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"])
CLASS = char_classes(BARD)
ONE = {character: frozenset(BARD.ids(character.encode())) for character in ": \nabA"}
SPEAKER = [
    (0, CLASS["UPPER"], 1), (1, CLASS["UPPER"], 1), (1, ONE[":"], 2), (2, ONE[" "], 3),
    (3, CLASS["LOWER"], 4), (4, CLASS["LOWER"], 4), (4, ONE["\n"], 5),
]  # fmt: skip


@pytest.fixture
def fsm():
    machine = GuidedFSM(BARD)
    for source, ids, target in SPEAKER:
        machine.add_transition(source, ids, target)
    return machine


def test_it_equals_the_regex(fsm):
    assert fsm.machine() == regex("[A-Z]+: [a-z]+\n")


def test_one_token_leads_to_one_state_only(fsm):
    with pytest.raises(SettingError, match="saw 'A' leads to 1 already"):
        fsm.add_transition(0, CLASS["LETTER"], 2)
    assert repr(fsm) == "GuidedFSM(6 states, 7 transitions)"
    fsm.add_transition(0, ONE["A"], 1)
    assert fsm.transitions[0].keys() == CLASS["UPPER"]


def test_named_states_and_chosen_ends():
    fsm = GuidedFSM(BARD, start="word", accepting={"word", "more"})
    fsm.add_transition("word", CLASS["LOWER"], "more")
    fsm.add_transition("more", CLASS["LOWER"], "more")
    assert fsm.machine() == regex("[a-z]*")
    one = GuidedFSM(BARD, accepting="end")
    [b] = ONE["b"]
    one.add_transition(0, [*ONE["a"], np.int64(b), *ONE[":"]], "end")
    assert one.machine() == regex("[ab:]")


@pytest.mark.parametrize(
    ("ids", "said"),
    [({99}, "0 to 64"), (None, "expected a set of ids"), 
     ([], "at least one"), ([b"a"], "an id")],
)  # fmt: skip
def test_what_is_no_token_is_told_and_adds_nothing(fsm, ids, said):
    with pytest.raises(SettingError, match=said):
        fsm.add_transition(5, ids, 6)
    assert fsm.transitions[5] == {}
    assert 6 not in fsm.transitions


def test_ids_that_are_no_text_are_refused():
    fsm = GuidedFSM(Vocabulary([b"a", b"</s>", b""], eos={1}))
    for token in (1, 2):
        with pytest.raises(SettingError, match="an id that is text"):
            fsm.add_transition(0, {token}, 1)
    with pytest.raises(SettingError, match="expected a Vocabulary"):
        GuidedFSM([b"a"])


PIECES = ["a", "ab", "b", "é"]
place = st.integers(0, 3)
token = st.integers(0, 3)


@given(st.lists(st.tuples(place, token, place), max_size=9))
def test_any_wiring_of_tokens_becomes_the_machine_of_exactly_the_texts_it_writes(wiring):
    fsm = GuidedFSM(Vocabulary([piece.encode() for piece in PIECES]), accepting={0, 2})
    rules = ["root ::= s0", 's0 ::= ""', "s1 ::= s1", 's2 ::= ""', "s3 ::= s3"]
    for source, token, target in wiring:
        if fsm.transitions.get(source, {}).get(token, target) == target:
            fsm.add_transition(source, {token}, target)
            rules[source + 1] += f' | "{PIECES[token]}" s{target}'
    assert shortest_difference(fsm.machine(), grammar("\n".join(rules))) is None
