"""Greedy decoding with jump-forward and without: is it the same, and if not, where do the texts part and why?

A forced run says nothing new, but it may be cut into other tokens than the model would have chosen, and the model reads
tokens. Short of that only rounding is left: several tokens in one pass are added up in another order than one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from guidedviz.decoding.loop import Model, check_guide, record
from guidedviz.decoding.payoff import Difference
from guidedviz.decoding.trace import Trace
from guidedviz.tokens.compare import shared_length
from guidedviz.tokens.guide import Guide

Cause = Literal["", "a spelling", "rounding"]


@dataclass(frozen=True)
class Parting:
    """Two greedy decodes of one prompt, plain and with jump-forward."""

    plain: Trace
    jumped: Trace
    difference: Difference
    cause: Cause  # of the first other token; "" if there is none
    place: int  # so many bytes the two texts have in common


def compare_jump(model: Model, prompt: str, guide: Guide, way: str = "canonical", max_tokens: int = 200) -> Parting:
    """Decode greedily both ways and compare.

    >>> from guidedviz.decoding.toy import ToyModel
    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.engines import guide
    >>> toy = ToyModel([b"n", b"o", b"no", b"t", b"!"], lambda tokens: [5, 4, 3, 2, 1])
    >>> parting = compare_jump(toy, "t", guide(regex("no[t!]"), toy.vocabulary))
    >>> parting.plain.tokens, parting.jumped.tokens
    ((0, 1, 3), (2, 3))
    >>> parting.difference, parting.cause, parting.place
    ('same text, other tokens', 'a spelling', 3)
    """
    check_guide(guide, model.vocabulary)
    plain, jumped = (
        record(model, prompt, guide, temperature=0.0, max_tokens=max_tokens, jump_forward=jump) for jump in ("", way)
    )
    place = shared_length(plain.output, jumped.output)
    return Parting(plain, jumped, name_difference(plain, jumped), find_cause(plain, jumped), place)


def name_difference(plain: Trace, jumped: Trace) -> Difference:
    """In one of three words; of texts that were cut as many bytes are compared as both have."""
    if plain.tokens == jumped.tokens:
        return "same tokens"
    cut = any(trace.steps[-1].end in ("max_tokens", "stop") for trace in (plain, jumped))
    size = min(len(plain.output), len(jumped.output)) if cut else None
    return "same text, other tokens" if plain.output[:size] == jumped.output[:size] else "other text"


def find_cause(plain: Trace, jumped: Trace) -> Cause:
    """At the first other token: was it chosen after the same tokens, or after a spelling of its own?"""
    tokens = plain.tokens
    size = same = 0  # the tokens before a step, and how many of them both have from the start
    for step in jumped.steps:
        size -= step.back
        same = min(same, size)
        goes_on = same == size and tokens[size : size + 1] == (step.token,)
        if step.how == "sampled" and not goes_on:
            return "rounding" if same == size else "a spelling"
        size, same = size + 1, same + goes_on
    return "" if tokens == jumped.tokens else "a spelling"
