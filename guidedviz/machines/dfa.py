"""From an NFA to a DFA: one state for every set of states the NFA can be in (Rabin and Scott, 1959)."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from guidedviz.machines.machine import read
from guidedviz.machines.nfa import NFA, Edge, too_large
from guidedviz.machines.steps import drain
from guidedviz.machines.visible import counted

MOST_STATES = 40_000
MOST_MOVES = 1_500_000  # states and edges of the NFA looked at; about a second


@dataclass(frozen=True)
class DFA:
    """Edges out of every state, sorted and without overlap: lowest byte, highest byte, target. It starts in state 0.

    >>> ab = DFA((((97, 97, 1),), ((98, 98, 0),)), frozenset({0}))
    >>> ab.accepts(b"abab"), ab.accepts(b"aba"), ab.step(0, ord("b"))
    (True, False, None)
    """

    edges: tuple[tuple[Edge, ...], ...]
    accepting: frozenset[int]

    initial = 0

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        return f"DFA({counted(len(self), 'state')}, {len(self.accepting):,} accepting)"

    @cached_property
    def table(self) -> array[int]:
        """The same edges for speed: table[state * 256 + byte] is the next state, or -1."""
        table = array("i", [-1]) * (256 * len(self))
        for state, edges in enumerate(self.edges):
            for low, high, target in edges:
                table[state * 256 + low : state * 256 + high + 1] = array("i", [target]) * (high - low + 1)
        return table

    def step(self, state: int, byte: int) -> int | None:
        """The next state, or None."""
        target = self.table[state * 256 + byte]
        return None if target < 0 else target

    def is_accepting(self, state: int) -> bool:
        """May the text end here?"""
        return state in self.accepting

    def accepts(self, data: bytes) -> bool:
        """Is this a complete text?"""
        return read(self, data) in self.accepting

    def accepts_prefix(self, data: bytes) -> bool:
        """Can this become a complete text?"""
        return bool(self.accepting) and read(self, data) is not None


class DFAStep(NamedTuple):
    """One DFA state is done: which NFA states it stands for, and where its bytes lead."""

    state: int
    subset: frozenset[int]
    edges: tuple[Edge, ...]


def build_dfa(nfa: NFA) -> DFA:
    """The subset construction.

    >>> from guidedviz.machines.regex import parse_regex
    >>> from guidedviz.machines.nfa import build_nfa
    >>> build_dfa(build_nfa(parse_regex("a|ab")))
    DFA(3 states, 2 accepting)
    """
    return drain(build_dfa_steps(nfa))


def build_dfa_steps(nfa: NFA) -> Generator[DFAStep, None, DFA]:
    """The same state by state, in the order in which the sets are first met."""
    moves = _Moves(nfa)
    start = moves.follow_free((nfa.initial,))
    numbers = {start: 0}  # a set of NFA states -> its DFA state
    edges: list[tuple[Edge, ...]] = []
    for subset in (queue := [start]):
        row = []
        for low, high, target in moves.out_of(subset):
            if target not in numbers:
                numbers[target] = len(numbers)
                queue.append(target)
            row.append((low, high, numbers[target]))
        edges.append(merge_edges(row))
        if len(numbers) > MOST_STATES:
            raise too_large(f"more than {MOST_STATES:,} DFA states", nfa.tree)
        yield DFAStep(len(edges) - 1, subset, edges[-1])
    return DFA(tuple(edges), frozenset(number for subset, number in numbers.items() if nfa.accepting in subset))


class _Moves:
    """Where sets of NFA states go; looks at so many and no more, so that a hostile pattern ends in an error."""

    def __init__(self, nfa: NFA) -> None:
        self.nfa, self.left = nfa, MOST_MOVES
        self.known: dict[int, frozenset[int]] = {}

    def spend(self, moves: int) -> None:
        self.left -= moves
        if self.left < 0:
            raise too_large(f"more than {MOST_MOVES:,} moves from NFA to DFA", self.nfa.tree)

    def follow_free(self, states: Iterable[int]) -> frozenset[int]:
        """All states that free edges reach; those that only pass on are left out."""
        found, waiting = set(states), list(states)
        while waiting:
            for target in self.nfa.free[waiting.pop()]:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        self.spend(len(found))
        return frozenset(state for state in found if self.nfa.edges[state] or state == self.nfa.accepting)

    def out_of(self, subset: frozenset[int]) -> Iterator[tuple[int, int, frozenset[int]]]:
        """Lowest byte, highest byte, the states one can be in after it."""
        edges = sorted([edge for state in subset for edge in self.nfa.edges[state]])
        self.spend(len(edges))
        if any(after[0] <= edge[1] for edge, after in pairwise(edges)):
            yield from self.out_of_overlapping(edges)
            return
        for low, high, target in edges:  # no byte leads to two states
            if target not in self.known:
                self.known[target] = self.follow_free((target,))
            yield low, high, self.known[target]

    def out_of_overlapping(self, edges: list[Edge]) -> Iterator[tuple[int, int, frozenset[int]]]:
        """Cut the bytes wherever an edge begins or ends, then ask each cut."""
        cuts = sorted({low for low, _, _ in edges} | {high + 1 for _, high, _ in edges})
        place = {cut: number for number, cut in enumerate(cuts)}
        targets: list[set[int]] = [set() for _ in cuts]
        for low, high, target in edges:
            for number in range(place[low], place[high + 1]):
                targets[number].add(target)
        self.spend(sum(map(len, targets)))
        known: dict[frozenset[int], frozenset[int]] = {}
        for number, reached in enumerate(targets):
            if reached:
                key = frozenset(reached)
                if key not in known:
                    known[key] = self.follow_free(key)
                yield cuts[number], cuts[number + 1] - 1, known[key]


def merge_edges(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Neighbouring edges with the same target become one.

    >>> merge_edges([(97, 97, 1), (98, 98, 1), (99, 99, 2)])
    ((97, 98, 1), (99, 99, 2))
    """
    merged: list[Edge] = []
    for low, high, target in sorted(edges):
        if merged and merged[-1][2] == target and merged[-1][1] + 1 == low:
            merged[-1] = (merged[-1][0], high, target)
        else:
            merged.append((low, high, target))
    return tuple(merged)
