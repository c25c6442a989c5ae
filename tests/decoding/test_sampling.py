"""Claims about masks, bias, temperature and the draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.decoding.sampling import apply_bias, apply_mask, masked_softmax, sample, softmax, top_k, top_p

LOGITS = st.lists(st.floats(-50, 50), min_size=2, max_size=40)


@given(LOGITS, st.data())
def test_the_forbidden_get_exactly_zero_and_survivors_keep_their_ratios(logits, data):
    token = st.integers(0, len(logits) - 1)
    ids = data.draw(st.lists(token, min_size=1, unique=True))
    before = softmax(logits)
    after = masked_softmax(logits, ids)
    assert np.all(np.delete(after, ids) == 0.0)
    assert after.sum() == pytest.approx(1)
    legal = before[ids]
    np.testing.assert_allclose(after[ids] * legal.sum(), legal, rtol=1e-9)


def test_bias_adds_and_minus_hundred_all_but_bans():
    logits = np.array([1.0, 2.0])
    biased = apply_bias(logits, {0: 3, 1: -100})
    assert biased.tolist() == [4.0, -98.0]
    assert logits.tolist() == [1.0, 2.0]
    assert 0 < softmax(biased)[1] < 1e-40


def test_temperature_sharpens_flattens_and_at_zero_is_greedy():
    logits = [0.0, 1.0, 2.0]
    sharp = softmax(logits, 0.5)
    flat = softmax(logits, 2.0)
    assert sharp[2] > softmax(logits)[2] > flat[2]
    for zero in (0, 1e-300):
        assert softmax(logits, zero).tolist() == [0, 0, 1]


@given(LOGITS, st.integers(1, 50), st.floats(0.01, 0.999))
def test_top_k_keeps_at_most_k_and_top_p_the_smallest_set_that_holds_p(logits, k, p):
    before = softmax(logits)
    kept = top_k(before, k)
    assert (kept > 0).sum() <= k
    assert kept.sum() == pytest.approx(1)
    held = before[top_p(before, p) != 0]
    assert held.sum() - held.min() - 1e-9 < p <= held.sum() + 1e-9


def test_draws_follow_the_probabilities_and_depend_on_seed_and_position_only():
    p = np.array([0.7, 0.0, 0.3])
    drawn = [sample(p, 1, place) for place in range(4000)]
    assert [sample(p, 1, place) for place in (40, 7, 40)] == [drawn[40], drawn[7], drawn[40]]
    shares = np.bincount(drawn, minlength=3) / 4000
    assert shares == pytest.approx(p, abs=0.03)
    assert shares[1] == 0


CALLS = [softmax, lambda x: apply_mask(x, {0}), lambda x: apply_bias(x, {}), lambda x: top_k(x, 1),
         lambda x: top_p(x, 0.5), lambda x: sample(x, 0, 0)]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrong", [[], None, "0.5", [[0.0, 1.0]], [0.0, "a"], {}, [[0.0], [1.0, 2.0]], [10**400]])
def test_anything_but_one_number_per_token_is_refused_by_name(wrong, call):
    with pytest.raises(gv.SettingError, match=r"^(logits|probabilities): saw .*, expected one number per token"):
        call(wrong)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: softmax([-np.inf, -np.inf]), "softmax: saw -inf for all 2 tokens"),
        (lambda p: softmax([0.0, float("nan")]), "softmax: saw nan for 1 of 2 tokens, first token 1"),
        (lambda p: softmax(p, "1"), "temperature: saw '1'"),
        (lambda p: top_k(p, -1), "top_k: saw -1"),
        (lambda p: top_p(p, 0), "top_p: saw 0"),
        (lambda p: sample(p, -1, 0), "seed: saw -1"),
        (lambda p: sample(p, 0, "a"), "position: saw 'a'"),
        (lambda p: sample([0.0, 0.0], 0, 0), "probabilities: saw a sum of 0.0"),
        (lambda p: sample([1.5, -0.5], 0, 0), "probabilities: saw a sum of 1.0 and a smallest of -0.5"),
        (lambda p: top_k([float("nan"), 1.0], 1), "probabilities: saw a sum of nan"),
        (lambda p: apply_bias(p, {7: 1}), "token id in logit bias: saw 7, expected a whole number from 0 to 1"),
        (lambda p: apply_bias(p, {0: 101}), "logit bias of token 0: saw 101"),
        (lambda p: apply_mask(p, set()), "no legal token"),
        (lambda p: apply_mask(p, 3), "mask: saw 3, expected one bool per token, or token ids"),
        (lambda p: apply_mask(p, {True}), "token id in a mask: saw True"),
        (lambda p: apply_mask(p, np.ones(3, dtype=bool)), "one bool for each of 2 tokens"),
    ],
)
def test_other_arguments_are_refused_by_name(call, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        call([0.5, 0.5])
