"""The steps of a construction are all there is to it: whoever adds them up has the result."""

import re
from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.checks.automata import step_set
from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.regular.dfa import build_dfa, build_dfa_steps
from guidedviz.machines.regular.minimal import first_blocks, minimise_steps, trim
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import machine_stages, parse_regex, regex
from guidedviz.views.layout.sketch import sketch_dfa
from guidedviz.views.machine.construction import (
    dfa_frames,
    merged_states,
    minimal_frames,
    nfa_reading_frames,
    trie_frames,
)
from tests.machines.oracle import count_classes
from tests.strategies import regexes


@given(regexes)
def test_the_steps_of_the_dfa_are_its_states_in_order(pattern):
    nfa = build_nfa(parse_regex(pattern))
    steps = list(build_dfa_steps(nfa))
    dfa = build_dfa(nfa)
    states = [step.state for step in steps]
    assert states == list(range(len(dfa)))
    assert tuple(step.edges for step in steps) == dfa.edges
    ends = {step.state for step in steps if nfa.accepting in step.subset}
    assert ends == dfa.accepting


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
    classes = count_classes(regex(pattern))
    assert len(blocks) - dead == classes == len(regex(pattern))


def film(frames_of, pattern):
    try:
        return frames_of(pattern)
    except (PatternError, SettingError):  # too large to be watched
        return assume(False)


@given(regexes)
def test_a_film_has_one_set_of_states_its_arrows_only_grow_and_it_ends_with_the_machine(pattern):
    frames = film(dfa_frames, pattern)
    whole = sketch_dfa(machine_stages(pattern)[1])
    sketches = [frame.sketch for frame in frames]
    machines = {(sketch.names, sketch.initial, sketch.accepting) for sketch in sketches}
    assert machines == {(frames[0].sketch.names, whole.initial, whole.accepting)}
    drawn = [{(a.source, a.target, pair) for a in frame.sketch.arrows for pair in a.ranges} for frame in frames]
    assert all(before <= after for before, after in pairwise(drawn))
    assert frames[-1].sketch.arrows == whole.arrows
    for frame, before in zip(frames, [set(), *drawn], strict=False):
        arrows = frame.sketch.arrows
        keys = {f"{a.source}-{a.target}" for a in arrows}
        assert frame.lit_arrows <= keys
        known = {f"{source}-{target}" for source, target, _ in before}
        assert keys - known <= frame.lit_arrows
        assert frame.words.endswith(".")


@given(regexes)
def test_the_film_of_a_minimisation_splits_blocks_and_ends_with_the_smallest_machine(pattern):
    _, dfa, minimal = machine_stages(pattern)
    *frames, last = film(minimal_frames, pattern)
    first = len(frames[0].sketch.groups)
    for count, frame in enumerate(frames, first):
        titles, blocks = zip(*frame.sketch.groups, strict=True)
        assert len(set(titles)) == len(titles) == count
        assert sorted(state for block in blocks for state in block) == list(range(len(dfa)))
    whole = sketch_dfa(minimal)
    assert (last.sketch.arrows, last.sketch.accepting) == (whole.arrows, whole.accepting)
    assert len(last.sketch.names) == len(minimal)
    assert {states for _, states in frames[-1].sketch.groups} >= set(merged_states(dfa, minimal))


def test_the_sets_of_the_film_are_those_of_the_exercise():
    nfa = machine_stages("a?b|a")[0]
    subsets = [step.subset for step in build_dfa_steps(nfa, whole=True)]
    assert all(step_set(nfa, {*one}, byte) in (set(), *subsets) for one in subsets for byte in b"abc")
    assert dfa_frames("a?b|a")[-1].sketch.names == ("q0 {0,1}", "q1 {1,2}", "q2 {2}")


