"""Exercises on masks in production: who emptied a mask, the packed mask, and bounds of Z."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import exp, log
from typing import Any

import numpy as np

from guidedviz.checks.cases import cases_of, read_trials
from guidedviz.checks.function import check_function
from guidedviz.checks.verdict import Verdict
from guidedviz.serving.logits_processor import pack_masks

Allowed = Mapping[str, set[int]]  # for each rule the ids that it allows

# -- who emptied the mask ------------------------------------------------------------------------------------------

# the smallest guilty group is always unique
RULES = read_trials("""
some token is legal for every rule, so nothing emptied the mask
    {"grammar": {1, 2}}
    {"grammar": {0}, "min_tokens": {0, 1}}
one rule alone allows no token
    {"grammar": set()}
    {"grammar": {1, 2}, "allowed": set(), "min_tokens": {3}}
two rules allow no token together; smaller groups come first
    {"grammar": {5}, "min_tokens": {1, 2, 3}}
    {"grammar": {5}, "min_tokens": {1, 2, 5}, "bad words": {1, 2}}
    {"min_tokens": {1, 2, 3}, "bad words": {1, 2, 5}, "grammar": {5}}
a group that stays guilty when no rule can be left out need not be the smallest: try all pairs first
    {"grammar": {1, 2}, "min_tokens": {2, 3}, "allowed": {1, 3}, "bad words": {3}}
    {"bad words": {1, 2, 3, 4, 5, 6}, "grammar": {7, 8, 9}, "min_tokens": {1, 7}, "allowed": {2, 7}, "stop": {1, 2, 8}}
    {"grammar": {1, 2, 3, 4, 5, 6}, "min_tokens": {7, 8, 9}, "allowed": {1, 7}, "stop": {2, 7}, "bad words": {1, 2, 8}}
    {"min_tokens": {1, 2, 3, 4, 5, 6}, "allowed": {7, 8, 9}, "stop": {1, 7}, "bad words": {2, 7}, "grammar": {1, 2, 8}}
    {"allowed": {1, 2, 3, 4, 5, 6}, "stop": {7, 8, 9}, "bad words": {1, 7}, "grammar": {2, 7}, "min_tokens": {1, 2, 8}}
    {"stop": {1, 2, 3, 4, 5, 6}, "bad words": {7, 8, 9}, "grammar": {1, 7}, "min_tokens": {2, 7}, "allowed": {1, 2, 8}}
    {"grammar": {1, 2}, "min_tokens": {1, 3, 4}, "bad words": {2, 5, 6}}
only three rules together allow no token, and the others leave some
    {"grammar": {1, 2}, "min_tokens": {2, 3}, "bad words": {1, 3}}
    {"allowed": {1, 2, 3, 4}, "grammar": {1, 2}, "min_tokens": {2, 3, 4}, "bad words": {1, 3, 4}}
""")


def check_who_emptied(answer: Callable[[Allowed], set[str]]) -> Verdict:
    """Does `answer(rules)` name the smallest group of rules that allow no token together?

    >>> check_who_emptied(lambda rules: set(rules))
    ✗ not yet right: on input 1 of 16, the first on which it fails
        input       {'grammar': {1, 2}}
        yours gave  {'grammar'}
        expected    set()
        because     some token is legal for every rule, so nothing emptied the mask
    """
    return check_function(answer, cases_of(who_emptied, RULES))


def who_emptied(rules: Allowed) -> set[str]:
    """The smallest group of rules that allow no token together; empty if some token is legal.

    >>> sorted(who_emptied({"grammar": {5}, "least": {1, 2, 5}, "bad words": {1, 2}}))
    ['bad words', 'grammar']
    """
    for size in range(1, len(rules) + 1):
        for group in combinations(rules, size):
            if not set.intersection(*(rules[name] for name in group)):
                return set(group)
    return set()


# -- the packed mask -----------------------------------------------------------------------------------------------

PACKED_IDS = read_trials("""
no token is legal: all bits are 0
    [], 32
token 0 is the lowest bit of word 0, worth 1; token 2 is worth 4
    [0], 32
    [0, 2], 32
token 33 is bit 1 of word 1: the word is token // 32, the bit is token % 32
    [33], 64
    [0], 64
a word has 32 bits, and a part of a word needs a whole one
    [1], 5
    [], 33
bit 31 is the sign of an int32: set bits as uint32, view them as int32
    [0, 31], 32
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, \
     30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, \
     57, 58, 59, 60, 61, 62, 63], 64
a token may be named twice: set its bit with |=, do not add
    [3, 3], 32
the tokens come in any order
    [128255, 5, 64], 128256
""")


def check_packed_row(answer: Callable[[Sequence[int], int], Any]) -> Verdict:
    """Does `answer(ids, size)` give the packed mask of these legal tokens as int32 words?

    >>> check_packed_row(lambda ids, size: [0] * (size // 32)).facts[-1][1]
    'token 0 is the lowest bit of word 0, worth 1; token 2 is worth 4'
    """

    def reference(ids: Sequence[int], size: int) -> Any:
        masks = np.zeros((1, size), bool)
        masks[0, ids] = True
        return pack_masks(masks)[0].tolist()

    return check_function(answer, cases_of(reference, PACKED_IDS, "ids", "size"))


# -- bounds of Z from the likeliest tokens -------------------------------------------------------------------------

# the probabilities of the likeliest tokens, and the legal tokens
TOPS = read_trials(
    build=lambda top, legal: ({token: log(chance) for token, chance in top.items()}, legal),
    text="""
all listed tokens are legal: Z is their sum or more, up to 1
    {"a": 0.5, "b": 0.25}, {"a", "b"}
no listed token is legal: Z may be 0, and at most what is not listed
    {"a": 0.5, "c": 0.25}, {"b"}
legal ones give the lower bound, illegal ones the upper
    {"a": 0.5, "b": 0.2}, {"b", "c"}
nothing is listed, so nothing is known
    {}, {"a"}
""",
)


def check_z_bounds(answer: Callable[[Mapping[str, float], set[str]], tuple[float, float]]) -> Verdict:
    """Does `answer(top, legal)` bound the legal mass by the log-probabilities of the likeliest tokens?

    >>> check_z_bounds(lambda top, legal: (sum(top.values()), 1.0)).facts[-1][1]
    'all listed tokens are legal: Z is their sum or more, up to 1'
    """
    return check_function(answer, cases_of(z_bounds, TOPS, "top", "legal"))


def z_bounds(top: Mapping[str, float], legal: set[str]) -> tuple[float, float]:
    """The least and the largest legal mass that fits these log-probabilities.

    >>> z_bounds({"a": log(0.5)}, {"a"})
    (0.5, 1.0)
    """
    low = sum((exp(top[one]) for one in top.keys() & legal), 0.0)
    illegal = sum((exp(top[one]) for one in top.keys() - legal), 0.0)
    return low, 1.0 - illegal
