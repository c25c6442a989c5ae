"""Answers for students: is it right, on which input is it wrong, or is it not done yet.

A check runs the student's own code on inputs from small to large and stops at the first that disagrees. It never
raises for an answer, however wrong: a crash is shown with its input, as a wrong value would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np

from guidedviz.views.figure import Figure, show_figure

SIGNS = {
    "right": ("✓", "right", "#0b6e4f"),
    "wrong": ("✗", "not yet right", "#b3400a"),
    "open": ("○", "not done yet", "#5a6472"),
}
REASONS = ("because", "but")

Same = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Verdict:
    """What a check found. `facts` are named lines: the input, what the answer gave, what was expected.

    >>> Verdict("wrong", "on the smallest of 2 inputs", (("input", "3"), ("yours gave", "4")))
    ✗ not yet right: on the smallest of 2 inputs
        input       3
        yours gave  4
    """

    result: Literal["right", "wrong", "open"]
    said: str
    facts: tuple[tuple[str, str], ...] = ()
    figure: Figure | None = None

    def __bool__(self) -> bool:
        return self.result == "right"

    def __repr__(self) -> str:
        icon, word, _ = SIGNS[self.result]
        return "\n".join([f"{icon} {word}: {self.said}", *(f"    {name:<10}  {value}" for name, value in self.facts)])

    def _repr_html_(self) -> str:
        icon, word, colour = SIGNS[self.result]
        rows = "".join(
            f"<tr><td style='text-align:left;padding:1px 14px 1px 0;opacity:.75'>{escape(name)}</td>"
            f"<td style='text-align:left;padding:1px 0'>{_cell(name, value)}</td></tr>"
            for name, value in self.facts
        )
        drawn = f"<div style='margin:6px 0 0'>{show_figure(self.figure)}</div>" if self.figure else ""
        return (
            f"<div role='status' style='border-left:5px solid {colour};padding:6px 12px;margin:4px 0;max-width:60em'>"
            f"<span style='background:{colour};color:#fff;border-radius:3px;padding:1px 8px;font-weight:600'>"
            f"{icon} {word}</span> {escape(self.said)}"
            + (f"<table style='margin:6px 0 0'>{rows}</table>" if rows else "")
            + drawn
            + "</div>"
        )


def _cell(name: str, value: str) -> str:
    """A value as code, a reason as prose."""
    return escape(value) if name in REASONS else f"<code style='white-space:pre-wrap'>{escape(value)}</code>"


@dataclass(frozen=True)
class Case:
    """Arguments and the right answer; an exception class as the answer means that it has to be raised."""

    arguments: tuple[Any, ...]
    expected: Any
    why: str = ""  # one sentence for whoever fails here


# -- comparing -----------------------------------------------------------------------------------------------------


def check_function(answer: object, cases: Sequence[Case], same: Same) -> Verdict:
    """A function against cases, smallest first.

    >>> check_function(lambda x: abs(x), [Case((1,), 1), Case((-2,), -2)], lambda a, b: a == b)
    ✗ not yet right: on input 2 of 2, the smallest on which it fails
        input       -2
        yours gave  2
        expected    -2
    """
    if answer is None or answer is ...:
        return Verdict("open", "write the function, run its cell, then run this one")
    if not callable(answer):
        return Verdict("wrong", "a function is asked for", (("yours is", show(answer)),))
    gave = [call(answer, case.arguments) for case in cases]
    if all(value is None or value is ... or isinstance(value, NotImplementedError) for value, _ in gave):
        return Verdict("open", "the function returns nothing so far; if you did write it, is a return missing?")
    for number, (case, (value, touched)) in enumerate(zip(cases, gave, strict=True), 1):
        if touched or not agrees(value, case.expected, same):
            return _failure(f"on input {number} of {len(cases)}, the smallest on which it fails", case, value, touched)
    return Verdict("right", f"agrees on all {len(cases)} inputs")


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, bool]:
    """What a function gives, or the exception it raises; and whether it changed what it was given."""
    given = deepcopy(arguments)
    try:
        value = function(*given)
        if isinstance(value, Iterable) and not isinstance(value, Mapping | Sequence | set | frozenset | np.ndarray):
            value = list(value)
    except Exception as error:  # a student's crash is an answer
        value = error
    return value, any(_differs(a, b) for a, b in zip(arguments, given, strict=True))


def _differs(before: Any, after: Any) -> bool:
    try:
        return not np.array_equal(before, after) if isinstance(before, np.ndarray) else bool(before != after)
    except Exception:  # values that cannot be compared were certainly changed
        return True


def agrees(value: Any, expected: Any, same: Same) -> bool:
    """Is a value what was expected? Of whatever kind it is, there is an answer."""
    if isinstance(expected, type) and issubclass(expected, Exception):
        return isinstance(value, expected)
    try:
        return not isinstance(value, Exception) and bool(same(value, expected))
    except Exception:  # a value of a wrong kind
        return False


def _failure(said: str, case: Case, value: Any, touched: bool) -> Verdict:
    facts = [("input", ", ".join(show(a) for a in case.arguments)), ("yours gave", show(value))]
    if touched and not isinstance(value, Exception):
        return Verdict("wrong", said, (*facts, ("but", "it changed its input; work on a copy")))
    facts += [("expected", show(case.expected))]
    return Verdict("wrong", said, (*facts, *([("because", case.why)] if case.why else [])))


def show(value: Any) -> str:
    """A value as a student would write it, short.

    >>> show(np.array([0.5, -np.inf])), show({3, 1}), show(ValueError("no")), show(ValueError)
    ('[0.5, -inf]', '{1, 3}', 'ValueError: no', 'a ValueError')
    """
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}".rstrip(": ")
    if isinstance(value, type):
        return f"a {value.__name__}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    try:
        return _cut(_spell(value))
    except Exception:  # a student's class whose repr fails
        return f"a {type(value).__name__}"


def _spell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.4g}"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(map(_spell, sorted(value))) + "}" if value else "set()"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spell, value)) + "]"
    return repr(value)


def _cut(text: str, width: int = 160) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def close(value: Any, expected: Any) -> bool:
    """Are these the same numbers, but for rounding?"""
    numbers = np.asarray(value, dtype=float)
    return numbers.shape == np.shape(expected) and np.allclose(numbers, expected, rtol=1e-6, atol=1e-9)


def same_set(value: Any, expected: Any) -> bool:
    """Are these the same ids, whatever they are kept in?"""
    return isinstance(value, Iterable) and {int(token) for token in value} == expected
