"""Characters as bytes: a range of code points is a few rows of byte ranges.

`é` to `ÿ` is the row C3, A9-BF: any byte of the first range, then any of the second. Method: Ken Thompson's, as in
Russ Cox, "Regular Expression Matching in the Wild" (2010). Surrogates have no bytes: text cannot hold them.
"""

from __future__ import annotations

from collections.abc import Iterator

Row = tuple[tuple[int, int], ...]  # one range of bytes a place

# Within one of these all characters have the same number of bytes, and none is a surrogate.
LENGTHS = ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))


def utf8_rows(low: int, high: int) -> Iterator[Row]:
    """Rows of byte ranges that together are exactly the characters from `low` to `high`.

    >>> for row in utf8_rows(0x7F, 0xFFF):
    ...     print(*(f"{a:02X}-{b:02X}" for a, b in row))
    7F-7F
    C2-DF 80-BF
    E0-E0 A0-BF 80-BF
    """
    for first, last in LENGTHS:
        if max(low, first) <= min(high, last):
            yield from _rows(max(low, first), min(high, last))


def _rows(low: int, high: int) -> Iterator[Row]:
    """Cut until every place has its own free range: where the front differs, the rest must run from 80 to BF."""
    for tail in (0x3F, 0xFFF, 0x3FFFF):
        if low & ~tail != high & ~tail:
            if low & tail:
                yield from _rows(low, low | tail)
                yield from _rows((low | tail) + 1, high)
                return
            if high & tail != tail:
                yield from _rows(low, (high & ~tail) - 1)
                yield from _rows(high & ~tail, high)
                return
    yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))
