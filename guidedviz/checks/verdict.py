"""A check is cases, a comparison and a sentence; its verdict tells a student the first case that fails.

A case holds the arguments of a call, the answer of a reference, and what an answer that fails there has missed. The
student's function runs under guard on all cases, from small to large. A value that differs is shown beside the expected
one, with the most exact sentence that is known: of the check, of the value's kind, or of the case.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from guidedviz.checks.guard import Failed, run, safe_copy
from guidedviz.errors import shorten
from guidedviz.markup import NOTHING, node, notice, table
from guidedviz.views.figure import Figure, show_figure

SIGNS = {
    "right": ("✓", "right", "#0b6e4f"),
    "wrong": ("✗", "not yet right", "#b3400a"),
    "open": ("○", "not done yet", "#5a6472"),
}
WIDTH = 160  # characters of a value
AS_TYPED = "white-space:pre-wrap"
PROSE = ("because", "but")  # facts that are sentences, not code
KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "True or False is"),
    (int, "a whole number is"),
    ((float, int), "a number is"),
    (str, "a text is"),
    (bytes, "bytes are"),
    (dict, "a dictionary is"),
    ((list, tuple), "a list or tuple is"),
)

Facts = tuple[tuple[str, str], ...]
Trials = Mapping[str, Iterable[Any]]  # tuples of arguments, or one each, by what an answer that fails there has missed


@dataclass(frozen=True)
class Verdict:
    """The result of a check. Each fact has a name and a value: the input, what the answer gave, what was expected.

    >>> Verdict("wrong", "on the smallest of 2 inputs", (("input", "3"), ("yours gave", "4")))
    ✗ not yet right: on the smallest of 2 inputs
        input       3
        yours gave  4
    """

    result: Literal["right", "wrong", "open"]
    said: str
    facts: Facts = ()
    figure: Figure | None = None

    def __bool__(self) -> bool:
        return self.result == "right"

    def __repr__(self) -> str:
        icon, word, _ = SIGNS[self.result]
        return "\n".join([f"{icon} {word}: {self.said}", *(f"    {name:<10}  {value}" for name, value in self.facts)])

    def _repr_html_(self) -> str:
        icon, word, colour = SIGNS[self.result]
        rows = ((name, value if name in PROSE else node("code", value, style=AS_TYPED)) for name, value in self.facts)
        facts = table(rows) if self.facts else NOTHING
        drawn = node("div", show_figure(self.figure), style="margin:6px 0 0") if self.figure else NOTHING
        return str(notice(f"{icon} {word}", colour, f" {self.said}", facts, drawn))


EMPTY = Verdict("open", "it is empty so far; write it, run its cell, then run this one")


def show(value: Any) -> str:
    """A value as a student would write it, in at most 160 characters.

    >>> show(np.array([0.5, -np.inf])), show({3, 1}), show(ValueError)
    ('[0.5, -inf]', '{1, 3}', 'a ValueError')
    """
    return shorten(f"a {value.__name__}" if isinstance(value, type) else _spell(value), WIDTH)


def _spell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, set | frozenset) and value:
        return "{" + ", ".join(sorted(map(_spell, value), key=lambda text: (len(text), text))) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spell, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_spell(one)}" for key, one in value.items()) + "}"
    return repr(value)


@dataclass(frozen=True)
class Case:
    """Arguments and the right answer; an exception class as the answer means that it must be raised."""

    arguments: tuple[Any, ...]
    expected: Any
    why: str = ""  # one sentence for an answer that fails here
    given: Facts = ()  # the input in words; the arguments by default
    draw: Callable[[], Figure] | None = None  # a picture for an answer that fails here


class Mistake(NamedTuple):
    """What a check says about a wrong value."""

    because: str = ""
    figure: Figure | None = None
    gave: Facts = ()  # instead of "yours gave" and "expected"


Same = Callable[[Any, Any], bool]
Spell = Callable[[Any], str]  # a value in words
Explain = Callable[[Case, Any], Mistake | str]


def cases_of(reference: Callable[..., Any], trials: Trials, *names: str, spell: Spell = show) -> list[Case]:
    """A case per trial.

    >>> cases_of(abs, {"a distance is never negative": [-2]}, "number")
    [Case(arguments=(-2,), expected=2, why='a distance is never negative', given=(('number', '-2'),), draw=None)]
    """
    cases = []
    for why, rows in trials.items():
        for row in rows:
            arguments = row if isinstance(row, tuple) else (row,)
            given = tuple((name, spell(one)) for name, one in zip(names, arguments, strict=False) if name)
            cases.append(Case(arguments, reference(*arguments), why, given))
    return cases


def arrays(trials: Trials) -> Trials:
    """Trials whose lists of numbers are arrays."""

    def convert(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(np.array(one, float) if isinstance(one, list) else one for one in row)

    return {why: [convert(row) for row in rows] for why, rows in trials.items()}


def alike(value: Any, expected: Any) -> bool:
    """Are two values the same? Numbers may be rounded; ids may come in any collection; a list may stand for a tuple.

    >>> alike([1, [0.3]], (True, [0.1 + 0.2])), alike([1, [0.3]], (1, [0.1 + 0.2])), alike([2, 1, 2], {1, 2})
    (False, True, True)
    """
    if isinstance(expected, float | np.ndarray):
        numbers = np.asarray(value, dtype=float)
        return numbers.shape == np.shape(expected) and np.allclose(numbers, expected, rtol=1e-5, atol=1e-9)
    if isinstance(expected, set):
        typed = {(type(one), one) for one in expected}
        return not isinstance(value, str | bytes) and {(type(one), one) for one in value} == typed
    if isinstance(expected, dict):
        same_keys = isinstance(value, dict) and alike([*value], {*expected})
        return same_keys and all(alike(value[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        same_length = isinstance(value, list | tuple) and len(value) == len(expected)
        return same_length and all(map(alike, value, expected))
    return bool(value == expected) and isinstance(value, bool) == isinstance(expected, bool)


def agrees(value: Any, expected: Any, same: Same = alike) -> bool:
    """Is a value the expected one? A value of a wrong kind is not."""
    if isinstance(value, Failed):
        return isinstance(expected, type) and expected.__name__ in value.kinds
    try:
        return bool(same(value, expected))
    except Exception:  # a value of a wrong kind
        return False


def check_function(
    answer: object,
    cases: Sequence[Case],
    explain: Explain = lambda case, value: "",
    same: Same = alike,
    spell: Spell = show,
) -> Verdict:
    """Judge a function on cases, smallest first.

    >>> check_function(lambda x: x, [Case((1,), 1), Case((-2,), 2, "a distance is never negative")])
    ✗ not yet right: on input 2 of 2, the first on which it fails
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
        return Verdict("open", "it returned None on every input: write it, or look at what it returns")
    none_is_right = any(case.expected is None for case in cases)
    for number, (case, (value, touched)) in enumerate(zip(cases, outcomes, strict=False), 1):
        if not touched and agrees(value, case.expected, same):
            continue
        said = f"on input {number} of {len(cases)}, the first on which it fails"
        given = case.given or (("input", ", ".join(map(show, case.arguments))),)
        gave: Facts = (("yours gave", spell(value)), ("expected", spell(case.expected)))
        if touched:
            return Verdict("wrong", said, (*given, gave[0], ("but", "it changed its input; work on a copy")))
        try:
            found = explain(case, value)
        except Exception:  # a value of a kind that nobody expected
            found = ""
        mistake = Mistake(found) if isinstance(found, str) else found
        kind = "" if value is None and none_is_right else say_kind(value, case.expected)
        because = case.why if isinstance(value, Failed) else mistake.because or kind or case.why
        reason = (("because", because),) if because else ()
        figure = mistake.figure or (case.draw and case.draw())
        return Verdict("wrong", said, (*given, *(mistake.gave or gave), *reason), figure)
    return Verdict("right", f"agrees on all {len(cases)} inputs")


