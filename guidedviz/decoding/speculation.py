"""Drafts: tokens that are guessed cheaply, so that the model can judge several of them in one forward pass.

A draft is a chain of guesses. It comes from the text so far (`LookUp`), from bytes that the machine forces (`Forced`)
or from a smaller model (`Small`). Every guess carries the probabilities that it was drawn from.

Papers: speculative sampling, arXiv 2211.17192 and 2302.01318.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from guidedviz.decoding.recording import How
from guidedviz.decoding.records import Between, check_number
from guidedviz.decoding.sampling import Floats, Settings, sample, sampler_stages, uniform
from guidedviz.decoding.trace import Point
from guidedviz.errors import SettingError, quoted
from guidedviz.models.model import Model, check_model, context_of
from guidedviz.tokens.guide import Guide, guide_states
from guidedviz.tokens.jump import find_jump

ChainSize = Annotated[int, Between(1, 64)]  # guesses in a row


@dataclass(frozen=True, eq=False)
class Guess:
    """A guessed token and the probabilities that it was drawn from; without them its probability was 1."""

    token: int
    chances: Floats | None = None


@dataclass(frozen=True)
class Dice:
    """Decisions from a seed; a token of the model is drawn with the same number as in plain decoding."""

    seed: int

    def draw(self, chances: Floats, position: int) -> int:
        """A token of the model by its probability."""
        return sample(chances, self.seed, position)

    def guess(self, chances: Floats, position: int) -> int:
        """A token of the draft by its probability."""
        return sample(chances, self.seed, position, stream=2)

    def accept(self, chance: float, position: int) -> bool:
        """True with this probability."""
        return uniform(self.seed, position, stream=1) < chance


@runtime_checkable
class Draft(Protocol):
    """A source of guesses. All of them must be legal, or have a probability of 0 in the model's masked distribution."""

    @property
    def size(self) -> int: ...
    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]: ...


@dataclass(frozen=True)
class LookUp:
    """What followed the last tokens where they stood before, in the prompt or in the output (prompt look-up).

    >>> LookUp(size=2).find((5, 1, 2, 3, 1, 2))
    (3, 1)
    """

    size: int = 4
    longest: int = 3  # tokens that are compared

    def find(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """The continuation of the last tokens at the longest match, there at the latest place."""
        for length in range(min(self.longest, len(tokens) - 1), 0, -1):
            end = tuple(tokens[-length:])
            for start in range(len(tokens) - length - 1, -1, -1):
                if tuple(tokens[start : start + length]) == end:
                    return tuple(tokens[start + length : start + length + self.size])
        return ()

    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]:
        """The legal part of what was found."""
        return legal_part(guide, point.state, self.find(point.tokens))


@dataclass(frozen=True)
class Forced:
    """The tokens of a forced run. Unlike with jump-forward the model judges how they are spelled."""

    size: int = 16

    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]:
        """A chain, or nothing where the machine leaves a choice."""
        for way in ("canonical", "longest"):
            jump = find_jump(guide, model.encode, point.output, point.states, way)
            if jump and not jump.back:
                return legal_part(guide, point.state, jump.tokens[: self.size])
        return ()


@dataclass(frozen=True)
class Small:
    """Tokens drawn from a smaller model over the same vocabulary, under the same mask and settings.

    With `masked=False` the small model is not masked; an illegal guess is then rejected when it is judged.
    """

    model: Model
    size: int = 4
    masked: bool = True

    def guess(self, model: Model, guide: Guide, point: Point, settings: Settings, dice: Dice) -> tuple[Guess, ...]:
        """A chain; an illegal guess is its last."""
        guesses = list[Guess]()
        tokens = list(point.tokens)
        state = point.state
        for place in range(self.size):
            mask = guide.mask(state)
            if not mask.any() or len(tokens) >= context_of(self.model):
                break
            legal = mask if self.masked else np.ones_like(mask)
            chances = sampler_stages(self.model.logits(tokens), legal, settings, tokens)[-1]
            token = dice.guess(chances, point.position + place)
            guesses.append(Guess(token, chances))
            if not mask[token]:
                break
            tokens.append(token)
            state = guide.advance(state, token)
        return tuple(guesses)


