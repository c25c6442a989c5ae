"""Exercises on the distribution of masked decoding, and on drafts."""

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from guidedviz.checks.cases import Case, cases_of, read_trials
from guidedviz.checks.compare import alike
from guidedviz.checks.function import check_function
from guidedviz.checks.verdict import Verdict

Chances = Mapping[str, float]

# -- the distribution of masked decoding ---------------------------------------------------------------------------

CHANCES = {"a": 0.4, "b": 0.2, "c": 0.3, "d": 0.1}
TEXT_CHANCES = read_trials("""
only legal texts are in the result, and their probabilities add up to 1
    {"a": 1.0}, {"a"}
    {"a": 0.5, "b": 0.5}, {"a"}
legal texts keep their ratios: divide each by the same sum
    {"a": 0.25, "b": 0.5, "c": 0.25}, {"a", "b"}
    {"07": 0.08, "10": 0.009, "19": 0.873, "06": 0.02, "12": 0.018}, {"07", "06", "10", "12"}
small probabilities count as well
    {"x": 1e-12, "y": 3e-12, "z": 1.0}, {"x", "y"}
""")
WEIGHTS = read_trials("""
with equal weights masked decoding draws from the target, so the distance is 0
    [1.0]
    [0.5, 0.5]
the target has a text weight / mean weight times as often as masked decoding: how far is that from 1?
    [1.0, 0.0]
    [0.1, 0.3]
    [0.2, 0.2, 0.8]
weights can be tiny; only their ratios count
    [1e-9, 3e-9]
""")
WEIGHTS["few large weights among many small ones"] = [([*repeat(0.03, 90), *repeat(1.0, 10)],)]
# the order, and the legal tokens
ORDERS = read_trials(
    build=lambda order, legal: ([*order], CHANCES, {*legal}),
    text="""
the first legal token is expected; if all tokens are legal, the estimate is 1
    "abcd", "abcd"
left is 1 minus the probabilities of the illegal tokens before
    "badc", "a"
more is about the next token in the order, whether it is legal
    "abcd", "acd"
    "abcd", "ab"
share is the probability of the token divided by left, not by 1
    "cbad", "b"
after the illegal tokens all is legal: the estimate is what was left
    "bcad", "cad"
    "bcad", "ad"
no token follows the legal one: more is 0
    "dcba", "a"
    "a", "a"
no token is legal: None
    "abcd", ""
""",
)


def check_conditioned(answer: Any) -> Verdict:
    """Does `answer(chances, legal)` give the probability of each legal text among the legal texts?

    >>> check_conditioned(lambda chances, legal: {text: chances[text] for text in legal})
    ✗ not yet right: on input 2 of 5, the first on which it fails
        input       {'a': 0.5, 'b': 0.5}, {'a'}
        yours gave  {'a': 0.5}
        expected    {'a': 1}
        because     only legal texts are in the result, and their probabilities add up to 1
    """

    def reference(chances: Chances, legal: set[str]) -> Chances:
        whole = sum(chances[text] for text in legal)
        return {text: chances[text] / whole for text in sorted(legal)}

    return check_function(answer, cases_of(reference, TEXT_CHANCES))


def check_distance(answer: Any) -> Verdict:
    """Does `answer(weights)` give half the mean distance between 1 and each weight divided by the mean weight?

    >>> check_distance(lambda weights: sum(abs(1 - w) for w in weights) / len(weights) / 2)
    ✗ not yet right: on input 2 of 7, the first on which it fails
        input       [0.5, 0.5]
        yours gave  0.25
        expected    0
        because     with equal weights masked decoding draws from the target, so the distance is 0
    """

    def reference(weights: Sequence[float]) -> float:
        ratios = np.divide(weights, np.mean(weights))
        distances = abs(1 - ratios)
        return float(distances.mean() / 2)

    return check_function(answer, cases_of(reference, WEIGHTS), say_distance)


def say_distance(case: Case, value: float) -> str:
    """The usual slip that gives this value.

    >>> case = Case(([0.1, 0.3],), 0.25)
    >>> say_distance(case, 0.5)
    'take half of the mean over the draws: what some texts gain, others lose'
    >>> say_distance(case, 0.0)
    'the distances cancel out: none of them is negative'
    """
    count = len(case.arguments[0])
    if alike(value, 2 * case.expected):
        return "take half of the mean over the draws: what some texts gain, others lose"
    if alike(value, 0.0):
        return "the distances cancel out: none of them is negative"
    if count > 1 and alike(value / count, case.expected):
        return "it grows with the number of draws: take the mean over the draws"
    return ""


def check_adaptive(answer: Any) -> Verdict:
    """Does `answer(order, chances, legal)` give the first legal token and the estimate of Z?

    >>> check_adaptive(lambda order, chances, legal: (order[0], 1.0)).facts[-1][1]
    'left is 1 minus the probabilities of the illegal tokens before'
    """
    return check_function(answer, cases_of(adaptive_step, ORDERS))


def adaptive_step(order: Sequence[str], chances: Chances, legal: set[str]) -> tuple[str, float] | None:
    """The first legal token and the estimate of Z, as `samplers.Adaptive` takes the step.

    >>> adaptive_step("bac", CHANCES, {"a"})
    ('a', 0.4)
    """
    left = 1.0
    for token, following in zip(order, [*order[1:], None], strict=True):
        if token in legal:
            share = chances[token] / left
            return token, left * (share + (1 - share) * (following in legal))
        left -= chances[token]
    return None


# -- drafts and windows --------------------------------------------------------------------------------------------

# the distribution p of the model, q of the draft, the draft's token, and a random number
GUESSES = read_trials("""
p / q is 1 or more, so each guess is accepted: None
    {"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}, "a", 0.99
    {"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.5}, "b", 0.99
u is below p / q = 0.4: accepted
    {"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.5}, "a", 0.3
u is above p / q = 0.4: rejected; only b has more in p
    {"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.5}, "a", 0.9
    {"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.5}, "a", 0.45
divide the differences by their sum, 0.4: b 0.25, c 0.75
    {"a": 0.2, "b": 0.3, "c": 0.5}, {"a": 0.6, "b": 0.2, "c": 0.2}, "a", 0.9
a is illegal, it is missing in p: rejected even at u = 0
    {"b": 0.5, "c": 0.5}, {"a": 0.5, "b": 0.5}, "a", 0.0
q gives nothing to b and c, so the residual is p
    {"b": 0.25, "c": 0.75}, {"a": 1.0}, "a", 0.5
a has no more in p than in q: it is not listed
    {"a": 0.1, "b": 0.9}, {"a": 0.1, "b": 0.1, "c": 0.8}, "c", 0.5
""")


def check_accept(answer: Any) -> Verdict:
    """Does `answer(p, q, token, u)` accept (None) or give the residual distribution?

    >>> check_accept(lambda p, q, token, u: None if token in p else p).facts[-1][1]
    'u is above p / q = 0.4: rejected; only b has more in p'
    """
    return check_function(answer, cases_of(judge_guess, GUESSES))


def judge_guess(p: Chances, q: Chances, token: str, u: float) -> dict[str, float] | None:
    """The rule of speculative decoding, by the definition.

    >>> judge_guess({"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.5}, "a", 0.9)
    {'b': 1.0}
    """
    if u * q[token] < p.get(token, 0.0):
        return None
    more = {one: p[one] - q.get(one, 0.0) for one in sorted(p)}
    whole = sum(share for share in more.values() if share > 0)
    return {one: share / whole for one, share in more.items() if share > 0}
