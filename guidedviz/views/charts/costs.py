"""What masks cost: each token of a run, and many masks with a table or without."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations
from math import ceil, floor, log10

from guidedviz.decoding.records import AtLeastZero, check_number
from guidedviz.decoding.trace import TRACE_HINT, Step, Trace
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.visible import counted
from guidedviz.views.charts.chart import LINES, Axis, Chart, Look, Mark, Series, powers_axis
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure, check_count
from guidedviz.views.step_words import shown_token
from guidedviz.views.words import milliseconds, say_badge, share

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
    >>> gv.draw_costs(gv.record(toy, "a", max_tokens=3)).text
    'costs of 3 steps: forward, mask and sample of each'
    """
    expect(trace, Trace, "draw_costs", "a trace", TRACE_HINT)
    shown = trace.steps[:MOST_BARS]
    names = list(map(shown_token, shown))
    top = find_top(times_asked(shown))
    cut = [place for place, step in enumerate(shown) if total_of(step) > top]
    hover = list(map(_say_times, shown, names))
    ends = [list(accumulate(cost_parts(step), initial=0.0)) for step in shown]
    series = []
    for number, (name, colour, look) in enumerate(COST_PARTS):
        marks = []
        for place, heights in enumerate(ends):
            marks.append(Mark(place, heights[number + 1], heights[number], hover[place]))
        series.append(Series(name, "bars", tuple(marks), colour, look))
    if cut:  # a ring at the top of each bar that is cut, and its milliseconds
        rings = [Mark(place, top, words=f"{total_of(shown[place]):,.0f}") for place in cut]
        series.append(Series("cut, with its milliseconds", "dots", tuple(rings), "ink", "hollow"))
    right = max(len(shown), LEAST_BARS) - 0.5
    x = Axis("", -0.5, right, tuple(enumerate(names)), grid=False, mono=True)
    ticks = tuple((ms, milliseconds(ms)) for ms in (top / 2, top))
    y = Axis("", 0.0, top, ((0.0, "0"), *ticks))
    notes = tuple(_cost_notes(trace, len(shown), len(cut)))
    chart = Chart("what each token cost", x, y, tuple(series), notes, 860.0, 150.0)
    steps = counted(len(trace.steps), "step")
    return draw_chart(chart, f"costs of {steps}: forward, mask and sample of each", live=True)


def _say_times(step: Step, name: str) -> str:
    """The times of a step, one per line."""
    title = f"step {step.position}: {name}"
    if step.how != "sampled":
        title += f", {step.how}"
    lines = [f"{title}, {milliseconds(total_of(step))}"]
    for (part, *_), ms in zip(COST_PARTS, cost_parts(step), strict=True):
        lines.append(f"  {part} {milliseconds(ms)}")
    return "\n".join(lines)


def _cost_notes(trace: Trace, shown: int, cut: int) -> Iterator[str]:
    """Where the run comes from, the sum of its times, and what is not drawn."""
    yield say_badge(trace)
    if trace.constraint:
        yield shorten(trace.constraint, 100)
    times = [(0.0, 0.0, 0.0), *map(cost_parts, trace.steps)]
    sums = [sum(column) for column in zip(*times, strict=True)]
    whole = sum(sums)
    shares = []
    for (name, *_), ms in zip(COST_PARTS, sums, strict=True):
        part = share(ms / whole if whole else 0.0)
        shares.append(f"{name} {milliseconds(ms)} ({part})")
    took = f"{counted(len(trace.steps), 'step')} in {milliseconds(whole)}"
    yield f"{took}: {', '.join(shares)}"
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


# --- a table built once, or a walk at each step ---


DECADES = 6  # of masks
Costs = Mapping[str, tuple[float, float]]  # milliseconds before the first mask, and for each


def break_even(one: tuple[float, float], other: tuple[float, float]) -> float | None:
    """The number of masks that cost the same both ways; None if one way is always cheaper.

    >>> break_even((40, 0.02), (0, 1.02)), break_even((40, 2), (0, 1))
    (40.0, None)
    """
    slower = other[1] - one[1]
    sooner = one[0] - other[0]
    masks = sooner / slower if slower else -1.0
    return masks if masks > 1 else None


