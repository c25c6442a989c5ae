"""What can be reached from some starts, and the facts that follow from rules "if all of these hold, so does that".

The second is unit resolution in linear time (Dowling and Gallier, 1984).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from guidedviz.machines.work import spend

T = TypeVar("T", bound=Hashable)


def reach(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> list[T]:
    """Everything that can be reached from the starts, in the order in which it is found, the starts first.

    >>> reach([1], lambda number: [2 * number % 7, 3 * number % 7])
    [1, 2, 3, 4, 6, 5]
    """
    queue = list(found := dict.fromkeys(starts))
    for one in queue:
        for other in following(one):
            if other not in found:
                found[other] = None
                queue.append(other)
    return queue


def derive(clauses: Iterable[tuple[T, Iterable[T]]]) -> frozenset[T]:
    """All conclusions that can be derived; a clause is a conclusion and its premises.

    >>> sorted(derive([(1, ()), (2, (1,)), (3, (1, 2)), (4, (5,))]))
    [1, 2, 3]
    """
    conclusions: list[T] = []
    missing: list[int] = []  # premises of each clause that are not derived yet
    wanted: dict[T, list[int]] = defaultdict(list)
    waiting: list[T] = []
    for number, (conclusion, premises) in enumerate(clauses):
        needs = set(premises)
        conclusions.append(conclusion)
        missing.append(len(needs))
        for premise in needs:
            wanted[premise].append(number)
        if not needs:
            waiting.append(conclusion)
    spend(3 * len(conclusions))
    derived = set[T]()
    while waiting:
        fact = waiting.pop()
        if fact not in derived:
            derived.add(fact)
            for number in wanted.get(fact, ()):
                missing[number] -= 1
                if not missing[number]:
                    waiting.append(conclusions[number])
    return frozenset(derived)
