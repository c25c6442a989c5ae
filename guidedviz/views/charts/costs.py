"""What each token of a run cost: one bar per token, with the milliseconds of its forward pass, mask and sampling."""

from collections.abc import Iterator, Sequence

from guidedviz.decoding.trace import TRACE_HINT, Step, Trace
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.views.badge import say_badge
from guidedviz.views.charts.chart import Axis, Chart, Look, Series
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure
from guidedviz.views.words import label, milliseconds, share

MOST_BARS = 300  # that are drawn
LEAST_BARS = 24  # that have room
FAR_ABOVE = 2.5  # a bar this many times as high as the median is cut
COST_PARTS: tuple[tuple[str, str, Look], ...] = (
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
    shown = trace.steps[:MOST_BARS]
    names = ["⊘" if step.how == "none" else label(step.piece) for step in shown]
    top = find_top(times_asked(shown))
    cut = ["" if total <= top else f"{total:,.0f}" for total in map(total_of, shown)]
    hover = tuple(map(_say_times, shown, names))
    places = tuple(map(float, range(len(shown))))
    series = []
    for number, (name, colour, look) in enumerate(COST_PARTS):
        low = tuple(sum(cost_parts(step)[:number]) for step in shown)
        up = tuple(sum(cost_parts(step)[: number + 1]) for step in shown)
        words = tuple(cut) if name == "sample" else ()  # above the last part
        series.append(Series(name, "bars", places, up, hover, colour, look, low, words))
    x = Axis("", -0.5, max(len(shown), LEAST_BARS) - 0.5, tuple(enumerate(names)), grid=False, mono=True)
    half = (top / 2, milliseconds(top / 2))
    y = Axis("", 0.0, top, ((0.0, "0"), half, (top, milliseconds(top))))
    notes = tuple(_cost_notes(trace, len(shown), sum(map(bool, cut))))
    chart = Chart("what each token cost", x, y, tuple(series), notes, 860.0, 150.0)
    steps = counted(len(trace.steps), "step")
    return draw_chart(chart, f"costs of {steps}: forward, mask and sample of each", live=True)


def _say_times(step: Step, name: str) -> str:
    """The times of a step, one per line."""
    how = "" if step.how == "sampled" else f", {step.how}"
    lines = [f"step {step.position}: {name}{how}, {milliseconds(total_of(step))}"]
    for (part, *_), ms in zip(COST_PARTS, cost_parts(step), strict=True):
        lines.append(f"  {part} {milliseconds(ms)}")
    return "\n".join(lines)


def _cost_notes(trace: Trace, shown: int, cut: int) -> Iterator[str]:
    """Where the run comes from, the sum of its times, and what is not drawn."""
    yield say_badge(trace)
    if trace.constraint:
        yield shorten(trace.constraint, 100)
    sums = [sum(times) for times in zip(*map(cost_parts, trace.steps), strict=True)] or [0.0, 0.0, 0.0]
    whole = sum(sums)
    shares = []
    for (name, *_), ms in zip(COST_PARTS, sums, strict=True):
        part = ms / whole if whole else 0.0
        shares.append(f"{name} {milliseconds(ms)} ({share(part)})")
    yield f"{counted(len(trace.steps), 'step')} in {milliseconds(whole)}: {', '.join(shares)}"
    if cut:
        yield f"cut: {counted(cut, 'bar')} far above most others"
    if len(trace.steps) > shown:
        yield f"{counted(len(trace.steps) - shown, 'more step')} not drawn"


def cost_parts(step: Step) -> tuple[float, float, float]:
    """The milliseconds of its forward pass, mask and sampling."""
    return step.forward_ms, step.mask_ms, step.sample_ms


def total_of(step: Step) -> float:
    """The milliseconds of the step."""
    return sum(cost_parts(step))


def times_asked(steps: Sequence[Step]) -> list[float]:
    """The milliseconds of the steps with a forward pass; forced steps have none and would lower the scale."""
    asked = [step for step in steps if step.how != "forced"]
    return list(map(total_of, asked or steps))


def find_top(totals: Sequence[float]) -> float:
    """The top of the scale: the highest bar that is not far above the median.

    >>> find_top([2.0, 3.0, 2.0, 400.0]), find_top([4.0, 5.0]), find_top([0.0, 0.0, 6.0]), find_top([])
    (3.0, 5.0, 6.0, 1.0)
    """
    taking = sorted(ms for ms in totals if ms > 0)
    if not taking:
        return 1.0
    median = taking[len(taking) // 2]
    return max(ms for ms in taking if ms <= FAR_ABOVE * median)
