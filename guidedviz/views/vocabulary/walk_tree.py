"""One lazy walk as a tree: live branches grow, and each refused one is a cut."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10

from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import visible_bytes
from guidedviz.markup import Element, node
from guidedviz.tokens.lazy.lazy_walk import Walk
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, write
from guidedviz.views.vocabulary.map import share
from guidedviz.views.vocabulary.walk_groups import NodeGroup, grow_tree
from guidedviz.views.words import label

WALK_HINT = "gv.tokens.lazy_walk(machine, vocabulary, text)"
EDGE, ROW, INDENT, TOP, BLOCK = 16.0, 26.0, 36.0, 84.0, 40.0
ENDS = (546.0, 622.0, 700.0)  # right edges of the numbers
BARS, WIDE = 716.0, 980.0
HEAD = ("live", "dropped", "tokens")


def draw_walk(walk: Walk, title: str = "", levels: int = 4) -> Figure:
    """The tree of a walk with at most `levels` levels; nodes that lead to one machine state share a branch.

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
    expect(walk, Walk, "draw_walk", "a walk", WALK_HINT)
    expect(title, str, "draw_walk, title", "a text")
    expect(levels, int, "draw_walk, levels", "a number of levels")
    rows, total = list(grow_tree(walk, levels=levels).rows()), say_walk(walk)
    top = TOP + BLOCK * (walk.part is not None)
    parts = [heading(EDGE, 24, "lazy walk", shorten(title, 110)), soft(EDGE, 44, total)]
    parts += _draw_slice(walk) if walk.part else []
    parts += _draw_head(top - 14)
    parts += _draw_links(rows, top)
    for number, (depth, branch) in enumerate(rows):
        parts.append(moved(0, top + ROW * number, *_draw_row(depth, branch, len(walk.trie))))
    said = "\n".join([f"Lazy walk{f' {title}' * bool(title)}: {total}", *_say_rows(walk, rows)])
    return Figure(drawing(WIDE + EDGE, top + ROW * len(rows) + EDGE, *parts, alt=said), said, said)


def say_walk(walk: Walk) -> str:
    """The cost and the result of a walk in one line."""
    asked, live = share(walk.asked / max(1, walk.nodes)), len(walk.live) - 1
    return (
        f"{walk.asked:,} of {walk.nodes:,} nodes asked about ({asked}): {live:,} live, "
        f"{walk.cuts:,} refused, {walk.dropped:,} below these never asked; "
        f"{walk.legal:,} of {len(walk.vocabulary):,} tokens legal"
    )


def _draw_slice(walk: Walk) -> list[Element]:
    assert walk.part
    box = {"x": EDGE, "y": 56, "width": WIDE - EDGE, "height": BLOCK - 8, "rx": 6}
    block = node("rect", **box, fill="var(--gv-green)", fill_opacity=0.16, stroke="var(--gv-green)", stroke_width=1.5)
    return [block, write(EDGE + 12, 77, _say_slice(walk), 13)]


def _say_slice(walk: Walk) -> str:
    assert walk.part
    said = f"slice “{walk.part.name}”: {len(walk.part):,} tokens legal at once, without a walk. "
    return said + f"Below, the rest of the other tokens: {len(walk.trie) - 1:,} nodes"


def _draw_head(y: float) -> Iterator[Element]:
    yield node("circle", cx=EDGE + 8, cy=y - 4, r=5, fill="var(--gv-blue)")
    yield soft(EDGE + 19, y, "live")
    yield _cross(EDGE + 66, y - 4)
    yield soft(EDGE + 77, y, "refused: all below is dropped at once, unasked")
    for x, words in zip(ENDS, HEAD, strict=True):
        yield soft(x, y, words, text_anchor="end")
    yield soft(BARS, y, "nodes, each tick ten times as many")
    yield node("path", d=f"M{EDGE:g},{y + 6:g}H{WIDE:g}", stroke="var(--gv-line)")


