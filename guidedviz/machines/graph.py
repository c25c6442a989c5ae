"""What can be reached from some starts, and what can be derived from some facts.

`derive` is `reach` for edges with several sources: a clause "if all of these hold, so does that" is unit resolution in
linear time (Dowling and Gallier, 1984).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from guidedviz.machines.work import spend

T = TypeVar("T", bound=Hashable)
V = TypeVar("V")


def reach(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> dict[T, int]:
    """Everything that can be reached from the starts, in the order in which it is found, with the fewest steps to it.

    >>> reach([1], lambda number: [2 * number % 7, 3 * number % 7])
    {1: 0, 2: 1, 3: 1, 4: 2, 6: 2, 5: 3}
    """
    found = dict.fromkeys(starts, 0)
    queue = list(found)
    for one in queue:  # it grows
        for other in following(one):
            if other not in found:
                found[other] = found[one] + 1
                queue.append(other)
    return found


def grouped(pairs: Iterable[tuple[T, V]]) -> defaultdict[T, list[V]]:
    """The values of each key, in their order.

    >>> dict(grouped([("a", 1), ("b", 2), ("a", 3)]))
    {'a': [1, 3], 'b': [2]}
    """
    found = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return found


class Numbers(dict[T, int]):
    """The number of each thing, in the order in which they are first asked for; `met` lists them, and grows.

    >>> numbers = Numbers("a")
    >>> numbers["b"], numbers["a"], numbers.met
    (1, 0, ['a', 'b'])
    """

    def __init__(self, first: T) -> None:
        self.met = list[T]()
        self.__missing__(first)

    def __missing__(self, one: T) -> int:
        number = len(self)
        self[one] = number
        self.met.append(one)
        return number


def derive(clauses: Iterable[tuple[T, Iterable[T]]]) -> frozenset[T]:
    """All conclusions that can be derived; a clause is a conclusion and its premises.

    >>> sorted(derive([(1, ()), (2, (1,)), (3, (1, 2)), (4, (5,))]))
    [1, 2, 3]
    """
    conclusions = []
    missing = []  # premises of each clause that are not derived yet
    wanted = defaultdict(list)
    waiting = []
    for number, (conclusion, premises) in enumerate(clauses):
        needs = set(premises)
        conclusions.append(conclusion)
        missing.append(len(needs))
        for premise in needs:
            wanted[premise].append(number)
        if not needs:
            waiting.append(conclusion)
    spend(3 * len(conclusions))
    derived = set()
    while waiting:
        fact = waiting.pop()
        if fact not in derived:
            derived.add(fact)
            for number in wanted.get(fact, ()):
                missing[number] -= 1
                if not missing[number]:
                    waiting.append(conclusions[number])
    return frozenset(derived)
