"""Times of live runs of jump-forward, and the record that stores them with the constants of the cost model.

Two greedy decodes of a task are compared, one without and one with jump-forward.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, Self

from guidedviz.decoding import records
from guidedviz.decoding.annotations import AtLeastOne, Between, Count, Share
from guidedviz.decoding.cost_model import FRACTIONS, Cost, MarkedTokens, SliderPlace
from guidedviz.decoding.trace import Trace
from guidedviz.errors import TraceError
from guidedviz.models.model import Source

Difference = Literal["same tokens", "same text, other tokens", "other text"]


def find_difference(plain: Trace, jumped: Trace) -> Difference:
    """How greedy decodes of one prompt without and with jump-forward differ.

    Forced bytes may be tokenized differently than the model would choose, and the model reads tokens. The only other
    cause of a difference is rounding: a pass over several tokens adds numbers in a different order than passes over
    one token. If one output is truncated, only as many bytes as both have are compared.
    """
    if plain.tokens == jumped.tokens:
        return "same tokens"
    one = plain.output
    other = jumped.output
    if any(trace.steps[-1].end in ("max_tokens", "context", "stop") for trace in (plain, jumped)):
        size = min(len(one), len(other))
        one = one[:size]
        other = other[:size]
    return "same text, other tokens" if one == other else "other text"


Positive = Annotated[float, Between(1e-9)]


@dataclass(frozen=True)
class Timed:
    """One task decoded greedily with and without jump-forward, timed from the end of the prompt.

    If it was timed several times, the times are those of the run with the median speed-up.
    """

    asked: SliderPlace  # the fraction that the task was built for
    fraction: Share  # the measured fraction: forced tokens divided by all tokens
    rows: AtLeastOne  # copies of the text in every pass
    naive_ms: Positive  # milliseconds
    jump_ms: Positive
    naive_passes: AtLeastOne
    jump_passes: Count
    prefilled: Count  # forced tokens that passes read
    tokens: AtLeastOne  # of the run with jump-forward
    parts: MarkedTokens  # its text, token by token; True if forced
    difference: Difference  # compared with the run without jump-forward
    speedups: tuple[Positive, ...] = ()  # of all runs of this task; () if it was timed once

    @property
    def speedup(self) -> float:
        """The speed-up per token: without jump-forward the same text may take more tokens."""
        return (self.naive_ms / self.naive_passes) / (self.jump_ms / self.tokens)


def median_run(runs: Sequence[Timed]) -> Timed:
    """The run with the median speed-up, and the speed-ups of all runs of the task."""
    ranked = sorted(runs, key=lambda run: run.speedup)
    middle = ranked[(len(ranked) - 1) // 2]
    if len(ranked) == 1:
        return replace(middle, speedups=())
    return replace(middle, speedups=tuple(round(run.speedup, 4) for run in ranked))


@dataclass(frozen=True)
class Payoff:
    """Timed runs at positions of the slider, with their origin."""

    cost: Cost
    runs: tuple[Timed, ...]
    previews: tuple[MarkedTokens, ...]  # the task at each position
    model: str
    device: str
    date: str  # ISO day
    way: str  # how forced runs were tokenized
    source: Source = "LIVE"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save_record` wrote. The record is marked RECORDED unless it is a TOY."""
        return records.load_record(cls, path, hint="python -m bench jump --device cpu", check=check_payoff)


def check_payoff(payoff: Payoff) -> None:
    """Reject a record without a text per position."""
    if len(payoff.previews) != len(FRACTIONS):
        raise TraceError("previews", seen=str(len(payoff.previews)), expected=f"{len(FRACTIONS)}, one per position")
