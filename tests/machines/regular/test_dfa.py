"""The machine itself: a value, with the same table for people (edges) and for speed (table)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.machine import next_bytes
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise, trim
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex, regex
from tests.common import in_time
from tests.strategies import regexes


@given(regexes)
def test_the_table_says_what_the_edges_say(pattern):
    machine = regex(pattern)
    met = [target for edges in machine.edges for _, _, target in edges]
    assert list(dict.fromkeys([0, *met])) == list(range(len(machine))), "numbered in the order in which they are met"
    for state, edges in enumerate(machine.edges):
        by_edge = {}
        for low, high, target in edges:
            by_edge |= dict.fromkeys(range(low, high + 1), target)
        by_step = {byte: machine.step(state, byte) for byte in next_bytes(machine, state)}
        assert by_step == by_edge
        assert list(edges) == sorted(edges)


@given(regexes, st.randoms(use_true_random=False))
def test_minimising_forgets_how_the_states_were_numbered(pattern, random):
    raw = build_dfa(build_nfa(parse_regex(pattern)))
    old = [0, *random.sample(range(1, len(raw)), len(raw) - 1)]  # the old number of each state
    rows = []
    for state in old:
        renamed = [(low, high, old.index(target)) for low, high, target in raw.edges[state]]
        rows.append(tuple(renamed))
    shuffled = DFA(tuple(rows), frozenset(map(old.index, raw.accepting)))
    minimal = minimise(raw)
    assert minimise(shuffled) == minimal
    assert minimal == regex(pattern)
    assert minimise(minimal) == minimal


def test_trimming_removes_the_way_into_a_dead_end():
    dfa = DFA((((97, 97, 1), (98, 98, 2)), (), ()), frozenset({2}))
    assert trim(dfa).step(0, ord("a")) is None
    assert trim(dfa).step(0, ord("b")) == 2


@pytest.mark.slow
def test_a_large_machine_is_minimised_in_time():
    with in_time(10):
        assert len(regex(".{0,900}x")) == 8_102
