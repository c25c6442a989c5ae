"""The steps of a construction are all there is to it: whoever adds them up has the result."""

import re
from itertools import pairwise

import pytest
from hypothesis import assume, event, given

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import build_dfa, build_dfa_steps
from guidedviz.machines.regular.minimal import first_blocks, minimise, minimise_steps, same_ends, trim
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import machine_stages, parse_regex, regex
from guidedviz.machines.steps import drain
from guidedviz.views.layout.sketch import sketch_dfa
from guidedviz.views.machine.films import dfa_frames, merged_states, minimal_frames
from tests.machines.oracle import count_classes
from tests.strategies import regexes


@given(regexes)
def test_the_steps_of_the_dfa_are_its_states_in_order(pattern):
    nfa = build_nfa(parse_regex(pattern))
    steps, dfa = list(build_dfa_steps(nfa)), build_dfa(nfa)
    assert [step.state for step in steps] == list(range(len(dfa)))
    assert tuple(step.edges for step in steps) == dfa.edges
    assert {step.state for step in steps if nfa.accepting in step.subset} == dfa.accepting


@given(regexes)
def test_machines_that_only_count_are_merged_from_their_ends_to_the_same_machine(pattern):
    for text in (pattern, re.sub(r"(?<!\\)[*+]", "{1,2}", pattern)):
        try:
            dfa = machine_stages(text)[1]
        except PatternError:
            continue
        event("only counts" if same_ends(trim(dfa)) else "goes back")
        assert minimise(dfa) == drain(minimise_steps(dfa))


@given(regexes)
def test_every_split_is_true_and_in_the_end_no_two_states_of_a_block_differ(pattern):
    dfa = machine_stages(pattern)[1]
    trimmed = trim(dfa)
    blocks = [frozenset(block) for block in first_blocks(trimmed)]
    for step in minimise_steps(dfa):
        assert step.new == len(blocks)
        for low, high in step.by:
            for byte in (low, high):
                goes = {state for state in blocks[step.block] if trimmed.step(state, byte) in step.into}
                assert goes == step.moved
        blocks[step.block] -= step.moved
        blocks.append(step.moved)
    assert all(blocks)
    assume(trimmed.accepting)
    dead = any(not trimmed.edges[state] and state not in trimmed.accepting for state in range(len(trimmed)))
    assert len(blocks) - dead == count_classes(regex(pattern)) == len(regex(pattern))


def film(frames_of, pattern):
    try:
        return frames_of(pattern)
    except PatternError:  # too large to be watched
        return assume(False)


@given(regexes)
def test_a_film_has_one_set_of_states_its_arrows_only_grow_and_it_ends_with_the_machine(pattern):
    frames, whole = film(dfa_frames, pattern), sketch_dfa(machine_stages(pattern)[1])
    assert {(frame.names, frame.initial, frame.accepting) for frame in frames} == {
        (frames[0].names, whole.initial, whole.accepting)
    }
    drawn = [{(a.source, a.target, pair) for a in frame.arrows for pair in a.ranges} for frame in frames]
    assert all(before <= after for before, after in pairwise(drawn))
    assert frames[-1].arrows == whole.arrows
    for frame, before in zip(frames, [set(), *drawn], strict=False):
        pairs = {(a.source, a.target) for a in frame.arrows}
        assert frame.lit_arrows <= pairs
        assert pairs - {(source, target) for source, target, _ in before} <= frame.lit_arrows
        assert frame.words.endswith(".")


@given(regexes)
def test_the_film_of_a_minimisation_splits_blocks_and_ends_with_the_smallest_machine(pattern):
    _, dfa, minimal = machine_stages(pattern)
    *frames, last = film(minimal_frames, pattern)
    for before, after in pairwise(frames):
        assert len(after.groups) == len(before.groups) + 1
    for frame in frames:
        assert sorted(state for _, states in frame.groups for state in states) == list(range(len(dfa)))
        assert len({title for title, _ in frame.groups}) == len(frame.groups)
    whole = sketch_dfa(minimal)
    assert (last.arrows, last.accepting, len(last.names)) == (whole.arrows, whole.accepting, len(minimal))
    merged = merged_states(dfa, minimal)
    assert {states for _, states in frames[-1].groups} >= set(merged)


def test_a_film_tells_what_happens():
    assert [frame.words for frame in dfa_frames("a+")] == [
        "From n2, which is q0: a leads to q1 {1,2} (new).",
        "From n1 n2, which is q1: a leads to q1 {1,2}.",
    ]


@pytest.mark.parametrize("frames", [dfa_frames, minimal_frames])
def test_a_film_that_nobody_could_follow_is_refused_with_its_size(frames):
    with pytest.raises(PatternError, match=r"saw 1,001 DFA states, expected at most 80"):
        frames("a{1000}")


def test_the_words_of_a_film_hide_nothing_and_stay_short():
    frames = dfa_frames("\u202e\n<script>")
    assert all(frame.words.isprintable() and len(frame.words) < 200 for frame in frames)
