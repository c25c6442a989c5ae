"""The chart of the Earley machine for people: columns of items."""

from __future__ import annotations

from dataclasses import dataclass

from guidedviz.machines.earley.productions import Productions

MOST_SHOWN = 60  # symbols before a dot, and after it


@dataclass(frozen=True)
class Item:
    """A dotted production: the symbols before the dot and those after it.

    >>> print(Item("pair", "key", '":" value', 3, False, True))
    pair → key • ":" value (from 3)
    """

    rule: str  # the rule, or the part of a rule in GBNF
    before: str
    after: str
    origin: int  # bytes before it
    done: bool  # nothing must follow
    written: bool  # a rule of the grammar's text, not a part of one

    def __str__(self) -> str:
        sides = " ".join(filter(None, [self.before, "•", self.after]))
        return f"{self.rule} → {sides} (from {self.origin})"


@dataclass(frozen=True)
class Column:
    """The items at a position of the text."""

    position: int
    byte: int | None  # the one that led here
    items: tuple[Item, ...]


def spot_words(productions: Productions, spot: int) -> tuple[str, str, str]:
    """The rule or part of a rule at a spot, and the symbols before and after the dot."""
    after, first = productions.after, productions.row_at[spot]
    end = after.index(None, spot)
    left, right = max(first, spot - MOST_SHOWN), min(end, spot + MOST_SHOWN)
    before = "… " * (first < left) + productions.show(after[left:spot])
    rest = productions.show(after[spot:right]) + " …" * (right < end)
    return productions.phrases[productions.phrase_at[spot]].words, before, rest