NAMED_DRAFTS: dict[str, type[LookUp | Forced]] = {"lookup": LookUp, "forced": Forced}


def legal_part(guide: Guide, state: Any, tokens: Sequence[int]) -> tuple[Guess, ...]:
    """Certain guesses of the tokens up to the first illegal one."""
    legal = len(guide_states(guide, state, tokens)) - 1
    return tuple(map(Guess, tokens[:legal]))


def as_draft(draft: Any, model: Model) -> Draft:
    """The `draft` of `gv.decode`: "lookup", "forced", a smaller model, or a draft."""
    made: Any = draft
    if isinstance(draft, str):
        if draft not in NAMED_DRAFTS:
            expected = "'lookup' or 'forced', a smaller model, or None"
            raise SettingError("draft", seen=quoted(draft), expected=expected, hint='gv.load_model("clerk-small")')
        made = NAMED_DRAFTS[draft]()
    drafted = made if isinstance(made, Draft) else Small(made)
    if isinstance(drafted, Small):
        check_model(drafted.model, "draft")
        if drafted.model.vocabulary != model.vocabulary:
            seen = f"a draft over {drafted.model.vocabulary} and a model with {model.vocabulary}"
            raise SettingError("draft", seen=seen, expected="the same vocabulary")
    check_number(ChainSize, drafted.size, "draft, size")
    return drafted


# The judgement of a draft: one forward pass for all its guesses, each accepted or rejected, and one token more.
#
# A guess x is accepted with probability min(1, p(x) / q(x)), with p of the model and q of the draft, both masked.
# After a rejection the next token is drawn from what p has more than q. So each token is drawn from p, as without a
# draft.


def accept_chance(p: Floats, q: Floats | None, token: int) -> float:
    """The probability to accept a guess.

    >>> accept_chance(np.array([0.2, 0.8]), np.array([0.5, 0.5]), 0), accept_chance(np.array([0.2, 0.8]), None, 0)
    (0.4, 0.2)
    """
    chance = float(p[token])
    if q is None:
        return chance
    return min(1.0, chance / float(q[token]))


def residual(p: Floats, q: Floats | None, token: int) -> Floats:
    """The probabilities after a rejection: what p has more than q, divided by its sum.

    >>> residual(np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.2, 0.2]), 0).round(2).tolist()
    [0.0, 0.25, 0.75]
    """
    if q is None:
        q = np.eye(1, len(p), token).ravel()
    more: Floats = np.maximum(p - q, 0.0)
    whole = more.sum()
    return more / whole if whole > 0 else p


class Judged(NamedTuple):
    """The token at a place, how it came, and the guesses that are rejected with the first one."""

    token: int
    how: How
    dropped: tuple[int, ...] = ()


def judge(chances: Floats, guesses: Sequence[Guess], position: int, dice: Dice) -> Judged:
    """Accept the first of the guesses, or draw another token in its place."""
    if not guesses:
        return Judged(dice.draw(chances, position), "sampled")
    first = guesses[0]
    if dice.accept(accept_chance(chances, first.chances, first.token), position):
        return Judged(first.token, "accepted")
    token = dice.draw(residual(chances, first.chances, first.token), position)
    return Judged(token, "sampled", tuple(guess.token for guess in guesses))


def inside_share(chances: Floats, drawn: Judged, seed: int, position: int) -> float | None:
    """How far into the share of a token the number that drew it fell; None where no such number did."""
    if drawn.how != "sampled" or drawn.dropped:
        return None
    start = chances[: drawn.token].sum()
    place = (uniform(seed, position) - start) / chances[drawn.token]
    return float(place.clip(0, 1))


def room(model: Model, point: Point, settings: Settings) -> int:
    """How many guesses fit: the pass must end within the context and the limit of tokens."""
    return int(min(settings.max_tokens - point.position - 1, context_of(model) - len(point.tokens)))
