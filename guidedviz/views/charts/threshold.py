"""The whole vocabulary on a log scale, with each bias as a threshold.

A bias b multiplies the probability of its token by e to the b, before all are scaled to a sum of one. So the token
gets ahead of the likeliest token without a bias exactly if it is above that one's probability divided by e to the b.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import exp, floor, log10

import numpy as np

from guidedviz.decoding.sampling import Floats, probability
from guidedviz.markup import Element, node
from guidedviz.views.charts.bars import EDGE, WIDE, write_bar, write_bar_names, write_name
from guidedviz.views.charts.chart import Axis, Chart, Series
from guidedviz.views.charts.next_token import ROW
from guidedviz.views.charts.plot import HALO, PlotFrame, write_plot
from guidedviz.views.figure import Figure, figure_of, moved, rect, soft, wide, write
from guidedviz.views.words import label

LEFT, TOP, SPAN, HIGH = 112.0, 90.0, 510.0, 204.0
POINTS, DEEPEST = 160, 12  # of the curve; powers of ten below 1
NAME_END, BAR = 150.0, 330.0  # the end of a name, the full scale of a bar


def draw_threshold(
    pieces: Sequence[bytes], before: Floats, after: Floats, bias: Mapping[int, float], title: str
) -> Figure:
    """All tokens by their probability before the bias, the threshold of each bias, and what the bias changes.

    >>> before, after = np.array([0.7, 0.2, 0.1]), np.array([0.28, 0.6, 0.12])
    >>> print(draw_threshold([b"a", b"b", b"c"], before, after, {1: 2.0}, "toy").text)
    toy: a before 0.70 after 0.28, b +2 before 0.20 after 0.60; bias +2: 3 above
    """
    shown = sorted({*bias, int(before.argmax())}, key=lambda token: (-before[token], token))
    unbiased = np.delete(before, [token for token, amount in bias.items() if amount])
    rival = float(unbiased.max(initial=0.0)) or 1.0
    rows = [(label(pieces[token]), bias.get(token, 0.0), before[token], after[token]) for token in shown]
    told = [f"{f'{name} {_sign(b)}'.strip()} before {probability(p)} after {probability(q)}" for name, b, p, q in rows]
    levels = {amount: rival / exp(amount) for amount in sorted({b for b in bias.values() if b > 0} or {0.0})}
    lines = {level: f"bias {_sign(b) or 0}: {(before > level).sum():,} above" for b, level in levels.items()}
    frame = PlotFrame(_chart(-np.sort(-before)), LEFT, TOP)
    parts = [write(EDGE, 24, title, 13, font_weight="bold"), soft(EDGE, 48, "probability before the bias")]
    parts += [*write_plot(frame), *_lines(frame, lines)]
    parts += _dots(frame, [(name, int((before > p).sum()) + 1, p, p * exp(b) > rival) for name, b, p, _ in rows])
    y = TOP + HIGH + 62
    parts += write_bar_names(["before", "after"], WIDE - EDGE, y - 8)
    rest, left = (max(0.0, 1 - float(p[shown].sum())) for p in (before, after))
    rows.append(("all others", 0.0, rest, left))
    parts += [moved(0, y + ROW * place, *_row(*row)) for place, row in enumerate(rows)]
    text = "; ".join([f"{title}: {', '.join(told)}", *lines.values()])
    return figure_of(WIDE, y + ROW * len(rows) + 10, text, *parts)


def _lines(frame: PlotFrame, lines: Mapping[float, str]) -> Iterator[Element]:
    """A line per probability, and its words at the right, from the top down."""
    free = 0.0
    for level, words in lines.items():
        y = frame.at(1, level)[1]
        free = max(free + 14, y + 4)
        yield node("path", d=f"M{LEFT:g},{y:.1f}h{SPAN:g}", stroke="var(--gv-orange)", stroke_dasharray="7 4")
        yield write(LEFT + SPAN + 10, free, words, 12, fill="var(--gv-orange)")


def _dots(frame: PlotFrame, tokens: Sequence[tuple[str, int, float, bool]]) -> Iterator[Element]:
    """A dot per named token, filled if its bias is enough; a label that would cover one further right stands higher."""
    taken = list[tuple[float, float]]()
    for name, rank, p, wins in reversed(tokens):
        x, y = frame.at(rank, p)
        at, end = y - 9, x + 12 + wide(name)
        while any(left < end and abs(at - other) < 15 for left, other in taken):
            at -= 3
        taken.append((x + 8, at))
        fill = f"var(--gv-{'orange' if wins else 'page'})"
        yield node("path", d=f"M{x:.1f},{y:.1f}L{x + 8:.1f},{at:.1f}", stroke="var(--gv-soft)")
        yield node("circle", cx=x, cy=y, r=5, fill=fill, stroke="var(--gv-orange)", stroke_width=2)
        yield write(x + 10, at, name, 13, True, **HALO)


def _chart(falling: Floats) -> Chart:
    """The curve of all probabilities, the largest first."""
    count, deep = len(falling), max(1, -floor(log10(max(float(falling[-1]), 10.0**-DEEPEST))))
    ranks = [*(10**n for n in range(9) if 10**n < count / 2), count]
    x = Axis("tokens, the likeliest first", 1, max(2, count), tuple((n, f"{n:,}") for n in ranks), log=True, grid=False)
    powers = [10.0**-n for n in range(0, deep + 1, 2 if deep > 5 else 1)]
    y = Axis("", 10.0**-deep, 1, tuple((p, probability(p)) for p in powers), log=True)
    places = np.unique(np.geomspace(1, count, POINTS).astype(int))
    curve = tuple(np.maximum(falling[places - 1], 10.0**-deep).tolist())
    return Chart("", x, y, (Series("", "line", tuple(places.tolist()), curve, colour="blue"),), (), SPAN, HIGH)


def _row(name: str, bias: float, before: float, after: float) -> list[Element]:
    """A row of the table: a name, two bars, the bias and both probabilities, in columns that do not move."""
    return [
        write_name(NAME_END, 17, name, False, bool(bias)),
        rect(NAME_END + 12, 2, BAR, 21, 3, fill="var(--gv-card)"),
        write_bar(NAME_END + 12, 4, before * BAR, 7.0, 0, False),
        write_bar(NAME_END + 12, 13, after * BAR, 8.0, 1, False),
        write(NAME_END + BAR + 70, 17, _sign(bias), 13, text_anchor="end", fill="var(--gv-orange)"),
        soft(WIDE - EDGE, 17, f"{probability(before)} → {probability(after)}", text_anchor="end"),
    ]


def _sign(bias: float) -> str:
    return f"{bias:+g}".replace("-", "−") if bias else ""
