"""Judges wrong answers in a process of its own: an answer runs in a fork, and a worker of the tests is slow to fork."""

import gc
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from guidedviz.checks import guard
from guidedviz.checks.verdict import Verdict
from tests.checks.answers import WRONG, check


@contextmanager
def small_process() -> Iterator[ProcessPoolExecutor]:
    """A process that has loaded what checks need, and nothing else."""
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=prepare) as pool:
        yield pool


def prepare() -> None:
    guard.CPU_SECONDS = 0.1
    gc.freeze()


def not_refused(name: str, most: int | None) -> list[str]:
    """The verdicts on the first wrong answers to a check, or on all, that do not say that they are wrong, and why."""
    answers = [answer for one, answer in WRONG if one == name]
    verdicts = [check(name, answer) for answer in answers[:most]]
    return [repr(verdict) for verdict in verdicts if not is_refused(verdict)]


def is_refused(verdict: Verdict) -> bool:
    if verdict.result != "wrong" or re.search("NameError|SyntaxError", repr(verdict)):
        return False
    facts = dict(verdict.facts)
    if "of the library" in verdict.said or {"because", "but", "error"} & facts.keys():
        return True
    shown = "Error|does not end|it looks at|it changed|right at the root"
    return re.search(shown, facts["yours gave"]) is not None
