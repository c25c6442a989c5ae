"""The judgement of a draft: one forward pass for all its guesses, each accepted or rejected, and one token more.

A guess x is accepted with probability min(1, p(x) / q(x)), with p of the model and q of the draft, both masked. After a
rejection the next token is drawn from what p has more than q. So each token is drawn from p, as without a draft.

Next: `decoding/loop.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from guidedviz.decoding.ending import find_end
from guidedviz.decoding.sampling import Floats, apply_bias, draw_chances, softmax
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.speculation.draft import Dice, Draft, Guess
from guidedviz.decoding.step_record import Measured, Pending, Point, make_last_step, make_step, start_watch
from guidedviz.decoding.trace import How
from guidedviz.models.model import Model, context_of
from guidedviz.tokens.guide import Guide

Path = tuple[int, ...]
Rows = dict[Path, Any]  # the logits after the text and each of these tokens


def accept_chance(p: Floats, q: Floats | None, token: int) -> float:
    """The probability to accept a guess.

    >>> accept_chance(np.array([0.2, 0.8]), np.array([0.5, 0.5]), 0), accept_chance(np.array([0.2, 0.8]), None, 0)
    (0.4, 0.2)
    """
    return float(p[token]) if q is None else min(1.0, float(p[token]) / float(q[token]))


def residual(p: Floats, q: Floats | None, token: int) -> Floats:
    """The probabilities after a rejection: what p has more than q, divided by its sum.

    >>> residual(np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.2, 0.2]), 0).round(2).tolist()
    [0.0, 0.25, 0.75]
    """
    more: Floats = np.maximum(p - (np.arange(len(p)) == token if q is None else q), 0.0)
    whole = more.sum()
    return more / whole if whole > 0 else p


def take_pass(
    model: Model, point: Point, guide: Guide, settings: Settings, draft: Draft, dice: Dice
) -> tuple[Pending, ...]:
    """All steps of one forward pass: the accepted guesses, and one token that the model itself chooses."""
    lap = start_watch()
    guesses = cut(draft.guess(model, guide, point, settings, dice), room(model, point, settings))
    draft_ms = lap()
    rows = read_tree(model, point, guesses)
    spent: list[Any] = [lap(), draft_ms]
    return tuple(_judge(guide, point, settings, dice, guesses, rows, spent))


def _judge(
    guide: Guide,
    point: Point,
    settings: Settings,
    dice: Dice,
    guesses: tuple[Guess, ...],
    rows: Rows,
    spent: list[float],
) -> Iterator[Pending]:
    path: Path = ()
    while True:
        (forward_ms, draft_ms), spent, lap = spent, [0.0, 0.0], start_watch()
        own, mask = rows[path], guide.mask(point.state)
        mask_ms = lap()
        if not mask.any():
            last = make_last_step(guide, point, softmax(own), mask, forward_ms, mask_ms, draft_ms)
            yield Pending(last, point, settings)
            return
        chances = left = draw_chances(apply_bias(own, settings.bias), mask, settings)
        how: How = "sampled"
        dropped: list[int] = []
        for turn, guess in enumerate(guesses):
            if dice.accept(accept_chance(left, guess.chances, guess.token), point.position, turn):
                how, token, guesses = "accepted", guess.token, guess.after
                break
            left = residual(left, guess.chances, guess.token)
            dropped += first_path(guess)
        else:
            token = dice.draw(left, point.position)
        seen = Measured(softmax(own), mask, chances, forward_ms, mask_ms, lap(), draft_ms, settings.changes)
        after = point.then(token, guide.advance(point.state, token))
        end = find_end(guide, after, settings)
        yield Pending(make_step(guide, point, seen, token, how, end, dropped=dropped), after, settings)
        if end or how == "sampled":
            return
        point, path = after, (*path, token)


def room(model: Model, point: Point, settings: Settings) -> int:
    """How many guesses fit: the pass must end within the context and the limit of tokens."""
    return int(min(settings.max_tokens - point.position - 1, context_of(model) - len(point.tokens)))


def cut(guesses: tuple[Guess, ...], depth: int) -> tuple[Guess, ...]:
    """The tree up to a depth.

    >>> cut((Guess(1, None, (Guess(2),)),), 1)[0].after
    ()
    """
    return tuple(Guess(g.token, g.chances, cut(g.after, depth - 1)) for g in guesses) if depth > 0 else ()


def first_path(guess: Guess) -> list[int]:
    """A guess and the first guesses after it: the tokens that fall with it."""
    return [guess.token, *(first_path(guess.after[0]) if guess.after else ())]


def leaves(guesses: tuple[Guess, ...], path: Path = ()) -> Iterator[Path]:
    """The paths to the last guesses; the empty path if there is no guess.

    >>> list(leaves((Guess(1, None, (Guess(2),)), Guess(3))))
    [(1, 2), (3,)]
    """
    if not guesses:
        yield path
    for guess in guesses:
        yield from leaves(guess.after, (*path, guess.token))


def read_tree(model: Model, point: Point, guesses: tuple[Guess, ...]) -> Rows:
    """The logits after the text and after each guess: one pass per leaf, so one pass for a chain."""
    rows: Rows = {}
    for path in leaves(guesses):
        text = [*point.tokens, *path]
        if hasattr(model, "all_logits"):
            found = model.all_logits(text, len(point.tokens) - 1)
        else:
            found = [model.logits(text[: len(point.tokens) + size]) for size in range(len(path) + 1)]
        rows |= {path[:size]: row for size, row in enumerate(found)}
    return rows
