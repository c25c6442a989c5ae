"""The rules of a pushdown machine on stacks of which only the top is known: what holds wherever a node occurs.

Below the known cells is a ground. A state is sure while one of its stacks stands on the ground of its own rule: then
its bytes may be read whatever lies below. When that rule ends, the text goes on as after some call of the rule, and
this is a guess. Bytes that no guess reads are legal nowhere (context expansion, arXiv 2411.15100).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from sys import maxsize

from guidedviz.machines.machine import first_bytes
from guidedviz.machines.pushdown.distance import rests_of_rules
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.rules import Counts, RuleNodes, join_counts
from guidedviz.machines.pushdown.stacks import Cell, Position, StackGraph, State


class OpenStack:
    """Reads bytes from any node of a grammar. Without `expand`, anything may follow when the known rules have ended.

    More stacks are possible than in the real machine: `allow_work` limits the work of the steps that follow it.
    Counts that behave alike in a run of `longest` bytes are one.
    """

    def __init__(self, pda: PDA, expand: bool = True, longest: int = maxsize) -> None:
        self._bottom, self.kinds, self.nodes = pda.bottom, pda.kinds, pda.nodes
        rests = rests_of_rules(pda.nodes) if any(pda.nodes.counts) else {}
        parts = zip(pda.nodes.starts, pda.nodes.counts, strict=True)
        fewest = [1 if own and own.spare is not None else max(1, rests.get(start, 1)) for start, own in parts]
        self._most = [1 + (longest - 1) // each for each in fewest]  # parts of a counted rule in the longest run
        graph = self._graph = StackGraph(self, add_anything(pda.nodes), pda.kinds, self._most)
        self.step, self.allow_work = graph.steps.step, graph.allow_work
        rules = range(len(pda.nodes.names))
        self._end = graph.add_ground(sure=True)
        self._grounds = [graph.add_ground(rule, sure=True) for rule in rules]
        guesses = [graph.add_ground(rule, guessed=True) for rule in rules]
        entered = (to for node, row in enumerate(pda.nodes.edges) for *_, to in (*row, *pda.nodes.calls[node]))
        # the rules whose start is reached again within a part
        self.entered = {pda.nodes.rule_of[to] for to in entered if to in pda.nodes.starts}
        after = follow_calls(pda.nodes)
        for rule in rules:
            guess = tuple((node, guesses[pda.nodes.rule_of[node]]) for node in after[rule])
            follow = guess if expand else ((len(pda.nodes), guesses[0]),)
            graph.follow_ground(self._grounds[rule], follow)
            graph.follow_ground(guesses[rule], follow)

    def at(self, node: int, counts: Counts = None) -> State:
        """The state at one node with nothing known below it, after so many repeats if its rule is counted."""
        ground = self._grounds[self.nodes.rule_of[node]]
        return self._graph.state({node: (self._graph.recount(ground, counts),)})

    def places(self, state: State) -> tuple[Place, ...]:
        """The nodes of a state of the real machine, each with its counts as far as they matter."""
        rule_of = self.nodes.rule_of
        return tuple(
            (node, join_counts(self._alike(cell, rule_of[node]) for cell in cells)) for node, cells in state.tops
        )

    def _alike(self, cell: Cell, rule: int) -> Counts:
        """The counts of a cell as far as they matter; a last call has no cell, so the cell may be of another rule."""
        return self._graph.alike(cell.counts, rule) if cell.rule == rule else None

    def lead_into(self, positions: Positions, rule: int) -> bool:
        """Whether all positions that a byte leads to are in a rule."""
        return all(self._graph.nodes.rule_of[to] == rule for to, _ in positions or ())

    def without_counts(self, state: State) -> State:
        """The same state with repeats that may go on and may end."""
        if all(cell.counts is None for _, cells in state.tops for cell in cells):
            return state
        tops = {node: {self._graph.recount(cell, None) for cell in cells} for node, cells in state.tops}
        return self._graph.state(tops, state.accepting, state.clean)

    def known(self, state: State, depth: float) -> State:
        """A state of the real machine, cut to the top `depth` cells of its stacks.

        >>> from guidedviz.machines.machine import read
        >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= [a-z]+')
        >>> unknown, state = OpenStack(lists), read(lists, b"<a")
        >>> [read(unknown, text, unknown.known(state, 0)).sure for text in (b"bc", b"b>", b"b]")]
        [True, False, False]
        >>> [read(unknown, b"b]", unknown.known(state, depth)) is None for depth in (0, 1)]
        [False, True]
        """
        seen: dict[tuple[Cell, float], Cell] = {}
        rule_of = self.nodes.rule_of
        return self._graph.state(
            {node: {self._top(cell, rule_of[node], depth, seen) for cell in cells} for node, cells in state.tops}
        )

    def _top(self, cell: Cell, rule: int, depth: float, seen: dict[tuple[Cell, float], Cell]) -> Cell:
        if depth == 0:
            return self._graph.recount(self._grounds[rule], self._alike(cell, rule))
        if cell is self._bottom:
            return self._end
        if (cell, depth) not in seen:
            caller = self.nodes.rule_of[cell.node]
            below = {self._top(under, caller, depth - 1, seen) for under in cell.below}
            ordered = tuple(sorted(below, key=lambda under: under.number))
            same = self._graph.cell(cell.node, cell.rule, ordered)
            seen[cell, depth] = self._graph.recount(same, self._alike(cell, cell.rule))
        return seen[cell, depth]

    def reads(self, state: State) -> Collection[int]:
        """The bytes that may come next."""
        found = [self._graph.closure(node).reads for node, _ in state.tops]
        return found[0] if len(found) == 1 else frozenset[int]().union(*found)

    def ways(self, state: State) -> Mapping[tuple[Positions, ...], list[int]]:
        """The bytes that may come next, the first of each kind, by the positions that they lead to from each node.

        >>> unknown = OpenStack(gv.grammar('root ::= [a-c] "x" | "d" | "e"'))
        >>> [bytes(some) for some in unknown.ways(unknown.at(0)).values()]
        [b'a', b'd']
        """
        reads, live = [self._graph.closure(node).reads for node, _ in state.tops], self.reads(state)
        found: dict[tuple[Positions, ...], list[int]] = defaultdict(list)
        for byte in first_bytes(self.kinds).values():
            if byte in live:
                found[tuple([each.get(byte) for each in reads])].append(byte)
        return found


Place = tuple[int, Counts]  # a node, and the counts if its rule is counted
Positions = tuple[Position, ...] | None  # None: the byte is not read
Runs = tuple[tuple[int, State], ...]  # the number of a start, and the state that it has reached


class ParallelRuns:
    """Several starts read the same bytes at once; those that cannot go on are dropped.

    >>> runs = ParallelRuns(OpenStack(gv.grammar('root ::= "a" "b"+ | "c"')))
    >>> begun = runs.begin((node, None) for node in range(3))
    >>> [[start for start, _ in runs.step(begun, byte) or ()] for byte in b"abx"]
    [[0], [1], []]
    """

    def __init__(self, machine: OpenStack) -> None:
        self.machine, self.kinds = machine, machine.kinds
        self._reads: dict[State, Collection[int]] = {}

    def begin(self, places: Iterable[Place]) -> Runs:
        """One run from each of these nodes, with nothing known below it."""
        return tuple((start, self.machine.at(*place)) for start, place in enumerate(places))

    def step(self, runs: Runs, byte: int) -> Runs | None:
        """The runs after one more byte; None if none is left."""
        for _, state in runs:
            if state not in self._reads:
                self._reads[state] = self.machine.reads(state)
        moved = [(start, self.machine.step(state, byte)) for start, state in runs if byte in self._reads[state]]
        return tuple([(start, after) for start, after in moved if after is not None]) or None


def add_anything(nodes: RuleNodes) -> RuleNodes:
    """One more node, which reads all bytes and never ends; the kinds of bytes stay the same."""
    edges = (*nodes.edges, ((0, 255, len(nodes)),))
    more = replace(nodes, calls=(*nodes.calls, ()), rule_of=(*nodes.rule_of, 0), ticks=(*nodes.ticks, None))
    return replace(more, edges=edges)


def follow_calls(nodes: RuleNodes) -> Mapping[int, list[int]]:
    """For every rule the nodes where a text goes on when a call of it has ended.

    >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= [a-z]+')
    >>> dict(follow_calls(lists.nodes))
    {1: [3, 4]}
    """
    after: dict[int, dict[int, None]] = defaultdict(dict)
    for row in nodes.calls:
        for rule, following in row:
            after[rule][following] = None
    return defaultdict(list, {rule: list(found) for rule, found in after.items()})
