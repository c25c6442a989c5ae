"""What tokens and masks cost, and what jumps save, in four charts.

The milliseconds of each token of a run, the total of many masks with the point where a table becomes cheaper than a
walk, the throughput of a server over the share of constrained requests, and the speed-up over that of forced tokens.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import ceil, floor, isinf, log10

from guidedviz.decoding.jump import FRACTIONS, Payoff, Timed, fixed_share, ideal, nearest_fraction
from guidedviz.decoding.records import AtLeastZero, Share, check_number
from guidedviz.decoding.trace import TRACE_HINT, Step, Trace
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node
from guidedviz.views.charts.plot import Axis, Chart, Look, Mark, PlotFrame, Series, draw_chart, round_ticks, write_plot
from guidedviz.views.figure import Figure
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
    series, said = list[Series](), ["the cost of many masks"]
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
    chart = Chart(said[0], x, y, tuple(series), width=620.0, height=270.0)
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


def draw_throughput(simulated: Runs, published: Runs) -> Figure:
    """A line per policy, and dots of the same colour where a number was published for it.

    >>> print(draw_throughput({"V1": {0: 103, 1: 70}}, {"V1": {0: 103.16, 1: 69.36}}).text)
    requests per second by the share of constrained requests
    V1, simulated: 0% 103.0, 100% 70.0
    V1, published: 0% 103.2, 100% 69.4
    """
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
    step = round_ticks(most, TICKS)[1][0]
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
    y = Axis("requests per second", 0.0, top, round_ticks(top, TICKS))
    notes = ("lines: simulated · dots: published",)
    return draw_chart(Chart(said[0], x, y, tuple(series), notes), "\n".join(said))


# When jump-forward pays, as speed-up over the share of forced tokens.
#
# A dashed line for the ideal, a line for the cost model, dots for live runs.
#
# The parts that move with the handle have names, so that a page can move them and keep the rest.


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
