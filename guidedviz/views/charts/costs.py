"""What tokens and masks cost, in three charts.

The milliseconds of each token of a run, the total of many masks with the point where a table becomes cheaper than a
walk, and the throughput of a server over the share of constrained requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, floor, inf, log10
from numbers import Real
from typing import Any

from guidedviz.decoding.records import AtLeastZero, Share, check_number
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.visible import counted
from guidedviz.views.charts.plot import Axis, Chart, Look, Mark, Series, draw_chart, round_step, round_ticks
from guidedviz.views.figure import TRACE_HINT, Figure
from guidedviz.views.vocabulary.map import share
from guidedviz.views.words import label, milliseconds, say_badge

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
    >>> draw_costs(gv.record(toy, "a", max_tokens=3)).text
    'costs of 3 steps: forward, mask and sample of each'
    """
    expect(trace, Trace, "draw_costs", "a trace", TRACE_HINT)
    text = f"costs of {counted(len(trace.steps), 'step')}: forward, mask and sample of each"
    return draw_chart(costs_chart(trace), text, live=True)


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


def _say_sums(steps: Sequence[Step]) -> str:
    sums = [sum(parts_of(step)[place] for step in steps) for place in range(len(PARTS))]
    whole = sum(sums)
    named = zip(PARTS, sums, strict=True)
    parts = (f"{name} {milliseconds(ms)} ({share(ms / whole if whole else 0.0)})" for (name, *_), ms in named)
    return f"{counted(len(steps), 'step')} in {milliseconds(whole)}: {', '.join(parts)}"


# Build a table once or walk the trie at each step: the total cost of many masks, and where the table is cheaper.


DECADES = 6  # of masks
LOOKS: tuple[tuple[str, Look], ...] = (("blue", "solid"), ("orange", "dashed"), ("green", "dotted"), ("gold", "mixed"))
Costs = Mapping[str, tuple[float, float]]  # milliseconds before the first mask, and for each


def break_even(one: tuple[float, float], other: tuple[float, float]) -> float | None:
    """The number of masks that cost the same both ways; None if one way is always cheaper.

    >>> break_even((40, 0.02), (0, 1.02)), break_even((40, 2), (0, 1))
    (40.0, None)
    """
    slower = other[1] - one[1]
    masks = (one[0] - other[0]) / slower if slower else -1.0
    return masks if masks > 1 else None


def draw_break_even(costs: Costs, title: str = "", pairs: Iterable[tuple[str, str]] | None = None) -> Figure:
    """One line per way on logarithmic axes, and a dot where two lines cross: all, or those of the given pairs.

    >>> print(draw_break_even({"table": (40, 0.02), "walk": (0, 1.02)}).text)
    the cost of many masks
    table: 40 ms before the first mask, 0.02 ms for each
    walk: 0 ms before the first mask, 1.02 ms for each
    table is cheaper than walk after 40 masks
    """
    _check(costs)
    expect(title, str, "draw_break_even, title", "a text")
    expect(pairs, Iterable | None, "draw_break_even, pairs", "pairs of names", "[('table', 'walk')]")
    title = title or "the cost of many masks"
    chosen = list(
        combinations(costs, 2)
        if pairs is None
        else (pair for pair in pairs if isinstance(pair, tuple) and costs.keys() >= {*pair})
    )
    said = [title, *_say_costs(costs, chosen)]
    return draw_chart(break_even_chart(costs, title, chosen), "\n".join(said), live=True)


def break_even_chart(costs: Costs, title: str, pairs: Iterable[tuple[str, str]]) -> Chart:
    """The lines and their crossings."""
    totals = [first + each * 10.0**power for first, each in costs.values() for power in (0, DECADES)]
    low, high = floor(log10(max(1e-6, min(totals)))), ceil(log10(max(*totals, 1e-5)))
    x = Axis("masks", 1, 10.0**DECADES, tuple((10.0**n, f"{10**n:,}") for n in range(DECADES + 1)), log=True)
    ticks = tuple((10.0**n, _say_time(10.0**n)) for n in range(low, high + 1))
    y = Axis("total time", 10.0**low, 10.0 ** max(high, low + 1), ticks, log=True)
    masks = tuple(10 ** (step / 8) for step in range(8 * DECADES + 1))
    series = []
    for (name, (first, each)), (colour, look) in zip(costs.items(), LOOKS, strict=False):
        times = tuple(max(y.low, first + each * n) for n in masks)
        series.append(Series(name, "line", masks, times, colour=colour, look=look))
    if found := list(_crossings(costs, pairs)):
        xs = tuple(n for _, _, n in found)
        ys = tuple(costs[one][0] + costs[one][1] * n for one, _, n in found)
        hover = tuple(f"{one} is cheaper than {other} after {n:,.0f} masks" for one, other, n in found)
        words = tuple(f"{n:,.0f}" for n in xs)
        series.append(Series("break-even", "dots", xs, ys, hover, "ink", "hollow", words=words))
    return Chart(title, x, y, tuple(series), width=620.0, height=270.0)


