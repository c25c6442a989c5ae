"""Set operations on two machines by the product construction: pairs of states (Rabin and Scott, 1959).

Every machine that the operations return is minimal, so `==` compares languages.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from guidedviz.errors import expect
from guidedviz.machines import limits
from guidedviz.machines.graph import Numbers
from guidedviz.machines.regular.dfa import DFA, merge_edges
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import Edge
from guidedviz.machines.regular.size import machine_too_large
from guidedviz.machines.work import spend

Pair = tuple[Any, Any]  # a state of each machine; None is dead


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
    rows: list[tuple[Edge, ...]] = []
    accepting = set[int]()
    visited = 0
    for pair in numbers.met:  # it grows
        if pair[0] in one.accepting and (pair[1] in other.accepting) == both:
            accepting.add(len(rows))
        row: list[Edge] = []
        for low, high, target in pair_moves(one, other, pair):
            if None not in (target if both else target[:1]):
                row.append((low, high, numbers[target]))
        rows.append(merge_edges(row))
        visited += len(row)
        spend(2 + len(row))
        if len(numbers) > limits.DFA_STATES or visited > limits.PRODUCT_EDGES:
            seen = f"a product of more than {limits.DFA_STATES:,} states or {limits.PRODUCT_EDGES:,} edges"
            raise machine_too_large(seen)
    return minimise(DFA(tuple(rows), frozenset(accepting)))


def pair_moves(one: DFA, other: DFA, pair: Pair) -> Iterator[tuple[int, int, Pair]]:
    """Lowest byte, highest byte, next pair: the edges of both states, split at every start and end of an edge."""
    first = one.edges[pair[0]] if pair[0] is not None else ()
    second = other.edges[pair[1]] if pair[1] is not None else ()
    cuts = sorted({cut for low, high, _ in (*first, *second) for cut in (low, high + 1)})
    spend(1 + 3 * len(cuts))
    targets = zip(_targets_at(first, cuts), _targets_at(second, cuts), strict=True)
    for (low, after), target in zip(pairwise(cuts), targets, strict=False):
        if target != (None, None):
            yield low, after - 1, target


def _targets_at(edges: Sequence[Edge], places: Iterable[int]) -> Iterator[int | None]:
    """The target of the edge at each of these places, which are sorted; None where there is no edge."""
    number = 0
    for place in places:
        while number < len(edges) and edges[number][1] < place:
            number += 1
        if number < len(edges) and edges[number][0] <= place:
            yield edges[number][2]
        else:
            yield None
