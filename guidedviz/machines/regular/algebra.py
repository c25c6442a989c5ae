"""Set operations on two machines by the product construction: pairs of states (Rabin and Scott, 1959).

Every machine that the operations return is minimal, so `==` compares languages.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from guidedviz.errors import expect
from guidedviz.machines.graph import Numbers
from guidedviz.machines.regular.dfa import DFA, MOST_STATES, merge_edges
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import Edge
from guidedviz.machines.regular.size import too_large
from guidedviz.machines.work import spend

Pair = tuple[Any, Any]  # a state of each machine; None is dead
MOST_EDGES = 1_000_000  # visited in a product


def intersection(one: DFA, other: DFA) -> DFA:
    """The texts that both machines accept.

    >>> intersection(gv.regex("(aa)*"), gv.regex("(aaa)*")) == gv.regex("(a{6})*")
    True
    """
    return product(one, other, both=True)


def difference(one: DFA, other: DFA) -> DFA:
    """The texts that the first machine accepts and the second does not.

    >>> difference(gv.regex("[ab]*"), gv.regex("a*|b*")) == gv.regex("(a+b|b+a)[ab]*")
    True
    """
    return product(one, other, both=False)


def product(one: DFA, other: DFA, both: bool) -> DFA:
    """The product machine, of the texts that both machines accept or that only the first one accepts."""
    for machine in (one, other):
        expect(machine, DFA, "machines", "a finite machine", "gv.regex(text)")
    numbers = Numbers[Pair]((0, 0))
    edges: list[tuple[Edge, ...]] = []
    looked_at = 0
    for pair in numbers.met:
        row = []
        for low, high, target in pair_moves(one, other, pair):
            if target[0] is not None and (target[1] is not None or not both):
                row.append((low, high, numbers[target]))
        edges.append(merge_edges(row))
        looked_at += len(row)
        spend(2 + len(row))
        if len(numbers) > MOST_STATES or looked_at > MOST_EDGES:
            raise too_large(f"a product of more than {MOST_STATES:,} states or {MOST_EDGES:,} edges")
    ends = (number for (a, b), number in numbers.items() if a in one.accepting and (b in other.accepting) == both)
    return minimise(DFA(tuple(edges), frozenset(ends)))


def pair_moves(one: DFA, other: DFA, pair: Pair) -> Iterator[tuple[int, int, Pair]]:
    """Lowest byte, highest byte, next pair: the edges of both states, split at every start and end of an edge."""
    first = one.edges[pair[0]] if pair[0] is not None else ()
    second = other.edges[pair[1]] if pair[1] is not None else ()
    cuts = sorted({cut for low, high, _ in (*first, *second) for cut in (low, high + 1)})
    spend(1 + 3 * len(cuts))
    at = beside = 0
    for low, after in pairwise(cuts):
        while at < len(first) and first[at][1] < low:
            at += 1
        while beside < len(second) and second[beside][1] < low:
            beside += 1
        target = first[at][2] if at < len(first) and first[at][0] <= low else None
        partner = second[beside][2] if beside < len(second) and second[beside][0] <= low else None
        if (target, partner) != (None, None):
            yield low, after - 1, (target, partner)
