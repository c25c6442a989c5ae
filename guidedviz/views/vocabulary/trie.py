"""The walk over the trie in three pictures.

One lazy walk as a tree whose refused branches are cut, the sizes of the walks along a text, and the trie as one flat
list, over which a loop jumps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log10
from typing import Any

import numpy as np

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.markup import Element, node
from guidedviz.tokens.arrays import Ints
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.charts.plot import Axis, Chart, SpanKind, draw_chart, spans_by_kind
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, write
from guidedviz.views.words import label, share

WALK_HINT = "gv.tokens.lazy_walk(machine, vocabulary, text)"
EDGE = 16.0
ROW, INDENT, TOP, SLICE_LINE = 26.0, 36.0, 84.0, 20.0
ENDS = (566.0, 652.0, 740.0)  # right edges of the numbers
WIDE = 740.0
HEAD = ("live", "dropped", "tokens")


def draw_walk(walk: LazyWalk, title: str = "") -> Figure:
    """The tree of a walk with at most four levels; nodes that lead to one machine state share a branch.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> print(draw_walk(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v)).text)
    Lazy walk: 5 of 7 nodes asked about (71%): 3 live, 2 refused, 2 below these never asked; 3 of 7 tokens legal
                       live  dropped   tokens
    root                      3        4        3
      2 3                     3        1        3
        0                     1        1        1
          cut: 2                       1       −1
      cut: a                           3       −3
    """
    expect(walk, LazyWalk, "draw_walk", "a walk", WALK_HINT)
    expect(title, str, "draw_walk, title", "a text")
    rows, total = list(grow_tree(walk).rows()), say_walk(walk)
    top = TOP + SLICE_LINE * (walk.part is not None)
    parts = [heading(EDGE, 24, "lazy walk", shorten(title, 110)), soft(EDGE, 44, total)]
    parts += [soft(EDGE, 64, words) for words in _say_slice(walk)]
    parts += _draw_head(top - 14)
    parts += _draw_links(rows, top)
    parts += [moved(0, top + ROW * number, *_draw_row(*row)) for number, row in enumerate(rows)]
    said = "\n".join([f"Lazy walk{f' {title}' * bool(title)}: {total}", *_say_rows(walk, rows)])
    return Figure(drawing(WIDE + EDGE, top + ROW * len(rows) + EDGE, *parts, alt=said), said, said)


def say_walk(walk: LazyWalk) -> str:
    """The cost and the result of a walk in one line."""
    asked, live = share(walk.asked / max(1, walk.nodes)), len(walk.live) - 1
    return (
        f"{walk.asked:,} of {walk.nodes:,} nodes asked about ({asked}): {live:,} live, "
        f"{walk.cuts:,} refused, {walk.dropped:,} below these never asked; "
        f"{walk.legal:,} of {len(walk.vocabulary):,} tokens legal"
    )


def _say_slice(walk: LazyWalk) -> Iterator[str]:
    if walk.part:
        said = f"slice “{walk.part.name}”: {len(walk.part):,} tokens legal at once, without a walk. "
        yield said + f"Below, the rest of the other tokens: {len(walk.trie) - 1:,} nodes"


def _draw_head(y: float) -> Iterator[Element]:
    yield node("circle", cx=EDGE + 8, cy=y - 4, r=5, fill="var(--gv-blue)")
    yield soft(EDGE + 19, y, "live")
    yield _cross(EDGE + 66, y - 4)
    yield soft(EDGE + 77, y, "refused: all below is dropped at once, unasked")
    for x, words in zip(ENDS, HEAD, strict=True):
        yield soft(x, y, words, text_anchor="end")
    yield node("path", d=f"M{EDGE:g},{y + 6:g}H{WIDE:g}", stroke="var(--gv-line)")


def _draw_links(rows: list[tuple[int, NodeGroup]], top: float) -> list[Element]:
    """Lines from each branch to its children, dashed to those that were cut."""
    above, links = [0] * len(rows), []
    for number, (depth, branch) in enumerate(rows):
        above[depth] = number
        if depth:
            x, y, start = EDGE + 8 + INDENT * (depth - 1), top + ROW * number + 8, top + ROW * above[depth - 1] + 14
            way = f"M{x:g},{start:g}V{y - 8:g}Q{x:g},{y:g} {x + 10:g},{y:g}H{x + INDENT - 8:g}"
            line = {"stroke": "var(--gv-blue)", "stroke_width": 2}
            line |= {"stroke": "var(--gv-orange)", "stroke_dasharray": "4 3"} if branch.cut else {}
            links.append((branch.cut, node("path", d=way, fill="none", **line)))
    return [link for cut, link in sorted(links, key=lambda link: not link[0])]  # live ones over those that were cut


def _draw_row(depth: int, branch: NodeGroup) -> Iterator[Element]:
    x, name = EDGE + 8 + INDENT * depth, _name(branch)
    if branch.cut:
        yield _cross(x, 8)
        yield write(x + 12, 12.5, name, 12.5, mono=True, fill="var(--gv-orange)")
    else:
        yield node("circle", cx=x, cy=8, r=5.5, fill="var(--gv-blue)")
        yield write(x + 12, 12.5, name, 13, mono=bool(depth), font_weight="bold")
        yield soft(x + 22 + 8.0 * len(name), 12.5, _more(branch))
    for end, words in zip(ENDS, _numbers(branch), strict=True):
        yield write(end, 12.5, words, 12, mono=True, text_anchor="end")


def _cross(x: float, y: float) -> Element:
    return node("path", d=f"M{x - 5:g},{y - 5:g}l10,10m0,-10l-10,10", stroke="var(--gv-orange)", stroke_width=2.2)


def _name(branch: NodeGroup) -> str:
    if not branch.letters:
        return "root"
    if not branch.cut or len(branch.letters) < 4:
        return shorten(visible_bytes(branch.letters, 3), 20)
    return f"{len(branch.letters)} bytes, as in {shorten(label(branch.example), 12)}"


def _more(branch: NodeGroup) -> str:
    """The parts of a live branch that are not drawn."""
    parts = [f"{branch.folded} ways in one"] * (branch.folded > 1)
    if not branch.parts and branch.live > branch.nodes:
        parts.append(f"and {branch.live - branch.nodes:,} below")
    return ", ".join(parts)


def _numbers(branch: NodeGroup) -> tuple[str, str, str]:
    live, tokens = (f"{branch.live:,}", f"{branch.tokens:,}") if not branch.cut else ("", f"−{branch.tokens:,}")
    return live, f"{branch.dropped:,}" if branch.dropped else "", tokens


def _say_rows(walk: LazyWalk, rows: list[tuple[int, NodeGroup]]) -> Iterator[str]:
    yield from _say_slice(walk)
    names = ["", *(_say_name(depth, branch) for depth, branch in rows)]
    width = max(16, *map(len, names)) + 2
    for name, words in zip(names, [HEAD, *(_numbers(branch) for _, branch in rows)], strict=True):
        yield f"{name:<{width}}" + "".join(f"{word:>9}" for word in words)


def _say_name(depth: int, branch: NodeGroup) -> str:
    return "  " * depth + " ".join(filter(None, ["cut: " * branch.cut + _name(branch), _more(branch)]))


# A walk as a tree small enough to read: nodes that lead to one machine state share a branch.
#
# After "20", the digits 0 to 9 lead to one state, so they are one branch of the tree and not ten. Each cut is one
# branch without children.


MOST_BRANCHES = 22
LEVELS = 4
WIDEST = 6  # children of a branch; the smallest are folded into one


@dataclass(frozen=True)
class NodeGroup:
    """Nodes of a trie on one level; either all are live or the machine refused all of them."""

    letters: bytes  # the bytes that lead here from the parent
    places: Ints
    state: Hashable | None  # of the machine, at all of them; None for a cut or for several states
    live: int  # live nodes here and below
    dropped: int  # nodes refused, or below a refused one
    tokens: int  # tokens that end here or below: the legal ones of a live group, else all
    example: bytes  # the start of such a token
    folded: int = 1  # how many groups this one stands for
    parts: list[NodeGroup] = field(default_factory=list)

    @property
    def cut(self) -> bool:
        """Whether the machine refused these nodes; it never refuses the root."""
        return not self.live and bool(self.letters)

    @property
    def nodes(self) -> int:
        """The number of its nodes."""
        return len(self.places)

    def rows(self, depth: int = 0) -> Iterator[tuple[int, NodeGroup]]:
        """This group and all below it, with their depths."""
        yield depth, self
        for part in self.parts:
            yield from part.rows(depth + 1)


def grow_tree(walk: LazyWalk, most: int = MOST_BRANCHES) -> NodeGroup:
    """The tree of a walk from its root, level by level, with about so many branches.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> walk = gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v)
    >>> for depth, part in grow_tree(walk).rows():
    ...     print(depth, part.letters, part.nodes, part.live, part.dropped, part.tokens, part.example)
    0 b'' 1 3 4 3 b''
    1 b'23' 2 3 1 3 b'2'
    2 b'0' 1 1 1 1 b'20'
    3 b'2' 1 0 1 1 b'202'
    1 b'a' 1 0 3 3 b'a'
    """
    counts = _Counts(walk)
    root, count = counts.group(walk.trie.nodes[:1], walk.state), 1
    for depth, group in (waiting := [(0, root)]):
        if group.state is not None and depth < LEVELS and count < most:
            group.parts.extend(counts.split(group))
            count += len(group.parts)
            waiting += [(depth + 1, part) for part in group.parts]
    return root


class _Counts:
    """The numbers of live, dropped and legal nodes in and below each node of the trie."""

    def __init__(self, walk: LazyWalk) -> None:
        self.machine, self.trie = walk.machine, walk.trie
        self.alive = np.zeros(len(self.trie), dtype=np.intp)
        self.alive[walk.live[1:]] = 1  # the root is no byte of any token
        self.live, self.all = self.trie.sum_up(self.alive), self.trie.below + (self.trie.nodes > 0)
        tokens = np.bincount(self.trie.node_of[self.trie.node_of >= 0], minlength=len(self.trie))
        self.tokens, self.legal = self.trie.sum_up(tokens), self.trie.sum_up(tokens * self.alive)

    def group(self, nodes: Ints, state: Hashable | None = None, folded: int = 1) -> NodeGroup:
        """These nodes with their numbers."""
        letters = bytes(np.unique(self.trie.byte[nodes]).tolist()) if nodes[0] else b""
        live = int(self.live[nodes].sum())
        tokens = int((self.legal if live or not letters else self.tokens)[nodes].sum())
        dropped, example = int(self.all[nodes].sum()) - live, self._spell(int(nodes[self.tokens[nodes].argmax()]))
        return NodeGroup(letters, nodes, state, live, dropped, tokens, example, folded)

    def split(self, group: NodeGroup) -> list[NodeGroup]:
        """The children of a group: the live ones by size, then one for all that was cut."""
        children = self.trie.children(group.places)
        live, cut = children[self.alive[children] > 0], children[self.alive[children] == 0]
        letters = self.trie.byte[live]
        alike: dict[Hashable | None, list[int]] = {}
        for letter in np.unique(letters).tolist():
            alike.setdefault(self.machine.step(group.state, letter), []).append(letter)
        parts = [self.group(live[np.isin(letters, found)], state) for state, found in alike.items()]
        parts.sort(key=lambda part: -part.live)
        if len(parts) > WIDEST:
            rest = np.concatenate([part.places for part in parts[WIDEST - 1 :]])
            parts[WIDEST - 1 :] = [self.group(rest, folded=len(parts) - WIDEST + 1)]
        return [*parts, self.group(cut)] if cut.size else parts

    def _spell(self, place: int) -> bytes:
        """The bytes that lead to a node."""
        spelled = bytearray()
        while place:
            spelled.append(int(self.trie.byte[place]))
            place = int(self.trie.parent[place])
        return bytes(reversed(spelled))


# The lazy walks along a text: how many nodes of the trie each asked about.


MOST_ROWS = 40  # rows
LANE = 22.0
WITHOUT = "without slices"
KINDS: tuple[SpanKind, ...] = (
    (WITHOUT, "soft", "hollow"),
    ("the whole trie", "blue", "solid"),
    ("the rest beside a slice", "green", "solid"),
)


def draw_walks(walks: Sequence[LazyWalk], without: Sequence[LazyWalk] = (), title: str = "") -> Figure:
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
    expect(title, str, "draw_walks, title", "a text")
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
    chart = Chart(title or "lazy walks", x, y, series, (head, *more), width=620.0, height=LANE * len(shown))
    return draw_chart(
        chart, "\n".join([f"Lazy walks{f' {title}' * bool(title)}, {head}", *map(_say_cost, shown), *more])
    )


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
    nodes = flat_walk(machine, pieces, machine.initial if state is None else state)
    if not 0 < len(nodes) <= MOST_NODES:
        raise SettingError("draw_flat_trie, pieces", seen=f"{len(nodes):,} nodes", expected=f"1 to {MOST_NODES}")
    asked = sum(one.look != "left out" for one in nodes)
    title = f"flat trie: {len(nodes)} places, {asked} asked"
    low = LIST_TOP + STEP * max(len(one.prefix) for one in nodes) + 8
    parts = [write(EDGE, 24, title, 13, font_weight="bold")]
    for at, (colour, dashes, words) in enumerate(LOOKS.values()):
        x = EDGE + 210 * at
        parts += [_box(x, 36, 16, 12, colour, dashes), soft(x + 24, 46, words)]
    parts += [soft(EDGE, LIST_TOP + 2, "byte"), soft(EDGE, low + 14, "place"), soft(EDGE, low + 34, "size")]
    for at, one in enumerate(nodes):
        parts += _node(at, one, low)
        if one.look == "refused" and one.size > 1:
            level = len(nodes[at + one.size].prefix) if at + one.size < len(nodes) else 1
            parts += _arc(at, one, level)
    text = f"{title}\n" + " · ".join(_say_place(at, one) for at, one in enumerate(nodes))
    width = max(LEFT + CELL * (len(nodes) + 1), 620.0)
    return Figure(drawing(width, low + 46, *parts, alt=text), text, text)


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
    return node("rect", x=x, y=y, width=width, height=high, rx=4, fill="var(--gv-card)", **line)


def _say_place(at: int, one: FlatNode) -> str:
    does = one.look + ", legal" * (one.look == "read" and one.ends)
    does += f", jump to {at + one.size}" * (one.look == "refused" and one.size > 1)
    return f"{at} {visible(one.prefix)} size {one.size} {does}"
