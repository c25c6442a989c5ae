"""A set of tokens in the least memory: a list of its ids, of the other ids, or one bit per id (arXiv 2411.15100)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guidedviz.tokens.arrays import Bits, Ids, Mask, pack, unpack


@dataclass(frozen=True, eq=False)
class Stored:
    """A set of tokens; `kind` says how `data` is read."""

    kind: str  # "accepted" or "rejected": a list of ids; "bits": a packed mask
    data: Ids | Bits
    count: int  # tokens in the set
    size: int  # of the vocabulary

    def __repr__(self) -> str:
        return f"Stored({self.count:,} of {self.size:,} ids as {self.kind}, {self.nbytes:,} bytes)"

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.data.nbytes

    def put(self, mask: Mask) -> None:
        """Set the tokens of the set in a mask."""
        if self.kind == "accepted":
            mask[self.data] = True
        elif self.kind == "rejected":
            kept = mask[self.data]
            mask[:] = True
            mask[self.data] = kept
        else:
            mask |= unpack(self.data.view(np.uint8), self.size)


def store(tokens: Ids, size: int) -> Stored:
    """Store a set of tokens in the smallest of the three forms.

    >>> store(np.array([4, 2]), 100), store(np.arange(2, 100), 100), store(np.arange(0, 100, 2), 100)
    (Stored(2 of 100 ids as accepted, 8 bytes), Stored(98 of 100 ids as rejected, 8 bytes), \
Stored(50 of 100 ids as bits, 13 bytes))
    """
    if len(tokens) <= most_listed(size):
        return Stored("accepted", np.sort(tokens).astype(np.int32), len(tokens), size)
    mask = np.zeros(size, dtype=np.bool_)
    mask[tokens] = True
    return store_mask(mask)


def store_others(tokens: Ids, size: int) -> Stored:
    """Store all ids but these.

    >>> store_others(np.array([4, 2]), 100)
    Stored(98 of 100 ids as rejected, 8 bytes)
    """
    if len(tokens) <= most_listed(size):
        return Stored("rejected", np.sort(tokens).astype(np.int32), size - len(tokens), size)
    mask = np.ones(size, dtype=np.bool_)
    mask[tokens] = False
    return store_mask(mask)


def store_mask(mask: Mask) -> Stored:
    """Store the tokens of a mask.

    >>> store_mask(np.arange(100) % 2 == 0)
    Stored(50 of 100 ids as bits, 13 bytes)
    """
    size, count = len(mask), int(np.count_nonzero(mask))
    if min(count, size - count) > most_listed(size):
        return Stored("bits", pack(mask), count, size)
    kind, chosen = ("accepted", mask) if 2 * count <= size else ("rejected", ~mask)
    return Stored(kind, np.flatnonzero(chosen).astype(np.int32), count, size)


def most_listed(size: int) -> int:
    """How many ids take the memory of the bits."""
    return (size + 7) // 8 // 4
