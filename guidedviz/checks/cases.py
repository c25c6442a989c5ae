"""A case holds the arguments of a call, the answer of a reference, and what an answer that fails there has missed.

Cases are data, and all checks write them in one form: a sentence, and below it a line per trial. A line holds the
arguments as Python writes them; the reference computes the right answer.

    a distance is never negative
        -2
        0
"""

from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guidedviz.checks.compare import Same
from guidedviz.checks.values import Arguments, Function
from guidedviz.checks.verdict import Facts, show
from guidedviz.views.figure import Figure

Trials = Mapping[str, Sequence[Any]]  # tuples of arguments, by what an answer that fails there has missed
Spell = Callable[[Any], str]  # a value in words


@dataclass(frozen=True)
class Case:
    """Arguments and the right answer; an exception class as the answer means that it must be raised."""

    arguments: Arguments
    expected: Any
    why: str = ""  # one sentence for an answer that fails here
    given: Facts = ()  # the input in words; the arguments by default
    draw: Callable[[], Figure] | None = None  # a picture for an answer that fails here
    same: Same | None = field(default=None, repr=False)  # instead of the comparison of the check


def as_they_are(*arguments: Any) -> Any:
    """The arguments of a line as a tuple."""
    return arguments


def as_arrays(*arguments: Any) -> Any:
    """The arguments of a line; a list of numbers becomes an array."""
    return tuple(np.array(one, float) if isinstance(one, list) else one for one in arguments)


def read_table(text: str, build: Function = as_they_are) -> list[Any]:
    """A trial per line, built from the arguments that stand there.

    >>> read_table("'ab', 1")
    [('ab', 1)]
    """
    rows = []
    for line in text.strip().splitlines():
        row = literal_eval(line.strip())
        arguments = row if isinstance(row, tuple) else (row,)
        rows.append(build(*arguments))
    return rows


def read_trials(text: str, build: Function = as_they_are) -> dict[str, list[Any]]:
    """The trials of each sentence.

    >>> read_trials('''
    ... a distance is never negative
    ...     -2
    ...     0
    ... ''')
    {'a distance is never negative': [(-2,), (0,)]}
    """
    trials: dict[str, list[Any]] = {}
    why = ""
    for line in text.strip().splitlines():
        if line.startswith(" "):
            trials[why] += read_table(line, build)
        else:
            why = line
            trials[why] = []
    return trials


def cases_of(reference: Function, trials: Trials, *names: str, spell: Spell = show) -> list[Case]:
    """A case per trial. An argument is shown under its name; one whose name is empty is not shown.

    >>> cases_of(abs, {"a distance is never negative": [(-2,)]}, "number")
    [Case(arguments=(-2,), expected=2, why='a distance is never negative', given=(('number', '-2'),), draw=None)]
    """
    cases = []
    for why, rows in trials.items():
        for arguments in rows:
            given = [(name, spell(one)) for name, one in zip(names, arguments, strict=False) if name]
            cases.append(Case(arguments, reference(*arguments), why, tuple(given)))
    return cases
