"""The fewest bytes after which a text may end.

A mask keeps a text completable; this number says whether it can be completed within a budget.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import Any, NamedTuple

from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import ANY_COUNT, Bounds, LengthLimit
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import Cell, State

ALL = frozenset(range(256))
MOST_STATES = 100_000  # looked at in a machine that is no PDA


def bytes_to_end(machine: Machine[Any], state: Hashable | None, alphabet: frozenset[int] = ALL) -> int | None:
    """The fewest bytes of an alphabet after which the text may end; None if it cannot end or none is found.

    >>> from guidedviz.machines.machine import read
    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> [bytes_to_end(nested, read(nested, text)) for text in (b"", b"((", b"((x)", b"((x))")]
    [1, 3, 1, 0]
    """
    machine = as_machine(machine, "bytes_to_end")
    if state is None:
        return None
    if machine.is_accepting(state):
        return 0
    if isinstance(machine, PDA) and isinstance(state, State):
        return finish_costs(machine, alphabet).cheapest_stack(machine, state)
    return _by_levels(machine, state, alphabet)


def _by_levels(machine: Machine[Any], state: Hashable, alphabet: frozenset[int]) -> int | None:
    """The fewest bytes to an accepting state, by breadth-first search."""
    letters = {machine.kinds[byte]: byte for byte in alphabet}.values()  # bytes of one kind lead to the same states
    level = {state}
    seen = {state}
    for steps in count(1):
        moves = (machine.step(each, byte) for each in level for byte in letters)
        level = {after for after in moves if after is not None} - seen
        seen |= level
        if any(map(machine.is_accepting, level)):
            return steps
        if not level or len(seen) > MOST_STATES:
            break
    return None


class Clause(NamedTuple):
    """One way to finish the rule of a node: read some bytes, and finish other nodes."""

    node: int
    read: int
    needs: dict[int, int]  # node -> how many times

    def cost(self, found: dict[int, int]) -> int:
        """The bytes of this way; `found` has those that finish each needed node."""
        return self.read + sum(times * found[need] for need, times in self.needs.items())


class FinishCosts:
    """The fewest bytes of an alphabet that finish the rule of each node, if they can: `found`."""

    def __init__(self, nodes: RuleNodes, alphabet: frozenset[int]) -> None:
        self.nodes = nodes
        self.alphabet = alphabet
        self.found: dict[int, int] = {}
        self.find()

    def find(self) -> None:
        """Fill `found`, the cheapest node first (Knuth, "A generalization of Dijkstra's algorithm", 1977)."""
        wanted: dict[int, list[Clause]] = defaultdict(list)  # the clauses that need each node
        for node in range(len(self.nodes)):
            for clause in self.clauses(node):
                for need in clause.needs:
                    wanted[need].append(clause)
        heap = [(0, node) for node in self.nodes.accepting]
        heapify(heap)
        while heap:
            cost, node = heappop(heap)
            if node in self.found:
                continue
            self.found[node] = cost
            for clause in wanted[node]:
                if clause.node not in self.found and clause.needs.keys() <= self.found.keys():
                    heappush(heap, (clause.cost(self.found), clause.node))

    def clauses(self, node: int) -> Iterator[Clause]:
        """The ways on from a node: over a byte, a tick or a call."""
        for target in self.readable(node):
            yield Clause(node, 1, {target: 1})
        tick = self.nodes.ticks.get(node)
        if tick:
            yield Clause(node, 0, {tick.after: 1})
        for rule, after in self.nodes.calls[node]:
            limit = self.nodes.counts[rule]
            needs = Counter({after: 1})
            needs[self.nodes.starts[rule]] += 1 if limit is None else limit.fewest
            yield Clause(node, 0, +needs)  # without what is needed zero times

    def readable(self, node: int) -> Iterator[int]:
        """The nodes that a byte of the alphabet leads to."""
        for low, high, target in self.nodes.edges[node]:
            if not self.alphabet.isdisjoint(range(low, high + 1)):
                yield target

    def cheapest_stack(self, pda: PDA, state: State) -> int | None:
        """The cost of finishing the open rules of the cheapest stack, by Dijkstra's algorithm over cells."""
        order = count()  # cells of equal cost are not compared
        heap: list[tuple[float, int, Cell]] = []
        for node, cells in state.tops:
            for cell in cells:
                heappush(heap, (self.finish_top(node, cell), next(order), cell))
        done = set[Cell]()
        while heap:
            cost, _, cell = heappop(heap)
            if cost == inf:
                break
            if cell is pda.bottom:
                return int(cost)
            if cell not in done:
                done.add(cell)
                cost += self.finish_repeat(cell)
                for after, below in pda.stacks.list_below(cell):
                    heappush(heap, (cost + self.found.get(after, inf), next(order), below))
        return None

    def finish_repeat(self, cell: Cell) -> float:
        """The fewest bytes of the parts that a repeat needs after the one that is being read."""
        limit = self.nodes.counts[cell.rule]
        if not isinstance(limit, Bounds):
            return 0
        most_read = cell.counts[-1][1]
        missing = limit.low - 1 - most_read
        return missing * self.found.get(self.nodes.starts[cell.rule], inf) if missing > 0 else 0

    def finish_top(self, node: int, cell: Cell) -> float:
        """The fewest bytes that finish the rule of a node; near the limit of a length, only in ways that keep to it."""
        limit = self.nodes.counts[cell.rule]
        if node in self.found and isinstance(limit, LengthLimit) and cell.counts != ANY_COUNT:
            used = cell.counts[0][0]
            # a way without a loop has at most one part per node; where so many may not fit, parts are counted
            if used + len(self.nodes) > limit.most:
                return self.finish_within(node, used)
        return self.found.get(node, inf)

    def finish_within(self, node: int, used: int) -> float:
        """The fewest bytes that finish the rule within its length, by Dijkstra's algorithm over nodes and counts."""
        heap = [(0, used, node)]
        done = set()
        while heap:
            cost, used, at = heappop(heap)
            if at in self.nodes.accepting:
                return cost
            if (used, at) in done:
                continue
            done.add((used, at))
            tick = self.nodes.ticks.get(at)
            if tick and used < tick.highest:
                heappush(heap, (cost, used + 1, tick.after))
            for to in self.readable(at):
                heappush(heap, (cost + 1, used, to))
        return inf


@lru_cache(maxsize=16)
def finish_costs(pda: PDA, alphabet: frozenset[int] = ALL) -> FinishCosts:
    """What finishes the rules of a machine.

    >>> finish_costs(gv.grammar('root ::= "(" root ")" | "xyz"')).found[0]
    3
    """
    return FinishCosts(pda.nodes, alphabet)
