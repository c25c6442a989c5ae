"""A set of tokens in the least memory: a list of ids, a list of the other ids, or one bit per id."""

from dataclasses import dataclass

import numpy as np

from guidedviz.tokens.arrays import Bits, Ids, Ints, Mask, pack, unpack


@dataclass(frozen=True, eq=False)
class Stored:
    """A set of tokens in the least memory; `kind` says how `data` is read."""

    kind: str  # "accepted" or "rejected": a list of ids; "bits": a packed mask
    data: Ids | Bits
    count: int  # tokens in the set
    size: int  # of the vocabulary

    def __repr__(self) -> str:
        return f"Stored({self.count:,} of {self.size:,} ids as {self.kind}, {self.data.nbytes:,} bytes)"

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


def store(tokens: Ints, size: int) -> Stored:
    """Store some tokens as a list of ids, as a list of the other ids, or as one bit per id, whichever is smallest.

    >>> ids = np.arange(100)
    >>> store(ids[:2], 100), store(ids[2:], 100), store(ids[::2], 100)
    (Stored(2 of 100 ids as accepted, 8 bytes), Stored(98 of 100 ids as rejected, 8 bytes), \
Stored(50 of 100 ids as bits, 13 bytes))
    """
    count = len(tokens)
    most = (size + 7) // 8 // 4  # ids that take the memory of the bits
    if count <= most:
        return Stored("accepted", np.sort(tokens).astype(np.int32), count, size)
    mask = np.zeros(size, dtype=np.bool_)
    mask[tokens] = True
    if size - count <= most:
        return Stored("rejected", np.flatnonzero(~mask).astype(np.int32), count, size)
    return Stored("bits", pack(mask), count, size)
