"""Of several texts of one length, the one that a person reads best: letters before signs, signs before blanks."""

from __future__ import annotations

import string

# Bytes from the one a person reads best to the one that reads worst; the first beyond ASCII are those of é.
READABLE = (string.ascii_letters + string.digits + string.punctuation + " ").encode() + b"\xc3\xa9"
READABLE += bytes(byte for byte in range(0x80, 0x100) if byte not in READABLE) + b"\n\t"
READABLE += bytes(byte for byte in range(0x80) if byte not in READABLE)
RANKS = bytes(READABLE.index(byte) for byte in range(256))
KINDS = (62, 95, 95 + 128, 95 + 130)  # ranks where letters and digits end, then signs, characters beyond ASCII, blanks

Reading = tuple[int, bytes]  # what a text costs to read, and the ranks of its bytes: the smaller reads better


def read_on(reading: Reading, rank: int) -> Reading:
    """The reading of a text with the byte of this rank behind it."""
    cost, ranks = reading
    return cost + sum(rank >= kind for kind in KINDS), ranks + bytes([rank])


def text_of(reading: Reading) -> bytes:
    """The text itself.

    >>> text_of(read_on((0, b""), RANKS[ord("x")]))
    b'x'
    """
    return bytes(READABLE[rank] for rank in reading[1])
