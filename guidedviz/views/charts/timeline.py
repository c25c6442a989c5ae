"""A simulated server on one clock: a lane for the device, one for the CPU, one per request."""

from collections.abc import Iterator

from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.serving.simulation import Served, Timeline
from guidedviz.views.charts.chart import Axis, Box, Chart, SpanKind, lanes_axis, round_ticks, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

LANE_HEIGHT = 24.0
LANES_ABOVE = 2  # above the requests
MOST_TIMES = 8  # labels of the clock
MOST_REQUESTS = 8  # that are drawn
WAITS_FOR_PLACE = "waits for its machine or a place"
SERVER_SPANS: tuple[SpanKind, ...] = (
    ("forward pass", "blue", "solid"),
    ("masks", "gold", "solid"),
    ("compile", "orange", "hatched"),
    (WAITS_FOR_PLACE, "soft", "hollow"),
    ("decodes", "sky", "solid"),
)


def draw_timeline(timeline: Timeline, title: str = "") -> Figure:
    """A simulated run with its first eight requests.

    >>> from guidedviz.serving import Costs, Request, simulate
    >>> run = simulate([Request(0, 3), Request(0, 2, "order", compile_ms=5, mask_ms=1)], Costs(forward=4))
    >>> print(draw_timeline(run).text)
    simulated: 18 ms, 4 passes, 2 requests
    request 0, no schema: arrives 0.0 ms, joins 0.0 ms, first token 4.0 ms, done 13.0 ms, 4.5 ms per token
    request 1, order: arrives 0.0 ms, joins 8.0 ms, first token 13.0 ms, done 18.0 ms, 5.0 ms per token
    """
    expect(timeline, Timeline, "draw_timeline", "a timeline", "gv.serving.simulate(requests, costs)")
    end = max(one.done for one in timeline.served)
    shown = timeline.served[:MOST_REQUESTS]
    requests = counted(len(timeline.served), "request")
    note = f"simulated: {end:.0f} ms, {len(timeline.passes)} passes, {requests}"
    if len(timeline.served) > MOST_REQUESTS:
        note += f", of which {MOST_REQUESTS} are drawn"
    names = [shorten(f"{n} {one.request.schema or 'no schema'}", 24) for n, one in enumerate(shown)]
    lanes = ["device", "CPU", *names]
    x = Axis("ms", 0.0, end, round_ticks(end, MOST_TIMES))
    series = spans_by_kind(SERVER_SPANS, _place_spans(timeline, len(lanes)))
    height = LANE_HEIGHT * len(lanes)
    chart = Chart(title or "a simulated server", x, lanes_axis(lanes), series, (note,), height=height)
    return draw_chart(chart, "\n".join([note, *map(_say_request, range(len(shown)), shown)]))


def _place_spans(timeline: Timeline, lanes: int) -> Iterator[tuple[str, Box]]:
    """The boxes of the device and the CPU, and of each request."""
    for one in timeline.passes:
        rows = f"{len(one.rows)} rows"
        yield "forward pass", (*one.forward, lanes, f"forward pass: {_took(one.forward)}, {rows}")
        yield "masks", (*one.masks, lanes - 1, f"masks: {_took(one.masks)}, {rows}")
        yield "compile", (*one.compiling, lanes - 1, f"compile, the batch waits: {_took(one.compiling)}")
    for number, served in enumerate(timeline.served[:MOST_REQUESTS]):
        lane = lanes - LANES_ABOVE - number
        said = _say_request(number, served)
        start, end = served.compiling
        yield WAITS_FOR_PLACE, (served.request.arrives, start, lane, said)
        yield "compile", (start, end, lane, f"compile: {end - start:.1f} ms; {said}")
        yield WAITS_FOR_PLACE, (end, served.joined, lane, said)
        for one in timeline.passes:
            if number in one.rows:
                yield "decodes", (one.compiling[1], one.end, lane, said)


def _took(span: tuple[float, float]) -> str:
    return f"{span[1] - span[0]:.1f} ms"


def _say_request(number: int, one: Served) -> str:
    times = f"arrives {one.request.arrives:.1f} ms, joins {one.joined:.1f} ms, first token {one.first:.1f} ms"
    name = one.request.schema or "no schema"
    return f"request {number}, {name}: {times}, done {one.done:.1f} ms, {one.per_token_ms:.1f} ms per token"
