"""A range of characters as sequences of byte ranges in UTF-8; surrogates have no bytes.

`é` to `ÿ` is C3 and then A9-BF. The method is Ken Thompson's (Russ Cox, "Regular Expression Matching in the Wild",
2010).
"""

from collections.abc import Iterator
from functools import lru_cache

from guidedviz.machines.ranges import Range

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
def shape_chars(ranges: tuple[Range, ...]) -> Shape:
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
