"""Machines as sets of texts: what either accepts, what both accept, what only one accepts (Rabin and Scott, 1959).

Two machines read the same text side by side. A state of both is a pair; a machine that has died has None as its state.
Every result is minimal and numbered as always, so that `==` compares texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.compare import compare_machines
from guidedviz.machines.dfa import DFA, MOST_STATES, merge_edges
from guidedviz.machines.machine import Machine
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import Edge, too_large
from guidedviz.machines.readable import RANKS, Reading, read_on, text_of
from guidedviz.machines.regex import regex

Pair = tuple[int | None, int | None]
Wanted = Callable[[bool, bool], bool]  # whether the one accepts a text, whether the other does

NOTHING = DFA(((),), frozenset())
MOST_PAIRS = 100_000  # of two machines that are compared
MOST_EDGES = 1_000_000  # looked at to build a product or to count
MOST_LENGTH = 1_000  # of texts that are counted: Python prints no number of more than 4,300 digits


def union(one: DFA, other: DFA) -> DFA:
    """The texts that at least one of the two accepts.

    >>> union(regex("a+"), regex("b?")) == regex("a*|b")
    True
    """
    return product(one, other, lambda in_one, in_other: in_one or in_other)


def intersection(one: DFA, other: DFA) -> DFA:
    """The texts that both accept.

    >>> intersection(regex("(aa)*"), regex("(aaa)*")) == regex("(a{6})*")
    True
    """
    return product(one, other, lambda in_one, in_other: in_one and in_other)


def difference(one: DFA, other: DFA) -> DFA:
    """The texts that the first accepts and the other does not.

    >>> difference(regex("[ab]*"), regex("a*|b*")) == regex("(a+b|b+a)[ab]*")
    True
    """
    return product(one, other, lambda in_one, in_other: in_one and not in_other)


def complement(one: DFA) -> DFA:
    """The texts that it does not accept. Bytes that are no UTF-8 are no text, here as everywhere.

    >>> complement(regex("a*")) == regex("(?s).*[^a].*")
    True
    """
    return difference(regex("(?s:.*)"), one)


def product(one: DFA, other: DFA, wanted: Wanted) -> DFA:
    """Both side by side; `wanted` says of a text whether it is one of the result."""
    _check_machines(one, other)
    live = {kind for kind in ((True, True), (True, False), (False, True)) if _may_become(wanted, *kind)}
    numbers: dict[Pair, int] = {(0, 0): 0}
    edges: list[tuple[Edge, ...]] = []
    looked_at = 0
    for pair in (queue := list(numbers)):
        row = []
        for low, high, target in pair_moves(one, other, pair):
            if (target[0] is not None, target[1] is not None) in live:
                if target not in numbers:
                    numbers[target] = len(numbers)
                    queue.append(target)
                row.append((low, high, numbers[target]))
        edges.append(merge_edges(row))
        looked_at += len(row)
        if len(numbers) > MOST_STATES or looked_at > MOST_EDGES:
            raise too_large(f"a product of more than {MOST_STATES:,} states or {MOST_EDGES:,} edges")
    accepting = (
        number for pair, number in numbers.items() if wanted(pair[0] in one.accepting, pair[1] in other.accepting)
    )
    return minimise(DFA(tuple(edges), frozenset(accepting)))


def _check_machines(*machines: object) -> None:
    for machine in machines:
        if not isinstance(machine, DFA):
            raise SettingError(
                "machines", seen=type(machine).__name__, expected="a finite machine", hint="gv.regex(text)"
            )


def _may_become(wanted: Wanted, one_lives: bool, other_lives: bool) -> bool:
    """Is there still a text to be wanted, where a machine that has died accepts nothing?"""
    return any(wanted(a, b) for a in {False, one_lives} for b in {False, other_lives})


def pair_moves(one: DFA, other: DFA, pair: Pair) -> Iterator[tuple[int, int, Pair]]:
    """Lowest byte, highest byte, the next pair: the ranges of both rows, cut where either begins or ends."""
    first = one.edges[pair[0]] if pair[0] is not None else ()
    second = other.edges[pair[1]] if pair[1] is not None else ()
    cuts = sorted({cut for low, high, _ in (*first, *second) for cut in (low, high + 1)})
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


def is_empty(one: Machine) -> bool:
    """Does it accept no text at all?

    >>> is_empty(intersection(regex("a+"), regex("b+"))), is_empty(regex(""))
    (True, False)
    """
    return shortest(one) is None


def shortest(one: Machine) -> bytes | None:
    """The shortest text that it accepts, of several the one that reads best; None if there is none.

    >>> shortest(regex("[0-9]{4}-x?")), shortest(regex("[é-🙂]")), shortest(regex(""))
    (b'0000-', b'\\xc3\\xa9', b'')
    """
    return shortest_difference(one, NOTHING)


def shortest_difference(one: Machine, other: Machine) -> bytes | None:
    """The shortest text that exactly one of the two accepts, the best to read of several; None if they are equal.

    Of machines that are not both finite no search may ever end: then an error says how far it came.

    >>> shortest_difference(regex("[0-9]+"), regex("[0-9]*"))
    b''
    >>> shortest_difference(regex("[^a]b"), regex("[^a]c"))
    b'bb'
    """
    if not (isinstance(one, DFA) and isinstance(other, DFA)):
        return _search_difference(one, other)
    level: dict[Pair, Reading] = {(0, 0): (0, b"")}  # the best way to each pair
    seen = set(level)
    while level:
        found = [best for pair, best in level.items() if (pair[0] in one.accepting) != (pair[1] in other.accepting)]
        if found:
            return text_of(min(found))
        level = _next_level(one, other, level, seen)
        seen.update(level)
        if len(seen) > MOST_PAIRS:
            raise too_large(f"more than {MOST_PAIRS:,} pairs of states to compare")
    return None


def _search_difference(one: Machine, other: Machine) -> bytes | None:
    found = compare_machines(one, other)
    if found.text is None and not found.whole:
        hint = "gv.compare_machines says how far it came"
        raise PatternError("machines", seen=str(found), expected="a difference, or no states left", hint=hint)
    return found.text


def _next_level(one: DFA, other: DFA, level: dict[Pair, Reading], seen: set[Pair]) -> dict[Pair, Reading]:
    """The best way to every pair that is one byte further and was not met before."""
    following: dict[Pair, Reading] = {}
    for pair, way in level.items():
        for low, high, target in pair_moves(one, other, pair):
            if target not in seen:
                reading = read_on(way, min(RANKS[low : high + 1]))
                following[target] = min(reading, following.get(target, reading))
    return following


def count_texts(one: DFA, length: int) -> int:
    """How many texts of exactly so many bytes it accepts.

    >>> count_texts(regex("[0-9]{4}"), 4), count_texts(regex("[ab]*"), 10), count_texts(regex("é|ab"), 2)
    (10000, 1024, 2)
    """
    _check_machines(one)
    if not (isinstance(length, int) and 0 <= length <= MOST_LENGTH):
        raise SettingError(
            "count_texts, length", seen=repr(length), expected=f"a whole number from 0 to {MOST_LENGTH:,}"
        )
    ways, looked_at = {one.initial: 1}, 0
    for _ in range(length):
        following: dict[int, int] = defaultdict(int)
        looked_at += sum(len(one.edges[state]) for state in ways)
        if looked_at > MOST_EDGES:
            raise too_large(f"more than {MOST_EDGES:,} edges to count texts of {length:,} bytes")
        for state, count in ways.items():
            for low, high, target in one.edges[state]:
                following[target] += count * (high - low + 1)
        ways = following
    return sum(count for state, count in ways.items() if state in one.accepting)
