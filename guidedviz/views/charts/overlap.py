"""When the forward pass and the mask of each token ran: one by one above, side by side below, on one clock."""

from collections.abc import Iterator
from statistics import fmean

from guidedviz.decoding.trace import EngineRun, Overlap
from guidedviz.errors import expect
from guidedviz.machines.visible import counted
from guidedviz.views.charts.chart import Axis, Box, Chart, SpanKind, lanes_axis, round_ticks, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

CLOCK_TICKS, OVERLAPPED = 6, 6  # the most ticks and tokens
LEAST = 1 / 760  # of the clock: a shorter wait is not drawn
CLOCK_KINDS: tuple[SpanKind, ...] = (
    ("forward", "blue", "solid"),
    ("mask", "gold", "solid"),
    ("logits wait", "orange", "hatched"),
)


def draw_overlap(record: Overlap, engine: str = "") -> Figure:
    """The first tokens of a record: above one by one, below side by side, both on the same clock.

    >>> from guidedviz.decoding.trace import Turn
    >>> turns = [Turn((0, 4), (4, 5), 5.5)], [Turn((0, 4), (0, 1), 4.5)]
    >>> runs = tuple(EngineRun("trie", beside, tuple(some)) for beside, some in zip((False, True), turns))
    >>> print(draw_overlap(Overlap(runs, "toy", "cpu", "2026-11-20", "JSON", 5, "TOY")).text)
    trie, 1 of 1 token, TOY: toy; cpu
    one by one: forward 4.00 ms, mask 1.00 ms, the logits wait 1.00 ms, 5.50 ms per token
    side by side: forward 4.00 ms, mask 1.00 ms, the logits wait 0.00 ms, 4.50 ms per token
    """
    expect(record, Overlap, "draw_overlap", "a record", "gv.decoding.Overlap.load(path)")
    pair = record.pair(engine)
    shown = [run.turns[:OVERLAPPED] for run in pair]
    starts = [min(*run.turns[0].forward, *run.turns[0].mask) for run in pair]
    end = max(turns[-1].chosen - start for turns, start in zip(shown, starts, strict=True))

    def boxes() -> Iterator[tuple[str, Box]]:
        for top, turns, start in zip((7.0, 3.0), shown, starts, strict=True):
            for number, turn in enumerate(turns):
                spans = turn.forward, turn.mask, (turn.forward[1], turn.mask[1])
                for lane, ((kind, *_), (low, up)) in enumerate(zip(CLOCK_KINDS, spans, strict=True)):
                    if kind != "logits wait" or up - low > LEAST * end:
                        told = f"{'token' if kind == 'forward' else kind} {number}: {up - low:.2f} ms"
                        yield kind, (low - start, up - start, top - lane, told)

    lanes = "one by one: device", "CPU", "logits wait", "", "side by side: device", "CPU", "logits wait"
    source = "live" if record.source == "LIVE" else record.source
    where = source + f", {record.date}" * (source != "live")
    notes = f"{where} · {record.model} · {record.device}", *map(_say_run, pair)
    x, series = Axis("ms", 0.0, end, round_ticks(end, CLOCK_TICKS)), spans_by_kind(CLOCK_KINDS, boxes())
    title = f"{pair[0].engine}: masks and forward passes"
    chart = Chart(title, x, lanes_axis(lanes), series, notes, height=170.0)
    about = f"{len(shown[0])} of {counted(len(pair[0].turns), 'token')}, {source}: {record.model}; {record.device}"
    return draw_chart(chart, "\n".join([f"{pair[0].engine}, {about}", *map(_say_run, pair)]))


def _say_run(run: EngineRun) -> str:
    forward = fmean(turn.forward[1] - turn.forward[0] for turn in run.turns)
    mask = fmean(turn.mask[1] - turn.mask[0] for turn in run.turns)
    times = f"forward {forward:.2f} ms, mask {mask:.2f} ms, the logits wait {run.overhead:.2f} ms"
    return f"{'side by side' if run.beside else 'one by one'}: {times}, {run.per_token:.2f} ms per token"
