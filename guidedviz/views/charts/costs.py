"""What tokens and masks cost, in three charts.

The milliseconds of each token of a run, the total of many masks with the point where a table becomes cheaper than a
walk, and the throughput of a server over the share of constrained requests.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import ceil, floor, log10

from guidedviz.decoding.records import AtLeastZero, Share, check_number
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.visible import counted
from guidedviz.views.charts.plot import Axis, Chart, Look, Mark, Series, draw_chart, round_ticks
from guidedviz.views.figure import TRACE_HINT, Figure
from guidedviz.views.words import label, milliseconds, say_badge, share

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
    expect(pairs, Iterable | None, "draw_break_even, pairs", "pairs of names", "[('table', 'walk')]")
    expect(costs, Mapping, "draw_break_even, costs", "names with their costs", "{'table': (40, 0.02)}")
    if not 0 < len(costs) <= len(LOOKS):
        raise SettingError("draw_break_even, costs", seen=f"{len(costs)} costs", expected=f"1 to {len(LOOKS)}")
    for name, cost in costs.items():
        where, expected = f"draw_break_even, {quoted(name)}", "milliseconds before the first mask, and per mask"
        if not isinstance(cost, tuple | list) or len(cost) != 2:
            raise SettingError(where, seen=quoted(cost), expected=expected)
        for ms in cost:
            check_number(AtLeastZero, ms, where)
    totals = [first + each * 10.0**power for first, each in costs.values() for power in (0, DECADES)]
    low, high = floor(log10(max(1e-6, min(totals)))), ceil(log10(max(*totals, 1e-5)))
    x = Axis("masks", 1, 10.0**DECADES, tuple((10.0**n, f"{10**n:,}") for n in range(DECADES + 1)), log=True)
    ticks = tuple((10.0**n, _say_time(10.0**n)) for n in range(low, high + 1))
    y = Axis("total time", 10.0**low, 10.0 ** max(high, low + 1), ticks, log=True)
    masks = tuple(10 ** (step / 8) for step in range(8 * DECADES + 1))
    series, said = list[Series](), [f"{title or 'the cost of many masks'}"]
    for (name, (first, each)), (colour, look) in zip(costs.items(), LOOKS, strict=False):
        times = tuple(max(y.low, first + each * n) for n in masks)
        series.append(Series(name, "line", masks, times, colour=colour, look=look))
        said.append(f"{name}: {first:.3g} ms before the first mask, {each:.3g} ms for each")
    found: list[tuple[float, float, str]] = []  # a number of masks, the time there, and who is cheaper from there on
    for pair in combinations(costs, 2) if pairs is None else pairs:
        if not isinstance(pair, tuple) or not costs.keys() >= {*pair}:
            continue  # a way that was not measured
        one, other = sorted(pair, key=lambda name: -costs[name][0])
        even = break_even(costs[one], costs[other])
        if even is not None and even <= 10**DECADES:
            told = f"{one} is cheaper than {other} after {even:,.0f} masks"
            found.append((even, costs[one][0] + costs[one][1] * even, told))
    if found:
        xs, ys, hover = zip(*found, strict=True)
        words = tuple(f"{n:,.0f}" for n in xs)
        series.append(Series("break-even", "dots", xs, ys, hover, "ink", "hollow", words=words))
        said += hover
    chart = Chart(title or said[0], x, y, tuple(series), width=620.0, height=270.0)
    return draw_chart(chart, "\n".join(said), live=True)


def _say_time(ms: float) -> str:
    """A power of ten.

    >>> [_say_time(10.0**power) for power in (-3, 1, 4)]
    ['1 µs', '10 ms', '10 s']
    """
    return f"{ms * 1000:g} µs" if ms < 1 else f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:,.0f} s"


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
    step = round_ticks(0.0, most, TICKS)[1][0]
    top = step * ceil(most / step)
    series, said = list[Series](), ["requests per second by the share of constrained requests"]
    for (name, row), (colour, look) in zip(simulated.items(), LOOKS, strict=False):
        kinds: tuple[tuple[str, Mark, Mapping[float, float]], ...]
        kinds = ("simulated", "line", row), ("published", "dots", published.get(name, {}))
        for kind, mark, values in kinds:
            if values:
                shares, heights = zip(*sorted(values.items()), strict=True)
                points = [f"{share:.0%} {height:.1f}" for share, height in zip(shares, heights, strict=True)]
                said.append(f"{name}, {kind}: {', '.join(points)}")
                hover = tuple(f"{name}, {kind}: {point}" for point in points)
                series.append(Series(name * (mark == "line"), mark, shares, heights, hover, colour, look))
    x = Axis("constrained requests", 0.0, 1.0, tuple((n / 5, f"{n * 20}%") for n in range(6)), grid=False)
    y = Axis("requests per second", 0.0, top, round_ticks(0.0, top, TICKS))
    notes = ("lines: simulated · dots: published",) if published else ("simulated",)
    return draw_chart(Chart(said[0], x, y, tuple(series), notes), "\n".join(said))
