"""A text that somebody else wrote, read as a run: token by token, up to the first byte that the constraint refuses.

The model is asked at each token, as if it had written the text. So a step shows what the model would have put there,
and Z. The last step says where the constraint refuses the text and why.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from guidedviz.decoding.loop import check_fit, make_trace, start, take_step
from guidedviz.decoding.recording import End
from guidedviz.decoding.sampling import Settings, masked_softmax, softmax
from guidedviz.decoding.trace import NO_TOKEN, Measured, Point, Refusal, Step, Trace, make_step, start_watch
from guidedviz.errors import expect
from guidedviz.files import text_of
from guidedviz.machines.json_path import json_path
from guidedviz.machines.names import name_bytes, split_names, without_names
from guidedviz.machines.visible import visible
from guidedviz.models.model import Array, Model, check_utf8, context_of
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.guide import Explanation, Guide, guide_states, refused_part
from guidedviz.tokens.jump import spell_output
from guidedviz.tokens.vocabulary import join_pieces, longest_tokens

TOKENS_INSTEAD = 8  # that the model writes in place of what is refused
ROWS_AT_ONCE = 64  # of logits; a row of 128,256 tokens takes 513 KB


def inspect_text(model: Model, prompt: str, text: str | Sequence[str], guide: Guide, *, constraint: str = "") -> Trace:
    """Read a text that another program wrote after this prompt, as a trace for `gv.stage` and `gv.diagnose`.

    The text is cut into the model's tokens. The steps show what this model would have put in their place, and Z. If the
    constraint refuses the text, or the text ends too early, the last step says where and why: `trace.refusal`.
    A text with special tokens is given as `trace.parts` has it: texts and special tokens in turn.

    >>> toy = gv.ToyModel([b"3", b"6", b"x", b"</s>"], lambda tokens: [0, 9, 0, 0], eos={3})
    >>> seen = gv.inspect_text(toy, "3", "36x", gv.guide(gv.regex("[0-9]+"), toy.vocabulary))
    >>> seen.text, seen.refusal.byte, seen.refusal.reason
    ('36', 2, 'after `36`: `x` cannot come, expected 0-9 or the end')
    """
    prompt = text_of(prompt, "prompt")
    point = start(model, prompt, guide)
    check_fit(guide, model.vocabulary, model.name)
    check_utf8("inspect_text, constraint", constraint)
    data = as_bytes(text_of(text, "inspect_text, text"))
    tokens = cut_text(model, guide, data)
    made = make_trace(model, prompt, constraint or name_guide(guide))
    return replace(made, steps=tuple(read_steps(model, guide, point, tokens, data)), guide=guide)


def as_bytes(text: str | Sequence[str]) -> bytes:
    """A text, or its texts and special tokens in turn, as a machine reads it.

    >>> as_bytes("a"), as_bytes(["", "<x>", "b"])
    (b'a', b'\\xff<x>\\xfeb')
    """
    if isinstance(text, str):
        return check_utf8("inspect_text, text", text).encode()
    expected = "a text, or its texts and special tokens in turn"
    expect(text, Sequence, "inspect_text, text", expected, "trace.parts")
    data = b""
    for place, part in enumerate(text):
        said = check_utf8(f"inspect_text, text[{place}]", part)
        data += name_bytes(said) if place % 2 else said.encode()
    return data


def cut_text(model: Model, guide: Guide, data: bytes) -> list[int]:
    """The text as the tokenizer cuts it; where its tokens have other bytes, in the longest tokens."""
    spelled = spell_output(guide.reads, model.encode, (), data)
    return [*longest_tokens(guide.reads, data)] if spelled is None else spelled


def read_steps(model: Model, guide: Guide, point: Point, tokens: Sequence[int], data: bytes) -> Iterator[Step]:
    """One step per token that the guide allows, and one that says how the text ends."""
    states = guide_states(guide, guide.initial, tokens)
    allowed = tokens[: len(states) - 1]
    rows = rows_along(model, point.tokens, allowed)
    watch = start_watch()
    for place, logits in enumerate(rows):
        measured = measure(guide, point.state, logits)
        spent_ms = watch()
        if place == len(allowed):
            step = last_step(guide, point, tokens[place:], measured, data)
            if step.refused:
                refused = replace(step.refused, instead=write_on(model, guide, point))
                step = replace(step, refused=refused)
            yield replace(step, forward_ms=spent_ms)
            return
        token = allowed[place]
        end: End = "eos" if token in guide.vocabulary.eos else ""
        yield make_step(guide, point, token, "given", measured, end=end, forward_ms=spent_ms)
        if end:
            return
        point = point.then(token, states[place + 1])
    yield make_step(guide, point, end="context")


def rows_along(model: Model, before: Sequence[int], tokens: Sequence[int]) -> Iterator[Array]:
    """The logits before each of these tokens and after the last, as far as the model can read."""
    count = int(min(len(tokens), context_of(model) - len(before))) + 1
    for first in range(0, count, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, count) - 1
        yield from model.all_logits([*before, *tokens[:last]], len(before) + first - 1)


def measure(guide: Guide, state: Any, logits: Array) -> Measured:
    """The model's own probabilities, the mask, and the probabilities after the mask."""
    raw = softmax(logits)
    mask = guide.mask(state)
    drawn = masked_softmax(logits, mask) if mask.any() else np.zeros(len(raw))
    return raw, mask, drawn


