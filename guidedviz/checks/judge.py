"""Judges a student's function: it runs on inputs from small to large, and the verdict tells its first mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, NamedTuple

import numpy as np

from guidedviz.checks.guard import Failed, run, safe_copy
from guidedviz.checks.verdict import Verdict, show
from guidedviz.views.figure import Figure

Facts = tuple[tuple[str, str], ...]
Same = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Case:
    """Arguments and the right answer; an exception class as the answer means that it must be raised."""

    arguments: tuple[Any, ...]
    expected: Any
    why: str = ""  # one sentence for an answer that fails here
    given: Facts = ()  # the input in words; the arguments by default
    draw: Callable[[], Figure] | None = None  # a picture for an answer that fails here


class Mistake(NamedTuple):
    """What a lab says about a wrong value."""

    because: str = ""
    figure: Figure | None = None
    gave: Facts = ()  # instead of "yours gave" and "expected"


def check_function(
    answer: object,
    cases: Sequence[Case],
    same: Same = eq,
    explain: Callable[[Case, Any], Mistake] = lambda case, value: Mistake(),
) -> Verdict:
    """Judge a function on cases, smallest first.

    >>> check_function(lambda x: x, [Case((1,), 1), Case((-2,), 2, "a distance is never negative")])
    ✗ not yet right: on input 2 of 2, the smallest on which it fails
        input       -2
        yours gave  -2
        expected    2
        because     a distance is never negative
    """
    if answer is None or answer is ...:
        return Verdict("open", "write the function, run its cell, then run this one")
    if not callable(answer):
        return Verdict("wrong", "a function is expected", (("yours is", show(safe_copy(answer))),))
    outcomes = run(answer, [case.arguments for case in cases])
    if all(is_open(outcome.value) for outcome in outcomes):
        return Verdict("open", "the function returns nothing so far; if it is written, is a return missing?")
    for number, (case, (value, touched)) in enumerate(zip(cases, outcomes, strict=False), 1):
        if not touched and agrees(value, case.expected, same):
            continue
        said = f"on input {number} of {len(cases)}, the smallest on which it fails"
        given = case.given or (("input", ", ".join(map(show, case.arguments))),)
        gave: Facts = (("yours gave", show(value)), ("expected", show(case.expected)))
        if touched:
            return Verdict("wrong", said, (*given, gave[0], ("but", "it changed its input; work on a copy")))
        mistake = explain(case, value)
        because = (
            case.why if isinstance(value, Failed) else mistake.because or say_kind(value, case.expected) or case.why
        )
        reason = (("because", because),) if because else ()
        figure = mistake.figure or (case.draw and case.draw())
        return Verdict("wrong", said, (*given, *(mistake.gave or gave), *reason), figure)
    return Verdict("right", f"agrees on all {len(cases)} inputs")


def say_kind(value: Any, expected: Any) -> str:
    """Why a value is not of the kind that is expected; empty if it is.

    >>> say_kind(1, True), say_kind([0.1], np.array([0.1, 0.9])), say_kind({2}, {3})
    ('True or False is expected', 'an array of shape (2,) is expected, and this has shape (1,)', '')
    """
    if value is None:
        return "it returns None here: is a return missing on some path?"
    if isinstance(expected, bool):
        return "" if isinstance(value, bool) else "True or False is expected"
    if isinstance(expected, np.ndarray):
        return _say_shape(value, expected)
    if isinstance(expected, set):
        return say_not_ids(value)
    for kind, name in ((int, "a whole number"), (float, "a number"), (str, "a text"), (bytes, "bytes")):
        if isinstance(expected, kind):
            right = isinstance(value, int | float if kind is float else kind)
            return "" if right else f"{name} is expected".replace("bytes is", "bytes are")
    return ""


def _say_shape(value: Any, expected: np.ndarray) -> str:
    try:
        shape = np.asarray(value, dtype=float).shape
    except (TypeError, ValueError):
        return f"numbers are expected, in an array of shape {expected.shape}"
    if shape == expected.shape:
        return ""
    return f"an array of shape {expected.shape} is expected, and this has shape {shape}"


def say_not_ids(value: Any) -> str:
    """Why a value is not a collection of token ids; empty if it is one.

    >>> say_not_ids([True, False]), say_not_ids({0, 2})
    ('ids are expected, and this is a mask of True and False: np.flatnonzero(mask) gives its ids', '')
    """
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return "a set of ids is expected"
    for one in value:
        if isinstance(one, bool):
            return "ids are expected, and this is a mask of True and False: np.flatnonzero(mask) gives its ids"
        if isinstance(one, str | bytes):
            return "ids are expected, and these are pieces: the id of a piece is its place in the vocabulary"
        if not isinstance(one, int):
            return f"ids are whole numbers, and this holds {show(one)}"
    return ""


def is_open(value: Any) -> bool:
    """Does a function return nothing so far?"""
    return value is None or value is ... or (isinstance(value, Failed) and "NotImplementedError" in value.kinds)


def agrees(value: Any, expected: Any, same: Same) -> bool:
    """Is a value the expected one? A value of a wrong kind is not."""
    if isinstance(value, Failed):
        return isinstance(expected, type) and expected.__name__ in value.kinds
    try:
        return bool(same(value, expected))
    except Exception:  # a value of a wrong kind
        return False


def close(value: Any, expected: Any) -> bool:
    """Are these the same numbers, except for rounding?"""
    numbers = np.asarray(value, dtype=float)
    return numbers.shape == np.shape(expected) and np.allclose(numbers, expected, rtol=1e-5, atol=1e-9)


def same_set(value: Any, expected: Any) -> bool:
    """Are these the same ids, in any collection and order?"""
    return not say_not_ids(value) and set(value) == expected


def shortest_wrong_token(value: Any, expected: set[int], pieces: Sequence[bytes]) -> int | None:
    """The wrong id with the shortest piece; None if the value is no set of ids, or only ids without a piece are wrong.

    >>> shortest_wrong_token([0, 2], {0, 1}, [b"a", b"b", b"abc"])
    1
    """
    if say_not_ids(value):
        return None
    known = (token for token in set(value) ^ expected if 0 <= token < len(pieces))
    return min(known, key=lambda token: (len(pieces[token]), token), default=None)
