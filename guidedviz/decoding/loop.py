"""The loop: logits, mask, softmax, draw, advance. Every stop of it is a value one can come back to."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
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
from guidedviz.decoding.trace import Candidate, End, How, Source, Step, Trace
from guidedviz.errors import IllegalToken, SettingError
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

SHOWN = 12  # candidates kept in a step
NOTHING = Candidate(-1, b"", 0.0, 0.0, False, 0.0)  # chosen at a step that only says how the decode ended


class Model(Protocol):
    """Anything that gives the next token's logits."""

    name: str
    device: str
    source: Source
    vocabulary: Vocabulary

    def encode(self, text: str) -> list[int]: ...
    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]: ...


@dataclass(frozen=True)
class Point:
    """Where a decode stands: all tokens so far, the guide's state, the number of new tokens."""

    tokens: tuple[int, ...]
    state: Hashable
    position: int


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
    return Point(tokens, guide.initial if guide else None, 0)


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
    logits = apply_logit_bias(model.logits(list(point.tokens)), settings.bias)
    forwarded = time.perf_counter()
    mask = legal_tokens(model.vocabulary, guide, point.state)
    checked = time.perf_counter()
    raw = softmax(logits)
    spent = (_ms(began, forwarded), _ms(forwarded, checked))
    if not mask.any():
        over: End = "complete" if guide and guide.is_accepting(point.state) else "dead_end"
        return _step(model, guide, point, raw, np.zeros_like(raw), mask, -1, "none", spent, 0.0, over), point
    odds = distribution(logits, mask, settings)
    if choice is None:
        token = draw(odds, settings.seed, point.position)
    else:
        token = check_choice(model.vocabulary, guide, point.state, mask, choice)
    sampled = _ms(checked, time.perf_counter())
    after = _advance(model.vocabulary, guide, point, token)
    end = _end(model.vocabulary, guide, after, settings)
    how: How = "sampled" if choice is None else "inserted"
    return _step(model, guide, point, raw, odds, mask, token, how, spent, sampled, end), after


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


def _advance(vocabulary: Vocabulary, guide: Guide | None, point: Point, token: int) -> Point:
    ended = token in vocabulary.eos
    state = guide.advance(point.state, token) if guide and not ended else point.state
    return Point((*point.tokens, token), state, point.position + 1)


def _end(vocabulary: Vocabulary, guide: Guide | None, after: Point, settings: Settings) -> End:
    if after.tokens[-1] in vocabulary.eos:
        return "eos"
    if guide and guide.is_accepting(after.state) and not guide.mask(after.state).any():
        return "complete"
    return "max_tokens" if after.position >= settings.max_tokens else ""


def _ms(start: float, end: float) -> float:
    return (end - start) * 1000


def _step(
    model: Model,
    guide: Guide | None,
    point: Point,
    raw: Floats,
    odds: Floats,
    mask: Mask,
    token: int,
    how: How,
    spent: tuple[float, float],
    sample_ms: float,
    end: End,
) -> Step:
    mass = 1.0 if mask.all() else float(raw[mask].sum())  # all of it, and not 0.9999 by rounding
    pieces = model.vocabulary.pieces

    def candidate(t: int) -> Candidate:
        legal = bool(mask[t])
        masked = float(raw[t]) / mass if legal and mass else 0.0
        return Candidate(t, pieces[t], float(raw[t]), masked, legal, float(odds[t]))

    chosen = candidate(token) if token >= 0 else NOTHING
    return Step(
        position=point.position,
        token=chosen.token,
        piece=chosen.piece,
        how=how,
        raw=chosen.raw,
        masked=chosen.masked,
        drawn=chosen.drawn,
        candidates=tuple(candidate(t) for t in _likeliest(raw, mask, token)),
        legal=int(mask.sum()),
        mass=mass,
        state=guide.label(point.state) if guide else "",
        stack=guide.stack(point.state) if guide else (),
        forward_ms=spent[0],
        mask_ms=spent[1],
        sample_ms=sample_ms,
        end=end,
    )


def _likeliest(raw: Floats, mask: Mask, token: int) -> list[int]:
    """The likeliest of all and the likeliest of the legal, the chosen one among them, by raw probability."""
    count = min(SHOWN, len(raw))
    chosen = set(np.argpartition(-raw, count - 1)[:count].tolist())
    legal = np.flatnonzero(mask)
    if len(legal):
        few = min(SHOWN // 2, len(legal))
        chosen |= set(legal[np.argpartition(-raw[legal], few - 1)[:few]].tolist())
    if token >= 0:
        chosen.add(token)
    return sorted(chosen, key=lambda t: (-raw[t], t))


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
    jump_forward: bool = False,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Step]:
    """Decode step by step; the last step says in `end` why it was the last.

    `stop` is asked before every token: when it says True, a closing step with end "stop" follows.
    """
    if jump_forward:
        raise SettingError("jump_forward", seen="True", expected="False", hint="it arrives with the jump-forward lab")
    settings = Settings(temperature, top_k, top_p, seed, max_tokens, dict(bias or {}))
    return _decode(model, start(model, prompt, guide), guide, settings, stop or (lambda: False))


def _decode(
    model: Model, point: Point, guide: Guide | None, settings: Settings, stop: Callable[[], bool]
) -> Iterator[Step]:
    while True:
        if stop():
            yield stopped(guide, point)
            return
        step, point = take_step(model, point, guide, settings)
        yield step
        if step.end:
            return


def stopped(guide: Guide | None, point: Point) -> Step:
    """The closing step of a decode that was asked to stop."""
    state, stack = (guide.label(point.state), guide.stack(point.state)) if guide else ("", ())
    return Step(point.position, -1, b"", "none", 0.0, 0.0, 0.0, (), 0, 0.0, state, stack, 0.0, 0.0, 0.0, "stop")


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
