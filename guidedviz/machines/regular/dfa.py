"""Build a DFA from an NFA: one state per set of NFA states (subset construction, Rabin and Scott, 1959).

Next: `tokens/vocabulary.py`.
"""

from array import array
from collections.abc import Collection, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from guidedviz.machines import limits
from guidedviz.machines.graph import Numbers, T, reach
from guidedviz.machines.machine import Machine, byte_kinds, no_step
from guidedviz.machines.regular.nfa import NFA, Edge, EdgeRow, machine_too_large
from guidedviz.machines.visible import counted
from guidedviz.machines.work import spend


@dataclass(frozen=True)
class DFA(Machine[int]):
    """The edges of every state, sorted and disjoint: lowest byte, highest byte, target. State 0 is initial.

    >>> ab = DFA((((97, 97, 1),), ((98, 98, 0),)), frozenset({0}))
    >>> ab.accepts(b"abab"), ab.accepts(b"aba"), ab.step(0, ord("b"))
    (True, False, None)
    """

    edges: tuple[EdgeRow, ...]
    accepting: frozenset[int]
    notes: tuple[str, ...] = field(default=(), compare=False)  # what the source says and the machine does not enforce
    marks: tuple[str, ...] = field(default=(), compare=False)  # texts that begin or end a tag

    initial = 0

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        words = f"{counted(len(self), 'state')}, {len(self.accepting):,} accepting"
        if self.notes:
            words += f"; {counted(len(self.notes), 'note')}"
        return f"DFA({words})"

    @cached_property
    def table(self) -> "array[int]":
        """The edges as an array: table[state * 256 + byte] is the next state, or -1."""
        table = array("i", [-1]) * (256 * len(self))
        for state, edges in enumerate(self.edges):
            for low, high, target in edges:
                row = 256 * state
                table[row + low : row + high + 1] = array("i", [target]) * (high - low + 1)
        return table

    @property
    def byte_rows(self) -> tuple[EdgeRow, ...]:
        """The edges of every state."""
        return self.edges

    @cached_property
    def kinds(self) -> bytes:
        """The kind of every byte: in every state, bytes of one kind have the same target."""
        return byte_kinds(self.edges)

    def step(self, state: int | None, byte: int) -> int | None:
        """The next state, or None."""
        try:
            if 0 <= byte < 256 and 0 <= state < len(self.edges):  # type: ignore[operator]
                target = self.table[state * 256 + byte]  # type: ignore[operator]
                return None if target < 0 else target
        except TypeError:
            if state is None:
                return None
        raise no_step(self, state, byte)

    def is_accepting(self, state: int | None) -> bool:
        """Whether the text may end here."""
        return state in self.accepting

    def accepts_prefix(self, data: bytes) -> bool:
        """Whether this can become a complete text."""
        return bool(self.accepting) and super().accepts_prefix(data)


class DFAStep(NamedTuple):
    """One finished DFA state: its set of NFA states and its edges."""

    state: int
    subset: frozenset[int]
    edges: EdgeRow


def build_dfa(nfa: NFA, whole: bool = False) -> DFA:
    """The subset construction; with `whole`, the sets hold the states that have only epsilon edges, too.

    >>> build_dfa(gv.machines.machine_stages("a|ab")[0])
    DFA(3 states, 2 accepting)
    """
    return drain(build_dfa_steps(nfa, whole))


def build_dfa_steps(nfa: NFA, whole: bool = False) -> Generator[DFAStep, None, DFA]:
    """`build_dfa` in steps of one state, in the order of discovery."""
    moves = _Moves(nfa, whole)
    start = moves.follow_free((nfa.initial,))
    numbers = Numbers(start)  # a set of NFA states -> its DFA state
    edges = []
    for subset in numbers.met:
        row = [(low, high, numbers[target]) for low, high, target in moves.out_of(subset)]
        edges.append(merge_edges(row))
        if len(numbers) > limits.DFA_STATES:
            raise machine_too_large(f"more than {limits.DFA_STATES:,} DFA states", nfa.blame)
        yield DFAStep(len(edges) - 1, subset, edges[-1])
    accepting = [number for subset, number in numbers.items() if nfa.accepting in subset]
    return DFA(tuple(edges), frozenset(accepting))


