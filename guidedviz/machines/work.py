"""Work is counted where it is done, in steps of about a microsecond. One compilation may do so much, whatever it does.

Each limit of its own says how large one thing may become; this one holds for all things of a compilation together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from guidedviz.errors import PatternError

MOST_WORK = 2_300_000  # about a second and a half, and 200 MB
_done: ContextVar[list[int] | None] = ContextVar("done", default=None)


@contextmanager
def limited_work() -> Iterator[None]:
    """Limit the work of one compilation; as a part of another one, it counts there.

    >>> with limited_work():
    ...     spend(MOST_WORK + 1)
    Traceback (most recent call last):
    guidedviz.errors.PatternError: compilation: saw more than 2,300,000 steps of work, expected a machine that fits; ...
    """
    token = None if _done.get() else _done.set([0])
    try:
        yield
    finally:
        if token:
            _done.reset(token)


def spend(steps: int) -> None:
    """Count work; raise an error if that is too much."""
    if done := _done.get():
        done[0] += steps
        if done[0] > MOST_WORK:
            seen = f"more than {MOST_WORK:,} steps of work"
            raise PatternError("compilation", seen=seen, expected="a machine that fits", hint="a smaller pattern")
