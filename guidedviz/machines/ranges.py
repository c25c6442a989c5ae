"""Sets of characters as sorted ranges of code points, and as sequences of byte ranges in UTF-8.

`é` to `ÿ` is C3 and then A9-BF; surrogates have no bytes. The method is Ken Thompson's (Russ Cox, "Regular Expression
Matching in the Wild", 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

Range = tuple[int, int]  # both ends included
Ranges = tuple[Range, ...]  # sorted and disjoint
LAST = 0x10FFFF  # the last Unicode code point
NAME_BEGINS = 0x2000FF  # around the name of a special token: the bytes FF and FE, which no UTF-8 text has
NAME_ENDS = 0x2000FE
SINGLE_BYTES = {NAME_ENDS: 0xFE, NAME_BEGINS: 0xFF}


def merge_ranges(ranges: Iterable[Range]) -> Ranges:
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


def other_ranges(ranges: Iterable[Range]) -> Ranges:
    """Every character that is not in these ranges.

    >>> other_ranges([(0, 9), (20, LAST)])
    ((10, 19),)
    """
    others = []
    start = 0
    for low, high in merge_ranges(ranges):
        if start < low:
            others.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        others.append((start, LAST))
    return tuple(others)


def common_ranges(some: Iterable[Range], others: Iterable[Range]) -> Ranges:
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


ByteRanges = tuple[tuple[int, int], ...]  # one range per byte of a character

# In each of these all characters have the same number of bytes, and none is a surrogate.
LENGTHS = ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))


def utf8_rows(low: int, high: int) -> Iterator[ByteRanges]:
    """Sequences of byte ranges that together are exactly the characters from `low` to `high`.

    >>> for row in utf8_rows(0x7F, 0xFFF):
    ...     print(*(f"{a:02X}-{b:02X}" for a, b in row))
    7F-7F
    C2-DF 80-BF
    E0-E0 A0-BF 80-BF
    """
    for first, last in LENGTHS:
        if max(low, first) <= min(high, last):
            yield from _split_range(max(low, first), min(high, last))
    for code, byte in SINGLE_BYTES.items():
        if low <= code <= high:
            yield ((byte, byte),)


def has_bytes(ranges: Ranges) -> bool:
    """Whether some character of these ranges has bytes: surrogates have none.

    >>> has_bytes(((0xD800, 0xDFFF),)), has_bytes(((0xD800, 0xE000),))
    (False, True)
    """
    return any(True for low, high in ranges for _ in utf8_rows(low, high))


def _split_range(low: int, high: int) -> Iterator[ByteRanges]:
    """Split the range until each byte varies on its own: where lead bytes differ, the rest must be 80 to BF."""
    for tail in (0x3F, 0xFFF, 0x3FFFF):
        if low & ~tail != high & ~tail:
            if low & tail:  # the first lead byte does not have all tails
                middle = (low | tail) + 1
            elif high & tail != tail:  # the last lead byte does not have all tails
                middle = high & ~tail
            else:
                continue
            yield from _split_range(low, middle - 1)
            yield from _split_range(middle, high)
            return
    yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))


Shape = tuple[int, tuple[tuple[int, int, int, int], ...]]  # the number of new states, and the edges between them


@lru_cache(maxsize=256)
def shape_chars(ranges: Ranges) -> Shape:
    """One chain per sequence of byte ranges, with shared suffixes: the number of new states, and the edges.

    An edge is (source, low, high, target). The start is 0, the end is 1, and new states follow.

    >>> shape_chars(((0x41, 0x41), (0xE9, 0xEB)))
    (1, ((0, 65, 65, 1), (2, 169, 171, 1), (0, 195, 195, 2)))
    """
    tails: dict[ByteRanges, int] = {(): 1}
    edges: list[tuple[int, int, int, int]] = []
    for low, high in ranges:
        for row in utf8_rows(low, high):
            target = 1
            for place in range(len(row) - 1, 0, -1):
                tail = row[place:]
                if tail not in tails:
                    tails[tail] = len(tails) + 1
                    edges.append((tails[tail], *row[place], target))
                target = tails[tail]
            edges.append((0, *row[0], target))
    return len(tails) - 1, tuple(edges)
