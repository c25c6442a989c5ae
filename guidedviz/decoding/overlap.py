"""Record of masks that are computed after the forward pass or during it: the mask needs only the state.

So the device can compute the next logits while the CPU computes their mask (arXiv 2411.15100). A record holds the
start and end of both per token, measured on the same tokens in both ways.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Self

from guidedviz.decoding.records import Count, Milliseconds, load_record
from guidedviz.errors import TraceError
from guidedviz.models.model import Source

Interval = tuple[Milliseconds, Milliseconds]  # milliseconds from the start of a run


@dataclass(frozen=True, slots=True)
class Turn:
    """One token: when its forward pass and its mask began and ended, and when it was chosen."""

    forward: Interval
    mask: Interval
    chosen: Milliseconds


@dataclass(frozen=True, slots=True)
class EngineRun:
    """A text decoded by one engine; `beside` says whether the mask is computed during the forward pass."""

    engine: str
    beside: bool
    turns: tuple[Turn, ...]

    @property
    def overhead(self) -> float:
        """The mean milliseconds per token for which the logits waited."""
        waits = (turn.mask[1] - turn.forward[1] for turn in self.turns)
        return fmean(max(0.0, wait) for wait in waits)

    @property
    def per_token(self) -> float:
        """The mean milliseconds from token to token."""
        return self.turns[-1].chosen / len(self.turns)


@dataclass(frozen=True)
class Overlap:
    """Runs over the same tokens, with their origin."""

    runs: tuple[EngineRun, ...]
    model: str  # its shape and the kind of its weights
    device: str
    date: str
    constraint: str
    vocabulary_size: Count
    source: Source = "LIVE"

    def pair(self, engine: str = "") -> tuple[EngineRun, EngineRun]:
        """The sequential and the concurrent run of an engine; by default of the first engine."""
        engine = engine or self.runs[0].engine
        found = {run.beside: run for run in self.runs if run.engine == engine}
        if len(found) < 2:
            names = " or ".join(dict.fromkeys(repr(run.engine) for run in self.runs))
            raise TraceError("overlap, engine", seen=repr(engine), expected=names)
        return found[False], found[True]

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a record that `save_record` wrote, which is marked RECORDED unless it is a TOY."""
        return load_record(cls, path, hint='shipped("traces/overlap-cpu.json")', check=check_runs)


def check_runs(overlap: Overlap) -> None:
    """Reject a record without runs, and a run without tokens."""
    if not overlap.runs or not all(run.turns for run in overlap.runs):
        raise TraceError("runs", seen="no tokens", expected="runs of at least one token")