def is_open(value: Any) -> bool:
    """Does a function return nothing so far?"""
    return value is None or value is ... or (isinstance(value, Failed) and "NotImplementedError" in value.kinds)


def is_empty(answer: Any) -> bool:
    """Is an answer that is no function not begun?"""
    return answer is None or answer is ... or answer == {} or (isinstance(answer, str) and not answer.strip())


def say_kind(value: Any, expected: Any) -> str:
    """Why a value is not of the kind that is expected; empty if it is.

    >>> say_kind(1, True), say_kind([0.1], np.array([0.1, 0.9])), say_kind({2}, {3})
    ('True or False is expected', 'an array of shape (2,) is expected, and this has shape (1,)', '')
    """
    if value is None and not isinstance(expected, type):
        return "it returns None here: is a return missing on some path?"
    if isinstance(expected, set):
        return say_not_ids(value)
    if isinstance(expected, np.ndarray):
        shape = np.asarray(value, dtype=object).shape
        right = f"an array of shape {expected.shape} is expected, and this has shape {shape}"
        return "" if shape == expected.shape else right
    words = next((words for kinds, words in KINDS if isinstance(expected, kinds) and not isinstance(value, kinds)), "")
    return words and f"{words} expected"


def say_not_ids(value: Any) -> str:
    """Why a value is not a set of ids; empty if it is one.

    >>> say_not_ids([True, False]), say_not_ids({0, 2})
    ('ids are expected, and this is a mask of True and False: np.flatnonzero(mask) gives them', '')
    """
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return "a set is expected"
    mask = any(isinstance(one, bool) for one in value)
    return "ids are expected, and this is a mask of True and False: np.flatnonzero(mask) gives them" * mask


def say_difference(value: Any, expected: Iterable[Any], name: Callable[[Any], str] = show) -> str:
    """The first item that is missing or too many; empty if the value is no collection.

    >>> say_difference([1, 2], {2, 3})
    '3 is missing'
    """
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return ""
    missing = [one for one in expected if one not in value]
    if missing:
        return f"{name(missing[0])} is missing"
    return next((f"{name(one)} is too many" for one in value if one not in expected), "")
