"""When jump-forward pays: the speed-up over the share of forced tokens.

A dashed line for the ideal, a line for the cost model, dots for live runs. The parts that move with the handle have
names, so that a page can move them and keep the rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isinf
from typing import Any

from guidedviz.decoding.payoff import FRACTIONS, Payoff, Timed, fixed_share, ideal, nearest_fraction
from guidedviz.markup import Element
from guidedviz.views.charts.chart import Axis, Chart, Mark, Series
from guidedviz.views.charts.plot import PlotFrame, draw_chart, write_plot
from guidedviz.views.figure import Figure, circle_at, upright
from guidedviz.views.words import say_measured

PLOT_LEFT = 46.0  # the place and the size of the plot in its drawing
PLOT_TOP = 30.0
PLOT_SPAN = 470.0
PLOT_HIGH = 264.0
DRAWING_WIDTH = PLOT_LEFT + PLOT_SPAN + 18
DRAWING_HEIGHT = PLOT_TOP + PLOT_HIGH + 46
LAST_SHARE = 0.95  # at the right end
LEAST_SPEEDUP = 0.5  # at the bottom; a run may be slower than without
MOST_SPEEDUP = 22.0  # at the top
AXES = {  # for the page, which moves the handle
    "left": PLOT_LEFT,
    "top": PLOT_TOP,
    "span": PLOT_SPAN,
    "high": PLOT_HIGH,
    "last": LAST_SHARE,
    "width": DRAWING_WIDTH,
    "low": LEAST_SPEEDUP,
    "most": MOST_SPEEDUP,
}
FORCED_SHARES = tuple(LAST_SHARE * step / 95 for step in range(96))
SHARE_TICKS = tuple((share, f"{share:.0%}") for share in (0, 0.2, 0.4, 0.6, 0.8, LAST_SHARE))
SHARE_AXIS = Axis("tokens that are forced", 0.0, LAST_SHARE, SHARE_TICKS, grid=False)
SPEEDUP_TICKS = tuple((n, f"{n}×") for n in (0.5, 1, 2, 5, 10, 20))
SPEEDUP_TITLE = "times as fast as without, on a logarithmic scale"
SPEEDUP_AXIS = Axis(SPEEDUP_TITLE, LEAST_SPEEDUP, MOST_SPEEDUP, SPEEDUP_TICKS, log=True)


def payoff_chart(payoff: Payoff, rows: int) -> Chart:
    """The ideal, the cost model and the live runs; runs with another number of rows are rings."""
    here = [run for run in payoff.runs if run.rows == rows]
    others = [run for run in payoff.runs if run.rows != rows]
    times = [payoff.cost.speedup(share, rows) for share in FORCED_SHARES]
    most = [ideal(share) for share in FORCED_SHARES]
    series = [_speedup_line("ideal, 1/(1 − f)", most, colour="soft", look="dashed", part="ideal")]
    series.append(_speedup_line("cost model", times, part="model"))
    if others:
        series.append(_run_dots("measured with other rows", others, look="hollow"))
    series.append(_run_dots("measured", here, part="points"))  # last, so that no ring hides a dot
    title = "jump-forward: what forced tokens save"
    return Chart(title, SHARE_AXIS, SPEEDUP_AXIS, tuple(series), (), PLOT_SPAN, PLOT_HIGH)


def _speedup_line(name: str, speedups: Iterable[float], **look: Any) -> Series:
    heights = [min(MOST_SPEEDUP, speedup) for speedup in speedups]
    return Series(name, "line", tuple(map(Mark, FORCED_SHARES, heights)), **look)


def _run_dots(name: str, runs: Sequence[Timed], **look: Any) -> Series:
    marks = [Mark(run.fraction, run.speedup, hover=say_point(run)) for run in runs]
    return Series(name, "dots", tuple(marks), "green", **look)


def draw_plot(payoff: Payoff, fraction: float, rows: int) -> Iterator[Element]:
    """The plot with the handle at a share; a page moves the parts that have a name."""
    frame = PlotFrame(payoff_chart(payoff, rows), PLOT_LEFT, PLOT_TOP)
    yield from write_plot(frame)
    line = {"stroke": "var(--gv-ink)", "stroke_width": 1.2}
    x, _ = frame.at(fraction, LEAST_SPEEDUP)
    yield upright(x, PLOT_TOP, PLOT_HIGH, data_part="handle", **line)
    speedups = {"on-ideal": ideal(fraction), "on-model": payoff.cost.speedup(fraction, rows)}
    for part, speedup in speedups.items():
        _, y = frame.at(fraction, speedup)
        yield circle_at(x, y, 4.0, fill="var(--gv-page)", data_part=part, **line)


def say_point(run: Timed) -> str:
    """A live run in one line."""
    measured = f"{say_times(run.speedup)}{say_spread(run)}"
    return f"{run.fraction:.0%} forced, rows {run.rows}: measured {measured}"


def say_spread(run: Timed) -> str:
    """The number of runs behind a point and their spread; "" for a single run."""
    if not run.speedups:
        return ""
    low = say_times(min(run.speedups))
    high = say_times(max(run.speedups))
    return f", the median of {len(run.speedups)} runs from {low} to {high}"


def say_times(speedup: float) -> str:
    """How many times as fast, in digits that a clock can tell.

    >>> say_times(1.04), say_times(2.96), say_times(20.0), say_times(ideal(1))
    ('1.04×', '2.96×', '20.0×', '∞×')
    """
    if isinf(speedup):
        return "∞×"
    if speedup < 10:
        return f"{speedup:.2f}×"
    return f"{speedup:.1f}×"


def draw_payoff(payoff: Payoff, fraction: float, rows: int = 1) -> Figure:
    """The curves and the measured points with the handle at one share.

    >>> previews = ((("{", True), ('"', True), ("a", False), ("}", True)),) * 20
    >>> toy = Payoff(gv.decoding.Cost(9.0, 1.0), (), previews, "toy", "cpu", "2026-11-22", "canonical", "TOY")
    >>> print(draw_payoff(toy, 0.75).text)
    jump-forward, TOY: toy; cpu
    75% forced: 4 tokens, 1 pass instead of 4; not measured here, the cost model says 3.08×, ideal 4.00×
    """
    at = nearest_fraction(fraction)
    share = FRACTIONS[at]
    ends = (Mark(share, LEAST_SPEEDUP), Mark(share, MOST_SPEEDUP))
    handle = Series("", "line", ends, "ink", "dotted")
    chart = payoff_chart(payoff, rows)
    said = say_place(payoff, at, rows)
    origin, measured_by = say_measured(payoff)
    chart = replace(chart, series=(*chart.series, handle), notes=(origin, said))
    return draw_chart(chart, f"jump-forward, {measured_by}\n{said}")


def find_run(payoff: Payoff, at: int, rows: int) -> Timed | None:
    """The last live run of a place."""
    for run in reversed(payoff.runs):
        if run.rows == rows and nearest_fraction(run.asked) == at:
            return run
    return None


def say_place(payoff: Payoff, at: int, rows: int) -> str:
    """A place in a sentence."""
    run = find_run(payoff, at, rows)
    if run:
        tokens = len(run.parts)
        share = run.fraction
        passes = run.jump_passes
        naive = run.naive_passes
        measured = f"measured {say_times(run.speedup)}"
    else:
        parts = payoff.previews[at]
        tokens = naive = len(parts)
        share = fixed_share(parts)
        passes = sum(not fixed for _, fixed in parts)
        measured = "not measured here"
    side = f", {rows} texts side by side" if rows > 1 else ""
    count = "1 pass" if passes == 1 else f"{passes} passes"
    said = f"{share:.0%} forced: {tokens} tokens{side}"
    said += f", {count} instead of {naive}; {measured}"
    model = say_times(payoff.cost.speedup(share, rows))
    return f"{said}, the cost model says {model}, ideal {say_times(ideal(share))}"
