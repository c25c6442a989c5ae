"""Work is counted where it is done, in steps of about a microsecond. One compilation may do so much, whatever it does.

Each limit of its own says how large one thing may become; this one holds for all things of a compilation together.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from guidedviz.errors import PatternError

MOST_WORK = 2_300_000  # about a second and a half, and 200 MB


@dataclass
class Done:
    """The work of one compilation so far, and how much of it each part of the source took."""

    steps: int = 0
    part: str = ""  # the part that is worked on; "" is the rest
    began: int = 0  # the steps when the work on it began
    shares: Counter[str] = field(default_factory=Counter)

    def turn_to(self, part: str) -> None:
        """Work on another part."""
        self.shares[self.part] += self.steps - self.began
        self.began = self.steps
        self.part = part


_done: ContextVar[Done | None] = ContextVar("done", default=None)


@contextmanager
def limited_work() -> Iterator[None]:
    """Limit the work of one compilation; as a part of another one, it counts there.

    >>> with limited_work():
    ...     spend(MOST_WORK + 1)
    Traceback (most recent call last):
    guidedviz.errors.PatternError: compilation: saw more than 2,300,000 steps of work, expected a machine that fits; ...
    """
    token = None if _done.get() else _done.set(Done())
    try:
        yield
    finally:
        if token:
            _done.reset(token)


def spend(steps: int) -> None:
    """Count work; raise an error if that is too much."""
    if done := _done.get():
        done.steps += steps
        if done.steps > MOST_WORK:
            seen = f"more than {MOST_WORK:,} steps of work"
            hint = f"a smaller pattern{blame_work()}"
            raise PatternError("compilation", seen=seen, expected="a machine that fits", hint=hint)


@contextmanager
def working_on(part: str) -> Iterator[None]:
    """Count the work as that of a part of the source; a part inside of it is counted by itself.

    >>> with limited_work(), working_on("the rule a"):
    ...     spend(300)
    ...     with working_on("the rule b"):
    ...         spend(100)
    ...     print(blame_work())
    : the rule a took 75% of the work
    """
    done = _done.get()
    if done is None or not part:
        yield
        return
    outer = done.part
    done.turn_to(part)
    try:
        yield
    finally:
        done.turn_to(outer)


def blame_work() -> str:
    """The part of the source that took most of the work so far, as the end of a hint; "" if there is none."""
    done = _done.get()
    if done is None or not done.steps:
        return ""
    done.turn_to(done.part)
    named = {part: steps for part, steps in done.shares.items() if part}
    costliest = max(named, key=named.__getitem__, default="")
    percent = 100 * named.get(costliest, 0) // done.steps
    return f": {costliest} took {percent}% of the work" if percent else ""


# An animated algorithm is a generator of frozen steps that returns its result.
#
# Each step holds what is new since the step before. `drain` gives the result alone.


Result = TypeVar("Result")


def drain(steps: Generator[Any, None, Result]) -> Result:
    """The result of an algorithm without its steps.

    >>> from guidedviz.machines.regular.minimal import minimise_steps
    >>> drain(minimise_steps(gv.machines.machine_stages("ab|cb")[1]))
    DFA(3 states, 1 accepting)
    """
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result


# What can be reached from some starts, and the facts that follow from rules "if all of these hold, so does that".
#
# The second is unit resolution in linear time (Dowling and Gallier, 1984).


T = TypeVar("T", bound=Hashable)
V = TypeVar("V")


def reach(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> list[T]:
    """Everything that can be reached from the starts, in the order in which it is found, the starts first.

    >>> reach([1], lambda number: [2 * number % 7, 3 * number % 7])
    [1, 2, 3, 4, 6, 5]
    """
    return list(distances(starts, following))


def distances(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> dict[T, int]:
    """The same, each with the fewest steps from a start.

    >>> distances([1], lambda number: [2 * number % 7, 3 * number % 7])
    {1: 0, 2: 1, 3: 1, 4: 2, 6: 2, 5: 3}
    """
    found = dict.fromkeys(starts, 0)
    for one in (queue := list(found)):
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
    found: defaultdict[T, list[V]] = defaultdict(list)
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
        self[one] = number = len(self)
        self.met.append(one)
        return number


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
