"""Claims about packed masks: the same words as xgrammar's, the same logits in NumPy and torch, clear refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import guidedviz as gv
from guidedviz.serving import apply_packed, pack_masks

MASKS = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=100))


@given(MASKS)
def test_unpacking_gives_what_was_packed_and_bit_t_of_a_row_is_token_t(masks):
    packed = pack_masks(masks)
    rows, tokens = masks.shape
    assert packed.shape == (rows, -(-tokens // 32))
    assert packed.dtype == np.int32
    for row, token in zip(*masks.nonzero(), strict=True):
        word = int(packed[row, token // 32])
        assert word >> (token % 32) & 1


@given(MASKS, st.integers(0, 2**32))
def test_torch_and_numpy_apply_the_same_mask(masks, seed):
    import torch

    noise = np.random.default_rng(seed)
    logits = noise.normal(size=masks.shape).astype(np.float32)
    ours = apply_packed(logits, pack_masks(masks))
    np.testing.assert_array_equal(ours, np.where(masks, logits, -np.inf))
    words = torch.from_numpy(pack_masks(masks))
    applied = apply_packed(torch.from_numpy(logits), words)
    np.testing.assert_array_equal(applied.numpy(), ours)


def test_xgrammar_fills_the_same_words_and_applies_ours():
    import torch
    import xgrammar

    masks = np.random.default_rng(0).random((3, 1000)) < 0.3
    logits = torch.zeros(3, 1000)
    xgrammar.apply_token_bitmask_inplace(logits, torch.from_numpy(pack_masks(masks)))
    np.testing.assert_array_equal(np.isfinite(logits.numpy()), masks)
    assert xgrammar.allocate_token_bitmask(3, 1000).shape == pack_masks(masks).shape


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pack_masks(np.zeros((2, 3))), r"pack_masks: saw float64 \[2, 3\], expected an array of bools"),
        (lambda: pack_masks([[True], [True, False]]), r"saw list \[\]"),
        (lambda: pack_masks(np.zeros(3, bool)), r"saw bool \[3\]"),
        (lambda: apply_packed(np.zeros((2, 32)), np.zeros((1, 1), np.int32)), r"float64 \[2, 32\] and masks int32"),
        (lambda: apply_packed(np.zeros((1, 32)), np.zeros((1, 1), np.uint32)), r"masks uint32 \[1, 1\], expected"),
        (lambda: apply_packed([[1.0]], np.zeros((1, 1), np.int32)), r"saw logits list \[\]"),
        (lambda: apply_packed(np.float32(1), np.zeros((1, 1), np.int32)), r"saw logits float32 \[\]"),
        (lambda: apply_packed(np.zeros((1, 32)), "mask"), r"masks str \[\]"),
    ],
)
def test_wrong_shapes_and_kinds_are_refused(call, said):
    with pytest.raises(gv.SettingError, match=said):
        call()
