"""Claims about masks, bias, temperature and the draw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv

LOGITS = st.lists(st.floats(-50, 50), min_size=2, max_size=40)


@st.composite
def logits_and_ids(draw: st.DrawFn) -> tuple[list[float], list[int]]:
    logits = draw(LOGITS)
    ids = draw(st.lists(st.integers(0, len(logits) - 1), min_size=1, unique=True))
    return logits, ids


@given(logits_and_ids())
def test_the_forbidden_get_exactly_zero_and_survivors_keep_their_ratios(case):
    logits, ids = case
    before, after = gv.sampling.softmax(logits), gv.sampling.masked_softmax(logits, ids)
    assert np.all(np.delete(after, ids) == 0.0)
    assert after.sum() == pytest.approx(1)
    np.testing.assert_allclose(after[ids] * before[ids].sum(), before[ids], rtol=1e-9)


def test_an_empty_mask_is_an_error_that_says_so():
    with pytest.raises(gv.EmptyMask, match="no legal token"):
        gv.sampling.apply_mask([1.0, 2.0], set())
    with pytest.raises(gv.EmptyMask):
        gv.sampling.masked_softmax([1.0, 2.0], np.zeros(2, dtype=bool))


def test_a_mask_of_another_size_is_refused():
    with pytest.raises(gv.SettingError, match="one bool for each of 2 tokens"):
        gv.sampling.apply_mask([1.0, 2.0], np.ones(3, dtype=bool))


def test_apply_token_mask_leaves_its_input_alone():
    logits = np.array([1.0, 2.0])
    gv.sampling.apply_mask(logits, {0})
    assert logits.tolist() == [1.0, 2.0]


def test_bias_adds_and_minus_hundred_all_but_bans():
    assert gv.sampling.apply_bias([1.0, 2.0], {0: 3, 1: -100}).tolist() == [4.0, -98.0]
    assert gv.sampling.softmax(gv.sampling.apply_bias([0.0, 5.0], {1: -100}))[1] < 1e-40


@pytest.mark.parametrize(("token", "amount"), [(0, 101), (0, -100.5), (7, 1), (-1, 1), (0, float("nan"))])
def test_bias_outside_its_range_is_refused(token, amount):
    with pytest.raises(gv.SettingError):
        gv.sampling.apply_bias([0.0, 0.0], {token: amount})


def test_temperature_sharpens_flattens_and_at_zero_is_greedy():
    logits = [0.0, 1.0, 2.0]
    cold, warm = gv.sampling.softmax(logits, 0.5), gv.sampling.softmax(logits, 2.0)
    assert cold[2] > gv.sampling.softmax(logits)[2] > warm[2]
    assert gv.sampling.softmax(logits, 0).tolist() == [0, 0, 1]
    np.testing.assert_allclose(gv.sampling.softmax(logits, 1.0), gv.sampling.softmax(logits))


@given(LOGITS, st.integers(1, 50))
def test_top_k_keeps_at_most_k(logits, k):
    kept = gv.sampling.top_k(gv.sampling.softmax(logits), k)
    assert (kept > 0).sum() <= k
    assert kept.sum() == pytest.approx(1)


@given(LOGITS, st.floats(0.01, 0.999))
def test_top_p_keeps_the_smallest_set_that_holds_p(logits, p):
    before = gv.sampling.softmax(logits)
    ids = np.flatnonzero(gv.sampling.top_p(before, p))
    assert before[ids].sum() >= p - 1e-9
    assert before[ids].sum() - before[ids].min() < p + 1e-9


@given(LOGITS, st.integers(0, 1000), st.integers(0, 1000))
def test_the_same_seed_and_position_draw_the_same_token(logits, seed, position):
    p = gv.sampling.softmax(logits)
    assert gv.sampling.sample(p, seed, position) == gv.sampling.sample(p, seed, position)
    assert p[gv.sampling.sample(p, seed, position)] > 0


def test_draws_follow_the_probabilities():
    p = np.array([0.7, 0.0, 0.3])
    counts = np.bincount([gv.sampling.sample(p, 1, i) for i in range(4000)], minlength=3)
    assert counts[1] == 0
    assert counts[0] / 4000 == pytest.approx(0.7, abs=0.03)


def test_logits_that_are_no_numbers_are_refused():
    with pytest.raises(gv.EmptyMask):
        gv.sampling.softmax([-np.inf, -np.inf])
    with pytest.raises(gv.GuidedVizError):
        gv.sampling.softmax([0.0, float("nan")])


@pytest.mark.parametrize("wrong", [[], None, "0.5", [[0.0, 1.0]], [0.0, "a"], {}, 3, [[0.0], [1.0, 2.0]], [10**400]])
def test_anything_but_one_number_per_token_is_refused_by_name(wrong):
    calls = (
        lambda: gv.sampling.softmax(wrong),
        lambda: gv.sampling.apply_mask(wrong, {0}),
        lambda: gv.sampling.apply_bias(wrong, {}),
        lambda: gv.sampling.masked_softmax(wrong, {0}),
        lambda: gv.sampling.top_k(wrong, 1),
        lambda: gv.sampling.top_p(wrong, 0.5),
        lambda: gv.sampling.sample(wrong, 0, 0),
    )
    for call in calls:
        with pytest.raises(gv.SettingError, match=r"^(logits|probabilities): saw .*, expected one number per token"):
            call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: gv.sampling.softmax(p, "1"), "temperature: saw '1'"),
        (lambda p: gv.sampling.top_k(p, -1), "top_k: saw -1"),
        (lambda p: gv.sampling.top_k(p, 1.5), "top_k: saw 1.5"),
        (lambda p: gv.sampling.top_p(p, 0), "top_p: saw 0"),
        (lambda p: gv.sampling.top_p(p, None), "top_p: saw None"),
        (lambda p: gv.sampling.sample(p, -1, 0), "seed: saw -1"),
        (lambda p: gv.sampling.sample(p, 0, "a"), "position: saw 'a'"),
        (lambda p: gv.sampling.sample([0.0, 0.0], 0, 0), "probabilities: saw a sum of 0.0"),
        (lambda p: gv.sampling.sample([1.5, -0.5], 0, 0), "probabilities: saw a sum of 1.0 and a smallest of -0.5"),
        (lambda p: gv.sampling.top_k([float("nan"), 1.0], 1), "probabilities: saw a sum of nan"),
        (lambda p: gv.sampling.apply_bias(p, [1, 2]), r"bias: saw \[1, 2\], expected a mapping"),
        (lambda p: gv.sampling.apply_mask(p, 3), "mask: saw 3, expected one bool per token, or token ids"),
        (lambda p: gv.sampling.apply_mask(p, {True}), "token id in a mask: saw True"),
    ],
)
def test_other_arguments_are_refused_by_name(call, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        call([0.5, 0.5])


def test_a_tiny_temperature_is_nearly_greedy():
    assert gv.sampling.softmax([1.0, 2.0], 1e-300).tolist() == [0.0, 1.0]
