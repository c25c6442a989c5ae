"""A simulated server over time: a lane for the device, one for the CPU, and one per request."""

from __future__ import annotations

from collections.abc import Iterator

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.serving.timeline import BatchPass, Served, Timeline
from guidedviz.serving.workload import check_number
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Look, Series, round_ticks
from guidedviz.views.figure import Figure

LANE, TICKS, TOP = 24.0, 8, 2  # pixels per lane; labels of the axis; lanes above the requests
KINDS: tuple[tuple[str, str, Look], ...] = (
    ("forward pass", "blue", "solid"),
    ("masks", "gold", "solid"),
    ("compile", "orange", "hatched"),
    ("waits for its machine or a place", "soft", "hollow"),
    ("decodes", "sky", "solid"),
)
SINGLE = 80  # passes, at most, that are drawn one by one
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
