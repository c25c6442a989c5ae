"""A verdict tells a student the first case that fails, beside what was expected.

A check is cases, a comparison and a sentence. `cases.py` has the form of all cases, `compare.py` the comparison, and
`function.py` judges a student's function on them; here is what the student sees.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from guidedviz.errors import shorten
from guidedviz.markup import Element, node, notice, table
from guidedviz.views.figure import Figure, show_figure

RESULT_SIGNS = {
    "right": ("✓", "right", "#0b6e4f"),
    "wrong": ("✗", "not yet right", "#b3400a"),
    "open": ("○", "not done yet", "#5a6472"),
}
FACT_CHARACTERS = 160  # characters of a value
AS_TYPED = "white-space:pre-wrap"
SENTENCES = ("because", "but")  # the facts that are not code
Facts = tuple[tuple[str, str], ...]


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
        icon, word, _ = RESULT_SIGNS[self.result]
        lines = [f"    {name:<10}  {value}" for name, value in self.facts]
        return "\n".join([f"{icon} {word}: {self.said}", *lines])

    def _repr_html_(self) -> str:
        icon, word, colour = RESULT_SIGNS[self.result]
        inside: list[Element | str] = [f" {self.said}"]
        if self.facts:
            inside.append(table((name, _write_fact(name, value)) for name, value in self.facts))
        if self.figure:
            inside.append(node("div", show_figure(self.figure), style="margin:6px 0 0"))
        return str(notice(f"{icon} {word}", colour, *inside))


def _write_fact(name: str, value: str) -> Element | str:
    """A sentence as it is, and everything else as code."""
    return value if name in SENTENCES else node("code", value, style=AS_TYPED)


NOT_BEGUN = Verdict("open", "it is empty so far; write it, then run its cell and this check")


def show(value: Any) -> str:
    """A value as a student would write it, in at most 160 characters.

    >>> show(np.array([0.5, -np.inf])), show({3, 1}), show(ValueError)
    ('[0.5, -inf]', '{1, 3}', 'a ValueError')
    """
    text = f"a {value.__name__}" if isinstance(value, type) else _spell(value)
    return shorten(text, FACT_CHARACTERS)


def _spell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, set | frozenset) and value:
        words = sorted(map(_spell, value), key=lambda text: (len(text), text))
        return "{" + ", ".join(words) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spell, value)) + "]"
    if isinstance(value, dict):
        entries = [f"{key!r}: {_spell(one)}" for key, one in value.items()]
        return "{" + ", ".join(entries) + "}"
    return repr(value)
