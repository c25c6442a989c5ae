"""Speed-up over the share of fixed tokens: a dashed line for the ideal, a line for the cost model, dots for live runs.

The parts that move with the handle have names, so that a page can move them and leave the rest as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isinf, log

from guidedviz.decoding.payoff import Payoff, Timed, ideal
from guidedviz.views.figure import node, write

LEFT, TOP, SPAN, HIGH = 46.0, 30.0, 470.0, 264.0
WIDTH, HEIGHT = LEFT + SPAN + 18, TOP + HIGH + 42
LAST = 0.95  # the share at the right end
LOW, MOST = 0.8, 22.0  # the speed-ups at the bottom and at the top; a run may be slower than without
GRID = (1, 2, 5, 10, 20)
KEYS = {"ideal": "ideal, 1/(1 − f)", "model": "cost model", "measured": "measured"}
AXES = {"left": LEFT, "top": TOP, "span": SPAN, "high": HIGH, "last": LAST, "low": LOW, "most": MOST, "width": WIDTH}


def place(fraction: float, speedup: float) -> tuple[float, float]:
    """Where a share and a speed-up stand; what is off the scale stands at its end.

    >>> place(0.0, 0.8), place(0.95, 22.0), place(1.0, 99.0)
    ((46.0, 294.0), (516.0, 30.0), (516.0, 30.0))
    """
    height = log(min(MOST, max(LOW, speedup)) / LOW) / log(MOST / LOW)
    return LEFT + SPAN * min(LAST, fraction) / LAST, TOP + HIGH * (1 - height)


def say_times(speedup: float) -> str:
    """How many times as fast, in digits that a clock can tell.

    >>> say_times(1.04), say_times(2.96), say_times(20.0), say_times(ideal(1))
    ('1.04×', '2.96×', '20.0×', '∞×')
    """
    if isinf(speedup):
        return "∞×"
    return f"{speedup:.2f}×" if speedup < 10 else f"{speedup:.1f}×"


def draw_plot(payoff: Payoff, fraction: float, rows: int) -> Iterator[str]:
    """The parts of the plot, the handle at a share."""
    yield from _grid()
    yield _curve("ideal", ideal, "soft", dashes="5 4")
    yield _curve("model", lambda share: payoff.cost.speedup(share, rows), "blue")
    yield from _handle(fraction, payoff.cost.speedup(fraction, rows))
    yield node("g", *(draw_point(run, run.rows == rows) for run in payoff.runs), data_part="points")


def draw_point(run: Timed, here: bool) -> str:
    """A live run: filled if it had as many texts side by side as are shown now."""
    x, y = place(run.fraction, run.speedup)
    told = f"{run.fraction:.0%} fixed, rows {run.rows}: measured {say_times(run.speedup)}"
    size = {"r": 5.0, "fill": "var(--gv-orange)"} if here else {"r": 3.6, "fill": "var(--gv-page)"}
    return node("circle", node("title", told), cx=x, cy=y, stroke="var(--gv-orange)", stroke_width=1.4, **size)


def _grid() -> Iterator[str]:
    for speedup in GRID:
        _, y = place(0, speedup)
        look = {"stroke": "var(--gv-soft)"} if speedup == 1 else {"stroke": "var(--gv-line)"}
        yield node("path", d=f"M{LEFT:g},{y:.1f}h{SPAN:g}", **look)
        yield write(LEFT - 8, y + 4, f"{speedup}×", 12, fill="var(--gv-soft)", text_anchor="end")
    for share in (0, 0.2, 0.4, 0.6, 0.8, LAST):
        x, _ = place(share, 1)
        yield node("path", d=f"M{x:.1f},{TOP + HIGH:g}v5", stroke="var(--gv-soft)")
        yield write(x, TOP + HIGH + 19, f"{share:.0%}", 12, fill="var(--gv-soft)", text_anchor="middle")
    yield node("path", d=f"M{LEFT:g},{TOP + HIGH:g}h{SPAN:g}", stroke="var(--gv-soft)")
    yield write(6, TOP - 14, "times as fast as without", 12, fill="var(--gv-soft)")
    middle = LEFT + SPAN / 2
    yield write(middle, TOP + HIGH + 37, "tokens that are fixed", 12, fill="var(--gv-soft)", text_anchor="middle")


def _curve(name: str, speedup: Callable[[float], float], colour: str, dashes: str = "") -> str:
    points = (place(LAST * step / 95, speedup(LAST * step / 95)) for step in range(96))
    way = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    look = {"stroke_dasharray": dashes} if dashes else {}
    return node("path", d=way, fill="none", stroke=f"var(--gv-{colour})", stroke_width=2.2, data_part=name, **look)


def _handle(fraction: float, speedup: float) -> Iterator[str]:
    """The line where the handle stands, and a ring where it meets each curve."""
    x, y = place(fraction, speedup)
    line = {"stroke": "var(--gv-ink)", "stroke_width": 1.2}
    yield node("path", d=f"M{x:.1f},{TOP:g}v{HIGH:g}", data_part="handle", **line)
    for name, height in (("on-ideal", place(fraction, ideal(fraction))[1]), ("on-model", y)):
        yield node("circle", cx=x, cy=height, r=4.0, fill="var(--gv-page)", data_part=name, **line)


def draw_legend(x: float, y: float, said: dict[str, str], others: bool) -> Iterator[str]:
    """What the lines are and what they say at the handle; `others` if some runs had more or fewer rows."""
    for line, (name, words) in enumerate(KEYS.items()):
        middle = y + 21 * line
        yield _sign(name, x, middle)
        yield write(x + 36, middle + 4, words, 13)
        yield write(x + 196, middle + 4, said[name], 13, font_weight="bold", text_anchor="end")
    if others:
        yield node("circle", cx=x + 222, cy=y + 42, r=3.6, fill="none", stroke="var(--gv-orange)", stroke_width=1.4)
        yield write(x + 232, y + 46, "with other rows", 12, fill="var(--gv-soft)")


def _sign(name: str, x: float, y: float) -> str:
    if name == "measured":
        return node("circle", cx=x + 13, cy=y, r=5.0, fill="var(--gv-orange)")
    look = {"stroke": "var(--gv-blue)"} if name == "model" else {"stroke": "var(--gv-soft)", "stroke_dasharray": "5 4"}
    return node("path", d=f"M{x:g},{y:g}h26", stroke_width=2.2, fill="none", **look)
