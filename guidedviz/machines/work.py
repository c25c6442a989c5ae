"""Work is counted where it is done, in steps of about a microsecond. One compilation may do so much, whatever it does.

The other limits say how large one thing may become; this one holds for all things of a compilation together.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from guidedviz.errors import PatternError
from guidedviz.machines import limits


@dataclass
class Done:
    """The work of one compilation so far, and how much of it each part of the source took."""

    most: int
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
    """Limit the work of one compilation, which collects no garbage; as a part of another one, it counts there.

    >>> with limited_work():
    ...     spend(limits.WORK + 1)
    Traceback (most recent call last):
    guidedviz.errors.PatternError: compilation: saw more than 2,300,000 steps of work, expected a machine that fits; ...
    """
    if _done.get():
        yield
        return
    token = _done.set(Done(limits.WORK))
    collects = gc.isenabled()
    gc.disable()  # much is made, and little of it is garbage
    try:
        yield
    finally:
        _done.reset(token)
        if collects:
            gc.enable()


def spend(steps: int) -> None:
    """Count work; raise an error if that is too much."""
    done = _done.get()
    if done:
        done.steps += steps
        if done.steps > done.most:
            seen = f"more than {done.most:,} steps of work"
            hint = f"a smaller pattern{blame_work()}"
            raise PatternError("compilation", seen=seen, expected="a machine that fits", hint=hint)


@contextmanager
def trying(steps: int) -> Iterator[None]:
    """Limit the work of an attempt, so that enough is left for what is done instead.

    >>> from contextlib import suppress
    >>> with limited_work(), suppress(PatternError), trying(100):
    ...     spend(101)
    """
    done = _done.get()
    if done is None:
        yield
        return
    most = done.most
    done.most = min(most, done.steps + steps)
    try:
        yield
    finally:
        done.most = most


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
