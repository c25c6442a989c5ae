"""A trie as one flat list, depth first, and the loop over it that jumps over the subtree of a refused node."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import SettingError, expect
from guidedviz.machines.machine import Machine, as_machine, read
from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, figure_of, rect, soft, write, write_legend
from guidedviz.views.vocabulary.walk import EDGE

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
