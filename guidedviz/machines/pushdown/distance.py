"""The fewest bytes after which a text may end.

A mask keeps a text completable; this number says whether it can be completed within a budget.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import Bounds, LengthLimit
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
        return _of_stacks(machine, state, rests_of_rules(machine, alphabet), alphabet)
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


def _of_stacks(pda: PDA, state: State, rests: dict[int, int], alphabet: frozenset[int]) -> int | None:
    """The cost of finishing the open rules of the cheapest stack, by Dijkstra's algorithm over cells."""
    order = count()  # cells of equal cost are not compared
    heap: list[tuple[int, int, Cell]] = []
    for node, cells in state.tops:
        for cell in cells:
            rest = _rest_of(pda.nodes, node, cell, rests, alphabet)
            if rest is not None:
                heappush(heap, (rest, next(order), cell))
    done = set[Cell]()
    while heap:
        cost, _, cell = heappop(heap)
        if cell is pda.bottom:
            return cost
        if cell in done:
            continue
        done.add(cell)
        more = _rest_of_repeat(pda.nodes, cell, rests)
        if more is None:
            continue
        for after, below in pda.stacks.list_below(cell):
            if after in rests:
                heappush(heap, (cost + more + rests[after], next(order), below))
    return None


def _rest_of_repeat(nodes: RuleNodes, cell: Cell, rests: dict[int, int]) -> int | None:
    """The fewest bytes of the parts that a repeat needs after the one that is being read; None if it cannot end."""
    limit = nodes.counts[cell.rule]
    if not isinstance(limit, Bounds) or not cell.counts:
        return 0
    most_read = cell.counts[-1][1]
    missing = limit.low - 1 - most_read
    if missing <= 0:
        return 0
    part = rests.get(nodes.starts[cell.rule])
    return None if part is None else missing * part


def _rest_of(nodes: RuleNodes, node: int, cell: Cell, rests: dict[int, int], alphabet: frozenset[int]) -> int | None:
    """The fewest bytes that finish the rule of a node: near the end of a counted length, of the ways that still fit."""
    if node not in rests:
        return None
    limit = nodes.counts[cell.rule]
    if not isinstance(limit, LengthLimit) or not cell.counts:
        return rests[node]
    used = cell.counts[0][0]
    if used + len(nodes) <= limit.most:  # room for every way without a loop
        return rests[node]
    return _rest_within(nodes, node, used, alphabet)


def _rest_within(nodes: RuleNodes, node: int, used: int, alphabet: frozenset[int]) -> int | None:
    """The same by Dijkstra's algorithm over nodes and counts."""
    heap = [(0, used, node)]
    done = set()
    while heap:
        cost, used, at = heappop(heap)
        if at in nodes.accepting:
            return cost
        if (used, at) in done:
            continue
        done.add((used, at))
        tick = nodes.ticks[at]
        if tick and tick[1] != at and used < tick[0]:
            heappush(heap, (cost, used + 1, tick[1]))
        for to in _readable(nodes, at, alphabet):
            heappush(heap, (cost + 1, used, to))
    return None


def _readable(nodes: RuleNodes, node: int, alphabet: frozenset[int]) -> Iterator[int]:
    """The nodes that a byte of an alphabet leads to."""
    for low, high, target in nodes.edges[node]:
        if not alphabet.isdisjoint(range(low, high + 1)):
            yield target


class Clause(NamedTuple):
    """A node is finished after some bytes and when other nodes are, each so many times."""

    node: int
    read: int
    needs: dict[int, int]

    def cost(self, rests: dict[int, int]) -> int:
        """All bytes, if those that finish the needed nodes are known."""
        return self.read + sum(times * rests[need] for need, times in self.needs.items())


def _clauses(nodes: RuleNodes, node: int, alphabet: frozenset[int]) -> Iterator[Clause]:
    """The ways on from a node: over a byte, a tick or a call."""
    for target in _readable(nodes, node, alphabet):
        yield Clause(node, 1, {target: 1})
    tick = nodes.ticks[node]
    if tick:
        yield Clause(node, 0, {tick[1]: 1})
    for rule, after in nodes.calls[node]:
        limit = nodes.counts[rule]
        needs = Counter({after: 1})
        needs[nodes.starts[rule]] += 1 if limit is None else limit.fewest
        yield Clause(node, 0, +needs)  # without what is needed zero times


@lru_cache(maxsize=16)
def rests_of_rules(pda: PDA, alphabet: frozenset[int] = ALL) -> dict[int, int]:
    """The fewest bytes that finish the rule of each node (Knuth, "A generalization of Dijkstra's algorithm", 1977).

    >>> rests_of_rules(gv.grammar('root ::= "(" root ")" | "xyz"'))[0]
    3
    """
    nodes = pda.nodes
    wanted: dict[int, list[Clause]] = defaultdict(list)  # the clauses that need each node
    for node in range(len(nodes)):
        for clause in _clauses(nodes, node, alphabet):
            for need in clause.needs:
                wanted[need].append(clause)
    rests = {}
    heap = [(0, node) for node in nodes.accepting]
    heapify(heap)
    while heap:
        cost, node = heappop(heap)
        if node in rests:
            continue
        rests[node] = cost
        for clause in wanted[node]:
            if clause.node not in rests and clause.needs.keys() <= rests.keys():
                heappush(heap, (clause.cost(rests), clause.node))
    return rests
