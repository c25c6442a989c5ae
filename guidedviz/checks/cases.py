"""A case holds the arguments of a call, the answer of a reference, and what an answer that fails there has missed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.checks.verdict import Facts, show
from guidedviz.views.figure import Figure

Trials = Mapping[str, Iterable[Any]]  # tuples of arguments, or one each, by what an answer that fails there has missed


@dataclass(frozen=True)
class Case:
    """Arguments and the right answer; an exception class as the answer means that it must be raised."""

    arguments: tuple[Any, ...]
    expected: Any
    why: str = ""  # one sentence for an answer that fails here
    given: Facts = ()  # the input in words; the arguments by default
    draw: Callable[[], Figure] | None = None  # a picture for an answer that fails here


Spell = Callable[[Any], str]  # a value in words


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
