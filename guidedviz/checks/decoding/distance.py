"""How far masked decoding is from its target, from the weights of its draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict


def check_distance(answer: Callable[[Sequence[float]], float]) -> Verdict:
    """Does `answer(weights)` give half the mean distance between 1 and each weight divided by the mean weight?

    >>> check_distance(lambda weights: sum(abs(1 - w) for w in weights) / len(weights) / 2)
    ✗ not yet right: on input 2 of 7, the smallest on which it fails
        input       [0.5, 0.5]
        yours gave  0.25
        expected    0
        because     equal weights change nothing: divide each weight by the mean weight
    """
    equal = "equal weights change nothing: divide each weight by the mean weight"
    half = "half of the mean distance: a draw with too large a share takes it from another one"
    trials: list[tuple[list[float], str]] = [
        ([1.0], "one draw differs from nothing"),
        ([0.5, 0.5], equal),
        ([1.0, 0.0], half),
        ([0.1, 0.3], half),
        ([0.2, 0.2, 0.8], "mean distance: divide the sum by the number of draws"),
        ([1e-9, 3e-9], "weights can be tiny; only their ratios count"),
        ([0.03] * 90 + [1.0] * 10, "few large weights among many small ones"),
    ]
    return check_function(answer, [Case((weights,), _distance(weights), why) for weights, why in trials], _close, _say)


def _distance(weights: Sequence[float]) -> float:
    mean = sum(weights) / len(weights)
    return sum(abs(1 - weight / mean) for weight in weights) / len(weights) / 2


def _close(value: Any, expected: float) -> bool:
    return isclose(float(value), expected, rel_tol=1e-6, abs_tol=1e-9)


def _say(case: Case, value: Any) -> Mistake:
    try:
        return Mistake("a distance is never negative: use abs" if float(value) < -1e-9 else case.why)
    except (TypeError, ValueError):
        return Mistake("one number is expected")
