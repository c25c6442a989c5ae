"""Texts side by side in shared forward passes: how many tokens each text reads per pass, and when each is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from guidedviz.decoding.jump import Cost
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Look, Series, round_step
from guidedviz.views.figure import Figure

Reads = Mapping[str, Sequence[int]]  # per text the number of tokens that it reads in each pass
LANE, TICKS = 34.0, 8


def draw_batch(reads: Reads, cost: Cost, title: str = "", until: float = 0.0) -> Figure:
    """One lane per text and one box per pass, as wide as the pass takes.

    >>> print(draw_batch({"record": [5, 1], "story": [1, 1, 1]}, gv.decoding.Cost(4.0, 1.0)).text)
    3 passes, 21 ms
    record: 2 passes, 6 tokens, done after 16 ms
    story: 3 passes, 3 tokens, done after 21 ms
    """
    _check(reads, cost, title)
    ends = pass_ends(reads, cost)
    notes = [f"{len(ends) - 1} passes, {ends[-1]:g} ms"]
    notes += [
        f"{name}: {len(row)} passes, {sum(row)} tokens, done after {ends[len(row)]:g} ms" for name, row in reads.items()
    ]
    step = max(1, int(round_step(max(until, ends[-1]), TICKS)))
    ticks = tuple((float(ms), f"{ms} ms") for ms in range(0, int(max(until, ends[-1])) + 1, step))
    lanes = tuple((float(len(reads) - at), name) for at, name in enumerate(reads))
    x = Axis("", 0.0, max(until, ends[-1]), ticks, grid=False)
    y = Axis("", 0.4, len(reads) + 0.6, lanes, grid=False)
    head = title or "texts in shared passes"
    chart = Chart(head, x, y, tuple(_series(reads, ends)), (notes[0],), width=640.0, height=LANE * len(reads))
    return draw_chart(chart, "\n".join([f"{title}: {notes[0]}" if title else notes[0], *notes[1:]]))


def _check(reads: Reads, cost: Cost, title: str) -> None:
    expect(reads, Mapping, "draw_batch, reads", "texts with the tokens that they read per pass", "{'a': [5, 1]}")
    expect(title, str, "draw_batch, title", "a text")
    expect(cost, Cost, "draw_batch, cost", "the cost of a pass and of a token", "gv.decoding.Cost(4.0, 0.1)")
    if not reads or not all(row and all(isinstance(n, int) and n > 0 for n in row) for row in reads.values()):
        raise SettingError("draw_batch, reads", seen=quoted(dict(reads)), expected="one or more tokens per pass")


def pass_ends(reads: Reads, cost: Cost) -> list[float]:
    """When each pass ends, from 0: every pass reads all its tokens for all texts."""
    own, each = cost.prices()
    count = max(map(len, reads.values()))
    tokens = [sum(row[at] for row in reads.values() if at < len(row)) for at in range(count)]
    return list(accumulate((round(own + each * read, 6) for read in tokens), initial=0.0))


def _series(reads: Reads, ends: list[float]) -> Iterator[Series]:
    kinds: tuple[tuple[str, str, Look], ...] = (
        ("reads one token", "sky", "solid"),
        ("reads a forced run", "orange", "hatched"),
        ("done", "soft", "hollow"),
    )
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name, _, _ in kinds}
    for at, row in enumerate(reads.values()):
        lane = float(len(reads) - at)
        for place, count in enumerate(row):
            found[kinds[count > 1][0]].append((ends[place], ends[place + 1], lane))
        if len(row) < len(ends) - 1:
            found["done"].append((ends[len(row)], ends[-1], lane))
    for name, colour, look in kinds:
        if found[name]:
            low, up, lanes = zip(*found[name], strict=True)
            yield Series(name, "spans", up, lanes, (), colour, look, low, thick=0.7)
