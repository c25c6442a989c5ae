"""Walks of a trie: one as a flat list with jumps, and those along a text."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import Machine, as_machine, read
from guidedviz.machines.visible import visible
from guidedviz.markup import Element
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.charts.chart import Chart, Mark, SpanKind, lanes_axis, powers_axis, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import (
    EDGE,
    Figure,
    bold,
    centred,
    check_count,
    figure_of,
    path_of,
    rect,
    ruled,
    soft,
    soft_centred,
    write_legend,
)
from guidedviz.views.theme import paint
from guidedviz.views.words import label

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
    check_count("draw_flat_trie, pieces", len(nodes), "nodes", MOST_FLAT_NODES)
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


# --- the walks along a text ---


WALK_HINT = "gv.tokens.lazy_walk(machine, vocabulary, text)"
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
    spans = []
    for walk, (lane, _) in zip(without, y.ticks, strict=False):
        spans.append((WITHOUT_SLICES, Mark(walk.asked, lane, 1.0, _say_asked(walk))))
    for walk, (lane, _) in zip(shown, y.ticks, strict=True):
        kind = BESIDE_SLICE if walk.whole_slice else WHOLE_TRIE
        asked = f"{walk.asked:,}"
        spans.append((kind, Mark(walk.asked, lane, 1.0, f"{asked}: {_say_asked(walk)}", asked)))
    most = max(10, *(walk.nodes for walk in walks))
    nodes = walks[0].nodes
    notes = [f"{len(walks):,} tokens: nodes asked about, of {nodes:,} in the trie"]
    lines = [f"Lazy walks, {notes[0]}", *map(_say_asked, shown)]
    if len(walks) > MOST_WALK_ROWS:
        more = f"and {len(walks) - MOST_WALK_ROWS:,} more"
        notes.append(more)
        lines.append(more)
    x = powers_axis("nodes asked about", most)
    series = spans_by_kind(WALK_SPANS, spans)
    height = WALK_LANE * len(shown)
    chart = Chart("lazy walks", x, y, series, tuple(notes), width=620.0, height=height)
    return draw_chart(chart, "\n".join(lines))


def _say_asked(walk: LazyWalk) -> str:
    said = [f"before {label(walk.piece)}: {walk.asked:,} asked"]
    if walk.whole_slice:
        said.append(f"{len(walk.whole_slice):,} tokens by a slice ({walk.whole_slice.name})")
    said.append(f"{walk.legal:,} legal")
    return ", ".join(said)
