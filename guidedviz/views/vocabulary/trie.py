"""The walk over the trie in three pictures.

One lazy walk level by level, the sizes of the walks along a text, and the trie as one flat list, over which a loop
jumps.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import Machine, as_machine, read
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.markup import Element, node
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.charts.plot import Axis, Chart, SpanKind, draw_chart, spans_by_kind
from guidedviz.views.figure import Figure, figure_of, moved, rect, soft, wide, write, write_legend
from guidedviz.views.words import align, label, share

WALK_HINT = "gv.tokens.lazy_walk(machine, vocabulary, text)"
EDGE = 16.0
ROW, TOP = 26.0, 92.0
LEVELS = 8  # rows, at most
HEAD = ("byte", "live bytes", "live", "refused", "dropped", "tokens")
WIDE = 260.0  # the bars


@dataclass(frozen=True)
class WalkLevel:
    """What a walk did with the nodes of one depth: the bytes of the live ones, and counts."""

    letters: bytes
    live: int
    refused: int
    dropped: int  # nodes below the refused ones, which were never asked
    tokens: int  # tokens that end at the live ones

    def words(self, depth: int) -> tuple[str, ...]:
        """The cells of its row."""
        numbers = (self.live, self.refused, self.dropped, self.tokens)
        return str(depth), visible_bytes(self.letters, 5) if self.live else "–", *map("{:,}".format, numbers)


def walk_levels_of(walk: LazyWalk) -> list[WalkLevel]:
    """The levels of the trie that a walk asked about.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> walk_levels_of(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v))[0]
    WalkLevel(letters=b'23', live=2, refused=1, dropped=2, tokens=2)
    """
    trie, found = walk.trie, []
    ends = np.bincount(trie.node_of[trie.node_of >= 0], minlength=len(trie))
    for low, high in zip(trie.levels[1:], trie.levels[2:], strict=False):
        live, cut = (nodes[(low <= nodes) & (nodes < high)] for nodes in (walk.live[1:], walk.cut))
        letters, dropped = bytes(np.unique(trie.byte[live]).tolist()), int(trie.below[cut].sum())
        found.append(WalkLevel(letters, len(live), len(cut), dropped, int(ends[live].sum())))
    return [level for level in found if level.live or level.refused]


def draw_walk(walk: LazyWalk) -> Figure:
    """A walk level by level: the live and the refused nodes at each depth, and what was dropped with these.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> print(draw_walk(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v)).text)
    Lazy walk: 5 of 7 nodes asked about (71%): 3 live, 2 refused, 2 below these never asked; 3 of 7 tokens legal
    byte 1: 2 3; live 2, refused 1, dropped 2, tokens 2
    byte 2: 0; live 1, refused 0, dropped 0, tokens 1
    byte 3: –; live 0, refused 1, dropped 0, tokens 0
    """
    expect(walk, LazyWalk, "draw_walk", "a walk", WALK_HINT)
    levels, total = walk_levels_of(walk), say_walk(walk)
    lines = [f"Lazy walk: {total}", *_say_slice(walk)]
    parts = [write(EDGE, 24, "lazy walk", font_weight="bold"), soft(EDGE, 44, total)]
    parts += [soft(EDGE, 64, words) for words in _say_slice(walk)]
    table = [level.words(number) for number, level in enumerate(levels[:LEVELS], 1)]
    head, *rows = align([HEAD, *table], range(2, len(HEAD)))
    ten, bars = WIDE / log10(max(10, len(walk.trie))), EDGE + wide(head, 12) + 30
    parts += [write(EDGE, TOP - 8, head, 12, mono=True, fill="var(--gv-soft)")]
    parts += [soft(bars, TOP - 8, "live, and dashed refused and dropped (log.)")]
    for number, (row, level, words) in enumerate(zip(rows, levels, table, strict=False)):
        y = TOP + ROW * (number + 0.7)
        parts += [write(EDGE, y, row, 12, mono=True), moved(bars, y, *_draw_bars(level, ten))]
        told = ", ".join(f"{name} {word}" for name, word in zip(HEAD[2:], words[2:], strict=True))
        lines.append(f"byte {words[0]}: {words[1]}; {told}")
    more = [f"and {len(levels) - LEVELS} more levels"] * (len(levels) > LEVELS)
    high = TOP + ROW * min(len(levels), LEVELS) + EDGE
    parts += [soft(EDGE, high + 8, words) for words in more]
    return figure_of(max(bars + WIDE, 6.4 * len(total)) + 2 * EDGE, high + EDGE, "\n".join([*lines, *more]), *parts)


def say_walk(walk: LazyWalk) -> str:
    """The cost and the result of a walk in one line."""
    asked, live = share(walk.asked / max(1, walk.nodes)), len(walk.live) - 1
    counts = f"{live:,} live, {len(walk.cut):,} refused, {walk.dropped:,} below these never asked"
    legal = f"{walk.legal:,} of {len(walk.vocabulary):,} tokens legal"
    return f"{walk.asked:,} of {walk.nodes:,} nodes asked about ({asked}): {counts}; {legal}"


def _say_slice(walk: LazyWalk) -> Iterator[str]:
    if walk.part:
        said = f"slice “{walk.part.name}”: {len(walk.part):,} tokens legal at once, without a walk. "
        yield said + f"Below, the rest of the other tokens: {len(walk.trie) - 1:,} nodes"


def _draw_bars(level: WalkLevel, ten: float) -> Iterator[Element]:
    """The live nodes and, dashed, the refused ones with all below, on a logarithmic axis."""
    for y, nodes, look in (
        (-11, level.live, {"fill": "var(--gv-blue)"}),
        (-3, level.refused + level.dropped, {"fill": "none", "stroke": "var(--gv-orange)", "stroke_dasharray": "3 2"}),
    ):
        if nodes:
            yield rect(0, y, max(2.0, ten * log10(nodes)), 6, 1.5, **look)


# The lazy walks along a text: how many nodes of the trie each asked about.


MOST_ROWS = 40  # rows
LANE = 22.0
WITHOUT = "without slices"
KINDS: tuple[SpanKind, ...] = (
    (WITHOUT, "soft", "hollow"),
    ("the whole trie", "blue", "solid"),
    ("the rest beside a slice", "green", "solid"),
)


def draw_walks(walks: Sequence[LazyWalk], without: Sequence[LazyWalk] = ()) -> Figure:
    """One bar per token on a logarithmic axis; pale, the walks of the same text `without` slices.

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
    for walk in (*walks, *without):
        expect(walk, LazyWalk, "draw_walks", "a walk", WALK_HINT)
    shown = walks[:MOST_ROWS]
    lanes = [float(len(shown) - place) for place in range(len(shown))]
    boxes = [(WITHOUT, (1.0, walk.asked, lane, _say_cost(walk))) for walk, lane in zip(without, lanes, strict=False)]
    for walk, lane in zip(shown, lanes, strict=True):
        boxes.append((KINDS[2 if walk.part else 1][0], (1.0, walk.asked, lane, f"{walk.asked:,}: {_say_cost(walk)}")))
    most = max(10, *(walk.nodes for walk in walks))
    ticks = tuple((10.0**power, f"{10**power:,}") for power in range(int(log10(most)) + 1))
    names = tuple((lane, shorten(label(walk.piece), 18)) for walk, lane in zip(shown, lanes, strict=True))
    head = f"{len(walks):,} tokens: nodes asked about, of {walks[0].nodes:,} in the trie"
    more = [f"and {len(walks) - MOST_ROWS:,} more"] * (len(walks) > MOST_ROWS)
    x = Axis("nodes asked about", 1.0, float(most), ticks, log=True)
    y = Axis("", 0.4, len(shown) + 0.6, names, grid=False, mono=True)
    series = spans_by_kind(KINDS, boxes)
    chart = Chart("lazy walks", x, y, series, (head, *more), width=620.0, height=LANE * len(shown))
    return draw_chart(chart, "\n".join([f"Lazy walks, {head}", *map(_say_cost, shown), *more]))


