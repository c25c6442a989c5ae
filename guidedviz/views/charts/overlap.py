"""When the forward pass and the mask of each token ran: lanes for the device and the CPU on one clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from guidedviz.decoding.overlap import EngineRun, Overlap, Span, Turn
from guidedviz.errors import SettingError, expect
from guidedviz.machines.visible import counted
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Look, Series, round_ticks
from guidedviz.views.figure import Figure

TICKS = 6
LEAST = 1 / 760  # of the clock: a shorter wait is not drawn
LANES, WAITS = ("device", "CPU", "logits wait"), 2


def draw_overlap(record: Overlap, engine: str = "", first: int = 0, tokens: int = 6) -> Figure:
    """Some tokens of a record: above one by one, below side by side, both on the same clock.

    >>> turns = [Turn((0, 4), (4, 5), 5.5)], [Turn((0, 4), (0, 1), 4.5)]
    >>> runs = tuple(EngineRun("trie", beside, tuple(some)) for beside, some in zip((False, True), turns))
    >>> print(draw_overlap(Overlap(runs, "toy", "cpu", "2026-11-20", "JSON", 5, "TOY")).text)
    trie, 1 of 1 token, TOY: toy; cpu
    one by one: forward 4.00 ms, mask 1.00 ms, the logits wait 1.00 ms, in all 5.50 ms a token
    side by side: forward 4.00 ms, mask 1.00 ms, the logits wait 0.00 ms, in all 4.50 ms a token
    """
    expect(record, Overlap, "draw_overlap", "a record", "gv.decoding.Overlap.load(path)")
    pair = record.pair(engine)
    count = len(pair[0].turns)
    for name, value in (("first", first), ("tokens", tokens)):
        expect(value, int, f"draw_overlap, {name}", "a whole number")
    if not 0 <= first < count or tokens < 1:
        raise SettingError("draw_overlap", seen=f"{tokens} tokens from {first}", expected=f"some of {count} tokens")
    shown = [run.turns[first : first + tokens] for run in pair]
    chart = overlap_chart(record, pair, shown, first)
    return draw_chart(chart, "\n".join([_say(record, pair, len(shown[0])), *map(_say_run, pair)]))


def overlap_chart(record: Overlap, pair: Sequence[EngineRun], shown: Sequence[Sequence[Turn]], first: int) -> Chart:
    """Three lanes per run: the device, the CPU, and the time for which the logits wait for their mask."""
    starts = [_start(run, first) for run in pair]
    end = max(turns[-1].chosen - start for turns, start in zip(shown, starts, strict=True))
    lanes = [(words if lane else f"{_name(run)}: {words}") for run in pair for lane, words in enumerate(LANES)]

    def spans(name: str, lane: int, times: Callable[[Turn], Span], colour: str, look: Look, word: str) -> Series:
        boxes = [
            (place, f"{word} {first + n}", low - start, up - start)
            for place, (turns, start) in enumerate(zip(shown, starts, strict=True))
            for n, (low, up) in enumerate(map(times, turns))
            if lane < WAITS or up - low > LEAST * end
        ]
        return Series(
            name=name,
            mark="spans",
            x=tuple(up for *_, up in boxes),
            y=tuple(7.0 - lane - 4 * place for place, *_ in boxes),
            hover=tuple(f"{words}: {up - low:.2f} ms" for _, words, low, up in boxes),
            colour=colour,
            look=look,
            start=tuple(low for *_, low, _ in boxes),
            words=tuple(words for _, words, *_ in boxes) if lane < WAITS else (),
        )

    series = (
        spans("forward", 0, lambda turn: turn.forward, "blue", "solid", "token"),
        spans("mask", 1, lambda turn: turn.mask, "gold", "solid", "mask"),
        spans("logits wait", WAITS, lambda turn: (turn.forward[1], turn.mask[1]), "orange", "hatched", "wait"),
    )
    x = Axis("ms", 0.0, end, round_ticks(0.0, end, TICKS))
    y = Axis("", 0.4, 7.6, tuple((7.0 - lane - lane // 3, words) for lane, words in enumerate(lanes)), grid=False)
    where = "live" if record.source == "LIVE" else f"{record.source}, {record.date}"
    notes = f"{where} · {record.model} · {record.device}", *map(_say_wait, pair)
    return Chart(f"{pair[0].engine}: the mask and the forward", x, y, series, notes, height=170.0)


def _start(run: EngineRun, first: int) -> float:
    """When the first turn that is shown began."""
    return run.turns[first - 1].chosen if first else min(run.turns[0].forward[0], run.turns[0].mask[0])


def _name(run: EngineRun) -> str:
    return "side by side" if run.beside else "one by one"


def _say(record: Overlap, pair: Sequence[EngineRun], shown: int) -> str:
    where = "live" if record.source == "LIVE" else record.source
    count = counted(len(pair[0].turns), "token")
    return f"{pair[0].engine}, {shown} of {count}, {where}: {record.model}; {record.device}"


def _say_wait(run: EngineRun) -> str:
    every = f"mean of {counted(len(run.turns), 'token')}"
    return f"{_name(run)}: the logits wait {run.overhead:.2f} ms, {run.per_token:.2f} ms from token to token ({every})"


def _say_run(run: EngineRun) -> str:
    forward = fmean(turn.forward[1] - turn.forward[0] for turn in run.turns)
    mask = fmean(turn.mask[1] - turn.mask[0] for turn in run.turns)
    times = f"forward {forward:.2f} ms, mask {mask:.2f} ms, the logits wait {run.overhead:.2f} ms"
    return f"{_name(run)}: {times}, in all {run.per_token:.2f} ms a token"
