"""An answer on trial: it runs once on each input, is stopped if its loops do not end, and its first mistake is told.

What watches it sees lines and calls of Python. A loop inside one call of C, as in `sum(iter(int, 1))`, is not seen, and
an `except:` without a class, or of BaseException, catches what stops the loop around it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from types import FrameType
from typing import Any, NamedTuple

from guidedviz.checks.verdict import Case, Same, Verdict, agrees, check_function, show
from guidedviz.views.figure import Figure

MOST_EVENTS = 200_000  # lines and calls of Python for one input, or items of an iterator; more is taken for no end


class Told(NamedTuple):
    """What there is to say of a mistake: the input by its names, why it is one, and a picture."""

    given: tuple[tuple[str, str], ...]
    reason: str
    figure: Figure | None = None


def check_cases(answer: Any, cases: Sequence[Case], same: Same, tell: Callable[[Case, Any], Told]) -> Verdict:
    """A function against cases, smallest first; of the first on which it is wrong, `tell` says more.

    >>> check_cases(lambda x: x, [Case((1,), 1), Case((-2,), 2)], lambda a, b: a == b,
    ...     lambda case, value: Told((("x", show(case.arguments[0])),), "a distance is never negative"))
    ✗ not yet right: on input 2 of 2, the smallest on which it fails
        x           -2
        yours gave  -2
        expected    2
        because     a distance is never negative
    """
    if not callable(answer):
        return check_function(answer, cases, same)
    gave: list[Any] = []

    def tried(*given: Any) -> Any:
        gave.append(run_briefly(answer, given))
        return gave[-1]

    verdict = check_function(tried, cases, same)
    if verdict.result != "wrong" or "but" in dict(verdict.facts):  # it changed its input
        return verdict
    wrong = (pair for pair in zip(cases, gave, strict=True) if not agrees(pair[1], pair[0].expected, same))
    if (first := next(wrong, None)) is None:  # a right number that no list can be made of
        return verdict
    case, value = first
    told = tell(case, value)
    why = () if isinstance(value, Exception) else (("because", told.reason),)
    facts = (*told.given, ("yours gave", show(value)), ("expected", show(case.expected)), *why)
    return Verdict("wrong", verdict.said, facts, told.figure)


def run_briefly(answer: Callable[..., Any], given: tuple[Any, ...], most: int = MOST_EVENTS) -> Any:
    """What an answer gives, or the exception that it raises; a loop or an iterator without end is stopped.

    >>> run_briefly(divmod, (7, 2)), run_briefly(lambda: [0 for byte in iter(int, 1)], (), 1000)
    ((3, 1), RuntimeError('it does not end; does every round of its loop bring it further?'))
    """
    left, before = count(most, -1), sys.gettrace()

    def watch(frame: FrameType, event: str, what: object) -> Any:
        if next(left) < 0:
            raise _Endless
        return watch

    sys.settrace(watch)
    try:
        return _read(answer(*given), most)
    except _Endless:
        return RuntimeError("it does not end; does every round of its loop bring it further?")
    except Exception as error:  # a student's crash is an answer
        return error
    finally:
        sys.settrace(before)


def _read(value: Any, most: int) -> Any:
    """A value; of an iterator its items, as a generator runs only when it is read."""
    if not isinstance(value, Iterator):
        return value
    items = list(islice(value, most))
    if len(items) == most:
        raise _Endless
    return items


class _Endless(BaseException):
    """No Exception, so that an answer's own `except Exception` lets it through."""
