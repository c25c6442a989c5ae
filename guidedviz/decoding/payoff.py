"""What jump-forward saves: a cost model, times of live runs, and the record that stores both.

A forced token needs no forward pass of its own; a later pass still has to read it. With a fraction f of the tokens
forced, the speed-up is at most 1 / (1 - f); the cost model adds the cost of reading, which grows with the rows that are
read side by side. The live runs are two greedy decodes of a task, one without and one with jump-forward.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from math import inf
from pathlib import Path
from statistics import median
from typing import Annotated, Literal, Self

from guidedviz.decoding.records import AtLeastOne, Between, Count, Milliseconds, Share, check_number, load_record
from guidedviz.decoding.trace import Trace
from guidedviz.errors import TraceError
from guidedviz.models.model import Source

FRACTIONS = tuple(at / 20 for at in range(20))  # the positions of the slider: 0, 0.05, ... 0.95
SliderPlace = Annotated[float, Between(0, FRACTIONS[-1])]
MarkedTokens = tuple[tuple[str, bool], ...]  # a text token by token, True where a token is fixed


def ideal(fraction: float) -> float:
    """The speed-up if forced tokens cost nothing.

    >>> ideal(0.75), ideal(1)
    (4.0, inf)
    """
    check_number(Share, fraction, "fraction")
    return 1 / (1 - fraction) if fraction < 1 else inf


def nearest_fraction(fraction: float) -> int:
    """The index in FRACTIONS of the nearest position.

    >>> nearest_fraction(0.7), nearest_fraction(0.0), nearest_fraction(0.949)
    (14, 0, 19)
    """
    check_number(SliderPlace, fraction, "fraction")
    return round(fraction * len(FRACTIONS))


def fixed_share(parts: MarkedTokens) -> float:
    """The share of the tokens that are fixed.

    >>> fixed_share((("{", True), ("x", False)))
    0.5
    """
    return sum(fixed for _, fixed in parts) / max(1, len(parts))


@dataclass(frozen=True)
class Cost:
    """The fixed cost of a forward pass and the cost per token that it reads; both grow with the number of rows.

    >>> cost = Cost(pass_ms=9.0, token_ms=1.0)
    >>> round(cost.speedup(0.75), 2), round(cost.speedup(0.75, rows=128), 2)
    (3.08, 1.05)
    """

    pass_ms: Milliseconds  # per pass, independent of the number of tokens
    token_ms: Milliseconds  # per token of each row
    row_ms: Milliseconds = 0.0  # per row and pass: the cached keys and values are read again
    put_ms: Milliseconds = 0.0  # per forced token, to find and append it, once for all rows

    def prices(self, rows: int = 1) -> tuple[float, float]:
        """The fixed milliseconds of a pass, and the milliseconds per token that it reads."""
        return self.pass_ms + self.row_ms * rows, self.put_ms + self.token_ms * rows

    def speedup(self, fraction: float, rows: int = 1) -> float:
        """The time without jump-forward divided by the time with it; both read the same tokens."""
        own, each = self.prices(rows)
        spent = own / ideal(fraction) + each
        return (own + each) / spent if spent else ideal(fraction)


def median_cost(costs: Iterable[Cost]) -> Cost:
    """The median of each constant.

    >>> median_cost([Cost(9.0, 1.0), Cost(8.0, 3.0), Cost(90.0, 2.0)])
    Cost(pass_ms=9.0, token_ms=2.0, row_ms=0.0, put_ms=0.0)
    """
    columns = zip(*map(astuple, costs), strict=True)
    return Cost(*map(median, columns))


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
        return load_record(cls, path, hint="python -m bench jump --device cpu", check=check_payoff)


def check_payoff(payoff: Payoff) -> None:
    """Reject a record without a text per position."""
    if len(payoff.previews) != len(FRACTIONS):
        raise TraceError("previews", seen=str(len(payoff.previews)), expected=f"{len(FRACTIONS)}, one per position")
