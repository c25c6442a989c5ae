"""What each token of a run cost: one bar per token, with the milliseconds of its forward pass, mask and sampling."""

from collections.abc import Sequence

from guidedviz.decoding.trace import TRACE_HINT, Step, Trace
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.views.badge import say_badge
from guidedviz.views.charts.chart import Axis, Chart, Look, Series
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure
from guidedviz.views.words import label, milliseconds, share

MOST_STEPS, LEAST_STEPS = 300, 24  # that are drawn, and that have room
ABOVE = 2.5  # a bar this many times as high as the median is cut
PARTS: tuple[tuple[str, str, Look], ...] = (
    ("forward", "blue", "solid"),
    ("mask", "gold", "hatched"),
    ("sample", "green", "hollow"),
)


def draw_costs(trace: Trace) -> Figure:
    """One bar per token with the parts of its time. The text names no time, because times differ between runs.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 1.0])
    >>> draw_costs(gv.record(toy, "a", max_tokens=3)).text
    'costs of 3 steps: forward, mask and sample of each'
    """
    expect(trace, Trace, "draw_costs", "a trace", TRACE_HINT)
    steps = counted(len(trace.steps), "step")
    shown = trace.steps[:MOST_STEPS]
    names = ["⊘" if step.how == "none" else label(step.piece) for step in shown]
    totals, top = [sum(parts_of(step)) for step in shown], find_top(times_asked(shown))
    sums = [sum(parts_of(step)[place] for step in trace.steps) for place in range(len(PARTS))]
    whole, hover, series = sum(sums), list[str](), list[Series]()
    for step, name, total in zip(shown, names, totals, strict=True):
        parts = zip(PARTS, parts_of(step), strict=True)
        how = "" if step.how == "sampled" else f", {step.how}"
        told = [f"  {part} {milliseconds(ms)}" for (part, *_), ms in parts]
        hover.append("\n".join([f"step {step.position}: {name}{how}, {milliseconds(total)}", *told]))
    above = tuple(f"{total:,.0f}" if total > top else "" for total in totals)
    for place, (name, colour, look) in enumerate(PARTS):
        low, up = (tuple(sum(parts_of(step)[: place + n]) for step in shown) for n in (0, 1))
        words = above if place == len(PARTS) - 1 else ()
        x = tuple(map(float, range(len(shown))))
        series.append(Series(name, "bars", x, up, tuple(hover), colour, look, low, words))
    named = zip(PARTS, sums, strict=True)
    shares = (f"{name} {milliseconds(ms)} ({share(ms / whole if whole else 0.0)})" for (name, *_), ms in named)
    notes = [say_badge(trace.source, trace.model, trace.device, trace.vocabulary_size, trace.date)]
    notes += [shorten(trace.constraint, 100)] * bool(trace.constraint)
    notes.append(f"{steps} in {milliseconds(whole)}: {', '.join(shares)}")
    notes += [f"cut: {counted(sum(map(bool, above)), 'bar')} far above most others"] * any(above)
    notes += [f"{counted(len(trace.steps) - len(shown), 'more step')} not drawn"] * (len(trace.steps) > len(shown))
    axis = Axis("", -0.5, max(len(shown), LEAST_STEPS) - 0.5, tuple(enumerate(names)), grid=False, mono=True)
    y = Axis("", 0.0, top, tuple((part * top, milliseconds(part * top) if part else "0") for part in (0.0, 0.5, 1.0)))
    chart = Chart("what each token cost", axis, y, tuple(series), tuple(notes), 860.0, 150.0)
    return draw_chart(chart, f"costs of {steps}: forward, mask and sample of each", live=True)


def parts_of(step: Step) -> tuple[float, float, float]:
    """The milliseconds of its forward pass, mask and sampling."""
    return step.forward_ms, step.mask_ms, step.sample_ms


def times_asked(steps: Sequence[Step]) -> list[float]:
    """The milliseconds of the steps with a forward pass; forced steps have none and would lower the scale."""
    return [sum(parts_of(step)) for step in steps if step.how != "forced"] or [sum(parts_of(step)) for step in steps]


def find_top(totals: Sequence[float]) -> float:
    """The top of the scale: the highest bar that is not far above the median.

    >>> find_top([2.0, 3.0, 2.0, 400.0]), find_top([4.0, 5.0]), find_top([0.0, 0.0, 6.0]), find_top([])
    (3.0, 5.0, 6.0, 1.0)
    """
    taking = sorted(ms for ms in totals if ms > 0)
    return max(ms for ms in taking if ms <= ABOVE * taking[len(taking) // 2]) if taking else 1.0
