"""When the forward pass and the mask of each token ran: one by one above, side by side below, on one clock."""

from collections.abc import Iterator
from statistics import fmean

from guidedviz.decoding.overlap import EngineRun, Overlap
from guidedviz.errors import expect
from guidedviz.machines.visible import counted
from guidedviz.views.charts.chart import Axis, Box, Chart, SpanKind, lanes_axis, round_ticks, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

CLOCK_TICKS = 6
MOST_TURNS = 6  # that are drawn
LEAST_WAIT = 1 / 760  # of the clock: a shorter wait is not drawn
CLOCK_SPANS: tuple[SpanKind, ...] = (
    ("forward", "blue", "solid"),
    ("mask", "gold", "solid"),
    ("logits wait", "orange", "hatched"),
)


def draw_overlap(record: Overlap, engine: str = "") -> Figure:
    """The first tokens of a record: above one by one, below side by side, both on the same clock.

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
    end = max(_end_of(run) for run in pair)
    spans = [*_place_turns(pair[0], 7.0, end), *_place_turns(pair[1], 3.0, end)]
    lanes = "one by one: device", "CPU", "logits wait", "", "side by side: device", "CPU", "logits wait"
    source = where = "live"
    if record.source != "LIVE":
        source = record.source
        where = f"{source}, {record.date}"
    notes = f"{where} · {record.model} · {record.device}", *map(_say_run, pair)
    name = pair[0].engine
    x = Axis("ms", 0.0, end, round_ticks(end, CLOCK_TICKS))
    series = spans_by_kind(CLOCK_SPANS, spans)
    chart = Chart(f"{name}: masks and forward passes", x, lanes_axis(lanes), series, notes, height=170.0)
    tokens = pair[0].turns
    count = counted(len(tokens), "token")
    about = f"{len(tokens[:MOST_TURNS])} of {count}, {source}: {record.model}; {record.device}"
    return draw_chart(chart, "\n".join([f"{name}, {about}", *map(_say_run, pair)]))


def _start_of(run: EngineRun) -> float:
    """When the first token of a run begins, on the clock of the run."""
    first = run.turns[0]
    return min(*first.forward, *first.mask)


def _end_of(run: EngineRun) -> float:
    """When the last token that is drawn is chosen, after the start."""
    return run.turns[:MOST_TURNS][-1].chosen - _start_of(run)


def _place_turns(run: EngineRun, top: float, end: float) -> Iterator[tuple[str, Box]]:
    """The forward pass, the mask and the wait of each token, in three lanes."""
    start = _start_of(run)
    for number, turn in enumerate(run.turns[:MOST_TURNS]):
        wait = (turn.forward[1], turn.mask[1])
        spans = (("forward", "token", turn.forward), ("mask", "mask", turn.mask), ("logits wait", "logits wait", wait))
        for lane, (kind, name, (low, up)) in enumerate(spans):
            if kind != "logits wait" or up - low > LEAST_WAIT * end:
                told = f"{name} {number}: {up - low:.2f} ms"
                yield kind, (low - start, up - start, top - lane, told)


def _say_run(run: EngineRun) -> str:
    forward = fmean(turn.forward[1] - turn.forward[0] for turn in run.turns)
    mask = fmean(turn.mask[1] - turn.mask[0] for turn in run.turns)
    times = f"forward {forward:.2f} ms, mask {mask:.2f} ms, the logits wait {run.overhead:.2f} ms"
    order = "side by side" if run.beside else "one by one"
    return f"{order}: {times}, {run.per_token:.2f} ms per token"
