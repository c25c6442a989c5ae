"""The characters of a literal, a dot or a class of a regex, under re.ASCII."""

import re
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

from guidedviz.machines.ranges import Range, merge_ranges, other_ranges

DIGIT: tuple[Range, ...] = ((48, 57),)
SPACE: tuple[Range, ...] = ((9, 13), (32, 32))
WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
CATEGORIES = {
    op.CATEGORY_DIGIT: DIGIT,
    op.CATEGORY_SPACE: SPACE,
    op.CATEGORY_WORD: WORD,
    op.CATEGORY_NOT_DIGIT: other_ranges(DIGIT),
    op.CATEGORY_NOT_SPACE: other_ranges(SPACE),
    op.CATEGORY_NOT_WORD: other_ranges(WORD),
}
IGNORECASE, DOTALL, MULTILINE = map(int, (re.IGNORECASE, re.DOTALL, re.MULTILINE))  # & on an enum takes long


def _ranges_of(kind: Any, value: Any, flags: int) -> tuple[Range, ...]:
    """The characters of a literal, a dot or a class."""
    if kind is op.ANY:
        return other_ranges(() if flags & DOTALL else [(10, 10)])
    items = value if kind is op.IN else [(kind, value)]
    negated = bool(items) and items[0][0] in (op.NEGATE, op.NOT_LITERAL)
    ranges = merge_ranges(part for item in items for part in _item_ranges(*item))
    if flags & IGNORECASE:
        ranges = merge_ranges((*ranges, *_other_case(ranges)))
    return other_ranges(ranges) if negated else ranges


def _item_ranges(kind: Any, value: Any) -> tuple[Range, ...]:
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return ((value, value),)
    if kind is op.RANGE:
        return (value,)
    return () if kind is op.NEGATE else CATEGORIES[value]


def _other_case(ranges: Iterable[Range]) -> Iterator[Range]:
    """The ASCII letters of these ranges with swapped case."""
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                yield max(low, first) + shift, min(high, last) + shift
