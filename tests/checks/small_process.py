"""A process in which answers are tried: an answer runs in a fork, and a worker of the tests is slow to fork."""

import gc
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from guidedviz.checks import guard


@contextmanager
def small_process() -> Iterator[ProcessPoolExecutor]:
    """A process that has loaded what checks need, and nothing else."""
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=prepare) as pool:
        yield pool


def prepare() -> None:
    guard.CPU_SECONDS = 0.1
    gc.freeze()
