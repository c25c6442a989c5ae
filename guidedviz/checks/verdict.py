"""A verdict tells a student the first case that fails, beside what was expected."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

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
