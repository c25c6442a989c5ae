"""The time of each token of a run: the milliseconds of the forward pass, of the mask and of the sampling."""

from __future__ import annotations

from collections.abc import Sequence

from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.views.badge import say_badge
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Look, Series
from guidedviz.views.figure import TRACE_HINT, Figure
from guidedviz.views.vocabulary.map import share
from guidedviz.views.words import label, milliseconds

MOST_STEPS = 300
ABOVE = 2.5  # a bar this many times as high as the median is cut
PARTS: tuple[tuple[str, str, Look], ...] = (
    ("forward", "blue", "solid"),
    ("mask", "gold", "hatched"),
    ("sample", "green", "hollow"),
)


def draw_costs(trace: Trace) -> Figure:
    """One bar per token with the parts of its time. The text names no time, because times differ between runs.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 1.0])
    >>> draw_costs(gv.record(toy, "a", max_tokens=3)).text.partition(";")[0]
    'costs of 3 steps: forward, mask and sample of each'
    """
    expect(trace, Trace, "draw_costs", "a trace", TRACE_HINT)
    return draw_chart(costs_chart(trace), _say(trace), live=True)


def costs_chart(trace: Trace) -> Chart:
    """The bars: one series per part of a step, stacked."""
    shown = trace.steps[:MOST_STEPS]
    top = find_top(times_asked(shown))
    cut = sum(total(step) > top for step in shown)
    notes = [say_badge(trace.source, trace.model, trace.device, trace.vocabulary_size, trace.date)]
    notes += [shorten(trace.constraint, 100)] * bool(trace.constraint) + [_say_sums(trace.steps)]
    notes += [f"cut: {counted(cut, 'bar')} far above most others"] * bool(cut)
    if left := len(trace.steps) - len(shown):
        notes.append(f"{counted(left, 'more step')} not drawn")
    x = Axis("", -0.5, max(len(shown), 24) - 0.5, tuple(enumerate(map(_name, shown))), grid=False, mono=True)
    y = Axis("", 0.0, top, tuple((part * top, milliseconds(part * top) if part else "0") for part in (0.0, 0.5, 1.0)))
    above = tuple(f"{total(step):,.0f}" if total(step) > top else "" for step in shown)
    series = [
        Series(
            name=name,
            mark="bars",
            x=tuple(map(float, range(len(shown)))),
            y=tuple(sum(parts_of(step)[: place + 1]) for step in shown),
            hover=tuple(map(_hover, shown)),
            colour=colour,
            look=look,
            start=tuple(sum(parts_of(step)[:place]) for step in shown),
            words=above if name == PARTS[-1][0] else (),
        )
        for place, (name, colour, look) in enumerate(PARTS)
    ]
    return Chart("what each token cost", x, y, tuple(series), tuple(notes), 860.0, 150.0)


def total(step: Step) -> float:
    """All milliseconds of a step."""
    return sum(parts_of(step))


def parts_of(step: Step) -> tuple[float, float, float]:
    """The milliseconds of its forward pass, mask and sampling."""
    return step.forward_ms, step.mask_ms, step.sample_ms


def times_asked(steps: Sequence[Step]) -> list[float]:
    """The milliseconds of the steps with a forward pass; forced steps have none and would lower the scale."""
    return [total(step) for step in steps if step.how != "forced"] or list(map(total, steps))


def find_top(totals: Sequence[float]) -> float:
    """The top of the scale: the highest bar that is not far above the median.

    >>> find_top([2.0, 3.0, 2.0, 400.0]), find_top([4.0, 5.0]), find_top([0.0, 0.0, 6.0]), find_top([])
    (3.0, 5.0, 6.0, 1.0)
    """
    taking = sorted(ms for ms in totals if ms > 0)
    if not taking:
        return 1.0
    limit = ABOVE * taking[len(taking) // 2]
    return max((ms for ms in totals if ms <= limit), default=0.0) or 1.0


def _name(step: Step) -> str:
    return "⊘" if step.how == "none" else label(step.piece)


def _hover(step: Step) -> str:
    how = "" if step.how == "sampled" else f", {step.how}"
    lines = [f"step {step.position}: {_name(step)}{how}, {milliseconds(total(step))}"]
    lines += [f"  {name} {milliseconds(ms)}" for (name, *_), ms in zip(PARTS, parts_of(step), strict=True)]
    return "\n".join(lines)


def _sums(steps: Sequence[Step]) -> dict[str, float]:
    sums = map(sum, zip(*map(parts_of, steps), strict=True)) if steps else (0.0, 0.0, 0.0)
    return {name: ms for (name, *_), ms in zip(PARTS, sums, strict=True)}


def _say_sums(steps: Sequence[Step]) -> str:
    sums = _sums(steps)
    whole = sum(sums.values())
    parts = (f"{name} {milliseconds(ms)} ({share(ms / whole if whole else 0.0)})" for name, ms in sums.items())
    return f"{counted(len(steps), 'step')} in {milliseconds(whole)}: {', '.join(parts)}"


def _say(trace: Trace) -> str:
    """What is the same in every run. The largest part is named only if it is more than half."""
    sums = _sums(trace.steps)
    said = f"costs of {counted(len(trace.steps), 'step')}: forward, mask and sample of each"
    if not sum(sums.values()):
        return f"{said}; no time was measured"
    largest = max(sums, key=sums.__getitem__)
    clear = 2 * sums[largest] > sum(sums.values())
    return f"{said}; {largest + ' is the largest part' if clear else 'no part is more than half'}"
