"""The arrays that hold masks and token ids, and masks as packed bits."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]  # one entry per token id, True where the token is legal
Ids = npt.NDArray[np.int32]  # token ids, or other numbers that are stored
Ints = npt.NDArray[np.intp]  # indices; NumPy uses them without conversion
Letters = npt.NDArray[np.uint8]  # bytes of text
Bits = npt.NDArray[np.uint8]  # packed masks: token t is bit t % 8 of byte t // 8, as in the engines' bitmasks

A = TypeVar("A", bound=npt.NDArray[Any])


def read_only(array: A) -> A:
    """The array, in which nothing can be changed from now on."""
    array.flags.writeable = False
    return array


def pack(mask: Mask) -> Bits:
    """Pack masks to one bit per token.

    >>> pack(np.array([False, True, True])).tolist()
    [6]
    """
    return np.packbits(mask, axis=-1, bitorder="little")


def unpack(bits: Bits, size: int) -> Mask:
    """Unpack masks of `size` tokens; the result is read-only.

    >>> unpack(np.array([[6]], dtype=np.uint8), 3).tolist()
    [[False, True, True]]
    """
    return read_only(np.unpackbits(bits, axis=-1, count=size, bitorder="little").view(np.bool_))


def words_of(size: int) -> int:
    """How many 32-bit words hold the bits of this many tokens, as the engines exchange masks.

    >>> words_of(32), words_of(33), words_of(128_256)
    (1, 2, 4008)
    """
    return -(-size // 32)
