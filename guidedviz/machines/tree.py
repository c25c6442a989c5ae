"""A pattern as a tree of four kinds of node. It speaks of characters; bytes come in with the NFA."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Range = tuple[int, int]  # both ends included
LAST = 0x10FFFF  # the last Unicode code point


@dataclass(frozen=True)
class Chars:
    """One character out of these ranges of code points; no range at all matches nothing."""

    ranges: tuple[Range, ...]


@dataclass(frozen=True)
class Concat:
    """One part after the other; no part at all is the empty text."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Either:
    """Any one of the options."""

    options: tuple[Tree, ...]


@dataclass(frozen=True)
class Repeat:
    """The part `low` to `high` times; `high` None has no end."""

    part: Tree
    low: int
    high: int | None
    position: int | None = None  # of its quantifier in the pattern's text, to name it in an error

    def __str__(self) -> str:
        known = {(0, None): "*", (1, None): "+", (0, 1): "?", (self.low, self.low): f"{{{self.low}}}"}
        high = "" if self.high is None else self.high
        sign = known.get((self.low, self.high), f"{{{self.low},{high}}}")
        return sign if self.position is None else f"{sign} at position {self.position}"


Tree = Chars | Concat | Either | Repeat


def merge_ranges(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same characters in as few ranges as can be, sorted.

    >>> merge_ranges([(5, 9), (1, 2), (3, 4), (20, 30), (6, 7)])
    ((1, 9), (20, 30))
    """
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def other_ranges(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Every character that is not in these ranges.

    >>> other_ranges([(0, 9), (20, LAST)])
    ((10, 19),)
    """
    others, start = [], 0
    for low, high in merge_ranges(ranges):
        if start < low:
            others.append((start, low - 1))
        start = high + 1
    return (*others, (start, LAST)) if start <= LAST else tuple(others)
