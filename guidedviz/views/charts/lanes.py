"""Charts with lanes on one clock: a simulated server, and the forward pass beside the mask of each token."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from guidedviz.decoding.overlap import EngineRun, Overlap, Turn
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.serving.simulation import Served, Timeline
from guidedviz.views.charts.chart import Axis, Chart, Mark, SpanKind, lanes_axis, round_ticks, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure
from guidedviz.views.words import say_measured

LANE_HEIGHT = 24.0
LANES_ABOVE = 2  # above the requests
MOST_TIMES = 8  # labels of the clock
MOST_REQUESTS = 8  # that are drawn
WAITS_FOR_PLACE = "waits for its machine or the next pass"
SERVER_SPANS: tuple[SpanKind, ...] = (
    ("forward pass", "blue", "solid"),
    ("masks", "gold", "solid"),
    ("compile", "green", "hatched"),
    (WAITS_FOR_PLACE, "soft", "hollow"),
    ("decodes", "blue", "hatched"),
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
    passes = len(timeline.passes)
    note = f"simulated: {end:.0f} ms, {passes} passes, {requests}"
    if len(timeline.served) > MOST_REQUESTS:
        note += f", of which {MOST_REQUESTS} are drawn"
    lanes = ["device", "CPU"]
    for number, one in enumerate(shown):
        lanes.append(shorten(f"{number} {_schema_of(one)}", 24))
    x = Axis("ms", 0.0, end, round_ticks(end, MOST_TIMES))
    series = spans_by_kind(SERVER_SPANS, _place_spans(timeline, len(lanes)))
    height = LANE_HEIGHT * len(lanes)
    chart = Chart(title or "a simulated server", x, lanes_axis(lanes), series, (note,), height=height)
    said = map(_say_request, range(len(shown)), shown)
    return draw_chart(chart, "\n".join([note, *said]))


def _place_spans(timeline: Timeline, lanes: int) -> Iterator[tuple[str, Mark]]:
    """The spans of the device and the CPU, and of each request."""
    for one in timeline.passes:
        rows = f"{len(one.rows)} rows"
        yield "forward pass", _timed_span(one.forward, lanes, "forward pass", f", {rows}", "forward pass")
        yield "masks", _timed_span(one.masks, lanes - 1, "masks", f", {rows}", "masks")
        yield "compile", _timed_span(one.compiling, lanes - 1, "compile, the batch waits")
    for number, served in enumerate(timeline.served[:MOST_REQUESTS]):
        lane = lanes - LANES_ABOVE - number
        said = _say_request(number, served)
        start, end = served.compiling
        yield WAITS_FOR_PLACE, Mark(start, lane, served.request.arrives, said)
        yield "compile", _timed_span(served.compiling, lane, "compile", f"; {said}")
        yield WAITS_FOR_PLACE, Mark(served.joined, lane, end, said)
        for one in timeline.passes:
            if number in one.rows:
                yield "decodes", Mark(one.end, lane, one.compiling[1], said)


def _timed_span(span: tuple[float, float], lane: int, name: str, more: str = "", words: str = "") -> Mark:
    start, end = span
    return Mark(end, lane, start, f"{name}: {end - start:.1f} ms{more}", words)


def _say_request(number: int, one: Served) -> str:
    times = {"arrives": one.request.arrives, "joins": one.joined, "first token": one.first, "done": one.done}
    said = ", ".join(f"{what} {ms:.1f} ms" for what, ms in times.items())
    return f"request {number}, {_schema_of(one)}: {said}, {one.per_token_ms:.1f} ms per token"


def _schema_of(one: Served) -> str:
    return one.request.schema or "no schema"


# --- a forward pass and a mask, one by one and side by side ---


CLOCK_TICKS = 6
MOST_TURNS = 6  # that are drawn
LEAST_WAIT = 1 / 760  # of the clock: a shorter wait is not drawn
CLOCK_SPANS: tuple[SpanKind, ...] = (
    ("forward", "blue", "solid"),
    ("mask", "gold", "solid"),
    ("logits wait", "soft", "hatched"),
)


def draw_overlap(record: Overlap, engine: str = "") -> Figure:
    """Six typical tokens of a record: above one by one, below side by side, both on the same clock.

    >>> from guidedviz.decoding.overlap import Turn
    >>> turns = [Turn((0, 4), (4, 5), 5.5)], [Turn((0, 4), (0, 1), 4.5)]
    >>> runs = tuple(EngineRun("trie", beside, tuple(some)) for beside, some in zip((False, True), turns))
    >>> print(draw_overlap(Overlap(runs, "toy", "cpu", "2026-11-20", "JSON", 5, "TOY")).text)
    trie, 1 of 1 token, TOY: toy; cpu
    one by one: forward 4.00 ms, mask 1.00 ms, the logits wait 1.00 ms, 5.50 ms per token
    side by side: forward 4.00 ms, mask 1.00 ms, the logits wait 0.00 ms, 4.50 ms per token
    """
    expect(record, Overlap, "draw_overlap", "a record", "gv.decoding.Overlap.load(path)")
    pair = record.pair(engine)
    first = _typical_start(*pair)
    drawn = [run.turns[first : first + MOST_TURNS] for run in pair]
    end = max(turns[-1].chosen - _start_of(turns) for turns in drawn)
    spans = [*_place_turns(drawn[0], first, 7.0, end)]
    spans += _place_turns(drawn[1], first, 3.0, end)
    lanes = "one by one: pass", "mask", "logits wait", "", "side by side: pass", "mask", "logits wait"
    origin, measured_by = say_measured(record)
    notes = (origin, *map(_say_run, pair))
    name = pair[0].engine
    x = Axis("ms", 0.0, end, round_ticks(end, CLOCK_TICKS))
    series = spans_by_kind(CLOCK_SPANS, spans)
    title = f"{name}: masks and forward passes"
    chart = Chart(title, x, lanes_axis(lanes), series, notes, height=170.0)
    count = len(pair[0].turns)
    shown = min(count, MOST_TURNS)
    said = f"{name}, {shown} of {counted(count, 'token')}, {measured_by}"
    return draw_chart(chart, "\n".join([said, *map(_say_run, pair)]))


def _start_of(turns: Sequence[Turn]) -> float:
    """When the first of these tokens begins, on the clock of the run."""
    first = turns[0]
    return min(*first.forward, *first.mask)


def _typical_start(one: EngineRun, two: EngineRun) -> int:
    """Where the tokens begin that are drawn: those whose times differ as much as the means of the whole runs."""

    def took(run: EngineRun, first: int) -> float:
        turns = run.turns[first : first + MOST_TURNS]
        return (turns[-1].chosen - _start_of(turns)) / len(turns)

    def error(first: int) -> float:
        return abs(took(one, first) - took(two, first) - (one.per_token - two.per_token))

    count = min(len(one.turns), len(two.turns))
    return min(range(max(1, count - MOST_TURNS + 1)), key=error)


def _place_turns(turns: Sequence[Turn], first: int, top: float, end: float) -> Iterator[tuple[str, Mark]]:
    """The forward pass, the mask and the wait of each token, in three lanes."""
    start = _start_of(turns)
    for number, turn in enumerate(turns, start=first):
        wait = (turn.forward[1], turn.mask[1])
        spans = {"forward": turn.forward, "mask": turn.mask, "logits wait": wait}
        for lane, (kind, (low, up)) in enumerate(spans.items()):
            took = up - low
            if kind != "logits wait" or took > LEAST_WAIT * end:
                name = "token" if kind == "forward" else kind
                words = f"{name} {number}"
                yield kind, Mark(up - start, top - lane, low - start, f"{words}: {took:.2f} ms", words)


def _say_run(run: EngineRun) -> str:
    said = "side by side" if run.beside else "one by one"
    said += f": forward {_mean_of([turn.forward for turn in run.turns]):.2f} ms"
    said += f", mask {_mean_of([turn.mask for turn in run.turns]):.2f} ms"
    return f"{said}, the logits wait {run.overhead:.2f} ms, {run.per_token:.2f} ms per token"


def _mean_of(spans: Sequence[tuple[float, float]]) -> float:
    return fmean(end - start for start, end in spans)
