"""The whole vocabulary on a log scale, with each bias as a threshold.

A bias b multiplies the probability of its token by e to the b, before all are scaled to a sum of one. So the token
gets ahead of the likeliest token without a bias exactly if it is above that one's probability divided by e to the b.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import exp, floor, log10
from typing import NamedTuple

import numpy as np

from guidedviz.decoding.sampling import Floats, probability
from guidedviz.markup import Element
from guidedviz.views.charts.bars import BARS_WIDTH, CANDIDATE, write_bar, write_bar_names, write_name
from guidedviz.views.charts.chart import Axis, Chart, Mark, Series
from guidedviz.views.charts.plot import HALO, PlotFrame, write_plot
from guidedviz.views.figure import (
    EDGE,
    Figure,
    bold,
    circle_at,
    figure_of,
    moved,
    path_of,
    rect,
    ruled,
    soft,
    soft_right,
    write,
    write_right,
)
from guidedviz.views.theme import paint
from guidedviz.views.words import label

CURVE_LEFT = 112.0  # the place and the size of the curve
CURVE_TOP = 90.0
CURVE_WIDTH = 510.0
CURVE_HEIGHT = 204.0
CURVE_POINTS = 160
DEEPEST_POWER = 12  # powers of ten below 1
NAME_END = 150.0  # the end of a name in the table
FULL_BAR = 330.0  # the full scale of a bar there


class BiasRow(NamedTuple):
    """A token with its bias and its probability before and after it."""

    name: str
    bias: float
    before: float
    after: float

    def __str__(self) -> str:
        named = f"{self.name} {_say_bias(self.bias)}".strip()
        return f"{named} before {probability(self.before)} after {probability(self.after)}"


def draw_threshold(
    pieces: Sequence[bytes], before: Floats, after: Floats, bias: Mapping[int, float], title: str
) -> Figure:
    """All tokens by their probability before the bias, the threshold of each bias above 0, and what the bias changes.

    >>> before, after = np.array([0.7, 0.2, 0.1]), np.array([0.28, 0.6, 0.12])
    >>> print(draw_threshold([b"a", b"b", b"c"], before, after, {1: 2.0}, "toy").text)
    toy: a before 0.70 after 0.28, b +2 before 0.20 after 0.60; bias +2: 3 above
    """
    shown = sorted({*bias, int(before.argmax())}, key=lambda token: (-before[token], token))
    names = [label(pieces[token]) for token in shown]
    biases = [bias.get(token, 0.0) for token in shown]
    rows = list(map(BiasRow, names, biases, before[shown], after[shown]))
    unbiased = np.delete(before, [token for token, amount in bias.items() if amount])
    rival = float(unbiased.max(initial=0.0)) or 1.0  # the likeliest token without a bias
    lines = _say_thresholds(before, bias, rival)
    frame = PlotFrame(_curve_chart(-np.sort(-before)), CURVE_LEFT, CURVE_TOP)
    parts = [bold(EDGE, 24, title), soft(EDGE, 48, "probability before the bias")]
    parts += write_plot(frame)
    parts += _write_thresholds(frame, lines)
    parts += _write_named(frame, rows, before, rival)
    y = CURVE_TOP + CURVE_HEIGHT + 62
    parts += write_bar_names(["before", "after"], BARS_WIDTH - EDGE, y - 8)
    rest = BiasRow("all others", 0.0, _left_over(before, shown), _left_over(after, shown))
    for place, row in enumerate([*rows, rest]):
        parts.append(moved(0, y + CANDIDATE * place, *_write_bias_row(row)))
    told = f"{title}: {', '.join(map(str, rows))}"
    text = "; ".join([told, *lines.values()])
    low = y + CANDIDATE * (len(rows) + 1)
    return figure_of(BARS_WIDTH, low + 10, text, *parts)


def _left_over(probabilities: Floats, shown: Sequence[int]) -> float:
    """The probability of the tokens that are not shown."""
    return max(0.0, 1 - float(probabilities[shown].sum()))


def _say_thresholds(before: Floats, bias: Mapping[int, float], rival: float) -> dict[float, str]:
    """Per bias above 0 the probability above which it is enough, and in words how many tokens have it."""
    lines = {}
    for amount in sorted({b for b in bias.values() if b > 0}):
        level = rival / exp(amount)
        lines[level] = f"bias {_say_bias(amount)}: {(before > level).sum():,} above"
    return lines


def _write_thresholds(frame: PlotFrame, lines: Mapping[float, str]) -> Iterator[Element]:
    """A line per probability, and its words at the right, from the top down."""
    free = 0.0
    for level, words in lines.items():
        y = frame.at(1, level)[1]
        free = max(free + 14, y + 4)
        yield ruled(CURVE_LEFT, y, CURVE_WIDTH, stroke="var(--gv-green)", stroke_dasharray="7 4")
        yield write(CURVE_LEFT + CURVE_WIDTH + 10, free, words, 12, fill="var(--gv-green)")


def _write_named(frame: PlotFrame, rows: Sequence[BiasRow], before: Floats, rival: float) -> Iterator[Element]:
    """A dot per named token, filled if its bias is enough; its name beside it."""
    for row in reversed(rows):
        rank = int((before > row.before).sum()) + 1
        x, y = frame.at(rank, row.before)
        height = y - 9
        fill = "page"
        if row.before * exp(row.bias) > rival:
            fill = "green"
        line = f"M{x:.1f},{y:.1f}L{x + 8:.1f},{height:.1f}"
        yield path_of(line, stroke="var(--gv-soft)")
        look = {"fill": paint(fill), "stroke": "var(--gv-green)", "stroke_width": 2}
        yield circle_at(x, y, 5, **look)
        yield write(x + 10, height, row.name, 13, True, **HALO)


def _curve_chart(falling: Floats) -> Chart:
    """The curve of all probabilities, the largest first."""
    count = len(falling)
    least = max(float(falling[-1]), 10.0**-DEEPEST_POWER)
    deep = max(1, -floor(log10(least)))
    ranks = [*(10**n for n in range(9) if 10**n < count / 2), count]
    ticks = tuple((n, f"{n:,}") for n in ranks)
    x = Axis("tokens, the likeliest first", 1, max(2, count), ticks, log=True, grid=False)
    step = 2 if deep > 5 else 1
    powers = [10.0**-n for n in range(0, deep + 1, step)]
    marks = tuple((power, probability(power)) for power in powers)
    y = Axis("", 10.0**-deep, 1, marks, log=True)
    places = np.unique(np.geomspace(1, count, CURVE_POINTS).astype(int))
    heights = np.maximum(falling[places - 1], 10.0**-deep)
    curve = Series("", "line", tuple(map(Mark, places.tolist(), heights.tolist())))
    return Chart("", x, y, (curve,), (), CURVE_WIDTH, CURVE_HEIGHT)


def _write_bias_row(row: BiasRow) -> Iterator[Element]:
    """A row of the table: a name, two bars, the bias and both probabilities, in columns that do not move."""
    left = NAME_END + 12
    end = NAME_END + FULL_BAR + 70
    yield write_name(NAME_END, 17, row.name, bold=bool(row.bias))
    yield rect(left, 2, FULL_BAR, 21, 3, fill="var(--gv-card)")
    yield write_bar(left, 4, row.before * FULL_BAR, 7.0, 0)
    yield write_bar(left, 13, row.after * FULL_BAR, 8.0, 1)
    yield write_right(end, 17, _say_bias(row.bias), fill="var(--gv-green)")
    odds = f"{probability(row.before)} → {probability(row.after)}"
    yield soft_right(BARS_WIDTH - EDGE, 17, odds)


def _say_bias(bias: float) -> str:
    return f"{bias:+g}".replace("-", "−") if bias else ""
