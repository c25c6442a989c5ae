"""Simulated servers: one over time (a lane for the device, the CPU and each request), and throughputs by policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.serving.simulation import BatchPass, Served, Timeline, check_number
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Look, Mark, Series, round_step, round_ticks
from guidedviz.views.figure import Figure

LANE, TICKS, TOP = 24.0, 8, 2  # pixels per lane; labels of the axis; lanes above the requests
KINDS: tuple[tuple[str, str, Look], ...] = (
    ("forward pass", "blue", "solid"),
    ("masks", "gold", "solid"),
    ("compile", "orange", "hatched"),
    ("waits for its machine or a place", "soft", "hollow"),
    ("decodes", "sky", "solid"),
)
RATES = 6  # labels of the axis of throughputs
SINGLE = 80  # passes, at most, that are drawn one by one
LOOKS: tuple[tuple[str, Look], ...] = (("blue", "solid"), ("orange", "dashed"), ("green", "dotted"), ("gold", "mixed"))
Runs = Mapping[str, Mapping[float, float]]  # per policy: share of constrained requests -> throughput
Box = tuple[float, float, float, str]  # start, end, lane and what the pointer shows


def draw_timeline(
    timeline: Timeline, start: float = 0.0, stop: float = 0.0, requests: int = 8, title: str = ""
) -> Figure:
    """Some milliseconds of a simulated run (all by default) and the first requests in them.

    >>> from guidedviz.serving import Costs, Request, simulate
    >>> run = simulate([Request(0, 3), Request(0, 2, "order", compile_ms=5, mask_ms=1)], Costs(forward=4))
    >>> print(draw_timeline(run).text)
    simulated: 0 to 18 ms of 18 ms, 4 of 4 passes, 2 of 2 requests
    request 0, no schema: arrives 0.0 ms, joins 0.0 ms, first token 4.0 ms, done 13.0 ms, 4.5 ms per token
    request 1, order: arrives 0.0 ms, joins 8.0 ms, first token 13.0 ms, done 18.0 ms, 5.0 ms per token
    """
    expect(timeline, Timeline, "draw_timeline", "a timeline", "gv.serving.simulate(requests, costs)")
    expect(title, str, "draw_timeline, title", "a text")
    for name, value in (("start", start), ("stop", stop)):
        check_number(f"draw_timeline, {name}", value, "milliseconds from 0")
    expect(requests, int, "draw_timeline, requests", "a whole number")
    end = max(one.done for one in timeline.served)
    stop = stop or end
    if not 0 <= start < stop or requests < 1:
        seen = f"{start:g} to {stop:g} ms, {requests} requests"
        raise SettingError("draw_timeline", seen=seen, expected=f"some of {end:.0f} ms, and 1 request or more")
    passes = [one for one in timeline.passes if one.start < stop and one.end > start]
    inside = [n for n, one in enumerate(timeline.served) if one.request.arrives < stop and one.done > start]
    shown = inside[:requests]
    counts = f"{len(passes)} of {len(timeline.passes)} passes, {len(shown)} of {len(timeline.served)} requests"
    note = f"simulated: {start:.0f} to {stop:.0f} ms of {end:.0f} ms, {counts}"
    lines = [_say(n, timeline.served[n]) for n in shown]
    lanes = len(shown) + TOP
    names = ["device", "CPU", *(shorten(f"{n} {timeline.served[n].request.schema or 'no schema'}", 24) for n in shown)]
    x = Axis("ms", start, stop, round_ticks(start, stop, TICKS))
    y = Axis("", 0.4, lanes + 0.6, tuple((float(lanes - at), words) for at, words in enumerate(names)), grid=False)
    boxes = [*_pass_boxes(passes, lanes), *_request_boxes(timeline, passes, shown, lanes)]
    series = tuple(_series(boxes, start, stop))
    chart = Chart(title or "a simulated server", x, y, series, (note,), height=LANE * lanes)
    return draw_chart(chart, "\n".join([note, *lines]))


def _pass_boxes(passes: list[BatchPass], lanes: int) -> Iterator[tuple[str, Box]]:
    for one in passes:
        rows = f"{len(one.rows)} rows"
        yield "forward pass", (*one.forward, lanes, f"forward pass: {_took(one.forward)}, {rows}")
        yield "masks", (*one.masks, lanes - 1, f"masks: {_took(one.masks)}, {rows}")
        yield "compile", (*one.compiling, lanes - 1, f"compile, the batch waits: {_took(one.compiling)}")


def _request_boxes(
    timeline: Timeline, passes: list[BatchPass], shown: list[int], lanes: int
) -> Iterator[tuple[str, Box]]:
    for at, number in enumerate(shown):
        one, lane = timeline.served[number], lanes - TOP - at
        said = _say(number, one)
        start, end = one.compiling
        yield "waits for its machine or a place", (one.request.arrives, start, lane, said)
        yield "compile", (start, end, lane, f"compile: {end - start:.1f} ms; {said}")
        yield "waits for its machine or a place", (end, one.joined, lane, said)
        mine = [(each.compiling[1], each.end) for each in passes if number in each.rows]
        for low, up in mine if len(passes) <= SINGLE else [(one.joined, one.done)]:
            yield "decodes", (low, up, lane, said)


def _series(boxes: list[tuple[str, Box]], start: float, stop: float) -> Iterator[Series]:
    for name, colour, look in KINDS:
        mine = [box for kind, box in boxes if kind == name and box[1] > box[0] and box[0] < stop and box[1] > start]
        if mine:
            low, up, lanes, hover = zip(*mine, strict=True)
            yield Series(name, "spans", up, tuple(map(float, lanes)), hover, colour, look, low, thick=0.7)


def _took(span: tuple[float, float]) -> str:
    return f"{span[1] - span[0]:.1f} ms"


def _say(number: int, one: Served) -> str:
    times = f"arrives {one.request.arrives:.1f} ms, joins {one.joined:.1f} ms, first token {one.first:.1f} ms"
    name = one.request.schema or "no schema"
    return f"request {number}, {name}: {times}, done {one.done:.1f} ms, {one.per_token_ms:.1f} ms per token"


def draw_throughput(
    simulated: Runs, published: Runs | None = None, title: str = "", unit: str = "requests per second"
) -> Figure:
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
            for share, height in given.items():
                check_number("draw_throughput, share", share, "a share from 0 to 1")
                check_number("draw_throughput, throughput", height, "a number from 0")
    if not simulated or not all(simulated.values()) or not published.keys() <= simulated.keys():
        raise SettingError("draw_throughput", seen="no numbers", expected="one or more shares per policy")
    most = max(value for runs in (simulated, published) for row in runs.values() for value in row.values()) or 1.0
    step = round_step(most, RATES)
    top = step * ceil(most / step)
    x = Axis("constrained requests", 0.0, 1.0, tuple((n / 5, f"{n * 20}%") for n in range(6)), grid=False)
    series, said = [], [title or f"{unit} by the share of constrained requests"]
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
        Chart(said[0], x, Axis(unit, 0.0, top, round_ticks(0.0, top, RATES)), tuple(series), notes), "\n".join(said)
    )