class _Moves:
    """The moves of sets of NFA states; their number is limited, so a hostile pattern raises an error."""

    def __init__(self, nfa: NFA, whole: bool) -> None:
        self.nfa = nfa
        self.left = limits.DFA_MOVES
        self.known: dict[frozenset[int], frozenset[int]] = {}
        self.free = {state for state, targets in enumerate(nfa.epsilon) if targets}
        if whole:
            self.kept = set(range(len(nfa)))
        else:
            self.kept = {state for state, edges in enumerate(nfa.edges) if edges} | {nfa.accepting}

    def spend(self, moves: int) -> None:
        spend(2 + moves)
        self.left -= moves
        if self.left < 0:
            raise machine_too_large(f"more than {limits.DFA_MOVES:,} moves from NFA to DFA", self.nfa.blame)

    def follow_free(self, states: Collection[int]) -> frozenset[int]:
        """The epsilon closure; without `whole`, those of its states that read a byte or accept."""
        found = states if self.free.isdisjoint(states) else reach(states, self.nfa.epsilon.__getitem__)
        self.spend(len(found))
        return frozenset(self.kept.intersection(found))

    def out_of(self, subset: frozenset[int]) -> Iterator[tuple[int, int, frozenset[int]]]:
        """Lowest byte, highest byte, the set of next NFA states."""
        edges = [edge for state in subset for edge in self.nfa.edges[state]]
        spans = disjoint(edges)
        reached_states = sum([len(reached) for _, _, reached in spans])
        self.spend(len(edges) + reached_states)
        for low, high, reached in spans:
            if reached not in self.known:
                self.known[reached] = self.follow_free(reached)
            yield low, high, self.known[reached]


def disjoint(edges: list[tuple[int, int, T]]) -> list[tuple[int, int, frozenset[T]]]:
    """Lowest byte, highest byte, the targets of all edges that hold them; bytes are split where an edge begins or ends.

    >>> [(low, high, sorted(targets)) for low, high, targets in disjoint([(48, 57, 1), (50, 99, 2)])]
    [(48, 49, [1]), (50, 57, [1, 2]), (58, 99, [2])]
    """
    if len(edges) == 1:
        ((low, high, target),) = edges
        return [(low, high, frozenset((target,)))]
    starts = {low for low, _, _ in edges}
    cuts = sorted(starts | {high + 1 for _, high, _ in edges})
    place = {cut: number for number, cut in enumerate(cuts)}
    targets: list[set[T]] = [set() for _ in cuts]
    for low, high, target in edges:
        for number in range(place[low], place[high + 1]):
            targets[number].add(target)
    spans = zip(cuts, cuts[1:], targets, strict=False)
    return [(low, after - 1, frozenset(reached)) for low, after, reached in spans if reached]


def merge_edges(edges: Iterable[Edge]) -> EdgeRow:
    """Merge adjacent edges with the same target.

    >>> merge_edges([(97, 97, 1), (98, 98, 1), (99, 99, 2)])
    ((97, 98, 1), (99, 99, 2))
    """
    merged: list[Edge] = []
    for low, high, target in sorted(edges):
        if merged:
            start, end, same = merged[-1]
            if same == target and end + 1 == low:
                merged[-1] = (start, high, target)
                continue
        merged.append((low, high, target))
    return tuple(merged)


Result = TypeVar("Result")


def drain(steps: Generator[Any, None, Result]) -> Result:
    """The result of an algorithm without its steps.

    >>> from guidedviz.machines.regular.minimal import minimise_steps
    >>> drain(minimise_steps(gv.machines.machine_stages("ab|cb")[1]))
    DFA(3 states, 1 accepting)
    """
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result