def draw_break_even(costs: Costs, pairs: Iterable[tuple[str, str]] | None = None) -> Figure:
    """One line per way on logarithmic axes, and a dot where two lines cross: all, or those of the given pairs.

    >>> print(draw_break_even({"table": (40, 0.02), "walk": (0, 1.02)}).text)
    the cost of many masks
    table: 40 ms before the first mask, 0.02 ms for each
    walk: 0 ms before the first mask, 1.02 ms for each
    table is cheaper than walk after 40 masks
    """
    expect(pairs, Iterable | None, "draw_break_even, pairs", "pairs of names", "[('table', 'walk')]")
    expect(costs, Mapping, "draw_break_even, costs", "names with their costs", "{'table': (40, 0.02)}")
    _check_costs(costs)
    y = _time_axis(costs)
    steps = range(8 * DECADES + 1)
    masks = [10 ** (step / 8) for step in steps]
    series = list[Series]()
    said = ["the cost of many masks"]
    for (name, cost), (colour, look) in zip(costs.items(), LINES, strict=False):
        first, each = cost
        times = tuple(Mark(n, max(y.low, first + each * n)) for n in masks)
        series.append(Series(name, "line", times, colour, look))
        said.append(f"{name}: {first:.3g} ms before the first mask, {each:.3g} ms for each")
    if pairs is None:
        pairs = combinations(costs, 2)
    crossings = tuple(_find_crossings(costs, pairs))
    if crossings:
        series.append(Series("break-even", "dots", crossings, "ink", "hollow"))
        said += [crossing.hover for crossing in crossings]
    x = powers_axis("masks", 10**DECADES)
    chart = Chart(said[0], x, y, tuple(series), width=620.0, height=270.0)
    return draw_chart(chart, "\n".join(said), live=True)


def _check_costs(costs: Mapping[str, object]) -> None:
    check_count("draw_break_even, costs", len(costs), "costs", len(LINES))
    for name, cost in costs.items():
        where = f"draw_break_even, {quoted(name)}"
        if not isinstance(cost, tuple | list) or len(cost) != 2:
            expected = "milliseconds before the first mask, and per mask"
            raise SettingError(where, seen=quoted(cost), expected=expected)
        for ms in cost:
            check_number(AtLeastZero, ms, where)


def _time_axis(costs: Costs) -> Axis:
    """Powers of ten from the least total to the largest."""
    totals = []
    for first, each in costs.values():
        totals += [first + each, first + each * 10.0**DECADES]
    low = floor(log10(max(1e-6, min(totals))))
    high = ceil(log10(max(*totals, 1e-5)))
    powers = [10.0**n for n in range(low, high + 1)]
    ticks = tuple(zip(powers, map(_say_time, powers), strict=True))
    top = 10.0 ** max(high, low + 1)
    return Axis("total time", powers[0], top, ticks, log=True)


def _find_crossings(costs: Costs, pairs: Iterable[tuple[str, str]]) -> Iterator[Mark]:
    """Where the lines of each pair cross; a pair with a way that was not measured is left out."""
    for pair in pairs:
        if not isinstance(pair, tuple) or not costs.keys() >= {*pair}:
            continue
        one, other = sorted(pair, key=lambda name: -costs[name][0])
        masks = break_even(costs[one], costs[other])
        if masks is not None and masks <= 10**DECADES:
            first, each = costs[one]
            count = f"{masks:,.0f}"
            said = f"{one} is cheaper than {other} after {count} masks"
            yield Mark(masks, first + each * masks, 0.0, said, count)


def _say_time(ms: float) -> str:
    """A power of ten.

    >>> [_say_time(10.0**power) for power in (-3, 1, 4)]
    ['1 µs', '10 ms', '10 s']
    """
    if ms < 1:
        return f"{ms * 1000:g} µs"
    if ms < 1000:
        return f"{ms:g} ms"
    return f"{ms / 1000:,.0f} s"
