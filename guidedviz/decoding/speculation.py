"""Drafts: tokens that are guessed cheaply, so that the model can judge several of them in one forward pass.

A draft is a tree of guesses; most are a chain. It comes from the text so far (`LookUp`), from bytes that the machine
forces (`Forced`) or from a smaller model (`Small`). Every guess carries the probabilities that it was drawn from.

Papers: speculative sampling, arXiv 2211.17192 and 2302.01318; trees of guesses, arXiv 2305.09781.
Next: `speculation/verify.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from guidedviz.decoding.sampling import Floats, apply_bias, draw_chances, sample, softmax, uniform
from guidedviz.decoding.settings import Settings, check_whole
from guidedviz.decoding.step_record import Measured, Pending, Point, find_end, make_last_step, make_step, start_watch
from guidedviz.decoding.trace import How
from guidedviz.errors import IllegalToken, SettingError, quoted
from guidedviz.models.model import Model, context_of
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.jump import find_jump

MOST = 64  # guesses in a row
DRAFTS = ("lookup", "forced")


@dataclass(frozen=True, eq=False)
class Guess:
    """A guessed token, the probabilities that it was drawn from, and the guesses after it.

    Without probabilities the guess was certain: its token had probability 1.
    """

    token: int
    chances: Floats | None = None
    after: tuple[Guess, ...] = ()


class Dice(Protocol):
    """Random decisions at a place of the output. `turn` counts the guesses for the same place."""

    def draw(self, chances: Floats, position: int, turn: int = -1) -> int: ...
    def accept(self, chance: float, position: int, turn: int) -> bool: ...


@dataclass(frozen=True)
class SeededDice:
    """Decisions from a seed; a token of the model is drawn with the same number as in plain decoding."""

    seed: int

    def draw(self, chances: Floats, position: int, turn: int = -1) -> int:
        """A token by its probability: of the model, or of the draft (`turn` from 0)."""
        return sample(chances, self.seed, position, 2 * turn + 2)

    def accept(self, chance: float, position: int, turn: int) -> bool:
        """True with this probability."""
        return uniform(self.seed, position, 2 * turn + 1) < chance


class Draft(Protocol):
    """A source of guesses. All of them must be legal, or have a probability of 0 in the model's masked distribution."""

    @property
    def size(self) -> int: ...
    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]: ...


@dataclass(frozen=True)
class LookUp:
    """What followed the last tokens where they stood before, in the prompt or in the output (prompt look-up).

    >>> LookUp(size=2).find((5, 1, 2, 3, 1, 2))
    [(3, 1)]
    """

    size: int = 4
    width: int = 1  # how many different continuations
    longest: int = 3  # tokens that are compared

    def find(self, tokens: Sequence[int]) -> list[tuple[int, ...]]:
        """The continuations of the last tokens, the longest match and the latest place first."""
        found: dict[int, tuple[int, ...]] = {}
        for length in range(min(self.longest, len(tokens) - 1), 0, -1):
            end = tuple(tokens[-length:])
            for start in range(len(tokens) - length - 1, -1, -1):
                if tuple(tokens[start : start + length]) == end:
                    after = tuple(tokens[start + length : start + length + self.size])
                    found.setdefault(after[0], after)
        return list(found.values())[: self.width]

    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]:
        """One chain per continuation."""
        chains = (legal_part(guide, point.state, tokens) for tokens in self.find(point.tokens))
        return tuple(guess for tokens in chains for guess in chain(tokens))


@dataclass(frozen=True)
class Forced:
    """The tokens of a forced run. Unlike with jump-forward the model judges how they are spelled."""

    size: int = 16

    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]:
        """One chain, or nothing where the machine leaves a choice."""
        for way in ("canonical", "longest"):
            jump = find_jump(guide, model.encode, point.output, point.states, way)
            if jump and not jump.back:
                return chain(legal_part(guide, point.state, jump.tokens[: self.size]))
        return ()


@dataclass(frozen=True)
class Small:
    """Tokens drawn from a smaller model over the same vocabulary, under the same mask and settings.

    With `masked=False` the small model is not masked; an illegal guess is then rejected when it is judged.
    """

    model: Model
    size: int = 4
    width: int = 1  # how many guesses for the first place
    masked: bool = True

    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]:
        """A chain, after each of the guesses for the first place."""
        return tuple(self._branch(guide, point, settings, dice, turn) for turn in range(self.width))

    def _branch(self, guide: Guide, point: Point, settings: Settings, dice: Dice, turn: int) -> Guess:
        drawn = list[tuple[int, Floats]]()
        tokens, state = list(point.tokens), point.state
        for place in range(self.size):
            mask = guide.mask(state)
            if not mask.any() or len(tokens) >= context_of(self.model):
                break
            legal = mask if self.masked else np.ones_like(mask)
            chances = draw_chances(self.model.logits(tokens), legal, settings)
            token = dice.draw(chances, point.position + place, turn)
            drawn.append((token, chances))
            if not mask[token]:
                break
            tokens, state = [*tokens, token], guide.advance(state, token)
        branch: tuple[Guess, ...] = ()
        for token, chances in reversed(drawn):
            branch = (Guess(token, chances, branch),)
        return branch[0]


def chain(tokens: Iterable[int]) -> tuple[Guess, ...]:
    """Certain guesses, one after the other."""
    guesses: tuple[Guess, ...] = ()
    for token in reversed(tuple(tokens)):
        guesses = (Guess(token, None, guesses),)
    return guesses


def legal_part(guide: Guide, state: Any, tokens: Iterable[int]) -> list[int]:
    """The tokens up to the first illegal one."""
    legal = list[int]()
    for token in tokens:
        try:
            state = guide.advance(state, token)
        except IllegalToken:
            break
        legal.append(token)
    return legal


def as_draft(draft: Any, model: Model) -> Draft | None:
    """The `draft` of `gv.decode`: None, "lookup", "forced", a smaller model, or a draft."""
    if draft is None or draft is False:
        return None
    named: dict[str, Draft] = {"lookup": LookUp(), "forced": Forced()}
    if isinstance(draft, str) and draft in named:
        return named[draft]
    made = Small(draft) if hasattr(draft, "logits") and hasattr(draft, "vocabulary") else draft
    if not hasattr(made, "guess") or not hasattr(made, "size"):
        expected, hint = " or ".join(map(repr, DRAFTS)) + ", a smaller model, or None", 'gv.load_model("clerk-small")'
        raise SettingError("draft", seen=quoted(draft), expected=expected, hint=hint)
    for name in ("size", "width"):
        check_whole(f"draft, {name}", getattr(made, name, 1), 1, MOST, f"a whole number from 1 to {MOST}")
    if isinstance(made, Small) and made.model.vocabulary != model.vocabulary:
        seen = f"a draft over {made.model.vocabulary} and a model with {model.vocabulary}"
        raise SettingError("draft", seen=seen, expected="the same vocabulary")
    return cast(Draft, made)


# The judgement of a draft: one forward pass for all its guesses, each accepted or rejected, and one token more.
#
# A guess x is accepted with probability min(1, p(x) / q(x)), with p of the model and q of the draft, both masked.
# After a
# rejection the next token is drawn from what p has more than q. So each token is drawn from p, as without a draft.


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
