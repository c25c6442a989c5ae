"""Greedy decoding with jump-forward and without, on models whose taste is known."""

import pytest

import guidedviz as gv
from guidedviz.decoding.payoff import find_difference
from tests.common import regex_guide

PIECES = [b"n", b"o", b"no", b"t", b"!", b"</s>"]
CASES = [  # the model's taste, the regex, the tokens of both ways, and how they differ
    (lambda tokens: [1, 1, 9, 3, 2, 0], "no[t!]", (2, 3, 5), (2, 3, 5), "same tokens"),
    (lambda tokens: [9, 8, 1, 3, 2, 0], "no[t!]", (0, 1, 3, 5), (2, 3, 5), "same text, other tokens"),
    (
        lambda tokens: [9, 8, 1, *((7, 6) if 2 in tokens else (6, 7)), 0],
        "no[t!]",
        (0, 1, 4, 5),
        (2, 3, 5),
        "other text",
    ),
    # texts that were cut are compared as far as both go
    (lambda tokens: [9, 8, 1, 3, 2, 0], "(no){9}[t!]", (0, 1) * 3, (2,) * 6, "same text, other tokens"),
]


@pytest.mark.parametrize(("rule", "regex", "plain", "jumped", "difference"), CASES)
def test_both_ways_are_decoded_and_compared(rule, regex, plain, jumped, difference):
    model = gv.ToyModel(PIECES, rule, eos=[5])
    guide = regex_guide(model, regex)
    settings = {"temperature": 0, "max_tokens": 6}
    one_by_one = gv.record(model, "t", guide, jump_forward=False, **settings)
    jumping = gv.record(model, "t", guide, jump_forward=True, **settings)
    assert one_by_one.tokens == plain
    assert jumping.tokens == jumped
    assert find_difference(one_by_one, jumping) == difference
