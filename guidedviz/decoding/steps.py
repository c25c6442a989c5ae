"""What a step records: the likeliest tokens before and after the mask, the one that was taken, and where it stood."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.decoding.sampling import Floats, Mask
from guidedviz.decoding.trace import Candidate, End, How, Step
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

SHOWN = 12  # candidates kept in a step
NOTHING = Candidate(-1, b"", 0.0, 0.0, False, 0.0)  # chosen at a step that only says how the decode ended


@dataclass(frozen=True)
class Point:
    """Where a decode stands: all tokens so far, the guide's states before each new one and now, and what is forced."""

    tokens: tuple[int, ...]
    states: tuple[Any, ...]
    ahead: tuple[int, ...] = ()  # tokens of a forced run that are still to be put

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

    def back(self, count: int) -> Point:
        """So many tokens before."""
        end = len(self.tokens) - count
        return Point(self.tokens[:end], self.states[: len(self.states) - count])

    def then(self, token: int, state: Hashable, ahead: tuple[int, ...] = ()) -> Point:
        """One token on."""
        return Point((*self.tokens, token), (*self.states, state), ahead)


def chosen_step(
    vocabulary: Vocabulary,
    guide: Guide | None,
    point: Point,
    raw: Floats,
    odds: Floats,
    mask: Mask,
    token: int,
    how: How,
    spent: tuple[float, float, float],
    end: End,
) -> Step:
    """A step for which the model was asked; token -1 where nothing could be taken."""
    mass = 1.0 if mask.all() else float(raw[mask].sum())  # all of it, and not 0.9999 by rounding

    def candidate(t: int) -> Candidate:
        legal = bool(mask[t])
        masked = float(raw[t]) / mass if legal and mass else 0.0
        return Candidate(t, vocabulary.pieces[t], float(raw[t]), masked, legal, float(odds[t]))

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
        sample_ms=spent[2],
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


def forced_step(guide: Guide, point: Point, token: int, back: int, mask_ms: float, end: End) -> Step:
    """A token for which the model was not asked, so there is no probability to tell; it comes at this point."""
    return _bare(guide, point, token, guide.vocabulary.pieces[token], "forced", mask_ms, end, back)


def stopped_step(guide: Guide | None, point: Point) -> Step:
    """The closing step of a decode that was asked to stop."""
    return _bare(guide, point, -1, b"", "none", 0.0, "stop", 0)


def _bare(
    guide: Guide | None, point: Point, token: int, piece: bytes, how: How, mask_ms: float, end: End, back: int
) -> Step:
    state, stack = (guide.label(point.state), guide.stack(point.state)) if guide else ("", ())
    odds = (0.0, 0.0, 0.0)
    return Step(point.position, token, piece, how, *odds, (), 0, 0.0, state, stack, 0.0, mask_ms, 0.0, end, back)