def _say_cost(walk: LazyWalk) -> str:
    part = f", {len(walk.part):,} tokens by a slice ({walk.part.name})" if walk.part else ""
    return f"before {label(walk.piece)}: {walk.asked:,} asked{part}, {walk.legal:,} legal"


# A trie as one flat list, depth first, and the loop over it that jumps over the subtree of a refused node.


LEFT, CELL, HIGH, LIST_TOP, STEP = 66.0, 46.0, 28.0, 96.0, 34.0
MOST_NODES = 40  # nodes that fit on a page
LOOKS = {  # colour, dashes, and what a box means
    "read": ("blue", "", "asked: the machine goes on"),
    "refused": ("orange", "", "asked: refused, jump"),
    "left out": ("line", "4 3", "left out"),
}


@dataclass(frozen=True)
class FlatNode:
    """One place of the list: the bytes up to it, the size of its subtree, whether a piece ends there, and its look."""

    prefix: bytes
    size: int
    ends: bool
    look: str


def flat_walk(machine: Machine[Any], pieces: Sequence[bytes], state: Hashable) -> list[FlatNode]:
    """The nodes of the trie depth first, with what the loop does at each.

    >>> [(one.prefix, one.size, one.look) for one in flat_walk(gv.regex("ab"), [b"ab", b"ac", b"bc"], 0)]
    [(b'a', 3, 'read'), (b'ab', 1, 'read'), (b'ac', 1, 'refused'), (b'b', 2, 'refused'), (b'bc', 1, 'left out')]
    """
    nodes = sorted({piece[:end] for piece in pieces for end in range(1, len(piece) + 1)})
    found, place = [], 0  # the place where the loop is next
    for at, prefix in enumerate(nodes):
        size = sum(other.startswith(prefix) for other in nodes)
        look = "left out"
        if at == place:
            look = "refused" if read(machine, prefix, state) is None else "read"
            place += size if look == "refused" else 1
        found.append(FlatNode(prefix, size, prefix in pieces, look))
    return found


