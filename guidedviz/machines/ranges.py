"""Sets of characters as sorted ranges of code points: merged, complemented, intersected."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]  # both ends included
LAST = 0x10FFFF  # the last Unicode code point
WITH_BYTES = ((0, 0xD7FF), (0xE000, LAST))  # all characters but surrogates, which UTF-8 cannot encode


def merge_ranges(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same characters in the fewest ranges, sorted.

    >>> merge_ranges([(5, 9), (1, 2), (3, 4), (20, 30), (6, 7)])
    ((1, 9), (20, 30))
    """
    merged: list[Range] = []
    for low, high in sorted(ranges):
        start, end = merged[-1] if merged else (low, low)
        if merged and low <= end + 1:
            merged[-1] = (start, max(high, end))
        else:
            merged.append((low, high))
    return tuple(merged)


def other_ranges(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Every character that is not in these ranges.

    >>> other_ranges([(0, 9), (20, LAST)])
    ((10, 19),)
    """
    others: list[Range] = []
    start = 0
    for low, high in merge_ranges(ranges):
        if start < low:
            others.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        others.append((start, LAST))
    return tuple(others)


def common_ranges(some: Iterable[Range], others: Iterable[Range]) -> tuple[Range, ...]:
    """Every character that is in both sets of ranges.

    >>> common_ranges([(0, 9), (20, 30)], [(5, 25)])
    ((5, 9), (20, 25))
    """
    return other_ranges((*other_ranges(some), *other_ranges(others)))


def byte_ranges(values: Iterable[int]) -> list[tuple[int, int]]:
    """A set of bytes as ranges, both ends included.

    >>> byte_ranges({48, 49, 50, 46})
    [(46, 46), (48, 50)]
    """
    return list(merge_ranges((value, value) for value in values))
