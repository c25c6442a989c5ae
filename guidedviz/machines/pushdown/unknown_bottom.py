"""The rules of a pushdown machine on stacks of which only the top is known: what holds wherever a node occurs.

Below the known cells is a ground. A state is sure while one of its stacks stands on the ground of its own rule: then
its bytes may be read whatever lies below. When that rule ends, the text goes on as after some call of the rule, and
this is a guess. Bytes that no guess reads are legal nowhere (context expansion, arXiv 2411.15100).
"""

from collections.abc import Collection, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import replace
from sys import maxsize

from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import Counts, join_counts
from guidedviz.machines.pushdown.distance import rests_of_rules
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import Cell, State
from guidedviz.machines.pushdown.step import StackGraph
from guidedviz.machines.work import grouped

Place = tuple[int, Counts]  # a node, and the counts if its rule is counted
MOST_WORK = 1_000_000  # moves for one walk; half a second
MOST_WALKS = 10  # whose work may add up


class OpenStack:
    """Reads bytes from any node of a grammar. Without `expand`, anything may follow when the known rules have ended.

    More stacks are possible than in the real machine: `limited` limits the work of the steps inside it.
    Counts that behave alike in a run of `longest` bytes are one.
    """

    def __init__(self, pda: PDA, expand: bool = True, longest: int = maxsize) -> None:
        self._bottom, self.kinds, self.nodes = pda.bottom, pda.kinds, add_anything(pda.nodes)
        rests = rests_of_rules(pda) if any(pda.nodes.counts) else {}
        parts = zip(pda.nodes.starts, pda.nodes.counts, strict=True)
        fewest = [1 if own and own.spare is not None else max(1, rests.get(start, 1)) for start, own in parts]
        self._most = [1 + (longest - 1) // each for each in fewest]  # parts of a counted rule in the longest run
        graph = self._graph = StackGraph(self, self.nodes, pda.kinds, self._most)
        self.step = graph.steps.step
        rules = range(len(pda.nodes.names))
        self._end = graph.add_ground(sure=True)
        self._grounds = [graph.add_ground(rule, sure=True) for rule in rules]
        guesses = [graph.add_ground(rule, guessed=True) for rule in rules]
        self._plain = find_plain_repeats(pda.nodes)
        after = follow_calls(pda.nodes)
        for rule in rules:
            guess = tuple((node, guesses[pda.nodes.rule_of[node]]) for node in after[rule])
            follow = guess if expand else ((len(pda.nodes), guesses[0]),)
            graph.grounds[self._grounds[rule]] = graph.grounds[guesses[rule]] = follow

    def limited(self, walks: int = 1) -> AbstractContextManager[None]:
        """Limit the work of so many walks."""
        return self._graph.limited(min(walks, MOST_WALKS) * MOST_WORK)

    def at(self, node: int, counts: Counts = None) -> State:
        """The state at one node with nothing known below it, after so many repeats if its rule is counted."""
        ground = self._grounds[self.nodes.rule_of[node]]
        return self._graph.state({node: (self._graph.recount(ground, counts),)})

    def places(self, state: State) -> tuple[Place, ...]:
        """The nodes of a state of the real machine, each with its counts as far as they matter."""
        return tuple((node, join_counts(self._alike(cell, node) for cell in cells)) for node, cells in state.tops)

    def _alike(self, cell: Cell, node: int) -> Counts:
        """The counts of a cell as far as they matter; a last call has no cell, so the cell may be of another rule."""
        rule = self.nodes.rule_of[node]
        return self._graph.alike(cell.counts, rule) if cell.rule == rule else None

    def start_repeat(self, node: int, counts: Counts) -> tuple[int, State] | None:
        """The counted rule that begins at a node or is its only call, and its state between two parts without a count.

        None if there is no such rule, or if a text does not tell where its parts begin.
        """
        own = self.nodes.rule_of[node]
        called = [rule for rule, _ in self.nodes.calls[node]] if not self.nodes.edges[node] else []
        rule = called[0] if len(called) == 1 else own
        if rule not in self._plain or (rule == own and node != self.nodes.starts[rule]):
            return None
        ground = self._grounds[own]
        if rule != own:
            ground = self._graph.cell(node, rule, (self._graph.recount(ground, counts),))
        end = next(one for one in self.nodes.accepting if self.nodes.rule_of[one] == rule)
        start = self._graph.settle([(end, self._graph.recount(ground, None))])
        return (rule, start) if start else None

    def reads_at(self, node: int) -> Set[int]:
        """The bytes that may come next at a node."""
        return self._graph.closure(node).reads.keys()

    def sure_step(self, state: State, byte: int) -> State | None:
        """The next state, if the text is legal on every stack."""
        after = self.step(state, byte)
        return after if after is not None and after.sure else None

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
        tops = {node: {self._top(cell, node, depth, seen) for cell in cells} for node, cells in state.tops}
        return self._graph.state(tops)

    def _top(self, cell: Cell, node: int, depth: float, seen: dict[tuple[Cell, float], Cell]) -> Cell:
        """The top of a stack that stands at a node."""
        if depth == 0:
            return self._graph.recount(self._grounds[self.nodes.rule_of[node]], self._alike(cell, node))
        if cell is self._bottom:
            return self._end
        if (cell, depth) not in seen:
            below = {self._top(under, cell.node, depth - 1, seen) for under in cell.below}
            ordered = tuple(sorted(below, key=lambda under: under.number))
            same = self._graph.cell(cell.node, cell.rule, ordered)
            seen[cell, depth] = self._graph.recount(same, self._graph.alike(cell.counts, cell.rule))
        return seen[cell, depth]

    def reads(self, state: State) -> Collection[int]:
        """The bytes that may come next."""
        found = [self._graph.closure(node).reads for node, _ in state.tops]
        return found[0] if len(found) == 1 else frozenset[int]().union(*found)


def add_anything(nodes: RuleNodes) -> RuleNodes:
    """One more node, which reads all bytes and never ends; the kinds of bytes stay the same."""
    edges = (*nodes.edges, ((0, 255, len(nodes)),))
    more = replace(nodes, calls=(*nodes.calls, ()), rule_of=(*nodes.rule_of, 0), ticks=(*nodes.ticks, None))
    return replace(more, edges=edges)


def find_plain_repeats(nodes: RuleNodes) -> frozenset[int]:
    """The counted rules that call no rule, and whose start is not met again within a part."""
    counted = {rule for rule, bounds in enumerate(nodes.counts) if bounds and bounds.spare is None}
    calling = {nodes.rule_of[node] for node, row in enumerate(nodes.calls) if row}
    returning = {nodes.rule_of[to] for row in nodes.edges for *_, to in row if to in nodes.starts}
    return frozenset(counted - calling - returning)


def follow_calls(nodes: RuleNodes) -> Mapping[int, list[int]]:
    """For every rule the nodes where a text goes on when a call of it has ended.

    >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= [a-z]+')
    >>> dict(follow_calls(lists.nodes))
    {1: [3, 4]}
    """
    return grouped(dict.fromkeys(call for row in nodes.calls for call in row))
