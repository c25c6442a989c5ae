"""A machine wired by hand over tokens: the lesson's object, equal to the pattern it stands for."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guidedviz.errors import IllegalToken, PatternError, SettingError
from guidedviz.machines.regular.pattern import pattern
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.tokens.vocabulary import Vocabulary
from tests.machines.oracle import count_texts
from tests.strategies import vocabularies

BARD = Vocabulary([c.encode() for c in "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"])
SPEAKER = [(0, "UPPER", 1), (1, "UPPER", 1), (1, ":", 2), (2, " ", 3), (3, "LOWER", 4), (4, "LOWER", 4), (4, "\n", 5)]


@pytest.fixture
def fsm():
    machine = GuidedFSM(BARD)
    for source, what, target in SPEAKER:
        machine.add_transition(source, what, target)
    return machine


def write(fsm, text):
    for character in text:
        fsm.advance(BARD.ids(character.encode())[0])


def test_the_lesson_step_by_step(fsm):
    assert repr(fsm) == "GuidedFSM(6 states, 7 transitions, in state 0)"
    assert {BARD.display(token) for token in fsm.allowed_tokens()} == set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    write(fsm, "ROMEO: ay")
    assert not fsm.is_complete()
    assert len(fsm.allowed_tokens()) == 27
    write(fsm, "\n")
    assert fsm.is_complete()
    assert fsm.allowed_tokens() == set()
    fsm.reset()
    assert fsm.state == 0
    assert not fsm.is_complete()


def test_it_equals_the_pattern_and_the_regex(fsm):
    assert fsm.machine() == regex("[A-Z]+: [a-z]+\n")
    assert fsm.machine() == pattern([("UPPER", "+"), (":", "1"), (" ", "1"), ("LOWER", "+"), ("\n", "1")])


def test_an_illegal_token_changes_nothing_and_is_told(fsm):
    with pytest.raises(IllegalToken, match="'a': saw no transition from state 0, expected A B C D E F G H and 18 more"):
        fsm.advance(BARD.ids(b"a")[0])
    for wrong in (65, -1, "A", None, 1.0):
        with pytest.raises(IllegalToken):
            fsm.advance(wrong)
    assert fsm.state == 0
    assert fsm.advance(np.int64(BARD.ids(b"A")[0])) == 1
    write(fsm, ": b\n")
    with pytest.raises(IllegalToken, match="expected the end"):
        write(fsm, "a")


def test_one_token_leads_to_one_state_only(fsm):
    with pytest.raises(SettingError, match="saw 'A' leads to 1 already"):
        fsm.add_transition(0, "LETTER", 2)
    assert repr(fsm).startswith("GuidedFSM(6 states, 7 transitions")
    fsm.add_transition(0, "A", 1)
    assert not any(BARD.display(token).islower() for token in fsm.allowed_tokens())


def test_named_states_and_chosen_ends():
    fsm = GuidedFSM(BARD, start="word", accepting={"word", "more"})
    fsm.add_transition("word", "LOWER", "more")
    fsm.add_transition("more", "LOWER", "more")
    assert fsm.is_complete()
    assert fsm.machine() == regex("[a-z]*")
    one = GuidedFSM(BARD, accepting="end")
    one.add_transition(0, ["a", "b", {":"}], "end")
    assert one.machine() == regex("[ab:]")


def test_a_dead_end_that_does_not_accept_is_seen_by_the_machine_only():
    fsm = GuidedFSM(BARD, accepting={1})
    fsm.add_transition(0, "a", 1)
    fsm.add_transition(0, "b", 2)
    assert len(fsm.allowed_tokens()) == 2
    assert fsm.machine() == regex("a")
    write(fsm, "b")
    assert (fsm.allowed_tokens(), fsm.is_complete()) == (set(), False)


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [("UPER", PatternError, '"UPPER"'), ("digit", PatternError, '"DIGIT"'), ("", PatternError, "saw ''"),
     ("ab", SettingError, "an intermediate state for a sequence"), ("é", SettingError, "of this vocabulary"),
     (99, SettingError, "0 to 64"), (None, SettingError, "expected an id"),
     ([], SettingError, "at least one"), (["a", 99], SettingError, "0 to 64"), (b"ab", SettingError, "an id"),
     ("\ud800", SettingError, "of this vocabulary")],
)  # fmt: skip
def test_what_is_no_token_is_told_and_adds_nothing(fsm, what, error, said):
    with pytest.raises(error, match=said):
        fsm.add_transition(5, what, 6)
    assert fsm.transitions[5] == {}
    assert 6 not in fsm.transitions


def test_a_class_without_a_token_and_ids_that_are_no_text_are_refused():
    fsm = GuidedFSM(Vocabulary([b"a", b"</s>", b""], eos={1}))
    with pytest.raises(SettingError, match="saw 'DIGIT'"):
        fsm.add_transition(0, "DIGIT", 1)
    for token in (1, 2):
        with pytest.raises(SettingError, match="an id that is text"):
            fsm.add_transition(0, token, 1)
    with pytest.raises(SettingError, match="expected a Vocabulary"):
        GuidedFSM([b"a"])


@given(vocabularies(), st.data())
def test_any_wiring_of_tokens_becomes_the_machine_of_exactly_the_texts_it_writes(vocabulary, data):
    assume(vocabulary.text_ids)
    place = st.integers(0, 3)
    fsm = GuidedFSM(vocabulary, accepting={2, 3})
    for source, token, target in data.draw(
        st.lists(st.tuples(place, st.sampled_from(vocabulary.text_ids), place), max_size=9)
    ):
        if fsm.transitions.get(source, {}).get(token, target) == target:
            fsm.add_transition(source, token, target)
    written = {(0, b"")}
    while longer := write_on(fsm, written) - written:
        written |= longer
    machine, texts = fsm.machine(), {text for state, text in written if state in {2, 3}}
    assert all(map(machine.accepts, texts))
    for length in range(4):
        assert count_texts(machine, length) == sum(len(text) == length for text in texts)


def write_on(fsm, written, longest=3):
    """Every text that is one token longer."""
    ways = [(source, token, to) for source, out in fsm.transitions.items() for token, to in out.items()]
    more = {(to, text + fsm.vocabulary.pieces[t]) for at, text in written for source, t, to in ways if source == at}
    return {(state, text) for state, text in more if len(text) <= longest}
