"""Masks as the engines exchange them: one row of 32-bit words per text; token t is bit t % 32 of word t // 32.

A row of 128,256 tokens takes 16 KB; as float32 logits it takes 513 KB.
"""

from typing import Any

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.tokens.arrays import Ids, Mask, pack, unpack, words_of

WORD_BITS = 32


def pack_masks(masks: Mask) -> Ids:
    """Masks [batch, vocabulary] as int32 words [batch, vocabulary / 32]; the bits beyond the last token are 0.

    >>> pack_masks(np.array([[True, False, True, *[False] * 30, True]])).tolist()
    [[5, 2]]
    """
    if not isinstance(masks, np.ndarray) or masks.ndim != 2 or masks.dtype != np.bool_:
        expected = "an array of bools [batch, vocabulary]"
        raise SettingError("pack_masks", seen=describe_array(masks), expected=expected, hint="np.stack(masks)")
    packed = np.zeros((len(masks), words_of(masks.shape[1]) * 4), np.uint8)
    bits = pack(masks)
    packed[:, : bits.shape[1]] = bits
    return packed.view("<i4").astype(np.int32, copy=False)


def apply_packed(logits: Any, packed: Any) -> Any:
    """The logits [batch, vocabulary] with minus infinity where a bit is 0: NumPy arrays, or tensors on any device.

    >>> apply_packed(np.array([[1.0, 2.0, 3.0]], np.float32), np.array([[5]], np.int32)).tolist()
    [[1.0, -inf, 3.0]]
    """
    shape = tuple(getattr(logits, "shape", ()))
    kind = str(getattr(packed, "dtype", ""))
    fits = len(shape) == 2 and kind in ("int32", "torch.int32")
    if not fits or tuple(packed.shape) != (shape[0], words_of(shape[1])):
        seen = f"logits {describe_array(logits)} and masks {describe_array(packed)}"
        expected = "logits [batch, vocabulary] and int32 [batch, vocabulary / 32]"
        raise SettingError("apply_packed", seen=seen, expected=expected, hint="pack_masks(masks)")
    if isinstance(logits, np.ndarray):
        legal = unpack(np.ascontiguousarray(packed, dtype="<i4").view(np.uint8), shape[1])
        return np.where(legal, logits, np.float32("-inf"))
    import torch

    words = torch.as_tensor(packed, device=logits.device)  # unpacked there: an eighth of the bytes of bools
    places = torch.arange(WORD_BITS, dtype=words.dtype, device=words.device)
    bits = words[..., None] >> places & 1
    return logits.masked_fill(bits.flatten(1)[:, : shape[1]] == 0, float("-inf"))


def describe_array(value: Any) -> str:
    """The kind and the shape of an array or a tensor."""
    kind = getattr(value, "dtype", type(value).__name__)
    return f"{kind} {list(getattr(value, 'shape', ()))}"
