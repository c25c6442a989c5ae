"""From an NFA to a DFA: one state for every set of states the NFA can be in (Rabin and Scott, 1959)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from guidedviz.machines.machine import read
from guidedviz.machines.nfa import NFA, Edge, too_large

MOST_STATES = 10_000
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
        return f"DFA({len(self):,} states, {len(self.accepting):,} accepting)"

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


def build_dfa(nfa: NFA) -> DFA:
    """The subset construction.

    >>> from guidedviz.machines.regex import parse_regex
    >>> from guidedviz.machines.nfa import build_nfa
    >>> build_dfa(build_nfa(parse_regex("a|ab")))
    DFA(3 states, 2 accepting)
    """
    budget = _Budget(nfa.blame)
    start = follow_free(nfa, [nfa.initial], budget)
    numbers = {start: 0}  # a set of NFA states -> its DFA state; a dict keeps the order in which they were found
    edges: list[tuple[Edge, ...]] = []
    for subset in (queue := [start]):
        row = []
        for low, high, target in subset_moves(nfa, subset, budget):
            if target not in numbers:
                numbers[target] = len(numbers)
                queue.append(target)
            row.append((low, high, numbers[target]))
        edges.append(merge_edges(row))
        budget.check_states(len(numbers))
    return DFA(tuple(edges), frozenset(number for subset, number in numbers.items() if nfa.accepting in subset))


@dataclass
class _Budget:
    """How much work a construction may still do, so that a hostile pattern ends in an error and not in an hour."""

    blame: str
    moves: int = MOST_MOVES

    def spend(self, moves: int) -> None:
        self.moves -= moves
        if self.moves < 0:
            raise too_large(f"more than {MOST_MOVES:,} moves from NFA to DFA", self.blame)

    def check_states(self, states: int) -> None:
        if states > MOST_STATES:
            raise too_large(f"more than {MOST_STATES:,} DFA states", self.blame)


def follow_free(nfa: NFA, states: Iterable[int], budget: _Budget) -> frozenset[int]:
    """All states that free edges reach; those that only pass on are left out."""
    found, waiting = set(states), list(states)
    while waiting:
        for target in nfa.free[waiting.pop()]:
            if target not in found:
                found.add(target)
                waiting.append(target)
    budget.spend(len(found))
    return frozenset(state for state in found if nfa.edges[state] or state == nfa.accepting)


def subset_moves(nfa: NFA, subset: frozenset[int], budget: _Budget) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Where a set of states goes: cut the bytes wherever an edge begins or ends, then ask each cut."""
    edges = [edge for state in subset for edge in nfa.edges[state]]
    cuts = sorted({low for low, _, _ in edges} | {high + 1 for _, high, _ in edges})
    place = {cut: number for number, cut in enumerate(cuts)}
    targets: list[set[int]] = [set() for _ in cuts]
    for low, high, target in edges:
        for number in range(place[low], place[high + 1]):
            targets[number].add(target)
    budget.spend(sum(map(len, targets)))
    known: dict[frozenset[int], frozenset[int]] = {}
    for number, reached in enumerate(targets):
        if reached:
            key = frozenset(reached)
            if key not in known:
                known[key] = follow_free(nfa, key, budget)
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
