"""One step of adaptive rejection sampling: the first legal token, and an unbiased estimate of the legal mass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isclose
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict

CHANCES = {"a": 0.5, "b": 0.2, "c": 0.3}
# the order of the draws, the legal tokens, and what a wrong answer has missed
TRIALS: tuple[tuple[str, str, str], ...] = (
    ("abc", "abc", "if all tokens are legal, the estimate is 1"),
    ("bac", "a", "left is 1 minus the probabilities of the illegal tokens before"),
    ("abc", "ac", "more is about the next token in the order, whether it is legal"),
    ("abc", "ab", "the next token is legal: left * (share + (1 - share) * 1) is left"),
    ("cba", "b", "share is the probability of the token divided by left, not by 1"),
    ("bca", "ca", "after the illegal token all is legal: the estimate is what was left"),
    ("cba", "a", "no token follows the legal one: more is 0"),
    ("abc", "", "no token is legal: None"),
)


def check_adaptive(
    answer: Callable[[Sequence[str], Mapping[str, float], set[str]], tuple[str, float] | None],
) -> Verdict:
    """Does `answer(order, chances, legal)` give the first legal token and the estimate of Z?

    >>> check_adaptive(lambda order, chances, legal: (order[0], 1.0)).facts[-1][1]
    'the first legal token in the order is expected'
    """
    cases = [
        Case((list(order), dict(CHANCES), set(legal)), adaptive_step(order, CHANCES, set(legal)), why)
        for order, legal, why in TRIALS
    ]
    return check_function(answer, cases, _same, _say)


def adaptive_step(order: Sequence[str], chances: Mapping[str, float], legal: set[str]) -> tuple[str, float] | None:
    """The step as `samplers.Adaptive` takes it.

    >>> adaptive_step("bac", CHANCES, {"a"})
    ('a', 0.5)
    """
    place = next((place for place, token in enumerate(order) if token in legal), None)
    if place is None:
        return None
    left = 1 - sum(chances[token] for token in order[:place])
    share = chances[order[place]] / left
    return order[place], left * (share + (1 - share) * any(token in legal for token in order[place + 1 : place + 2]))


def _same(value: Any, expected: tuple[str, float] | None) -> bool:
    if value is None or expected is None:
        return value is expected
    token, estimate = value
    return bool(token == expected[0]) and isclose(estimate, expected[1], rel_tol=1e-6)


def _say(case: Case, value: Any) -> Mistake:
    if value is not None and not (isinstance(value, tuple | list) and len(value) == 2):
        return Mistake("a pair is expected, the token and the estimate, or None")
    if value is not None and case.expected is not None and value[0] != case.expected[0]:
        return Mistake("the first legal token in the order is expected")
    return Mistake(case.why)
