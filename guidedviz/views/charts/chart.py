"""A chart is a plain record: two axes, and series of marks between them. Values beyond an axis are drawn at its end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Literal, NamedTuple

from guidedviz.machines.graph import grouped

Look = Literal["solid", "dashed", "dotted", "mixed", "hatched", "hollow"]
LINES: tuple[tuple[str, Look], ...] = (  # the colours and looks of several lines, in turn
    ("blue", "solid"),
    ("ink", "dashed"),
    ("green", "dotted"),
    ("gold", "mixed"),
)


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with a label at each tick; on a log scale equal steps are equal factors."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False
    grid: bool = True
    mono: bool = False  # the labels are tokens

    def share(self, value: float) -> float:
        """Where a value is between both ends, from 0 to 1.

        >>> Axis("", 1, 100, (), log=True).share(10), Axis("", 0, 4, ()).share(9)
        (0.5, 1.0)
        """
        value = min(self.high, max(self.low, value))
        if self.log:
            low = log10(self.low)
            return (log10(value) - low) / (log10(self.high) - low)
        return (value - self.low) / (self.high - self.low)


def round_ticks(high: float, most: int) -> tuple[tuple[float, str], ...]:
    """A few round numbers from 0 to `high`: multiples of 1, 2 or 5 times a power of ten.

    >>> round_ticks(9, 4)
    ((0.0, '0'), (5.0, '5'))
    """
    steps = (n * 10.0**power for power in range(-4, 9) for n in (1, 2, 5))
    step = next(step for step in steps if most * step >= high)
    values = [step * n for n in range(int(high / step) + 1)]
    return tuple((value, f"{value:g}") for value in values)


def powers_axis(title: str, high: float) -> Axis:
    """A logarithmic axis from 1, with a label at each power of ten.

    >>> powers_axis("masks", 250).ticks
    ((1.0, '1'), (10.0, '10'), (100.0, '100'))
    """
    powers = [10**power for power in range(int(log10(high)) + 1)]
    ticks = tuple((float(power), f"{power:,}") for power in powers)
    return Axis(title, 1.0, float(high), ticks, log=True)


def lanes_axis(names: Sequence[str]) -> Axis:
    """A vertical axis with one lane per name, from the top."""
    places = map(float, range(len(names), 0, -1))
    ticks = tuple(zip(places, names, strict=True))
    return Axis("", 0.4, len(names) + 0.6, ticks, grid=False)


class Mark(NamedTuple):
    """A point of a line, a dot, or the far end of a bar or a span, which begins at `start`."""

    x: float
    y: float
    start: float = 0.0
    hover: str = ""  # shown where the pointer is
    words: str = ""  # on the drawing


@dataclass(frozen=True)
class Series:
    """Marks of one kind: bars go up from `start` to y around x, spans go right from `start` to x around y."""

    name: str
    kind: Literal["line", "dots", "bars", "spans"]
    marks: tuple[Mark, ...]
    colour: str = "blue"
    look: Look = "solid"
    thick: float = 0.8  # of a bar or span, in units of the axis across it
    part: str = ""  # the name by which a page finds these marks


SpanKind = tuple[str, str, Look]  # a name, its colour and its look


def spans_by_kind(kinds: Iterable[SpanKind], spans: Iterable[tuple[str, Mark]]) -> tuple[Series, ...]:
    """Spans in lanes: a series per kind that has one of some width."""
    found = grouped((name, span) for name, span in spans if span.x > span.start)
    shown = [kind for kind in kinds if kind[0] in found]
    return tuple(Series(name, "spans", tuple(found[name]), colour, look, 0.7) for name, colour, look in shown)


@dataclass(frozen=True)
class Chart:
    """A title, lines of text below it, two axes and what stands between them."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()
    width: float = 760.0  # of the plot, without labels
    height: float = 260.0
