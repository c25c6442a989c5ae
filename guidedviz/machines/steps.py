"""An animated algorithm is a generator of frozen steps that returns its result.

Each step holds what is new since the step before. `drain` gives the result alone.
"""

from collections.abc import Generator
from typing import Any, TypeVar

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