def draw_flat_trie(machine: Machine[Any], pieces: Sequence[bytes], state: Hashable | None = None) -> Figure:
    """The list with places, bytes and sizes, one level lower per depth, and an arc per jump.

    >>> print(draw_flat_trie(gv.regex("ab"), [b"ab", b"bc"]).text)
    flat trie: 4 places, 3 asked
    0 a size 2 read · 1 ab size 1 read, legal · 2 b size 2 refused, jump to 4 · 3 bc size 1 left out
    """
    expect(pieces, Sequence, "draw_flat_trie, pieces", "a list of pieces", "[b'1', b'12']")
    for piece in pieces:
        expect(piece, bytes, "draw_flat_trie, pieces", "bytes")
    machine = as_machine(machine, "draw_flat_trie")
    nodes = flat_walk(machine, pieces, machine.initial if state is None else state)
    if not 0 < len(nodes) <= MOST_NODES:
        raise SettingError("draw_flat_trie, pieces", seen=f"{len(nodes):,} nodes", expected=f"1 to {MOST_NODES}")
    asked = sum(one.look != "left out" for one in nodes)
    title = f"flat trie: {len(nodes)} places, {asked} asked"
    low = LIST_TOP + STEP * max(len(one.prefix) for one in nodes) + 8
    parts = [write(EDGE, 24, title, 13, font_weight="bold")]
    parts += write_legend(((_box(0, -6, 16, 12, *look), words) for *look, words in LOOKS.values()), EDGE, 46)[0]
    parts += [soft(EDGE, LIST_TOP + 2, "byte"), soft(EDGE, low + 14, "place"), soft(EDGE, low + 34, "size")]
    for at, one in enumerate(nodes):
        parts += _node(at, one, low)
        if one.look == "refused" and one.size > 1:
            level = len(nodes[at + one.size].prefix) if at + one.size < len(nodes) else 1
            parts += _arc(at, one, level)
    text = f"{title}\n" + " · ".join(_say_place(at, one) for at, one in enumerate(nodes))
    width = max(LEFT + CELL * (len(nodes) + 1), 620.0)
    return figure_of(width, low + 46, text, *parts)


def _node(at: int, one: FlatNode, low: float) -> Iterator[Element]:
    x, y = LEFT + CELL * at, LIST_TOP + STEP * (len(one.prefix) - 1) - 12
    colour, dashes, _ = LOOKS[one.look]
    ink = {"fill": "var(--gv-soft)"} if one.look == "left out" else {}
    middle = x + CELL / 2 - 3
    yield _box(x, y, CELL - 6, HIGH, colour, dashes)
    yield write(middle, y + 18, visible(one.prefix[-1:]), 14, mono=True, text_anchor="middle", **ink)
    if one.ends:  # a second line below the byte
        yield node("path", d=f"M{x + 8:g},{y + HIGH - 4:g}h{CELL - 22:g}", stroke=f"var(--gv-{colour})", stroke_width=2)
    yield soft(middle, low + 14, str(at), text_anchor="middle", mono=True)
    yield write(middle, low + 34, str(one.size), 13, mono=True, text_anchor="middle")


def _arc(at: int, one: FlatNode, level: int) -> Iterator[Element]:
    """From a refused node to the place where the loop continues, which is on this level."""
    x, y = LEFT + CELL * at + CELL / 2 - 3, LIST_TOP + STEP * (len(one.prefix) - 1) - 12
    end, low = x + CELL * one.size, LIST_TOP + STEP * (level - 1) - 14
    over = min(y, low) - 24
    arc = f"M{x:g},{y:g}C{x:g},{over:g} {end:g},{over:g} {end:g},{low - 6:g}"
    yield node("path", d=arc, fill="none", stroke="var(--gv-orange)", stroke_width=2)
    yield node("path", d=f"M{end - 4:g},{low - 7:g}h8l-4,8z", fill="var(--gv-orange)")


def _box(x: float, y: float, width: float, high: float, colour: str, dashes: str) -> Element:
    line = {"stroke": f"var(--gv-{colour})", "stroke_width": 1.8} | ({"stroke_dasharray": dashes} if dashes else {})
    return rect(x, y, width, high, 4, fill="var(--gv-card)", **line)


def _say_place(at: int, one: FlatNode) -> str:
    does = one.look + ", legal" * (one.look == "read" and one.ends)
    does += f", jump to {at + one.size}" * (one.look == "refused" and one.size > 1)
    return f"{at} {visible(one.prefix)} size {one.size} {does}"
