"""An x-y chart as a plain record, which plot.py draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log10
from typing import Literal

Mark = Literal["line", "dots", "bars", "spans"]
Look = Literal["solid", "dashed", "dotted", "mixed", "hatched", "hollow"]


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
        scale: Callable[[float], float] = log10 if self.log else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


def round_step(span: float, most: int) -> float:
    """The smallest round number (1, 2 or 5 times a power of ten) of which `most` cover a span.

    >>> round_step(35, 8), round_step(1200, 6)
    (5.0, 200.0)
    """
    return next(n * 10.0**power for power in range(-4, 9) for n in (1, 2, 5) if most * n * 10.0**power >= span)


def round_ticks(low: float, high: float, most: int) -> tuple[tuple[float, str], ...]:
    """A few round numbers from `low` to `high`.

    >>> round_ticks(3, 10, 4)
    ((4.0, '4'), (6.0, '6'), (8.0, '8'), (10.0, '10'))
    """
    step = round_step(high - low, most)
    return tuple((step * n, f"{step * n:g}") for n in range(ceil(low / step), int(high / step) + 1))


@dataclass(frozen=True)
class Series:
    """Marks of one kind: bars go up from `start` to y around x, spans go right from `start` to x around y."""

    name: str
    mark: Mark
    x: tuple[float, ...]
    y: tuple[float, ...]
    hover: tuple[str, ...] = ()  # one text per mark, shown where the pointer is
    colour: str = "blue"
    look: Look = "solid"
    start: tuple[float, ...] = ()  # the low end of each bar or span; the end of the axis if empty
    words: tuple[str, ...] = ()  # one text per mark, on the drawing
    thick: float = 0.8  # of a bar or span, in units of the axis across it
    part: str = ""  # the name by which a page finds these marks

    def begins(self, axis: Axis) -> tuple[float, ...]:
        """The low ends of bars and spans along this axis."""
        return self.start or (axis.low,) * len(self.x)


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
