"""The rule of speculative decoding: accept a guess, or give the residual distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isclose
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict

Chances = Mapping[str, float]
EVEN, HIGH = {"a": 0.5, "b": 0.5}, {"a": 0.2, "b": 0.8}
# p, q, the guess, the random number, and what a wrong answer has missed
TRIALS: tuple[tuple[Chances, Chances, str, float, str], ...] = (
    (EVEN, EVEN, "a", 0.99, "p / q is 1, so every guess is accepted: None"),
    (HIGH, EVEN, "b", 0.99, "p is above q, so the guess is accepted whatever u is: None"),
    (HIGH, EVEN, "a", 0.3, "u is below p / q = 0.4: accepted"),
    (HIGH, EVEN, "a", 0.9, "u is above p / q = 0.4: rejected; only b has more in p than in q"),
    (HIGH, EVEN, "a", 0.45, "accept by u < p / q, not by u < q or u < 0.5"),
    (
        {"a": 0.2, "b": 0.3, "c": 0.5},
        {"a": 0.6, "b": 0.2, "c": 0.2},
        "a",
        0.9,
        "divide the differences by their sum, 0.4: b 0.25, c 0.75",
    ),
    ({"b": 0.5, "c": 0.5}, {"a": 0.5, "b": 0.5}, "a", 0.0, "a is illegal, it is missing in p: rejected even at u = 0"),
    ({"b": 0.25, "c": 0.75}, {"a": 1.0}, "a", 0.5, "q gives nothing to b and c, so the residual is p"),
    ({"a": 0.1, "b": 0.9}, {"a": 0.1, "b": 0.1, "c": 0.8}, "c", 0.5, "a has no more in p than in q: it is not listed"),
)


def check_accept(answer: Callable[[Chances, Chances, str, float], Chances | None]) -> Verdict:
    """Does `answer(p, q, token, u)` accept (None) or give the residual distribution?

    >>> check_accept(lambda p, q, token, u: None if token in p else p).facts[-1][1]
    'u is above p / q = 0.4: rejected; only b has more in p than in q'
    """
    cases = [Case((dict(p), dict(q), token, u), judge_guess(p, q, token, u), why) for p, q, token, u, why in TRIALS]
    return check_function(answer, cases, _same, _say)


def judge_guess(p: Chances, q: Chances, token: str, u: float) -> dict[str, float] | None:
    """The rule, by the definition.

    >>> judge_guess(HIGH, EVEN, "a", 0.9)
    {'b': 1.0}
    """
    if u * q[token] < p.get(token, 0.0):
        return None
    more = {one: p[one] - q.get(one, 0.0) for one in sorted(p) if p[one] > q.get(one, 0.0)}
    return {one: share / sum(more.values()) for one, share in more.items()}


def _same(value: Any, expected: Chances | None) -> bool:
    if value is None or expected is None:
        return value is expected
    return value.keys() == expected.keys() and all(isclose(value[one], expected[one]) for one in expected)


def _say(case: Case, value: Any) -> Mistake:
    if value is not None and not isinstance(value, dict):
        return Mistake("a dict is expected after a rejection, and None after an acceptance")
    return Mistake(case.why)
