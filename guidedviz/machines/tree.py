"""A pattern as a tree of few kinds of node. It speaks of characters; bytes come in with the NFA."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from guidedviz.errors import PatternError

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


@dataclass(frozen=True)
class Net:
    """Places joined by parts: every way from place 0 to the last place is a text; each part stands there once."""

    places: int
    edges: tuple[tuple[int, Tree, int], ...]  # from, part, to


@dataclass(frozen=True)
class Call:
    """A text of the rule of this name."""

    name: str
    span: tuple[int, int] | None = None  # where the name stands in the grammar's text


Tree = Chars | Concat | Either | Repeat | Net | Call
EMPTY: Tree = Concat(())
NOTHING: Tree = Chars(())


def literal(text: str) -> Tree:
    """Exactly this text."""
    return concat(*(Chars(((ord(char), ord(char)),)) for char in text))


def concat(*parts: Tree) -> Tree:
    """One after the other, flat; with a part that matches nothing the whole matches nothing.

    >>> concat(literal("a"), EMPTY, concat(literal("b"), literal("c"))) == literal("abc")
    True
    """
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Concat) else (part,))]
    if NOTHING in flat:
        return NOTHING
    return flat[0] if len(flat) == 1 else Concat(tuple(flat))


def either(*options: Tree) -> Tree:
    """Any of the options, flat; single characters become one class.

    >>> either(literal("a"), NOTHING, either(literal("b"), literal("xy"))).options
    (Chars(ranges=((97, 98),)), Concat(parts=(Chars(ranges=((120, 120),)), Chars(ranges=((121, 121),)))))
    """
    flat = [inner for option in options for inner in (option.options if isinstance(option, Either) else (option,))]
    chars = Chars(merge_ranges(pair for option in flat if isinstance(option, Chars) for pair in option.ranges))
    others = [option for option in flat if not isinstance(option, Chars)]
    kept = ([chars] if chars != NOTHING else []) + others
    return kept[0] if len(kept) == 1 else Either(tuple(kept)) if kept else NOTHING


def no_rules(call: Call) -> PatternError:
    """The error of a pattern that must be flat and calls a rule."""
    return PatternError("pattern", seen=f"a call of the rule {call.name}", expected="a pattern that calls no rule")


def optional(part: Tree) -> Tree:
    """The part, or nothing at all."""
    return EMPTY if part in (EMPTY, NOTHING) else Repeat(part, 0, 1)


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


def common_ranges(some: Iterable[Range], others: Iterable[Range]) -> tuple[Range, ...]:
    """Every character that is in both.

    >>> common_ranges([(0, 9), (20, 30)], [(5, 25)])
    ((5, 9), (20, 25))
    """
    return other_ranges((*other_ranges(some), *other_ranges(others)))
