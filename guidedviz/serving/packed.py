"""Masks as the engines exchange them: one row of 32-bit words per text, one bit per token.

Token t is bit t % 32 of word t // 32. A row of 128,256 tokens takes 16 KB; as float32 logits it takes 513 KB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from guidedviz.errors import SettingError, quoted
from guidedviz.tokens.arrays import Ids, Mask, pack, unpack

WORD = 32  # bits
ALL = np.int32(-1)  # a word whose 32 tokens are all legal


def words_of(size: int) -> int:
    """How many words hold the bits of this many tokens.

    >>> words_of(32), words_of(33), words_of(128_256)
    (1, 2, 4008)
    """
    return -(-size // WORD)


def pack_masks(masks: Mask) -> Ids:
    """Masks [batch, vocabulary] as int32 words [batch, vocabulary / 32]; the bits beyond the last token are 0.

    >>> pack_masks(np.array([[True, False, True, *[False] * 30, True]])).tolist()
    [[5, 2]]
    """
    try:
        masks = np.asarray(masks)
    except ValueError:
        raise SettingError(
            "pack_masks", seen="rows of different lengths", expected="bools [batch, vocabulary]"
        ) from None
    if masks.ndim != 2 or masks.dtype != np.bool_:
        seen = f"{masks.dtype} of {masks.ndim} dimensions"
        raise SettingError("pack_masks", seen=seen, expected="bools [batch, vocabulary]", hint="np.stack(masks)")
    packed = np.zeros((len(masks), words_of(masks.shape[1]) * 4), np.uint8)
    bits = pack(masks)
    packed[:, : bits.shape[1]] = bits
    return packed.view("<i4").astype(np.int32, copy=False)


def unpack_masks(packed: Ids, size: int) -> Mask:
    """The masks of `size` tokens in int32 words; read-only.

    >>> unpack_masks(np.array([[5]], dtype=np.int32), 4).tolist()
    [[True, False, True, False]]
    """
    check_packed(packed, size, "unpack_masks")
    return unpack(np.ascontiguousarray(packed, dtype="<i4").view(np.uint8), size)


def apply_packed(logits: Any, packed: Any) -> Any:
    """The logits [batch, vocabulary] with minus infinity where a bit is 0: NumPy arrays, or tensors on any device.

    >>> apply_packed(np.array([[1.0, 2.0, 3.0]], np.float32), np.array([[5]], np.int32)).tolist()
    [[1.0, -inf, 3.0]]
    """
    if not hasattr(logits, "shape") or not hasattr(logits, "ndim"):
        raise SettingError("apply_packed, logits", seen=quoted(logits), expected="an array or a tensor of logits")
    check_packed(packed, logits.shape[-1] if logits.ndim else 0, "apply_packed")
    if logits.ndim != 2 or len(logits) != len(packed):
        seen = f"logits of shape {tuple(logits.shape)}, masks of shape {tuple(packed.shape)}"
        raise SettingError("apply_packed", seen=seen, expected="one row of words per row of logits")
    if isinstance(logits, np.ndarray):
        return np.where(unpack_masks(packed, logits.shape[1]), logits, np.float32("-inf"))
    import torch

    if logits.device.type == "cpu":
        legal = unpack_masks(np.asarray(packed), logits.shape[1])
        return logits.masked_fill(torch.from_numpy(~legal), float("-inf"))
    return _apply_on_device(logits, torch.as_tensor(packed, device=logits.device))


def _apply_on_device(logits: Any, words: Any) -> Any:
    """The words are copied to the device and unpacked there: an eighth of the bytes of a mask of bools."""
    import torch

    bits = words[..., None] >> torch.arange(WORD, dtype=words.dtype, device=words.device) & 1
    return logits.masked_fill(bits.flatten(1)[:, : logits.shape[1]] == 0, float("-inf"))


def check_packed(packed: Any, size: int, where: str) -> None:
    """Refuse what is not int32 [batch, words] with one bit per token."""
    kind, shape = str(getattr(packed, "dtype", type(packed).__name__)), tuple(getattr(packed, "shape", ()))
    if type(size) is not int or size < 0:
        raise SettingError(f"{where}, size", seen=quoted(size), expected="the number of tokens")
    if not kind.endswith("int32") or kind.endswith("uint32") or len(shape) != 2 or shape[1] != words_of(size):
        expected = f"int32 [batch, {words_of(size)}] for {size:,} tokens"
        raise SettingError(where, seen=f"{kind} {list(shape)}", expected=expected, hint="pack_masks(masks)")
