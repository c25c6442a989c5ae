"""Where a decode stands, what one step measures and the record that is made of it, and when a decode ends."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from guidedviz.decoding.recording import End as End
from guidedviz.decoding.recording import How as How
from guidedviz.decoding.sampling import Floats
from guidedviz.decoding.trace import Candidate, Step
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide

SHOWN_CANDIDATES = 12  # candidates kept in a step
NO_TOKEN = -1
NO_CANDIDATE = Candidate(NO_TOKEN, b"", 0.0, 0.0, False, 0.0)


@dataclass(frozen=True)
class Point:
    """Where a decode stands: all tokens, the guide's state before each new token and now, and forced tokens to come."""

    tokens: tuple[int, ...]
    states: tuple[Any, ...]
    ahead: tuple[int, ...] = ()  # the rest of a forced run
    pending: tuple["Pending", ...] = ()  # later steps of the same forward pass, which has judged a draft

    @property
    def state(self) -> Any:
        """The guide's state now."""
        return self.states[-1]

    @property
    def position(self) -> int:
        """The number of new tokens."""
        return len(self.states) - 1

    @property
    def output(self) -> tuple[int, ...]:
        """The new tokens."""
        return self.tokens[len(self.tokens) - self.position :]

    def back(self, count: int) -> "Point":
        """The point before the last `count` tokens."""
        tokens = self.tokens[: len(self.tokens) - count]
        states = self.states[: len(self.states) - count]
        return Point(tokens, states)

    def then(self, token: int, state: Hashable, ahead: tuple[int, ...] = ()) -> "Point":
        """The point after one more token."""
        return Point((*self.tokens, token), (*self.states, state), ahead)


class Pending(NamedTuple):
    """A step that is computed and not taken, the point after it, and the settings it was computed with."""

    step: Step
    after: Point
    settings: Any


def start_watch() -> Callable[[], float]:
    """A stopwatch: each call gives the milliseconds since the call before."""
    since = perf_counter()

    def lap() -> float:
        nonlocal since
        before = since
        since = perf_counter()
        return (since - before) * 1000

    return lap


Measured = tuple[Floats, Mask, Floats]  # per token: the model's own probability, legal or not, what is drawn from
NOTHING_MEASURED: Measured = (np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0))


def make_step(
    guide: Guide,
    point: Point,
    token: int = NO_TOKEN,
    how: How = "none",
    measured: Measured = NOTHING_MEASURED,
    dropped: Iterable[int] = (),
    **more: Any,
) -> Step:
    """The record of a step from a point; without a token it only says how the decode ended. `more` are other fields."""
    pieces = guide.vocabulary.pieces
    raw, mask, drawn = measured
    mass = 1.0 if len(mask) and mask.all() else float(raw[mask].sum())  # exactly 1 where nothing is forbidden

    def candidate(t: int) -> Candidate:
        legal = bool(mask[t])
        masked = float(raw[t]) / mass if legal and mass else 0.0
        return Candidate(t, pieces[t], float(raw[t]), masked, legal, float(drawn[t]))

    candidates = tuple(map(candidate, _likeliest(raw, mask, drawn, token)))
    chosen = next((one for one in candidates if one.token == token), NO_CANDIDATE)
    times = {"forward_ms": 0.0, "mask_ms": 0.0, "sample_ms": 0.0}
    return Step(
        position=point.position, token=token, piece=b"" if token == NO_TOKEN else pieces[token], how=how,
        raw=chosen.raw, masked=chosen.masked, drawn=chosen.drawn, candidates=candidates,
        legal=int(mask.sum()), mass=mass, state=guide.label(point.state), stack=guide.stack(point.state),
        dropped=tuple(pieces[t] for t in dropped), **(times | more),
    )  # fmt: skip


def _likeliest(raw: Floats, mask: Mask, drawn: Floats, token: int) -> list[int]:
    """The likeliest tokens of all and of the legal ones, those that a bias lifts, and the chosen one, by raw chance."""
    legal = np.flatnonzero(mask)
    ranks = [(raw, np.arange(len(raw)), SHOWN_CANDIDATES), (raw, legal, SHOWN_CANDIDATES // 2)]
    if drawn.any() and raw[drawn.argmax()] < raw[legal].max():
        ranks.append((drawn, legal, SHOWN_CANDIDATES // 2))
    shown = {token} if len(raw) and token != NO_TOKEN else set()  # a forced token was not measured
    for odds, ids, count in ranks:
        if len(ids) > count:
            ids = ids[np.argpartition(-odds[ids], count - 1)[:count]]
        shown |= set(ids.tolist())
    return sorted(shown, key=lambda t: (-raw[t], t))


# When and why a decode ends.


def find_end(guide: Guide, after: Point, max_tokens: int) -> End:
    """Why the decode ends at this point; "" if it goes on."""
    if after.tokens[-1] in guide.vocabulary.eos:
        return "eos"
    if is_complete(guide, after.state):
        return "complete"
    return "max_tokens" if after.position >= max_tokens else ""


def is_complete(guide: Guide, state: Any) -> bool:
    """Whether the text may end here and nothing may follow, not even EOS."""
    return guide.is_accepting(state) and not guide.mask(state).any()
