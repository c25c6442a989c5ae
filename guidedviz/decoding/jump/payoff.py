"""Times of live runs of jump-forward, and the record that stores them with the constants of the cost model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from guidedviz.decoding.jump.cost import FRACTIONS, Cost, Parts
from guidedviz.decoding.jump.difference import Difference
from guidedviz.decoding.records import Between, Count, Share, load_record, save_record
from guidedviz.errors import TraceError, quoted
from guidedviz.models.model import Source

AtLeastOne = Annotated[int, Between(1)]
Positive = Annotated[float, Between(1e-9)]


@dataclass(frozen=True)
class Timed:
    """One task decoded greedily with and without jump-forward, timed from the end of the prompt.

    If it was timed several times, the times are those of the run with the median speed-up.
    """

    asked: float  # the fraction that the schema was built for
    fraction: Share  # the measured fraction: forced tokens divided by all tokens
    rows: AtLeastOne  # copies of the text in every pass
    naive_ms: Positive  # milliseconds
    jump_ms: Positive
    naive_passes: AtLeastOne
    jump_passes: Count
    prefilled: Count  # forced tokens that passes read
    tokens: AtLeastOne  # of the run with jump-forward
    parts: Parts  # its text, token by token; True if forced
    difference: Difference  # compared with the run without jump-forward
    speedups: tuple[Positive, ...] = ()  # of all runs of this task; () if it was timed once
    by_hand: bool = False  # a person chose the fixed tokens

    @property
    def speedup(self) -> float:
        """The speed-up per token: without jump-forward the same text may take more tokens."""
        return (self.naive_ms / self.naive_passes) / (self.jump_ms / self.tokens)


def median_run(runs: Sequence[Timed]) -> Timed:
    """The run with the median speed-up, and the speed-ups of all runs of the task."""
    ranked = sorted(runs, key=lambda run: run.speedup)
    speedups = tuple(round(run.speedup, 4) for run in ranked) if len(runs) > 1 else ()
    return replace(ranked[(len(ranked) - 1) // 2], speedups=speedups)


@dataclass(frozen=True)
class Payoff:
    """Timed runs at positions of the slider, with their origin."""

    cost: Cost
    runs: tuple[Timed, ...]
    previews: tuple[Parts, ...]  # the task at each position
    model: str
    device: str
    date: str  # ISO day
    way: str  # how forced runs were tokenized
    source: Source = "LIVE"

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        save_record(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Payoff:
        """Read a file that `save` wrote. The record is marked RECORDED unless it is a TOY."""
        return load_record(cls, path, hint="python -m bench jump --device cpu", check=check_payoff)


def check_payoff(payoff: Payoff) -> None:
    """Reject fields that are inconsistent."""
    stops = f"a stop of the slider: 0, 0.05, ... {FRACTIONS[-1]}"
    texts = {f"previews[{at}]": parts for at, parts in enumerate(payoff.previews)}
    texts |= {f"runs[{at}].parts": run.parts for at, run in enumerate(payoff.runs)}
    for where, seen, good, expected in (
        ("previews", len(payoff.previews), len(payoff.previews) == len(FRACTIONS), f"{len(FRACTIONS)}, one per stop"),
        ("cost", payoff.cost.prices(), sum(payoff.cost.prices()) > 0, "a pass or a token that costs something"),
        *((where, parts, bool(parts), "a text token by token") for where, parts in texts.items()),
        *((f"runs[{at}].asked", run.asked, run.asked in FRACTIONS, stops) for at, run in enumerate(payoff.runs)),
    ):
        if not good:
            raise TraceError(where, seen=quoted(seen), expected=expected)
