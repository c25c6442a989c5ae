"""When jump-forward pays: the speed-up over the share of forced tokens.

A dashed line for the ideal, a line for the cost model, dots for live runs. The parts that move with the handle have
names, so that a page can move them and keep the rest.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isinf

from guidedviz.decoding.jump import FRACTIONS, Payoff, Timed, fixed_share, ideal, nearest_fraction
from guidedviz.markup import Element, node
from guidedviz.views.charts.chart import Axis, Chart, Look, Series
from guidedviz.views.charts.plot import PlotFrame, draw_chart, write_plot
from guidedviz.views.figure import Figure

LEFT, TOP, SPAN, HIGH = 46.0, 30.0, 470.0, 264.0
WIDTH, HEIGHT = LEFT + SPAN + 18, TOP + HIGH + 46
LAST = 0.95  # the share at the right end
LOW, MOST = 0.5, 22.0  # the speed-ups at the bottom and at the top; a run may be slower than without
AXES = {"left": LEFT, "top": TOP, "span": SPAN, "high": HIGH, "last": LAST, "width": WIDTH, "low": LOW, "most": MOST}
SHARES = tuple(LAST * step / 95 for step in range(96))
X = Axis("tokens that are forced", 0.0, LAST, tuple((f, f"{f:.0%}") for f in (0, 0.2, 0.4, 0.6, 0.8, LAST)), grid=False)
TIMES = tuple((n, f"{n}×") for n in (0.5, 1, 2, 5, 10, 20))
Y = Axis("times as fast as without, on a logarithmic scale", LOW, MOST, TIMES, log=True)


def payoff_chart(payoff: Payoff, rows: int) -> Chart:
    """The ideal, the cost model and the live runs; runs with another number of rows are rings."""

    def curve(name: str, speedup: Callable[[float], float], colour: str, look: Look, part: str) -> Series:
        times = tuple(min(MOST, speedup(share)) for share in SHARES)
        return Series(name, "line", SHARES, times, colour=colour, look=look, part=part)

    def dots(name: str, runs: Sequence[Timed], look: Look, part: str = "") -> Series:
        hover = tuple(map(say_point, runs))
        xs, ys = tuple(run.fraction for run in runs), tuple(run.speedup for run in runs)
        return Series(name, "dots", xs, ys, hover, "orange", look, part=part)

    others = [run for run in payoff.runs if run.rows != rows]
    series = [
        curve("ideal, 1/(1 − f)", ideal, "soft", "dashed", "ideal"),
        curve("cost model", lambda share: payoff.cost.speedup(share, rows), "blue", "solid", "model"),
        dots("measured", [run for run in payoff.runs if run.rows == rows], "solid", "points"),
    ]
    series += [dots("measured with other rows", others, "hollow")] * bool(others)
    return Chart("jump-forward: what forced tokens save", X, Y, tuple(series), (), SPAN, HIGH)


def draw_plot(payoff: Payoff, fraction: float, rows: int) -> Iterator[Element]:
    """The plot with the handle at a share; a page moves the parts that have a name."""
    frame = PlotFrame(payoff_chart(payoff, rows), LEFT, TOP)
    yield from write_plot(frame)
    line = {"stroke": "var(--gv-ink)", "stroke_width": 1.2}
    x, _ = frame.at(fraction, LOW)
    yield node("path", d=f"M{x:.1f},{TOP:g}v{HIGH:g}", data_part="handle", **line)
    for name, speedup in (("on-ideal", ideal(fraction)), ("on-model", payoff.cost.speedup(fraction, rows))):
        y = frame.at(fraction, speedup)[1]
        yield node("circle", cx=x, cy=y, r=4.0, fill="var(--gv-page)", data_part=name, **line)


def say_point(run: Timed) -> str:
    """A live run in one line."""
    return f"{run.fraction:.0%} forced, rows {run.rows}: measured {say_times(run.speedup)}{say_spread(run)}"


def say_spread(run: Timed) -> str:
    """The number of runs behind a point and their spread; "" for a single run."""
    if not run.speedups:
        return ""
    low, high = say_times(min(run.speedups)), say_times(max(run.speedups))
    return f", the median of {len(run.speedups)} runs from {low} to {high}"


def say_times(speedup: float) -> str:
    """How many times as fast, in digits that a clock can tell.

    >>> say_times(1.04), say_times(2.96), say_times(20.0), say_times(ideal(1))
    ('1.04×', '2.96×', '20.0×', '∞×')
    """
    if isinf(speedup):
        return "∞×"
    return f"{speedup:.2f}×" if speedup < 10 else f"{speedup:.1f}×"


def draw_payoff(payoff: Payoff, fraction: float, rows: int = 1) -> Figure:
    """The curves and the measured points with the handle at one share.

    >>> previews = ((("{", True), ('"', True), ("a", False), ("}", True)),) * 20
    >>> toy = Payoff(gv.decoding.Cost(9.0, 1.0), (), previews, "toy", "cpu", "2026-11-22", "canonical", "TOY")
    >>> print(draw_payoff(toy, 0.75).text)
    jump-forward, TOY: toy; cpu
    75% forced: 4 tokens, 1 pass instead of 4; not measured here, the cost model says 3.08×, ideal 4.00×
    """
    at = nearest_fraction(fraction)
    share, said, chart = FRACTIONS[at], say_place(payoff, at, rows), payoff_chart(payoff, rows)
    handle = Series("", "line", (share, share), (LOW, MOST), colour="ink", look="dotted")
    source = "live" if payoff.source == "LIVE" else payoff.source
    where = f"{source}{f', {payoff.date}' * (source != 'live')} · {payoff.model} · {payoff.device}"
    chart = replace(chart, series=(*chart.series, handle), notes=(where, said))
    return draw_chart(chart, f"jump-forward, {source}: {payoff.model}; {payoff.device}\n{said}")


def find_run(payoff: Payoff, at: int, rows: int) -> Timed | None:
    """The last live run of a place."""
    return next((run for run in reversed(payoff.runs) if nearest_fraction(run.asked) == at and run.rows == rows), None)


def say_place(payoff: Payoff, at: int, rows: int) -> str:
    """A place in a sentence."""
    run = find_run(payoff, at, rows)
    parts = run.parts if run else payoff.previews[at]
    share = run.fraction if run else fixed_share(parts)
    passes = run.jump_passes if run else sum(not fixed for _, fixed in parts)
    measured = f"measured {say_times(run.speedup)}" if run else "not measured here"
    side = f", {rows} texts side by side" if rows > 1 else ""
    count = f"{passes} pass{'es' * (passes != 1)} instead of {run.naive_passes if run else len(parts)}"
    model, most = say_times(payoff.cost.speedup(share, rows)), say_times(ideal(share))
    said = f"{share:.0%} forced: {len(parts)} tokens{side}, {count}; {measured}"
    return f"{said}, the cost model says {model}, ideal {most}"
