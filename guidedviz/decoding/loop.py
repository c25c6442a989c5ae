"""The loop: logits, mask, softmax, draw, advance. Every stop of it is a value one can come back to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.sampling import (
    Floats,
    Mask,
    Settings,
    apply_logit_bias,
    apply_token_mask,
    as_mask,
    draw,
    keep_top_k,
    keep_top_p,
    softmax,
    temper,
)
from guidedviz.decoding.steps import Point, chosen_step, forced_step, stopped_step
from guidedviz.decoding.trace import End, How, Source, Step, Trace
from guidedviz.errors import IllegalToken, SettingError
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.jump import WAYS, Jump, find_jump
from guidedviz.tokens.vocabulary import Vocabulary


class Model(Protocol):
    """Anything that gives the next token's logits."""

    name: str
    device: str
    source: Source
    vocabulary: Vocabulary

    def encode(self, text: str) -> list[int]: ...
    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]: ...


def start(model: Model, prompt: str, guide: Guide | None = None) -> Point:
    """The point before the first new token."""
    if not isinstance(prompt, str):
        raise SettingError("prompt", seen=type(prompt).__name__, expected="a text")
    tokens = tuple(model.encode(prompt))
    if not tokens:
        raise SettingError(
            "prompt", seen=repr(prompt), expected="at least one token", hint="start with a space or a line break"
        )
    if guide is not None:
        check_guide(guide, model.vocabulary)
    return Point(tokens, (guide.initial if guide else None,))


def check_guide(guide: Any, vocabulary: Vocabulary) -> None:
    """Is this a guide over the vocabulary of the model?"""
    hint = "gv.guide(machine, model.vocabulary)"
    if not hasattr(guide, "vocabulary") or not hasattr(guide, "advance"):
        raise SettingError("guide", seen=type(guide).__name__, expected="a guide", hint=hint)
    if guide.vocabulary != vocabulary:
        seen = f"a guide over {guide.vocabulary} and a model with {vocabulary}"
        raise SettingError("guide", seen=seen, expected="the same vocabulary", hint=hint)


def take_step(
    model: Model, point: Point, guide: Guide | None, settings: Settings, choice: int | None = None
) -> tuple[Step, Point]:
    """One step from a point, and the point after it; `choice` is a token that a person puts in."""
    began = time.perf_counter()
    if guide is not None and choice is None and (jump := next_jump(model, point, guide, settings.jump_forward)):
        return _put(guide, point, jump, settings, _ms(began))
    logits = apply_logit_bias(model.logits(list(point.tokens)), settings.bias)
    forward_ms, began = _ms(began), time.perf_counter()
    mask = legal_tokens(model.vocabulary, guide, point.state)
    mask_ms, began = _ms(began), time.perf_counter()
    raw = softmax(logits)
    about = model.vocabulary, guide, point, raw
    if not mask.any():
        over: End = "complete" if guide and guide.is_accepting(point.state) else "dead_end"
        spent = forward_ms, mask_ms, 0.0
        return chosen_step(*about, np.zeros_like(raw), mask, -1, "none", spent, over), point
    odds = distribution(logits, mask, settings)
    if choice is None:
        token = draw(odds, settings.seed, point.position)
    else:
        token = check_choice(model.vocabulary, guide, point.state, mask, choice)
    spent = forward_ms, mask_ms, _ms(began)
    after = _advance(model.vocabulary, guide, point, token)
    end = _end(model.vocabulary, guide, after, settings)
    how: How = "sampled" if choice is None else "inserted"
    return chosen_step(*about, odds, mask, token, how, spent, end), after


def next_jump(model: Model, point: Point, guide: Guide, way: str) -> Jump | None:
    """What is forced next: the rest of a run that has begun, or a new one; nothing, if no way to spell it is given."""
    if point.ahead and way:
        return Jump(0, point.ahead)
    return find_jump(guide, model.encode, point.output, point.states, way) if way else None


def _put(guide: Guide, point: Point, jump: Jump, settings: Settings, spent: float) -> tuple[Step, Point]:
    """The first token of a forced run; the model reads it with the next token that it is asked for."""
    token, *ahead = jump.tokens
    before = point.back(jump.back)
    after = _advance(guide.vocabulary, guide, before, token, tuple(ahead))
    end = _end(guide.vocabulary, guide, after, settings)
    return forced_step(guide, before, token, jump.back, spent, end), after


