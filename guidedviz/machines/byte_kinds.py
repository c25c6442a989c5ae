"""Bytes that move every state of a machine alike are of one kind (in regex engines: a byte class).

A walk then computes one step per kind instead of 256 per state.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache


def byte_kinds(edges: Iterable[Iterable[tuple[int, int, int]]]) -> bytes:
    """The kind of every byte, from the edges of every state: lowest byte, highest byte, target.

    >>> kinds = byte_kinds([[(48, 57, 1)], [(48, 52, 2), (97, 97, 1)]])
    >>> [kinds[byte] for byte in b"049a "]
    [3, 3, 2, 1, 0]
    """
    kinds = [(1 << 256) - 1]  # each a set of bytes as 256 bits
    for found in dict.fromkeys(bits for row in edges for bits in _target_bits(row)):
        if len(kinds) == 256:
            break
        kinds = [part for kind in kinds for part in (kind & ~found, kind & found) if part]
    return bytes(next(n for n, kind in enumerate(kinds) if kind >> byte & 1) for byte in range(256))


def _target_bits(row: Iterable[tuple[int, int, int]]) -> Iterable[int]:
    """The bytes that lead to each target, as bits."""
    bits: dict[int, int] = defaultdict(int)
    for low, high, target in row:
        bits[target] |= (2 << high) - (1 << low)
    return bits.values()


@lru_cache(maxsize=16)
def first_bytes(kinds: bytes) -> Mapping[int, int]:
    """The first byte of every kind, in the order of the bytes.

    >>> dict(first_bytes(bytes([2, 2, 0] + [1] * 253)))
    {2: 0, 0: 2, 1: 3}
    """
    return {kind: kinds.index(kind) for kind in dict.fromkeys(kinds)}
