"""Greedy decoding with and without jump-forward: where the two outputs differ, and why.

Forced bytes may be tokenized differently than the model would choose, and the model reads tokens. The only other cause
is rounding: a pass over several tokens adds numbers in a different order than passes over one token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from guidedviz.decoding.loop import check_fit, record
from guidedviz.decoding.trace import Trace
from guidedviz.models.model import Model, check_model
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.spelling import shared_length

Difference = Literal["same tokens", "same text, other tokens", "other text"]
Cause = Literal["", "a spelling", "rounding"]


@dataclass(frozen=True)
class Compared:
    """Two greedy decodes of one prompt, without and with jump-forward."""

    plain: Trace
    jumped: Trace
    difference: Difference
    cause: Cause  # of the first different token; "" if there is none
    shared: int  # the length in bytes of the common prefix of both outputs


def compare_jump(model: Model, prompt: str, guide: Guide, way: str = "canonical", max_tokens: int = 200) -> Compared:
    """Decode greedily both ways and compare.

    >>> toy = gv.ToyModel([b"n", b"o", b"no", b"t", b"!"], lambda tokens: [5, 4, 3, 2, 1])
    >>> found = compare_jump(toy, "t", gv.guide(gv.regex("no[t!]"), toy.vocabulary))
    >>> found.plain.tokens, found.jumped.tokens
    ((0, 1, 3), (2, 3))
    >>> found.difference, found.cause, found.shared
    ('same text, other tokens', 'a spelling', 3)
    """
    check_model(model)
    check_fit(guide, model.vocabulary)
    plain, jumped = (
        record(model, prompt, guide, temperature=0.0, max_tokens=max_tokens, jump_forward=jump) for jump in ("", way)
    )
    shared = shared_length(plain.output, jumped.output)
    return Compared(plain, jumped, name_difference(plain, jumped), find_cause(plain, jumped), shared)


def name_difference(plain: Trace, jumped: Trace) -> Difference:
    """The difference between two outputs. If one is truncated, only as many bytes as both have are compared."""
    if plain.tokens == jumped.tokens:
        return "same tokens"
    cut = any(trace.steps[-1].end in ("max_tokens", "context", "stop") for trace in (plain, jumped))
    size = min(len(plain.output), len(jumped.output)) if cut else None
    return "same text, other tokens" if plain.output[:size] == jumped.output[:size] else "other text"


def find_cause(plain: Trace, jumped: Trace) -> Cause:
    """The cause of the first different token: rounding if the tokens before it are equal, else a spelling."""
    tokens = plain.tokens
    size = same = 0  # the number of tokens before a step, and how many of them are equal in both runs
    for step in jumped.steps:
        size -= step.back
        same = min(same, size)
        goes_on = same == size and tokens[size : size + 1] == (step.token,)
        if step.how == "sampled" and not goes_on:
            return "rounding" if same == size else "a spelling"
        size, same = size + 1, same + goes_on
    return "" if tokens == jumped.tokens else "a spelling"