def legal_tokens(vocabulary: Vocabulary, guide: Guide | None, state: Any) -> Mask:
    """The guide's mask; without a guide everything that is text or ends it."""
    return _free_mask(vocabulary) if guide is None else guide.mask(state)


@lru_cache(maxsize=8)
def _free_mask(vocabulary: Vocabulary) -> Mask:
    mask = as_mask((*vocabulary.text_ids, *vocabulary.eos), len(vocabulary))
    mask.flags.writeable = False
    return mask


def distribution(logits: Floats, mask: Mask, settings: Settings) -> Floats:
    """What is drawn from: masked, tempered, cut."""
    tempered = temper(apply_token_mask(logits, mask), settings.temperature)
    return keep_top_p(keep_top_k(tempered, settings.top_k), settings.top_p)


def check_choice(vocabulary: Vocabulary, guide: Guide | None, state: Any, mask: Mask, choice: int) -> int:
    """A token put in by hand must exist and be legal."""
    where = f"inserted token {choice}"
    if not 0 <= choice < len(vocabulary):
        raise IllegalToken(where, seen="no such id", expected=f"0 to {len(vocabulary) - 1}")
    if not mask[choice]:
        reason = guide.explain(state, choice).reason if guide else "special tokens are no text"
        raise IllegalToken(where, seen=vocabulary.display(choice), expected="a legal token", hint=reason)
    return choice


def _advance(
    vocabulary: Vocabulary, guide: Guide | None, point: Point, token: int, ahead: tuple[int, ...] = ()
) -> Point:
    ended = token in vocabulary.eos
    return point.then(token, guide.advance(point.state, token) if guide and not ended else point.state, ahead)


def _end(vocabulary: Vocabulary, guide: Guide | None, after: Point, settings: Settings) -> End:
    if after.tokens[-1] in vocabulary.eos:
        return "eos"
    if guide and guide.is_accepting(after.state) and not guide.mask(after.state).any():
        return "complete"
    return "max_tokens" if after.position >= settings.max_tokens else ""


def _ms(since: float) -> float:
    return (time.perf_counter() - since) * 1000


def decode(
    model: Model,
    prompt: str,
    guide: Guide | None = None,
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    bias: Mapping[int, float] | None = None,
    seed: int = 0,
    max_tokens: int = 200,
    jump_forward: bool | str = False,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Step]:
    """Decode step by step; the last step says in `end` why it was the last.

    `jump_forward` puts what is forced without asking the model: True, or the way to spell it, "canonical" (the same),
    "longest", "minimal" or "raw" (see tokens/jump.py). `stop` is asked before every token: when it says True, a closing
    step with end "stop" follows.
    """
    settings = Settings(temperature, top_k, top_p, seed, max_tokens, dict(bias or {}), name_way(jump_forward))
    return _decode(model, start(model, prompt, guide), guide, settings, stop or (lambda: False))


def _decode(
    model: Model, point: Point, guide: Guide | None, settings: Settings, stop: Callable[[], bool]
) -> Iterator[Step]:
    while True:
        if stop():
            yield stopped_step(guide, point)
            return
        step, point = take_step(model, point, guide, settings)
        yield step
        if step.end:
            return


def name_way(jump_forward: bool | str) -> str:
    """The way to spell what is forced; "" for none.

    >>> name_way(True), name_way("longest"), name_way(False)
    ('canonical', 'longest', '')
    """
    return WAYS[0] if jump_forward is True else "" if jump_forward is False else jump_forward


def record(model: Model, prompt: str, guide: Guide | None = None, *, constraint: str = "", **settings: Any) -> Trace:
    """Decode to the end and keep all of it."""
    steps = tuple(decode(model, prompt, guide, **settings))
    return make_trace(model, prompt, steps, constraint=constraint, **settings)


def make_trace(
    model: Model,
    prompt: str,
    steps: tuple[Step, ...],
    *,
    constraint: str = "",
    seed: int = 0,
    temperature: float = 1.0,
    **_: Any,
) -> Trace:
    """Steps with where they come from."""
    today = date.today().isoformat()
    return Trace(
        steps,
        prompt,
        model.name,
        model.device,
        today,
        constraint,
        seed,
        temperature,
        len(model.vocabulary),
        model.source,
    )
