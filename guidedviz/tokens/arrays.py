"""The NumPy arrays of this room by name, and masks as packed bits."""

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]  # one entry per token id, True where the token is legal
Ids = npt.NDArray[np.int32]  # token ids, or other numbers that are stored
Ints = npt.NDArray[np.intp]  # indices; NumPy uses them without conversion
Letters = npt.NDArray[np.uint8]  # bytes of text
Bits = npt.NDArray[np.uint8]  # packed masks: token t is bit t % 8 of byte t // 8, as in the engines' bitmasks


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
    mask = np.unpackbits(bits, axis=-1, count=size, bitorder="little").view(np.bool_)
    mask.flags.writeable = False
    return mask
