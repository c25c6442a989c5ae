"""Walks of a trie: one as a flat list with jumps, one level by level, and those along a text."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log10
from typing import Any

import numpy as np

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import Machine, as_machine, read
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.markup import Element
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.charts.chart import Box, Chart, SpanKind, lanes_axis, powers_axis, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import (
    EDGE,
    Figure,
    bold,
    centred,
    figure_of,
    moved,
    path_of,
    rect,
    ruled,
    soft,
    soft_centred,
    wide,
    write,
    write_legend,
)
from guidedviz.views.theme import paint
from guidedviz.views.words import align, label, share

LIST_LEFT = 66.0
LIST_TOP = 96.0
NODE_PITCH = 46.0
NODE_BOX = 28.0  # the height of a node
DEPTH_PITCH = 34.0
LEFT_OUT = "left out"
MOST_FLAT_NODES = 40  # nodes that fit on a page
NODE_LOOKS = {  # colour, dashes, and what a box means
    "read": ("blue", "", "asked: the machine goes on"),
    "refused": ("magenta", "", "asked: refused, jump"),
    LEFT_OUT: ("line", "4 3", LEFT_OUT),
}


@dataclass(frozen=True)
class FlatNode:
    """One place of the list: the bytes up to it, the size of its subtree, whether a piece ends there, and its look."""

    place: int
    prefix: bytes
    size: int
    ends: bool
    look: str

    @property
    def end(self) -> int:
        """The place after its subtree."""
        return self.place + self.size

    @property
    def jumps(self) -> bool:
        """Whether the loop jumps over nodes below it."""
        return self.look == "refused" and self.size > 1

    @property
    def left(self) -> float:
        """Its left side in the picture."""
        return LIST_LEFT + NODE_PITCH * self.place

    @property
    def middle(self) -> float:
        """Its middle, from left to right."""
        return self.left + NODE_PITCH / 2 - 3

    @property
    def top(self) -> float:
        """Its upper side, one level lower per depth."""
        return LIST_TOP + DEPTH_PITCH * (len(self.prefix) - 1) - 12

    def __str__(self) -> str:
        said = f"{self.place} {visible(self.prefix)} size {self.size} {self.look}"
        if self.look == "read" and self.ends:
            said += ", legal"
        if self.jumps:
            said += f", jump to {self.end}"
        return said


def flat_walk(machine: Machine[Any], pieces: Sequence[bytes], state: Hashable) -> list[FlatNode]:
    """The nodes of the trie depth first, with what the loop does at each.

    >>> [(one.prefix, one.size, one.look) for one in flat_walk(gv.regex("ab"), [b"ab", b"ac", b"bc"], 0)]
    [(b'a', 3, 'read'), (b'ab', 1, 'read'), (b'ac', 1, 'refused'), (b'b', 2, 'refused'), (b'bc', 1, 'left out')]
    """
    beginnings = {piece[:end] for piece in pieces for end in range(1, len(piece) + 1)}
    nodes = sorted(beginnings)
    found = []
    following = 0  # the place where the loop is next
    for place, prefix in enumerate(nodes):
        size = sum(other.startswith(prefix) for other in nodes)
        look = LEFT_OUT
        if place == following:
            look = "refused" if read(machine, prefix, state) is None else "read"
            following += size if look == "refused" else 1
        found.append(FlatNode(place, prefix, size, prefix in pieces, look))
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
    if not 0 < len(nodes) <= MOST_FLAT_NODES:
        seen = f"{len(nodes):,} nodes"
        raise SettingError("draw_flat_trie, pieces", seen=seen, expected=f"1 to {MOST_FLAT_NODES}")
    asked = sum(one.look != LEFT_OUT for one in nodes)
    title = f"flat trie: {len(nodes)} places, {asked} asked"
    parts = [bold(EDGE, 24, title)]
    underline = ruled(0, 3, 16, stroke="var(--gv-soft)", stroke_width=2)
    looks = {look: words for look, (*_, words) in NODE_LOOKS.items()}
    parts += _write_looks(looks, 46, (underline, "a token ends here"))
    deepest = max(len(one.prefix) for one in nodes)
    low = LIST_TOP + DEPTH_PITCH * deepest + 8
    parts.append(soft(EDGE, LIST_TOP + 2, "byte"))
    parts.append(soft(EDGE, low + 14, "place"))
    parts.append(soft(EDGE, low + 34, "size"))
    for one in nodes:
        parts += _write_node(one, low)
        if one.jumps:
            after = nodes[one.end :] or nodes  # beyond the list on the first level
            parts += _write_arc(one, after[0].top)
            if one.end == len(nodes):
                parts.append(soft_centred(one.middle + NODE_PITCH * one.size, after[0].top + 14, "end"))
    text = f"{title}\n" + " · ".join(map(str, nodes))
    width = max(LIST_LEFT + NODE_PITCH * (len(nodes) + 1), 680.0)
    return figure_of(width, low + 46, text, *parts)


def _write_node(one: FlatNode, low: float) -> Iterator[Element]:
    """A node with its byte, and below the list its place and its size."""
    yield _write_look(one.left, one.top, NODE_PITCH - 6, NODE_BOX, one.look)
    ink = {"fill": "var(--gv-soft)"} if one.look == LEFT_OUT else {}
    byte = visible(one.prefix[-1:])
    yield centred(one.middle, one.top + 18, byte, 14, mono=True, **ink)
    if one.ends:  # a second line below the byte
        colour = paint(NODE_LOOKS[one.look][0])
        base = one.top + NODE_BOX - 4
        yield ruled(one.left + 8, base, NODE_PITCH - 22, stroke=colour, stroke_width=2)
    yield soft_centred(one.middle, low + 14, str(one.place), mono=True)
    yield centred(one.middle, low + 34, str(one.size), mono=True)


def _write_arc(one: FlatNode, landing: float) -> Iterator[Element]:
    """From a refused node to the place where the loop continues, which is at this height."""
    end = one.middle + NODE_PITCH * one.size
    low = landing - 2
    over = min(one.top, low) - 24
    start = f"M{one.middle:g},{one.top:g}"
    up = f"C{one.middle:g},{over:g}"
    down = f"{end:g},{over:g} {end:g},{low - 6:g}"
    yield path_of(f"{start}{up} {down}", fill="none", stroke="var(--gv-magenta)", stroke_width=2)
    tip = f"M{end - 4:g},{low - 7:g}"
    yield path_of(f"{tip}h8l-4,8z", fill="var(--gv-magenta)")


def _write_look(x: float, y: float, width: float, height: float, look: str) -> Element:
    colour, dashes, _ = NODE_LOOKS[look]
    line = {"stroke": paint(colour), "stroke_width": 1.8, "stroke_dasharray": dashes or None}
    return rect(x, y, width, height, 4, fill="var(--gv-card)", **line)


def _write_looks(words: Mapping[str, str], y: float, *more: tuple[Element, str]) -> list[Element]:
    """The legend of the looks, and of more signs."""
    signs = [(_write_look(0, -6, 16, 12, look), means) for look, means in words.items()]
    return write_legend([*signs, *more], EDGE, y)[0]


# --- one walk, level by level ---


WALK_WORDS = {"read": "asked: the machine goes on", "refused": "asked: refused", LEFT_OUT: LEFT_OUT}
WALK_HINT = "gv.tokens.lazy_walk(machine, vocabulary, text)"
LEVEL_PITCH = 34.0
LEVELS_TOP = 92.0
MOST_LEVELS = 8  # rows
LEVEL_HEAD = ("byte", "bytes", "go on", "refused", LEFT_OUT, "tokens")
BARS_SPAN = 260.0
BAR_HEIGHT = 7.0


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
        letters = visible_bytes(self.letters, 5) if self.live else "–"
        numbers = (self.live, self.refused, self.dropped, self.tokens)
        return str(depth), letters, *map("{:,}".format, numbers)


def walk_levels_of(walk: LazyWalk) -> list[WalkLevel]:
    """The levels of the trie that a walk asked about.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> walk_levels_of(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v))[0]
    WalkLevel(letters=b'23', live=2, refused=1, dropped=2, tokens=2)
    """
    trie = walk.trie
    nodes = trie.node_of[trie.node_of >= 0]
    ends = np.bincount(nodes, minlength=len(trie))
    found = []
    for low, high in pairwise(trie.levels[1:]):
        live = walk.live[(low <= walk.live) & (walk.live < high)]
        cut = walk.cut[(low <= walk.cut) & (walk.cut < high)]
        if len(live) or len(cut):
            letters = bytes(np.unique(trie.byte[live]).tolist())
            dropped = int(trie.below[cut].sum())
            tokens = int(ends[live].sum())
            found.append(WalkLevel(letters, len(live), len(cut), dropped, tokens))
    return found


def draw_walk(walk: LazyWalk) -> Figure:
    """A walk level by level: at each depth the nodes where it goes on, the refused ones, and what these leave out.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> print(draw_walk(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v)).text)
    Walk: 5 of 7 nodes asked about (71%): 3 go on, 2 refused, 2 below these left out; 3 of 7 tokens legal
    byte 1: 2 3; go on 2, refused 1, left out 2, tokens 2
    byte 2: 0; go on 1, refused 0, left out 0, tokens 1
    byte 3: –; go on 0, refused 1, left out 0, tokens 0
    """
    expect(walk, LazyWalk, "draw_walk", "a walk", WALK_HINT)
    levels = walk_levels_of(walk)
    total = say_walk(walk)
    lines = [f"Walk: {total}"]
    parts = [bold(EDGE, 24, "a walk, byte by byte"), soft(EDGE, 44, total)]
    if walk.part:
        nodes = len(walk.trie) - 1
        said = f"slice “{walk.part.name}”: {len(walk.part):,} tokens legal at once, without a walk. "
        said += f"Below, the rest of the other tokens: {nodes:,} nodes"
        lines.append(said)
        parts.append(soft(EDGE, 64, said))
    shown = levels[:MOST_LEVELS]
    table = [level.words(number) for number, level in enumerate(shown, 1)]
    counts = range(2, len(LEVEL_HEAD))  # the columns that are aligned to the right
    head, *rows = align([LEVEL_HEAD, *table], counts)
    ten = BARS_SPAN / log10(max(10, len(walk.trie)))
    bars = EDGE + wide(head, 12) + 30
    above = LEVELS_TOP - 8
    parts.append(soft(EDGE, above, head, mono=True))
    parts.append(soft(bars, above, "nodes, in powers of ten"))
    for number, (row, level) in enumerate(zip(rows, shown, strict=True)):
        y = LEVELS_TOP + LEVEL_PITCH * number
        parts.append(write(EDGE, y + 19, row, 12, mono=True))
        parts.append(moved(bars, y + 4, *_write_walk_bars(level, ten)))
    for depth, letters, *numbers in table:
        said = ", ".join(map("{} {}".format, LEVEL_HEAD[2:], numbers))
        lines.append(f"byte {depth}: {letters}; {said}")
    low = LEVELS_TOP + LEVEL_PITCH * len(shown) + EDGE
    if len(levels) > MOST_LEVELS:
        more = f"and {len(levels) - MOST_LEVELS} more levels"
        lines.append(more)
        parts.append(soft(EDGE, low + 8, more))
        low += 20
    parts += _write_looks(WALK_WORDS, low + 8)
    widest = max(bars + BARS_SPAN, 6.4 * len(total))
    return figure_of(widest + 2 * EDGE, low + 24, "\n".join(lines), *parts)


def say_walk(walk: LazyWalk) -> str:
    """The cost and the result of a walk in one line."""
    part = share(walk.asked / max(1, walk.nodes))
    asked = f"{walk.asked:,} of {walk.nodes:,} nodes asked about ({part})"
    live = f"{len(walk.live) - 1:,} go on, {len(walk.cut):,} refused"
    dropped = f"{walk.dropped:,} below these left out"
    legal = f"{walk.legal:,} of {len(walk.vocabulary):,} tokens legal"
    return f"{asked}: {live}, {dropped}; {legal}"


def _write_walk_bars(level: WalkLevel, ten: float) -> Iterator[Element]:
    """A bar for each look of a node, on a logarithmic axis; none for no node."""
    counts = {"read": level.live, "refused": level.refused, LEFT_OUT: level.dropped}
    y = 0.0
    for look, count in counts.items():
        if count:
            width = max(2.0, ten * log10(count))
            yield _write_look(0, y, width, BAR_HEIGHT, look)
        y += BAR_HEIGHT + 2


# --- the walks along a text ---


MOST_WALK_ROWS = 40  # rows
WALK_LANE = 22.0
WITHOUT_SLICES = "without slices"
WHOLE_TRIE = "the whole trie"
BESIDE_SLICE = "the other tokens, after a slice"
WALK_SPANS: tuple[SpanKind, ...] = (
    (WITHOUT_SLICES, "soft", "hollow"),
    (WHOLE_TRIE, "blue", "solid"),
    (BESIDE_SLICE, "green", "solid"),
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
    expected = "one or more walks"
    hint = "gv.tokens.lazy_walks(machine, vocabulary, text)"
    expect(walks, Sequence, "draw_walks, walks", expected, hint)
    if not walks:
        raise SettingError("draw_walks, walks", seen="no walks", expected=expected, hint=hint)
    expect(without, Sequence, "draw_walks, without", "walks", hint)
    for walk in (*walks, *without):
        expect(walk, LazyWalk, "draw_walks", "a walk", WALK_HINT)
    shown = walks[:MOST_WALK_ROWS]
    names = [shorten(label(walk.piece), 18) for walk in shown]
    y = replace(lanes_axis(names), mono=True)
    boxes = list[tuple[str, Box]]()
    for walk, (lane, _) in zip(without, y.ticks, strict=False):
        boxes.append((WITHOUT_SLICES, (1.0, walk.asked, lane, _say_asked(walk))))
    for walk, (lane, _) in zip(shown, y.ticks, strict=True):
        kind = BESIDE_SLICE if walk.part else WHOLE_TRIE
        said = f"{walk.asked:,}: {_say_asked(walk)}"
        boxes.append((kind, (1.0, walk.asked, lane, said)))
    most = max(10, *(walk.nodes for walk in walks))
    nodes = walks[0].nodes
    notes = [f"{len(walks):,} tokens: nodes asked about, of {nodes:,} in the trie"]
    lines = [f"Lazy walks, {notes[0]}", *map(_say_asked, shown)]
    if len(walks) > MOST_WALK_ROWS:
        more = f"and {len(walks) - MOST_WALK_ROWS:,} more"
        notes.append(more)
        lines.append(more)
    x = powers_axis("nodes asked about", most)
    series = spans_by_kind(WALK_SPANS, boxes)
    height = WALK_LANE * len(shown)
    chart = Chart("lazy walks", x, y, series, tuple(notes), width=620.0, height=height)
    return draw_chart(chart, "\n".join(lines))


def _say_asked(walk: LazyWalk) -> str:
    said = [f"before {label(walk.piece)}: {walk.asked:,} asked"]
    if walk.part:
        said.append(f"{len(walk.part):,} tokens by a slice ({walk.part.name})")
    said.append(f"{walk.legal:,} legal")
    return ", ".join(said)