def last_step(guide: Guide, point: Point, left: Sequence[int], measured: Measured, data: bytes) -> Step:
    """How the text ends after the allowed tokens: refused, complete, or cut; `left` are the tokens that follow."""
    raw, mask, _ = measured
    ends = [token for token in guide.vocabulary.eos if mask[token]]
    if ends and not left:
        token = max(ends, key=lambda one: raw[one])
        return make_step(guide, point, token, "given", measured, end="eos")
    if guide.is_accepting(point.state) and not left:
        end: End = "stop" if mask.any() else "complete"
        return make_step(guide, point, measured=measured, end=end)
    refused = find_refusal(guide, point, left, data)
    step = make_step(guide, point, refused.token, "none", measured, refused=refused)
    return replace(step, token=NO_TOKEN, piece=b"", end="refused" if left else "cut")


def find_refusal(guide: Guide, point: Point, left: Sequence[int], data: bytes) -> Refusal:
    """Where the constraint refuses the first of these tokens, or the end of the text if none is left, and why."""
    read = len(join_pieces(guide.reads, point.output))
    token = left[0] if left else min(guide.vocabulary.eos, default=NO_TOKEN)
    reason = "the text is not complete"
    if token != NO_TOKEN:
        why = guide.explain(point.state, token)
        reason = why.reason
        if left:
            read += why.died_at or 0
            reason = say_refused_byte(why, data[:read])
    passed = data[:read]
    text = split_names(passed)[-1]  # after the last special token
    return Refusal(token, len(without_names(passed)), json_path(text), reason)


LAST_WORD = re.compile(rb"\S*\s*\Z")
LONGEST_WORD = 24  # characters


def say_refused_byte(why: Explanation, passed: bytes) -> str:
    """Why a token is refused, with the last word of the text before its refused byte, and that byte, in marks.

    An engine that gives another reason is left its own words.
    """
    if why.died_at is None:
        return why.reason
    refused = refused_part(why.piece, why.died_at)
    _, found, wanted = why.reason.partition(f"{refused} cannot come: ")  # what comes before it shows no blank
    if not found:
        return why.reason
    word = LAST_WORD.search(split_names(passed)[-1])
    place = ""
    if word and word[0]:
        place = f"after `{visible(word[0])[-LONGEST_WORD:]}`: "
    return f"{place}`{refused}` cannot come, {wanted}"


def write_on(model: Model, guide: Guide, point: Point) -> str:
    """What the model itself writes from here under the constraint: its likeliest tokens, in visible characters."""
    settings = Settings(temperature=0)
    written = b""
    for _ in range(TOKENS_INSTEAD):
        step, point = take_step(model, point, guide, settings)
        if step.end != "eos":
            written += step.piece
        if step.end:
            break
    return visible(without_names(written))
