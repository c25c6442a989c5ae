"""Bytes that move every state of a machine alike are of one kind (in regex engines: a byte class).

In `[0-9]+|a` there are three kinds: the digits, a, and all other bytes. So a step is computed once per kind.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

Edges = Iterable[tuple[int, int, int]]  # of one state: lowest byte, highest byte, target
ALL_BYTES = (1 << 256) - 1  # a set of bytes as 256 bits: byte n is in it if bit n is 1


def byte_kinds(states: Iterable[Edges]) -> bytes:
    """The kind of every byte, from the edges of every state.

    >>> kinds = byte_kinds([[(48, 57, 1)], [(48, 52, 2), (97, 97, 1)]])
    >>> [kinds[byte] for byte in b"049a "]
    [3, 3, 2, 1, 0]
    """
    kinds = [ALL_BYTES]
    for moved in dict.fromkeys(found for edges in states for found in _sets_by_target(edges)):
        if len(kinds) == 256:
            break
        parts = []
        for kind in kinds:
            parts += [kind & ~moved, kind & moved]
        kinds = [part for part in parts if part]
    return bytes([_kind_of(byte, kinds) for byte in range(256)])


def _kind_of(byte: int, kinds: list[int]) -> int:
    return next(number for number, kind in enumerate(kinds) if kind >> byte & 1)


def _sets_by_target(edges: Edges) -> Iterable[int]:
    """The set of bytes that leads to each target of a state."""
    found: dict[int, int] = defaultdict(int)
    for low, high, target in edges:
        found[target] |= (2 << high) - (1 << low)  # the bits from low to high
    return found.values()


@lru_cache(maxsize=16)
def first_bytes(kinds: bytes) -> Mapping[int, int]:
    """The first byte of every kind, in the order of the bytes.

    >>> dict(first_bytes(bytes([2, 2, 0] + [1] * 253)))
    {2: 0, 0: 2, 1: 3}
    """
    return {kind: kinds.index(kind) for kind in dict.fromkeys(kinds)}
