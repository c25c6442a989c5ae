"""Compute the mask during the forward pass: it needs only the state, which is known as soon as a token is chosen.

So the device can compute the next logits while the CPU computes their mask (arXiv 2411.15100). A record contains the
start and end of both per token, run sequentially and concurrently.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.records import Count, Milliseconds, load_record, save_record
from guidedviz.errors import TraceError
from guidedviz.models.model import Source
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide

Span = tuple[Milliseconds, Milliseconds]  # milliseconds from the start of a run


class Forward(Protocol):
    """A model on a device. `start` begins a forward pass without waiting; `wait` returns when it began and ended."""

    def begin(self) -> None: ...  # begins a new text and starts its clock
    def start(self, token: int) -> None: ...
    def wait(self) -> Span: ...
    def choose(self, mask: Mask) -> int: ...  # returns the likeliest legal token


@dataclass(frozen=True, slots=True)
class Turn:
    """One token: when its forward pass and its mask began and ended, and when it was chosen."""

    forward: Span
    mask: Span
    chosen: Milliseconds

    @property
    def overhead(self) -> float:
        """The milliseconds for which the logits waited for their mask."""
        return max(0.0, self.mask[1] - self.forward[1])


@dataclass(frozen=True, slots=True)
class Run:
    """A text decoded by one engine; `beside` says whether the mask is computed during the forward pass."""

    engine: str
    beside: bool
    turns: tuple[Turn, ...]

    @property
    def overhead(self) -> float:
        """The mean milliseconds per token for which the logits waited."""
        return fmean(turn.overhead for turn in self.turns)

    @property
    def per_token(self) -> float:
        """The mean milliseconds from token to token."""
        return self.turns[-1].chosen / len(self.turns)


@dataclass(frozen=True)
class Overlap:
    """Runs over the same tokens, with their origin."""

    runs: tuple[Run, ...]
    model: str  # its shape and the kind of its weights
    device: str
    date: str
    constraint: str
    vocabulary_size: Count
    source: Source = "LIVE"

    def pair(self, engine: str = "") -> tuple[Run, Run]:
        """The sequential and the concurrent run of an engine; by default of the first engine."""
        engine = engine or self.runs[0].engine
        found = {run.beside: run for run in self.runs if run.engine == engine}
        if len(found) < 2:
            names = " or ".join(dict.fromkeys(repr(run.engine) for run in self.runs))
            raise TraceError("overlap, engine", seen=repr(engine), expected=names)
        return found[False], found[True]

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        save_record(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Overlap:
        """Read a file that `save` wrote. The record is marked RECORDED unless it is a TOY."""
        return load_record(cls, path, hint="python -m bench overlap", check=check_runs)


def check_runs(overlap: Overlap) -> None:
    """Reject a record without runs, and a run without tokens."""
    if not overlap.runs or not all(run.turns for run in overlap.runs):
        raise TraceError("runs", seen="no tokens", expected="runs of at least one token")


def record_runs(
    forward: Forward, guides: Mapping[str, Callable[[], Guide]], tokens: Sequence[int], rounds: int = 1
) -> tuple[Run, ...]:
    """Run each engine sequentially and concurrently, each time with a new guide; keep the fastest round."""
    rows = [(engine, beside) for engine in guides for beside in (False, True)]
    found = [
        [Run(engine, beside, time_turns(forward, guides[engine](), tokens, beside)) for engine, beside in rows]
        for _ in range(rounds)
    ]
    return tuple(min(runs, key=lambda run: run.per_token) for runs in zip(*found, strict=True))


def time_turns(forward: Forward, guide: Guide, tokens: Sequence[int], beside: bool) -> tuple[Turn, ...]:
    """Decode these tokens. The choice of a legal token is timed, but the given token is appended.

    So all runs read the same text, even with random weights.
    """
    turns, state, last = [], guide.initial, 0
    forward.begin()
    began = perf_counter()

    def make_mask(state: Hashable) -> tuple[Mask, Span]:
        start = perf_counter()
        mask = guide.mask(state)
        return mask, ((start - began) * 1e3, (perf_counter() - began) * 1e3)

    for token in tokens:
        forward.start(last)
        if beside:
            mask, made = make_mask(state)
            ran = forward.wait()
        else:
            ran = forward.wait()
            mask, made = make_mask(state)
        forward.choose(mask)
        turns.append(Turn(_rounded(ran), _rounded(made), round((perf_counter() - began) * 1e3, 4)))
        state, last = guide.advance(state, token), token
    return tuple(turns)


def _rounded(span: Span) -> Span:
    return round(span[0], 4), round(span[1], 4)


def choose_legal(logits: npt.NDArray[np.float32], mask: Mask) -> int:
    """The likeliest token among the legal ones.

    >>> choose_legal(np.array([3.0, 2.0, 1.0], dtype=np.float32), np.array([False, True, True]))
    1
    """
    return int(np.where(mask, logits, -np.inf).argmax())
