"""The fewest bytes after which a text may end.

A mask keeps a text completable; this number says whether it can be completed within a budget.
"""

from collections.abc import Hashable
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import Cell, State
from guidedviz.machines.work import grouped

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
    level, seen = {state}, {state}
    letters = {machine.kinds[byte]: byte for byte in alphabet}.values()  # bytes of one kind lead to the same states
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
    order, done = count(), set[Cell]()
    tops = ((node, cell) for node, cells in state.tops if node in rests for cell in cells)
    costs = ((_rest_of(pda.nodes, node, cell, rests, alphabet), cell) for node, cell in tops)
    heap = [(cost, next(order), cell) for cost, cell in costs if cost is not None]
    heapify(heap)
    while heap:
        cost, _, cell = heappop(heap)
        if cell is pda.bottom:
            return cost
        if cell not in done:
            done.add(cell)
            bounds = pda.nodes.counts[cell.rule]  # a repeat may need more parts after the one that is being read
            missing = max(0, bounds.low - 1 - cell.counts[-1][1]) if bounds and cell.counts else 0
            more = missing * rests.get(pda.nodes.starts[cell.rule], 0)
            for after, below in pda.below(cell):
                if after in rests and (not missing or pda.nodes.starts[cell.rule] in rests):
                    heappush(heap, (cost + more + rests[after], next(order), below))
    return None


def _rest_of(nodes: RuleNodes, node: int, cell: Cell, rests: dict[int, int], alphabet: frozenset[int]) -> int | None:
    """The fewest bytes that finish the rule of a node: near the end of a counted length, of the ways that still fit."""
    bounds = nodes.counts[cell.rule]
    if bounds is None or bounds.spare is None or bounds.high is None or not cell.counts:
        return rests[node]
    used = cell.counts[0][0]
    if used + len(nodes) <= bounds.high:  # room for every way without a loop
        return rests[node]
    done, heap = set[tuple[int, int]](), [(0, used, node)]
    while heap:
        cost, used, at = heappop(heap)
        if at in nodes.accepting:
            return cost
        if (used, at) not in done:
            done.add((used, at))
            if (tick := nodes.ticks[at]) and tick[1] != at and used < tick[0]:
                heappush(heap, (cost, used + 1, tick[1]))
            for low, high, to in nodes.edges[at]:
                if not alphabet.isdisjoint(range(low, high + 1)):
                    heappush(heap, (cost + 1, used, to))
    return None


@lru_cache(maxsize=16)
def rests_of_rules(pda: PDA, alphabet: frozenset[int] = ALL) -> dict[int, int]:
    """The fewest bytes that finish the rule of each node (Knuth, "A generalization of Dijkstra's algorithm", 1977).

    >>> rests_of_rules(gv.grammar('root ::= "(" root ")" | "xyz"'))[0]
    3
    """
    nodes = pda.nodes
    clauses: list[tuple[int, int, dict[int, int]]] = []  # a node, the bytes it reads, the nodes to finish: how often
    for node in range(len(nodes)):
        readable = (to for low, high, to in nodes.edges[node] if not alphabet.isdisjoint(range(low, high + 1)))
        clauses += [(node, 1, {to: 1}) for to in readable]
        if tick := nodes.ticks[node]:
            clauses.append((node, 0, {tick[1]: 1}))
        for rule, after in nodes.calls[node]:
            often = 1 if (bounds := nodes.counts[rule]) is None else bounds.texts
            needs = {nodes.starts[rule]: often} if often else {}
            clauses.append((node, 0, needs | {after: 1 + needs.get(after, 0)}))
    wanted = grouped((need, number) for number, (_, _, needs) in enumerate(clauses) for need in needs)
    rests: dict[int, int] = {}
    heap = [(0, node) for node in nodes.accepting]
    heapify(heap)
    while heap:
        cost, node = heappop(heap)
        if node in rests:
            continue
        rests[node] = cost
        for head, read, needs in (clauses[number] for number in wanted[node]):
            if head not in rests and needs.keys() <= rests.keys():
                heappush(heap, (read + sum(times * rests[need] for need, times in needs.items()), head))
    return rests
