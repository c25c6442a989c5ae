"""The lazy walks along a text: how many nodes of the trie each asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.markup import Element, node
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write
from guidedviz.views.vocabulary.walk_tree import WALK_HINT
from guidedviz.views.words import label

EDGE, ROW, TOP = 16.0, 22.0, 66.0
START, END, WIDE = 190.0, 690.0, 960.0
MOST = 40  # rows


def draw_walks(walks: Sequence[LazyWalk], without: Sequence[LazyWalk] = (), title: str = "") -> Figure:
    """One bar per token on a logarithmic axis; dashed, the walks of the same text `without` slices.

    >>> v = gv.Vocabulary([b"2", b"20", b"26", b"-", b"a", b"ab"])
    >>> print(draw_walks(gv.tokens.lazy_walks(gv.regex("[0-9]{4}-"), v, "2026-")).text)
    Lazy walks, 3 tokens: nodes asked about, of 6 in the trie
    before 20: 5 asked, 3 legal
    before 26: 5 asked, 3 legal
    before -: 3 asked, 1 legal
    """
    expected, hint = "one or more walks", "gv.tokens.lazy_walks(machine, vocabulary, text)"
    expect(walks, Sequence, "draw_walks, walks", expected, hint)
    if not walks:
        raise SettingError("draw_walks, walks", seen="no walks", expected=expected, hint=hint)
    expect(without, Sequence, "draw_walks, without", "walks", hint)
    expect(title, str, "draw_walks, title", "a text")
    for walk in (*walks, *without):
        expect(walk, LazyWalk, "draw_walks", "a walk", WALK_HINT)
    most = max(1, *(walk.nodes for walk in walks))
    high, shown = TOP + ROW * min(len(walks), MOST + 1), walks[:MOST]
    head = f"{len(walks):,} tokens: nodes asked about, of {walks[0].nodes:,} in the trie"
    parts = [heading(EDGE, 24, "lazy walks", f"{title} · {head}" if title else head)]
    parts += [soft(END + 12, TOP - 12, "dashed: without slices", 11)] * bool(without)
    parts += _draw_scale(most, high)
    for number, walk in enumerate(shown):
        other = without[number] if number < len(without) else None
        parts.append(moved(0, TOP + ROW * number, *_draw_row(walk, other, most)))
    more = [f"and {len(walks) - MOST:,} more"] * (len(walks) > MOST)
    parts += [soft(EDGE, high - 7, words) for words in more]
    said = "\n".join([f"Lazy walks{f' {title}' * bool(title)}, {head}", *map(_say, shown), *more])
    return Figure(drawing(WIDE + EDGE, high + 30, *parts, alt=said), said, said)


def _place(nodes: int, most: int) -> float:
    """The end of a bar on the axis of log(1 + nodes), on which 0 and 1 differ."""
    return START + (END - START) * log10(1 + nodes) / log10(1 + most)


def _draw_scale(most: int, high: float) -> Iterator[Element]:
    ticks = [10**power for power in range(int(log10(most)) + 1)]
    for nodes in (*ticks, most):
        x, last = _place(nodes, most), nodes == most
        stroke = {"stroke": "var(--gv-soft)" if last else "var(--gv-line)", "stroke_width": 1.6 if last else 1}
        yield node("path", d=f"M{x:.5g},{TOP - 6:g}V{high:g}", **stroke)
        if last or END - x > 96:
            words = f"all {nodes:,}" if last else f"{nodes:,}"
            yield soft(x + 4 * last, TOP - 12, words, 11, text_anchor="end" if last else "middle")


def _draw_row(walk: LazyWalk, other: LazyWalk | None, most: int) -> Iterator[Element]:
    yield write(START - 10, 14, shorten(label(walk.piece), 18), 13, mono=True, text_anchor="end")
    if other and other.asked != walk.asked:
        yield _bar(other.asked, most, 3, 14, {"fill": "none", "stroke": "var(--gv-soft)", "stroke_dasharray": "3 2"})
    yield _bar(walk.asked, most, 6, 8, {"fill": "var(--gv-green)" if walk.part else "var(--gv-blue)"})
    said = f"{walk.asked:,}"
    yield write(END + 12, 14, said, 12, mono=True)
    if walk.part:
        x = END + 24 + wide(said, 12)
        yield node("rect", x=x, y=5, width=10, height=10, rx=2, fill="var(--gv-green)")
        yield soft(x + 15, 14, f"{len(walk.part):,} tokens by a slice")


def _bar(nodes: int, most: int, y: float, high: float, look: dict[str, str]) -> Element:
    return node("rect", x=START, y=y, width=_place(nodes, most) - START, height=high, rx=1.5, **look)


def _say(walk: LazyWalk) -> str:
    part = f", {len(walk.part):,} tokens by a slice ({walk.part.name})" if walk.part else ""
    return f"before {label(walk.piece)}: {walk.asked:,} asked{part}, {walk.legal:,} legal"