def _check(costs: Costs) -> None:
    expect(costs, Mapping, "draw_break_even, costs", "names with their costs", "{'table': (40, 0.02)}")
    if not 0 < len(costs) <= len(LOOKS):
        raise SettingError("draw_break_even, costs", seen=f"{len(costs)} costs", expected=f"1 to {len(LOOKS)}")
    for name, cost in costs.items():
        if not _is_cost(cost):
            expected = "milliseconds before the first mask, and per mask"
            raise SettingError(f"draw_break_even, {quoted(name)}", seen=quoted(cost), expected=expected)


def _is_cost(cost: Any) -> bool:
    pair = isinstance(cost, tuple | list) and len(cost) == 2
    return pair and all(isinstance(ms, Real) and 0 <= float(ms) < inf for ms in cost)


def _say_time(milliseconds: float) -> str:
    """A power of ten.

    >>> [_say_time(10.0**power) for power in (-3, 1, 4)]
    ['1 µs', '10 ms', '10 s']
    """
    if milliseconds < 1:
        return f"{milliseconds * 1000:g} µs"
    return f"{milliseconds:g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:,.0f} s"


def _crossings(costs: Costs, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, float]]:
    """The way with the higher first cost, the other way, and the number of masks where both cost the same."""
    for pair in pairs:
        one, other = sorted(pair, key=lambda name: -costs[name][0])
        masks = break_even(costs[one], costs[other])
        if masks is not None and masks <= 10**DECADES:
            yield one, other, masks


def _say_costs(costs: Costs, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, (first, each) in costs.items():
        yield f"{name}: {first:.3g} ms before the first mask, {each:.3g} ms for each"
    for one, other, masks in _crossings(costs, pairs):
        yield f"{one} is cheaper than {other} after {masks:,.0f} masks"


# Throughput over the share of constrained requests: a line per simulated policy, dots for published numbers.


TICKS = 6
Runs = Mapping[str, Mapping[float, float]]  # per policy: share of constrained requests -> throughput


def draw_throughput(simulated: Runs, published: Runs | None = None) -> Figure:
    """A line per policy, and dots of the same colour where a number was published for it.

    >>> print(draw_throughput({"V1": {0: 103, 1: 70}}, {"V1": {0: 103.16, 1: 69.36}}).text)
    requests per second by the share of constrained requests
    V1, simulated: 0% 103.0, 100% 70.0
    V1, published: 0% 103.2, 100% 69.4
    """
    published = published or {}
    for runs in (simulated, published):
        expect(runs, Mapping, "draw_throughput", "throughputs by share, per policy", '{"V1": {0: 103, 1: 70}}')
        for row in runs.values():
            given: Mapping[object, object] = expect(row, Mapping, "draw_throughput", "throughputs by share")
            for part, height in given.items():
                check_number(Share, part, "draw_throughput, share")
                check_number(AtLeastZero, height, "draw_throughput, throughput")
    if not simulated or not all(simulated.values()) or not published.keys() <= simulated.keys():
        raise SettingError("draw_throughput", seen="no numbers", expected="one or more shares per policy")
    most = max(value for runs in (simulated, published) for row in runs.values() for value in row.values()) or 1.0
    step = round_step(most, TICKS)
    top = step * ceil(most / step)
    x = Axis("constrained requests", 0.0, 1.0, tuple((n / 5, f"{n * 20}%") for n in range(6)), grid=False)
    series, said = [], ["requests per second by the share of constrained requests"]
    for (name, row), (colour, look) in zip(simulated.items(), LOOKS, strict=False):
        for kind, values in (("simulated", row), ("published", published.get(name, {}))):
            if values:
                shares, heights = zip(*sorted(values.items()), strict=True)
                points = [f"{share:.0%} {height:.1f}" for share, height in zip(shares, heights, strict=True)]
                said.append(f"{name}, {kind}: {', '.join(points)}")
                hover = tuple(f"{name}, {kind}: {point}" for point in points)
                line = kind == "simulated"
                mark: Mark = "line" if line else "dots"
                series.append(Series(name * line, mark, shares, heights, hover, colour, look if line else "solid"))
    notes = ("lines: simulated · dots: published",) if published else ("simulated",)
    return draw_chart(
        Chart(said[0], x, Axis("requests per second", 0.0, top, round_ticks(0.0, top, TICKS)), tuple(series), notes),
        "\n".join(said),
    )
