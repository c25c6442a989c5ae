"""The film of an NFA that reads a text shows the sets of the subset construction and the verdict of `re`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.regular.dfa import build_dfa_steps
from guidedviz.views.machine.films import nfa_reading_frames
from tests.views.machine.test_films import film
from tests.strategies import regexes


@given(regexes, st.text("ab", max_size=4))
def test_the_last_frame_is_right_about_the_text(pattern, text):
    last = film(lambda regex: nfa_reading_frames(regex, text), pattern)[-1]
    accepted = last.words.endswith("the NFA accepts it.")
    assert accepted == bool(re.fullmatch(pattern, text))
    assert not accepted or last.lit & last.accepting


@pytest.mark.parametrize("text", ["42", "4.2", "4,22"])
def test_the_lit_states_after_each_byte_are_those_of_the_dfa(text):
    nfa, dfa, _ = gv.machines.machine_stages(clumsy := r"\d+|\d+\.\d+|\d+,\d+")
    subsets, state = [step.subset for step in build_dfa_steps(nfa)], 0
    for place, byte in enumerate(text.encode(), 1):
        state = dfa.step(state, byte)
        lit = nfa_reading_frames(clumsy, text[:place])[-1].lit
        assert {one for one in lit if nfa.edges[one] or one == nfa.accepting} == subsets[state]


def test_a_text_that_no_state_reads_ends_the_film():
    frames = nfa_reading_frames("ab", "ax")
    assert frames[-1].words == 'No lit state reads "x": the NFA refuses the text.'
    assert frames[-1].lit == {2}