def _draw_links(rows: list[tuple[int, NodeGroup]], top: float) -> list[Element]:
    """Lines from each branch to its children; the width grows with the number of live nodes."""
    above, links = [0] * len(rows), []
    for number, (depth, branch) in enumerate(rows):
        above[depth] = number
        if depth:
            x, y, start = EDGE + 8 + INDENT * (depth - 1), top + ROW * number + 8, top + ROW * above[depth - 1] + 14
            way = f"M{x:g},{start:g}V{y - 8:g}Q{x:g},{y:g} {x + 10:g},{y:g}H{x + INDENT - 8:g}"
            links.append((branch, node("path", d=way, fill="none", **_line(branch))))
    return [link for _, link in sorted(links, key=lambda link: not link[0].cut)]  # live ones over those that were cut


def _line(branch: NodeGroup) -> dict[str, object]:
    if branch.cut:
        return {"stroke": "var(--gv-orange)", "stroke_width": 1.4, "stroke_dasharray": "4 3"}
    return {"stroke": "var(--gv-blue)", "stroke_width": 1 + log10(branch.live) / 1.6}


def _draw_row(depth: int, branch: NodeGroup, nodes: int) -> Iterator[Element]:
    x = EDGE + 8 + INDENT * depth
    if branch.cut:
        high = 3 + 1.5 * log10(branch.dropped)
        yield _cross(x, 8)
        way = f"M{x + 8:g},8L{x + 24:g},{8 - high:.4g}V{8 + high:.4g}Z"
        yield node("path", d=way, fill="var(--gv-orange)", fill_opacity=0.25, stroke="var(--gv-orange)")
        yield write(x + 30, 12.5, _name(branch), 12.5, mono=True, fill="var(--gv-orange)")
    else:
        yield node("circle", cx=x, cy=8, r=5.5, fill="var(--gv-blue)")
        name = _name(branch) if depth else "root"
        yield write(x + 12, 12.5, name, 13, mono=bool(depth), font_weight="bold")
        more = _more(branch)
        yield soft(x + 22 + 8.0 * len(name), 12.5, more)
    for end, words in zip(ENDS, _numbers(branch), strict=True):
        yield write(end, 12.5, words, 12, mono=True, text_anchor="end")
    yield from _draw_bars(branch, nodes)


def _cross(x: float, y: float) -> Element:
    return node("path", d=f"M{x - 5:g},{y - 5:g}l10,10m0,-10l-10,10", stroke="var(--gv-orange)", stroke_width=2.2)


def _name(branch: NodeGroup) -> str:
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


def _draw_bars(branch: NodeGroup, nodes: int) -> Iterator[Element]:
    """The numbers of live and of dropped nodes, as bars on a logarithmic axis."""
    ten = (WIDE - BARS) / log10(max(10, nodes))
    for power in range(1, int(log10(max(10, nodes))) + 1):
        yield node("path", d=f"M{BARS + ten * power:.5g},-4V20", stroke="var(--gv-line)")
    if branch.live:
        size = {"x": BARS, "y": 1, "width": max(2.0, ten * log10(branch.live)), "height": 6, "rx": 1.5}
        yield node("rect", **size, fill="var(--gv-blue)")
    if branch.dropped:
        size = {"x": BARS, "y": 9, "width": max(2.0, ten * log10(branch.dropped)), "height": 6, "rx": 1.5}
        yield node("rect", **size, fill="none", stroke="var(--gv-orange)", stroke_dasharray="3 2")


def _say_rows(walk: Walk, rows: list[tuple[int, NodeGroup]]) -> Iterator[str]:
    if walk.part:
        yield _say_slice(walk)
    names = ["", *(_say_name(depth, branch) for depth, branch in rows)]
    width = max(16, *map(len, names)) + 2
    for name, words in zip(names, [HEAD, *(_numbers(branch) for _, branch in rows)], strict=True):
        yield f"{name:<{width}}" + "".join(f"{word:>9}" for word in words)


def _say_name(depth: int, branch: NodeGroup) -> str:
    name = f"cut: {_name(branch)}" if branch.cut else _name(branch) if depth else "root"
    return "  " * depth + " ".join(filter(None, [name, _more(branch)]))
