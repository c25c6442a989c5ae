"""From logits to a token: bias, mask, temperature, top-k, top-p, draw. NumPy only.

The order is the usual one: bias and mask change the logits, temperature scales them, softmax makes probabilities,
top-k and top-p cut the tail, and one uniform number picks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.errors import EmptyMask, SettingError
from guidedviz.tokens.jump import WAYS

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Settings:
    """How to choose; temperature 0 is greedy, top_k 0 keeps all."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = 200
    bias: Mapping[int, float] = field(default_factory=dict)
    jump_forward: str = ""  # how forced bytes are spelled without the model; "" asks it for every token

    def __post_init__(self) -> None:
        _check("temperature", self.temperature, 0 <= self.temperature <= 100, "a number from 0 (greedy) to 100")
        _check("top_k", self.top_k, _whole(self.top_k) and self.top_k >= 0, "a whole number, 0 to keep all tokens")
        _check("top_p", self.top_p, 0 < self.top_p <= 1, "a number above 0, at most 1")
        _check("seed", self.seed, _whole(self.seed) and self.seed >= 0, "a whole number from 0 up")
        _check(
            "max_tokens", self.max_tokens, _whole(self.max_tokens) and self.max_tokens > 0, "a whole number from 1 up"
        )
        ways = "False, True, " + " or ".join(map(repr, WAYS))
        _check("jump_forward", self.jump_forward, self.jump_forward in ("", *WAYS), ways)
        for token, bias in self.bias.items():
            _check(f"logit bias of token {token}", bias, -100 <= bias <= 100, "a number from -100 to 100")


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer)


def _check(where: str, seen: object, good: object, expected: str) -> None:
    if not good:
        raise SettingError(where, seen=repr(seen), expected=expected)


def softmax(logits: npt.ArrayLike) -> Floats:
    """Probabilities from logits.

    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    values = np.asarray(logits, dtype=np.float64)
    top = values.max()
    if not np.isfinite(top):
        raise EmptyMask(
            "softmax", seen=f"a largest logit of {top}", expected="at least one finite logit and none infinite"
        )
    powers: Floats = np.exp(values - top)
    powers /= powers.sum()
    return powers


def as_mask(allowed: Mask | Iterable[int], size: int) -> Mask:
    """A bool per token from a mask of that size or from token ids.

    >>> as_mask({0, 2}, 3).tolist()
    [True, False, True]
    """
    if isinstance(allowed, np.ndarray) and allowed.dtype == np.bool_:
        if allowed.shape != (size,):
            raise SettingError("mask", seen=f"shape {allowed.shape}", expected=f"one bool for each of {size} tokens")
        return allowed
    mask = np.zeros(size, dtype=np.bool_)
    ids = list(allowed)
    for token in ids:
        _check("token id in a mask", token, _whole(token) and 0 <= token < size, f"a whole number from 0 to {size - 1}")
    mask[ids] = True
    return mask


def apply_token_mask(logits: npt.ArrayLike, allowed: Mask | Iterable[int]) -> Floats:
    """The one line of constrained decoding: every forbidden logit becomes minus infinity.

    >>> apply_token_mask([1.0, 1e30, 2.0], {0, 2}).tolist()
    [1.0, -inf, 2.0]
    """
    values = np.asarray(logits, dtype=np.float64)
    mask = as_mask(allowed, len(values))
    if not mask.any():
        hint = "look at the state: nothing that is legal here is in the vocabulary"
        raise EmptyMask("mask", seen="no legal token", expected="at least one", hint=hint)
    return np.where(mask, values, -np.inf)


def masked_softmax(logits: npt.ArrayLike, allowed: Mask | Iterable[int]) -> Floats:
    """Probabilities after the mask: exactly 0 outside, the old ratios inside.

    >>> masked_softmax([0.0, 1e30, 0.0], {0, 2}).tolist()
    [0.5, 0.0, 0.5]
    """
    return softmax(apply_token_mask(logits, allowed))


def apply_logit_bias(logits: npt.ArrayLike, bias: Mapping[int, float]) -> Floats:
    """Add a constant to chosen logits, -100 to 100 as OpenAI's `logit_bias` has it.

    >>> apply_logit_bias([0.0, 0.0], {1: -100}).tolist()
    [0.0, -100.0]
    """
    values = np.array(logits, dtype=np.float64)
    for token, amount in bias.items():
        _check("token id in logit_bias", token, _whole(token) and 0 <= token < len(values), f"0 to {len(values) - 1}")
        _check(f"logit bias of token {token}", amount, -100 <= amount <= 100, "a number from -100 to 100")
        values[token] += amount
    return values


def temper(logits: npt.ArrayLike, temperature: float) -> Floats:
    """Probabilities at a temperature; at 0 the likeliest token has all of it.

    >>> temper([0.0, 1.0], 0).tolist()
    [0.0, 1.0]
    """
    values = np.asarray(logits, dtype=np.float64)
    if temperature == 0:
        likeliest: Floats = np.eye(1, len(values), int(values.argmax()))[0]
        return likeliest
    return softmax(values / temperature)


def keep_top_k(probabilities: Floats, k: int) -> Floats:
    """Only the k likeliest, made to sum to one again.

    >>> keep_top_k(np.array([0.5, 0.3, 0.2]), 1).tolist()
    [1.0, 0.0, 0.0]
    """
    if k <= 0 or k >= len(probabilities):
        return probabilities
    return _keep(probabilities, np.argsort(-probabilities, kind="stable")[:k])


def keep_top_p(probabilities: Floats, p: float) -> Floats:
    """The smallest set of likeliest tokens that holds at least p.

    >>> keep_top_p(np.array([0.5, 0.3, 0.2]), 0.7).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    if p >= 1:
        return probabilities
    order = np.argsort(-probabilities, kind="stable")
    count = int(np.searchsorted(np.cumsum(probabilities[order]), p)) + 1
    return _keep(probabilities, order[:count])


def _keep(probabilities: Floats, ids: npt.NDArray[Any]) -> Floats:
    kept = np.zeros_like(probabilities)
    kept[ids] = probabilities[ids]
    kept /= kept.sum()
    return kept


def draw(probabilities: Floats, seed: int, position: int) -> int:
    """A token by its probability; the same seed and position draw the same number, in whatever order they come.

    >>> draw(np.array([0.0, 1.0]), seed=0, position=0)
    1
    """
    uniform = np.random.default_rng((seed, position)).random()
    edges = np.cumsum(probabilities)
    return min(int(np.searchsorted(edges, uniform * edges[-1], side="right")), int(np.flatnonzero(probabilities)[-1]))
