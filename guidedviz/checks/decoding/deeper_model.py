"""RMSNorm, and what one token sees of the tokens before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from guidedviz.checks.judge import Case, check_function, close
from guidedviz.checks.verdict import Verdict


def check_rms_norm(answer: Callable[[Any, Any], Any]) -> Verdict:
    """Is `answer(x, weights)` RMSNorm with 1e-6 added to the mean?

    >>> check_rms_norm(lambda x, weights: x / np.sqrt(np.mean(x**2) + 1e-6) * weights)
    ✗ not yet right: on input 4 of 6, the smallest on which it fails
        input       [[3, 4], [0, 1]], [1, 1]
        yours gave  [[1.177, 1.569], [0, 0.3922]]
        expected    [[0.8485, 1.131], [0, 1.414]]
        because     each row has a mean of its own: axis=-1, keepdims=True
    """
    trials: list[tuple[list[list[float]], list[float], str]] = [
        ([[1.0, 1.0]], [1.0, 1.0], "the mean of the squares is 1, so next to nothing changes"),
        ([[3.0, 4.0]], [1.0, 1.0], "divide by the root of the mean of the squares, not of their sum"),
        ([[3.0, 4.0]], [2.0, -1.0], "multiply by the weights, number by number"),
        ([[3.0, 4.0], [0.0, 1.0]], [1.0, 1.0], "each row has a mean of its own: axis=-1, keepdims=True"),
        ([[0.0, 0.0]], [1.0, 1.0], "add 1e-6 to the mean: a row of zeros stays zero"),
        ([[0.001, 0.003]], [1.0, 1.0], "add 1e-6, that is 0.000001, to the mean, under the root"),
    ]

    def expected(x: Any, weights: Any) -> Any:
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * weights

    cases = [Case((np.array(x), np.array(w)), expected(np.array(x), np.array(w)), why) for x, w, why in trials]
    return check_function(answer, cases, close)


def check_look(answer: Callable[[Any, Any, Any], Any]) -> Verdict:
    """Is `answer(query, keys, values)` what one head of attention gives one token?

    >>> check_look(lambda query, keys, values: values.mean(axis=0))
    ✗ not yet right: on input 3 of 5, the smallest on which it fails
        input       [2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]]
        yours gave  [0.5, 0.5]
        expected    [0.8044, 0.1956]
        because     softmax of keys @ query / root of the length of a key
    """
    soft = "softmax of keys @ query / root of the length of a key"
    trials: list[tuple[list[float], list[list[float]], list[list[float]], str]] = [
        ([1.0], [[1.0]], [[5.0, 6.0]], "one token sees itself only, so its weight is 1"),
        ([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], [[2.0], [4.0]], "equal matches give equal weights"),
        ([2.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], soft),
        ([1.0, 2.0, 3.0, 4.0], [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.5, 0.0]], [[1.0, 0.0], [0.0, 1.0]], soft),
        ([400.0], [[3.0], [1.0]], [[1.0], [2.0]], "subtract the largest match before you exponentiate"),
    ]
    cases = [Case((q, k, v), _look(q, k, v), why) for *parts, why in trials for q, k, v in [map(np.array, parts)]]
    return check_function(answer, cases, close)


def _look(query: Any, keys: Any, values: Any) -> Any:
    matches = keys @ query / np.sqrt(len(query))
    weights = np.exp(matches - matches.max())
    return weights / weights.sum() @ values
