"""The distribution of legal texts that a model would write if all others were thrown away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isclose
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict


def check_conditioned(answer: Callable[[Mapping[str, float], set[str]], Mapping[str, float]]) -> Verdict:
    """Does `answer(chances, legal)` give the probability of each legal text among the legal texts?

    >>> check_conditioned(lambda chances, legal: {text: chances[text] for text in legal})
    ✗ not yet right: on input 2 of 6, the smallest on which it fails
        input       {'a': 0.5, 'b': 0.5}, {'a'}
        yours gave  {'a': 0.5}
        expected    {'a': 1.0}
        because     the probabilities of the legal texts add up to 1
    """
    one = "the probabilities of the legal texts add up to 1"
    ratio = "legal texts keep their ratios: divide each by the same sum"
    trials: list[tuple[dict[str, float], set[str], str]] = [
        ({"a": 1.0}, {"a"}, "the only text keeps all"),
        ({"a": 0.5, "b": 0.5}, {"a"}, one),
        ({"a": 0.25, "b": 0.5, "c": 0.25}, {"a", "b"}, ratio),
        ({"a": 0.2, "b": 0.3, "c": 0.5}, {"a", "b", "c"}, "with all texts legal nothing changes"),
        ({"07": 0.08, "10": 0.009, "19": 0.873, "06": 0.02, "12": 0.018}, {"07", "06", "10", "12"}, ratio),
        ({"x": 1e-12, "y": 3e-12, "z": 1.0}, {"x", "y"}, "small probabilities count as well"),
    ]
    return check_function(
        answer,
        [Case((chances, legal), _conditioned(chances, legal), why) for chances, legal, why in trials],
        _close,
        _say,
    )


def _conditioned(chances: Mapping[str, float], legal: set[str]) -> dict[str, float]:
    whole = sum(chances[text] for text in legal)
    return {text: chances[text] / whole for text in sorted(legal)}


def _close(value: Any, expected: Any) -> bool:
    return value.keys() == expected.keys() and all(
        isclose(value[text], expected[text], rel_tol=1e-6) for text in expected
    )


def _say(case: Case, value: Any) -> Mistake:
    if not isinstance(value, dict):
        return Mistake("a dict is expected, from each legal text to its probability")
    if value.keys() - case.expected.keys():
        return Mistake("only the legal texts are expected as keys")
    return Mistake()
