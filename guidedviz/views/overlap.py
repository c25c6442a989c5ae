"""When the forward and the mask of each token ran: a lane for the device and one for the CPU, on one clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from guidedviz.decoding.overlap import Overlap, Run, Span, Turn
from guidedviz.errors import SettingError
from guidedviz.views.figure import Figure, drawing, node, wide, write

LEFT, SPAN, RIGHT = 84.0, 760.0, 20.0
HIGH, LANE, PANEL, TOP = 22.0, 34.0, 128.0, 62.0
NARROW = 3.0  # a box has at least this width, or nobody sees it
TICKS = 6


def draw_overlap(record: Overlap, engine: str = "", first: int = 0, tokens: int = 6) -> Figure:
    """Some tokens of a record: above one after the other, below side by side, both on the same scale.

    >>> turns = [Turn((0, 4), (4, 5), 5.5)], [Turn((0, 4), (0, 1), 4.5)]
    >>> runs = tuple(Run("trie", beside, tuple(some)) for beside, some in zip((False, True), turns))
    >>> print(draw_overlap(Overlap(runs, "toy", "cpu", "2026-11-20", "JSON", 5, "TOY")).text)
    trie, 1 of 1 token, TOY: toy; cpu
    one by one: forward 4.00 ms, mask 1.00 ms, the logits wait 1.00 ms, in all 5.50 ms a token
    side by side: forward 4.00 ms, mask 1.00 ms, the logits wait 0.00 ms, in all 4.50 ms a token
    """
    pair = record.pair(engine)
    count = len(pair[0].turns)
    if not 0 <= first < count or tokens < 1:
        raise SettingError("draw_overlap", seen=f"{tokens} tokens from {first}", expected=f"some of {count} tokens")
    shown = [run.turns[first : first + tokens] for run in pair]
    starts = [_start(run.turns, first) for run in pair]
    scale = SPAN / max(turns[-1].chosen - start for turns, start in zip(shown, starts, strict=True))
    panels = [
        part
        for place, (run, turns, start) in enumerate(zip(pair, shown, starts, strict=True))
        for part in _panel(run, turns, first, start, scale, TOP + place * PANEL)
    ]
    ground = TOP + 2 * PANEL - 18
    parts = [*_head(record, pair[0].engine), *panels, *_axis(scale, ground)]
    text = _say(record, pair, len(shown[0]))
    size = LEFT + SPAN + RIGHT, ground + 42
    return Figure(drawing(*size, *parts, alt=text.replace("\n", ". ")), text, text)


def _start(turns: Sequence[Turn], first: int) -> float:
    """When the first turn that is shown began."""
    return turns[first - 1].chosen if first else min(turns[0].forward[0], turns[0].mask[0])


def _head(record: Overlap, engine: str) -> Iterator[str]:
    """What it is of, and what the boxes mean."""
    yield write(14, 20, f"{engine}: the mask and the forward", 13, font_weight="bold")
    where = "live" if record.source == "LIVE" else f"{record.source}, {record.date}"
    yield write(LEFT + SPAN, 20, where, 12, fill="var(--gv-soft)", text_anchor="end")
    yield write(14, 39, f"{record.model}; {record.device}", 12, fill="var(--gv-soft)")
    x = LEFT + SPAN
    for colour, words in reversed((("blue", "forward"), ("gold", "mask"), ("orange", "logits wait"))):
        x -= 6.6 * len(words)
        yield write(x, 58, words, 12)
        x -= 18
        yield _wait(x, x + 14, 53) if colour == "orange" else _box(x, 48, 14, 11, colour)
        x -= 16


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return node("rect", x=x, y=y, width=width, height=height, rx=2, fill=f"var(--gv-{colour})")


def _wait(low: float, high: float, y: float) -> str:
    """A span with an end on both sides."""
    way = f"M{low:.5g},{y - 4:g}v8M{low:.5g},{y:g}H{high:.5g}M{high:.5g},{y - 4:g}v8"
    return node("path", d=way, stroke="var(--gv-orange)", stroke_width=2, fill="none")


def _panel(run: Run, turns: Sequence[Turn], first: int, start: float, scale: float, y: float) -> Iterator[str]:
    """One run: its name and what it costs, two lanes, and under them where the logits wait."""
    name = "side by side" if run.beside else "one by one"
    every = f"mean of {len(run.turns)} token{'s' * (len(run.turns) > 1)}"
    told = f"the logits wait {run.overhead:.2f} ms, {run.per_token:.2f} ms from token to token ({every})"
    yield write(14, y + 14, name, 13, font_weight="bold")
    yield write(LEFT + 32, y + 14, told, 12, fill="var(--gv-soft)")
    lanes = y + 24, y + 24 + LANE
    for lane, words in zip(lanes, ("device", "CPU"), strict=True):
        yield write(14, lane + 15, words, 12, fill="var(--gv-soft)")
        yield node("path", d=f"M{LEFT:g},{lane + HIGH:g}h{SPAN:g}", stroke="var(--gv-line)", stroke_width=1)
    for place, turn in enumerate(turns):
        yield _span(turn.forward, start, scale, lanes[0], "blue", f"token {first + place}")
        yield _span(turn.mask, start, scale, lanes[1], "gold", f"mask {first + place}")
        if turn.overhead * scale >= 1:
            low, high = ((moment - start) * scale + LEFT for moment in (turn.forward[1], turn.mask[1]))
            yield _wait(low, max(high, low + NARROW), lanes[1] + HIGH + 8)


def _span(span: Span, start: float, scale: float, y: float, colour: str, name: str) -> str:
    """One box, with its name where there is room; the pointer gives its length."""
    low, high = (LEFT + (moment - start) * scale for moment in span)
    width = max(NARROW, high - low - 1)
    words = next((words for words in (name, name.split()[1]) if wide(words, 11) + 4 < width), "")
    inside = write(low + width / 2, y + 15, words, 11, mono=True, fill="var(--gv-on)", text_anchor="middle")
    told = node("title", f"{name}: {span[1] - span[0]:.2f} ms")
    return node("g", told, _box(low, y, width, HIGH, colour), inside if words else "")


def _axis(scale: float, ground: float) -> Iterator[str]:
    """Milliseconds, a few round ones."""
    least = SPAN / scale / TICKS
    step = next(size * 10.0**power for power in range(-4, 9) for size in (1, 2, 5) if size * 10.0**power >= least)
    for tick in range(int(SPAN / scale / step) + 1):
        x = LEFT + tick * step * scale
        yield node("path", d=f"M{x:.5g},{ground:g}v5", stroke="var(--gv-soft)", stroke_width=1)
        yield write(x, ground + 19, f"{tick * step:g}", 11, fill="var(--gv-soft)", text_anchor="middle")
    yield node("path", d=f"M{LEFT:g},{ground:g}h{SPAN:g}", stroke="var(--gv-soft)", stroke_width=1)
    yield write(14, ground + 19, "ms", 11, fill="var(--gv-soft)")


def _say(record: Overlap, pair: Sequence[Run], shown: int) -> str:
    count = len(pair[0].turns)
    where = "live" if record.source == "LIVE" else record.source
    head = f"{pair[0].engine}, {shown} of {count} token{'s' * (count > 1)}, {where}: {record.model}; {record.device}"
    return "\n".join([head, *map(_say_run, pair)])


def _say_run(run: Run) -> str:
    forward, mask = (fmean(high - low for low, high in spans) for spans in _spans(run))
    name = "side by side" if run.beside else "one by one"
    times = f"forward {forward:.2f} ms, mask {mask:.2f} ms, the logits wait {run.overhead:.2f} ms"
    return f"{name}: {times}, in all {run.per_token:.2f} ms a token"


def _spans(run: Run) -> tuple[list[Span], list[Span]]:
    return [turn.forward for turn in run.turns], [turn.mask for turn in run.turns]
