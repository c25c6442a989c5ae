"""A machine wired by hand over tokens: the lesson's object, equal to the pattern it stands for."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guidedviz.errors import SettingError
from guidedviz.machines.regular.pattern import pattern
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.by_hand import GuidedFSM, char_classes
from guidedviz.tokens.vocabulary import Vocabulary
from tests.machines.oracle import count_texts
from tests.strategies import vocabularies

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


def test_it_equals_the_pattern_and_the_regex(fsm):
    machine = fsm.machine()
    assert machine == regex("[A-Z]+: [a-z]+\n")
    assert machine == pattern([("UPPER", "+"), (":", "1"), (" ", "1"), ("LOWER", "+"), ("\n", "1")])


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


def test_a_dead_end_does_not_accept():
    fsm = GuidedFSM(BARD, accepting={1})
    fsm.add_transition(0, ONE["a"], 1)
    fsm.add_transition(0, ONE["b"], 2)
    assert fsm.machine() == regex("a")


@pytest.mark.parametrize(
    ("ids", "said"),
    [("LOWER", "saw 'L', expected an id"), ({99}, "0 to 64"), (None, "expected a set of ids"), (3, "a set of ids"),
     ([], "at least one"), ([0, 99], "0 to 64"), ([b"a"], "an id"), ([1.0], "an id")],
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


@given(vocabularies(), st.data())
def test_any_wiring_of_tokens_becomes_the_machine_of_exactly_the_texts_it_writes(vocabulary, data):
    assume(vocabulary.text_ids)
    place = st.integers(0, 3)
    fsm = GuidedFSM(vocabulary, accepting={2, 3})
    token = st.sampled_from(vocabulary.text_ids)
    wiring = data.draw(st.lists(st.tuples(place, token, place), max_size=9))
    for source, token, target in wiring:
        if fsm.transitions.get(source, {}).get(token, target) == target:
            fsm.add_transition(source, {token}, target)
    written = {(0, b"")}
    while longer := write_on(fsm, written) - written:
        written |= longer
    machine = fsm.machine()
    texts = {text for state, text in written if state in {2, 3}}
    assert all(map(machine.accepts, texts))
    for length in range(4):
        of_length = [text for text in texts if len(text) == length]
        assert count_texts(machine, length) == len(of_length)


def write_on(fsm, written, longest=3):
    """Every text that is one token longer."""
    found = set()
    for state, text in written:
        for token, target in fsm.transitions.get(state, {}).items():
            longer = text + fsm.vocabulary.pieces[token]
            if len(longer) <= longest:
                found.add((target, longer))
    return found