def test_the_tape_of_a_reading_shows_what_is_read_and_what_is_left():
    frames = nfa_reading_frames("[0-9]+", "42")
    tapes = [frame.tape for frame in frames]
    bytes_read = (0, 0, 1, 1, 2, 2, 2)
    assert tapes == [(b"42", read) for read in bytes_read]
    film = gv.film(frames)
    marks = [[key for key in frame["arrows"] if " " in key] for frame in film.packed]
    assert marks == [["next 0"], ["next 0"], *[["read 1", "next 1"]] * 2, *[["read 2"]] * 3]


@given(regexes, st.text("ab", max_size=4))
def test_a_machine_in_one_state_at_a_time_moves_along_one_arrow_per_byte(pattern, text):
    frames = film(lambda regex: gv.views.reading_frames(gv.regex(regex), text), pattern)
    assert {len(frame.lit) for frame in frames} == {1}
    moves = [move for frame in frames for move in frame.ride[1]]
    last = frames[-1]
    assert len(moves) == last.tape[1]
    assert all(one.split("-")[1] == other.split("-")[0] for one, other in pairwise(moves))
    assert last.words.endswith("accepts the text.") == bool(re.fullmatch(pattern, text))
    assert last.words.endswith("refuses the text.") == (len(moves) < len(text))


@given(regexes, st.text("ab", max_size=4))
def test_the_last_frame_is_right_about_the_text(pattern, text):
    last = film(lambda regex: nfa_reading_frames(regex, text), pattern)[-1]
    matches = bool(re.fullmatch(pattern, text))
    assert last.words.endswith("the NFA accepts it.") == matches
    assert bool(last.lit & last.sketch.accepting) == matches


@given(
    st.lists(st.binary(min_size=1, max_size=3), min_size=1, max_size=9), st.sampled_from(["a+", "[^a]", "(ab|b)*", ""])
)
def test_at_the_end_the_lit_rings_are_the_mask(pieces, text):
    vocabulary = gv.Vocabulary(pieces)
    machine = gv.regex(text)
    *_, walked, last = gv.views.trie_frames(machine, vocabulary)
    cut = walked.sketch.cut
    every_node = set(range(len(walked.sketch.names)))
    assert cut ^ walked.lit == every_node, "each node was cut or reached"
    mask = gv.guide(machine, vocabulary).mask(machine.initial)
    assert last.lit == {int(vocabulary.trie.node_of[token]) for token in np.flatnonzero(mask)}


def test_of_two_edges_between_the_same_states_only_the_one_that_is_taken_is_lit():
    frames = nfa_reading_frames("a?b|a", "a")
    assert [frame.lit_arrows for frame in frames] == [set(), {"0~1"}, {"0-1", "0-2"}, set()]
    one, two = (gv.draw_machine(frame).svg.count('gv-on"') for frame in frames[1:3])
    assert one < two


def test_a_walk_names_the_state_of_the_machine_at_each_node_that_is_reached():
    frames = trie_frames(gv.regex("3+"), gv.Vocabulary([b"3", b"33", b"."]))
    tags = [{title: set(nodes) for title, nodes in frame.sketch.groups if title != "cut"} for frame in frames]
    assert tags[0] == {"q0": {0}}
    assert tags[-1]["q0"] == {0}
    assert tags[-1].keys() == {"q0", "q1"}
    assert len(tags[-1]["q1"]) == 2


def test_a_still_of_a_walk_marks_what_was_cut_and_dims_what_was_never_asked():
    vocabulary = gv.Vocabulary([b"3", b"33", b".", b".5", b".55"])
    frames = trie_frames(gv.regex("3+"), vocabulary)
    stills = [gv.draw_machine(frame).svg for frame in frames]
    first, *_, last = stills
    marks = [last.count(part) for part in (">cut</text>", 'gv-cut"', 'gv-cut gv-below-cut"')]
    assert marks == [1, 1 + 1, 2 + 1], "in the drawing, and in the legend"
    assert "cut" not in re.sub("<style>.*?</style>", "", first, flags=re.DOTALL)
    words = (">reached<", ">legal<", ">now<", "a token ends here", "may end here")
    assert [[word in svg for word in words] for svg in (first, last)] == [
        [True, False, False, True, False],
        [False, True, False, True, False],
    ]
