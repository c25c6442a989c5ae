"""An algorithm that can be watched is a generator of frozen steps that also returns its result.

Each step is a delta: what is new since the step before. Who wants only the result drains the generator.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def drain(steps: Generator[Any, None, Result]) -> Result:
    """The result of an algorithm, its steps unwatched.

    >>> from guidedviz.machines.nfa import build_nfa_steps
    >>> from guidedviz.machines.regex import parse_regex
    >>> len(drain(build_nfa_steps(parse_regex("ab"))))
    3
    """
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result
