"""The characters of a literal, a dot or a class of a regex, under re.ASCII.

Python's parser gives `[a-c\\d]` as [(RANGE, (97, 99)), (CATEGORY, CATEGORY_DIGIT)]: each item has its ranges.
"""

import re
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

from guidedviz.machines.ranges import Range, merge_ranges, other_ranges

DIGIT_RANGES: tuple[Range, ...] = ((48, 57),)
SPACE_RANGES: tuple[Range, ...] = ((9, 13), (32, 32))
WORD_RANGES: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
NEWLINE: tuple[Range, ...] = ((10, 10),)
CATEGORY_RANGES = {
    op.CATEGORY_DIGIT: DIGIT_RANGES,
    op.CATEGORY_SPACE: SPACE_RANGES,
    op.CATEGORY_WORD: WORD_RANGES,
    op.CATEGORY_NOT_DIGIT: other_ranges(DIGIT_RANGES),
    op.CATEGORY_NOT_SPACE: other_ranges(SPACE_RANGES),
    op.CATEGORY_NOT_WORD: other_ranges(WORD_RANGES),
}
# Plain ints: & on an enum takes ten times as long.
IGNORECASE = int(re.IGNORECASE)
DOTALL = int(re.DOTALL)
MULTILINE = int(re.MULTILINE)


def ranges_of(kind: Any, value: Any, flags: int) -> tuple[Range, ...]:
    """The characters of an item of Python's parser that reads one character."""
    if kind is op.ANY:
        return other_ranges(() if flags & DOTALL else NEWLINE)
    items = value if kind is op.IN else [(kind, value)]
    negated = bool(items) and items[0][0] in (op.NEGATE, op.NOT_LITERAL)
    found: list[Range] = []
    for item in items:
        found.extend(_ranges_of_item(*item))
    if flags & IGNORECASE:
        found.extend(list(_other_case(found)))
    return other_ranges(found) if negated else merge_ranges(found)


def _ranges_of_item(kind: Any, value: Any) -> tuple[Range, ...]:
    if kind is op.NEGATE:
        return ()
    if kind is op.CATEGORY:
        return CATEGORY_RANGES[value]
    return (value,) if kind is op.RANGE else ((value, value),)


def _other_case(ranges: Iterable[Range]) -> Iterator[Range]:
    """The ASCII letters of these ranges with swapped case."""
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            start = max(low, first)
            end = min(high, last)
            if start <= end:
                yield start + shift, end + shift
