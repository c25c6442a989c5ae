"""A set of tokens in the least memory: those that are in it, those that are not, or a bit each (arXiv 2411.15100)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from guidedviz.tokens.guide import Mask

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Stored:
    """A set of tokens: `kind` says how `data` is to be read."""

    kind: str  # "accepted" or "rejected": a list of ids; "bits": token t is bit t % 8 of byte t // 8
    data: Ids | npt.NDArray[np.uint8]
    count: int  # how many are in the set
    size: int  # of the vocabulary

    def __repr__(self) -> str:
        return f"Stored({self.count:,} of {self.size:,} ids as {self.kind}, {self.nbytes:,} bytes)"

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.data.nbytes

    def put(self, mask: Mask) -> None:
        """Make the tokens of the set true in a mask."""
        if self.kind == "accepted":
            mask[self.data] = True
        elif self.kind == "rejected":
            kept = mask[self.data]
            mask[:] = True
            mask[self.data] = kept
        else:
            mask |= np.unpackbits(self.data.view(np.uint8), count=self.size, bitorder="little").view(np.bool_)


def store(tokens: Ids, size: int) -> Stored:
    """The smallest of the three.

    >>> store(np.array([4, 2]), 100), store(np.arange(2, 100), 100), store(np.arange(0, 100, 2), 100)
    (Stored(2 of 100 ids as accepted, 8 bytes), Stored(98 of 100 ids as rejected, 8 bytes), \
Stored(50 of 100 ids as bits, 13 bytes))
    """
    count, most = len(tokens), (size + 7) // 8 // 4  # ids in the room of the bits
    if count <= most:
        return Stored("accepted", np.sort(tokens).astype(np.int32), count, size)
    mask = np.zeros(size, dtype=np.bool_)
    mask[tokens] = True
    if size - count <= most:
        return Stored("rejected", np.flatnonzero(~mask).astype(np.int32), count, size)
    return Stored("bits", np.packbits(mask, bitorder="little"), count, size)
