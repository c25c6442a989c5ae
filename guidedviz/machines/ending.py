"""How much is still to be written: the fewest bytes after which a text may end.

A mask keeps a text completable. Whether it is completed in time depends on this number and on what is left to spend.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count

from guidedviz.errors import SettingError
from guidedviz.machines.machine import Machine, check_machine, next_bytes
from guidedviz.machines.pda import PDA, Cell, State
from guidedviz.machines.rule_nodes import RuleNodes

ALL = frozenset(range(256))
MOST_STATES = 100_000  # looked at in a machine that is no PDA


def bytes_to_end(machine: Machine, state: Hashable | None, alphabet: frozenset[int] = ALL) -> int | None:
    """The fewest bytes of an alphabet after which the text may end; None if it cannot, or if no end is in sight.

    >>> from guidedviz.machines.machine import read
    >>> from guidedviz.machines.pda import grammar
    >>> nested = grammar('root ::= "(" root ")" | "x"')
    >>> [bytes_to_end(nested, read(nested, text)) for text in (b"", b"((", b"((x)", b"((x))")]
    [1, 3, 1, 0]
    """
    check_machine(machine, "bytes_to_end")
    if state is None:
        return None
    if isinstance(state, str | bytes):
        hint = "machine.step(machine.initial, byte), byte by byte"
        raise SettingError("bytes_to_end", seen="a text", expected="the state after it", hint=hint)
    if machine.is_accepting(state):
        return 0
    if isinstance(machine, PDA) and isinstance(state, State):
        return _of_stacks(machine, state, _rests(machine, alphabet))
    level, seen = {state}, {state}
    for steps in count(1):
        moves = ((each, byte) for each in level for byte in next_bytes(machine, each) if byte in alphabet)
        level = {after for each, byte in moves if (after := machine.step(each, byte)) is not None} - seen
        seen |= level
        if any(map(machine.is_accepting, level)):
            return steps
        if not level or len(seen) > MOST_STATES:
            break
    return None


def _of_stacks(pda: PDA, state: State, rests: dict[int, int]) -> int | None:
    """Finish the rule at the top, then the one below it, and so on; of several stacks the cheapest."""
    order, done = count(), set[Cell]()
    heap = [(rests[node], next(order), cell) for node, cells in state.tops if node in rests for cell in cells]
    heapify(heap)
    while heap:
        cost, _, cell = heappop(heap)
        if cell is pda.bottom:
            return cost
        if cell not in done:
            done.add(cell)
            for after, below in pda.below(cell):
                if after in rests:
                    heappush(heap, (cost + rests[after], next(order), below))
    return None


@lru_cache(maxsize=16)
def _rests(pda: PDA, alphabet: frozenset[int]) -> dict[int, int]:
    return rests_of_rules(pda.nodes, alphabet)


def rests_of_rules(nodes: RuleNodes, alphabet: frozenset[int] = ALL) -> dict[int, int]:
    """Of each node the fewest bytes that finish its rule (Knuth, "A generalization of Dijkstra's algorithm", 1977).

    >>> from guidedviz.machines.pda import grammar
    >>> rests_of_rules(grammar('root ::= "(" root ")" | "xyz"').nodes)[0]
    3
    """
    clauses: list[tuple[int, int, set[int]]] = []  # a node, the bytes it reads, the nodes to be finished after that
    for node in range(len(nodes)):
        readable = (to for low, high, to in nodes.edges[node] if not alphabet.isdisjoint(range(low, high + 1)))
        clauses += [(node, 1, {to}) for to in readable]
        clauses += [(node, 0, {nodes.starts[rule], after}) for rule, after in nodes.calls[node]]
    wanted: dict[int, list[int]] = defaultdict(list)
    for number, (_, _, needs) in enumerate(clauses):
        for need in needs:
            wanted[need].append(number)
    rests: dict[int, int] = {}
    heap = [(0, node) for node in nodes.accepting]
    heapify(heap)
    while heap:
        cost, node = heappop(heap)
        if node in rests:
            continue
        rests[node] = cost
        for head, read, needs in (clauses[number] for number in wanted[node]):
            if head not in rests and needs <= rests.keys():
                heappush(heap, (read + sum(rests[need] for need in needs), head))
    return rests
