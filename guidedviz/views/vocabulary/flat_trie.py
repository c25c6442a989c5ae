"""A trie as one flat list, depth first, and the loop over it that jumps over the subtree of a refused node."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import SettingError, expect
from guidedviz.machines.machine import Machine, as_machine, read
from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import (
    EDGE,
    Figure,
    centred,
    figure_of,
    rect,
    ruled,
    soft,
    soft_centred,
    write,
    write_legend,
)
from guidedviz.views.theme import paint

LIST_LEFT = 66.0
LIST_TOP = 96.0
NODE_PITCH = 46.0
NODE_BOX = 28.0  # the height of a node
DEPTH_PITCH = 34.0
LEFT_OUT = "left out"
MOST_FLAT_NODES = 40  # nodes that fit on a page
NODE_LOOKS = {  # colour, dashes, and what a box means
    "read": ("blue", "", "asked: the machine goes on"),
    "refused": ("orange", "", "asked: refused, jump"),
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
            return f"{said}, legal"
        return f"{said}, jump to {self.end}" if self.jumps else said


def flat_walk(machine: Machine[Any], pieces: Sequence[bytes], state: Hashable) -> list[FlatNode]:
    """The nodes of the trie depth first, with what the loop does at each.

    >>> [(one.prefix, one.size, one.look) for one in flat_walk(gv.regex("ab"), [b"ab", b"ac", b"bc"], 0)]
    [(b'a', 3, 'read'), (b'ab', 1, 'read'), (b'ac', 1, 'refused'), (b'b', 2, 'refused'), (b'bc', 1, 'left out')]
    """
    nodes = sorted({piece[:end] for piece in pieces for end in range(1, len(piece) + 1)})
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
        raise SettingError("draw_flat_trie, pieces", seen=f"{len(nodes):,} nodes", expected=f"1 to {MOST_FLAT_NODES}")
    asked = sum(one.look != LEFT_OUT for one in nodes)
    title = f"flat trie: {len(nodes)} places, {asked} asked"
    parts = [write(EDGE, 24, title, 13, font_weight="bold")]
    signs = ((_write_look(0, -6, 16, 12, colour, dashes), words) for colour, dashes, words in NODE_LOOKS.values())
    parts += write_legend(signs, EDGE, 46)[0]
    low = LIST_TOP + DEPTH_PITCH * max(len(one.prefix) for one in nodes) + 8
    parts += [soft(EDGE, LIST_TOP + 2, "byte"), soft(EDGE, low + 14, "place"), soft(EDGE, low + 34, "size")]
    for one in nodes:
        parts += _write_node(one, low)
        if one.jumps:
            landing = nodes[one.end] if one.end < len(nodes) else nodes[0]  # beyond the list on the first level
            parts += _write_arc(one, landing.top)
    text = f"{title}\n" + " · ".join(map(str, nodes))
    width = max(LIST_LEFT + NODE_PITCH * (len(nodes) + 1), 620.0)
    return figure_of(width, low + 46, text, *parts)


def _write_node(one: FlatNode, low: float) -> Iterator[Element]:
    """A node with its byte, and below the list its place and its size."""
    x = one.left
    colour, dashes, _ = NODE_LOOKS[one.look]
    yield _write_look(x, one.top, NODE_PITCH - 6, NODE_BOX, colour, dashes)
    ink = {"fill": "var(--gv-soft)"} if one.look == LEFT_OUT else {}
    byte = visible(one.prefix[-1:])
    yield centred(one.middle, one.top + 18, byte, 14, mono=True, **ink)
    if one.ends:  # a second line below the byte
        yield ruled(x + 8, one.top + NODE_BOX - 4, NODE_PITCH - 22, stroke=paint(colour), stroke_width=2)
    yield soft_centred(one.middle, low + 14, str(one.place), mono=True)
    yield centred(one.middle, low + 34, str(one.size), 13, mono=True)


def _write_arc(one: FlatNode, landing: float) -> Iterator[Element]:
    """From a refused node to the place where the loop continues, which is at this height."""
    end = one.middle + NODE_PITCH * one.size
    low = landing - 2
    over = min(one.top, low) - 24
    arc = f"M{one.middle:g},{one.top:g}C{one.middle:g},{over:g} {end:g},{over:g} {end:g},{low - 6:g}"
    yield node("path", d=arc, fill="none", stroke="var(--gv-orange)", stroke_width=2)
    yield node("path", d=f"M{end - 4:g},{low - 7:g}h8l-4,8z", fill="var(--gv-orange)")


def _write_look(x: float, y: float, width: float, height: float, colour: str, dashes: str) -> Element:
    line = {"stroke": paint(colour), "stroke_width": 1.8, "stroke_dasharray": dashes or None}
    return rect(x, y, width, height, 4, fill="var(--gv-card)", **line)
