"""A progress bar for work of more than a second, by tqdm where it is installed.

Short work shows nothing and imports nothing. Nothing is shown either where nobody looks: in a headless notebook, in
another thread than the main one, and where a script's errors go to a file.
"""

import sys
import threading
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any, TypeVar

from guidedviz.extras import headless, is_missing
from guidedviz.front_end import in_notebook

PATIENCE = 1.0  # seconds without a bar
T = TypeVar("T")


class Progress:
    """The progress of some work; `tick` once per part of it.

    >>> with Progress("reading", "file", total=2) as work:
    ...     for _ in range(2):
    ...         work.tick()
    >>> work.done, work.bar
    (2, None)
    """

    def __init__(self, what: str, unit: str, total: int | None = None) -> None:
        self.what = what
        self.unit = unit
        self.total = total
        self.done = 0
        self.bar: Any = None
        self._since = monotonic()
        self._quiet = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.total = self.bar.n  # work that ends early is done: a notebook keeps a bar that is not full, in red
            self.bar.close()

    def tick(self) -> None:
        """One part is done."""
        self.done += 1
        if self._quiet:
            return
        if self.bar is not None:
            self.bar.update(1)
        elif monotonic() - self._since > PATIENCE:
            self._open()

    def _open(self) -> None:
        if not is_watched() or is_missing("tqdm"):
            self._quiet = True
            return
        from tqdm.auto import tqdm

        self.bar = tqdm(total=self.total, initial=self.done, desc=self.what, unit=f" {self.unit}", leave=False)


def is_watched() -> bool:
    """Whether somebody sees a bar: in a notebook or in a terminal, from the main thread."""
    if headless() or threading.current_thread() is not threading.main_thread():
        return False
    return in_notebook() or sys.stderr.isatty()


def with_progress(items: Iterable[T], what: str, unit: str, total: int | None = None) -> Iterator[T]:
    """The same items, with a bar that counts them.

    >>> list(with_progress("ab", "reading", "letter"))
    ['a', 'b']
    """
    with Progress(what, unit, total) as work:
        for item in items:
            yield item
            work.tick()
