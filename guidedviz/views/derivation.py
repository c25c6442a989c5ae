"""The parse tree of a text, or of a beginning: rules above, the text below, branches that are open dashed.

What is large is folded, and said to be: a finished branch becomes a triangle over its text, as linguists draw it; of a
long way down to where the text stands the first and the last levels are kept, of many parts the first and the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from guidedviz.machines.derivation import Branch, Leaf, derivation
from guidedviz.machines.machine import to_bytes
from guidedviz.views.chart import earley_of
from guidedviz.views.figure import Figure, drawing, node, shorten, wide, write
from guidedviz.views.words import label

EDGE = 14.0
TOP = 34.0
LEVEL = 46.0
BOX = 24.0
GAP = 8.0
WIDEST = 1060.0
OUTER, INNER = 4, 8  # levels that are kept of a longer way down
MOST_PARTS = 16
FIRST, LAST = 2, 6  # parts that are kept of more
ROOM = 24  # characters of a text
DETAILS = (8, 6, 5, 4, 3, 2, 1, 0)  # levels of finished branches that are drawn: as many as there is room for
Kind = Literal["rule", "open", "leaf", "folded", "more", "next"]


@dataclass(frozen=True)
class Twig:
    """A part of the tree as it is drawn."""

    words: str
    kind: Kind
    parts: tuple[Twig, ...] = ()
    ambiguous: bool = False
    text: str = ""  # of a folded branch

    @cached_property
    def width(self) -> float:
        own = max(wide(self.words + " ?" * self.ambiguous, 13) + 16 * (self.kind != "leaf"), wide(self.text, 13) + 8)
        return max(own + GAP, sum(part.width for part in self.parts))

    @cached_property
    def height(self) -> int:
        return 1 + max((part.height for part in self.parts), default=1 if self.kind == "folded" else 0)


def draw_derivation(grammar: Any, text: bytes | str) -> Figure:
    """The tree of a text, or of a beginning, by a grammar, its machine, or its Earley machine.

    >>> print(draw_derivation('root ::= "[" (item ("," item)*)? "]"\\nitem ::= [0-9] | root', "[1,[").text)
    tree of [1,[: root is open
    root …
      [
      item
        1
      ,
      item …
        root …
          [
          ▸
    """
    data = to_bytes(text)
    tree = derivation(earley_of(grammar), data)
    twig = _fit(tree, data)
    said = _say(twig, tree, data)
    ground = TOP + LEVEL * (twig.height - 1)
    body = list(_write(twig, EDGE, TOP, ground))
    title = write(EDGE, 20, "tree", 13, font_weight="bold")
    about = said.partition("\n")[0].partition(": ")[2]
    title += write(EDGE + 38, 20, about, 12, fill="var(--gv-soft)")
    width = max(twig.width + 2 * EDGE, EDGE * 2 + 40 + 6.4 * len(about))
    return Figure(drawing(width, ground + BOX + EDGE, title, *body, alt=said), said, said)


def _fit(tree: Branch, data: bytes) -> Twig:
    """The tree with as much of it as there is room for."""
    way, twig = _open_way(tree), Twig("", "next")
    for detail in DETAILS:
        twig = _grow_way(way, data, detail)
        if twig.width <= WIDEST:
            break
    return twig


def _open_way(tree: Branch) -> list[Branch]:
    """The open branches, each inside the one before it."""
    way = [tree]
    while (last := way[-1].children[-1:]) and isinstance(last[0], Branch) and last[0].open:
        way.append(last[0])
    return way


def _grow_way(way: Sequence[Branch], data: bytes, detail: int) -> Twig:
    """From the innermost open branch outwards; the levels in the middle of a long way are one twig."""
    inner: tuple[Twig, ...] = (Twig("▸", "next"),) if way[0].open else ()
    middle = range(OUTER, len(way) - INNER) if len(way) > OUTER + INNER + 1 else range(0)
    for level in range(len(way) - 1, -1, -1):
        if level in middle:
            inner = inner if level > OUTER else (Twig(f"⋮ {len(middle):,} levels", "more", inner),)
            continue
        branch = way[level]
        finished = branch.children[: len(branch.children) - (level < len(way) - 1)]
        parts = (*_grow_parts(finished, data, detail), *inner)
        inner = (Twig(branch.name, "open" if branch.open else "rule", parts, branch.ambiguous),)
    return inner[0]


def _grow_parts(children: Sequence[Branch | Leaf], data: bytes, detail: int) -> Iterator[Twig]:
    """The parts of a branch that have any text; of very many the first and the last."""
    left = len(children) - FIRST - LAST if len(children) > MOST_PARTS else 0
    for child in children[:FIRST] if left else children:
        yield from _grow(child, data, detail)
    if left:
        yield Twig(f"⋮ {left:,} parts", "more")
        for child in children[-LAST:]:
            yield from _grow(child, data, detail)


def _grow(part: Branch | Leaf, data: bytes, detail: int) -> Iterator[Twig]:
    text = label(data[part.start : min(part.end, part.start + 2 * ROOM)])
    if isinstance(part, Leaf):
        yield Twig(shorten(text, ROOM), "leaf")
    elif part.end > part.start and not detail:
        yield Twig(part.name, "folded", ambiguous=part.ambiguous, text=shorten(text, ROOM))
    elif part.end > part.start:
        yield Twig(part.name, "rule", tuple(_grow_parts(part.children, data, detail - 1)), part.ambiguous)


def _write(twig: Twig, x: float, y: float, ground: float) -> Iterator[str]:
    """A twig in the middle of its room, its parts below it; what is text stands on the ground."""
    middle, at = x + twig.width / 2, x + (twig.width - sum(part.width for part in twig.parts)) / 2
    for part in twig.parts:
        down = ground if part.kind in ("leaf", "next") else y + LEVEL
        yield _branch(middle, y + BOX, at + part.width / 2, down, part)
        yield from _write(part, at, down, ground)
        at += part.width
    if twig.kind == "folded":
        half = wide(twig.text, 13) / 2 + 4
        points = f"{middle:.1f},{y + BOX:.1f} {middle - half:.1f},{ground + 3:.1f} {middle + half:.1f},{ground + 3:.1f}"
        yield node("polygon", points=points, fill="var(--gv-blue)", fill_opacity=0.1, stroke="var(--gv-blue)")
        yield write(middle, ground + 17, twig.text, 13, mono=True, text_anchor="middle")
    yield node("g", *_twig(twig, middle, y))


def _branch(x: float, y: float, a: float, b: float, part: Twig) -> str:
    way = f"M{x:.1f},{y:.1f}L{a:.1f},{min(b, y + LEVEL - BOX):.1f}V{b:.1f}"
    style = {"stroke": "var(--gv-soft)", "stroke_width": 1.3}
    if part.kind in ("open", "next", "more"):
        style = {"stroke": "var(--gv-orange)", "stroke_width": 1.8, "stroke_dasharray": "5 3.5"}
    return node("path", d=way, fill="none", **style)


def _twig(twig: Twig, x: float, y: float) -> Iterator[str]:
    words = twig.words + " ?" * twig.ambiguous
    if twig.kind == "next":
        yield write(x, y + 17, "▸", 15, fill="var(--gv-orange)", text_anchor="middle")
    elif twig.kind == "leaf":
        yield write(x, y + 17, words, 13, mono=True, text_anchor="middle", font_weight="bold")
    elif twig.kind == "more":
        yield node("rect", x=x - twig.width / 2, y=y, width=twig.width, height=BOX, fill="var(--gv-page)")
        yield write(x, y + 16, words, 12, fill="var(--gv-soft)", text_anchor="middle")
    else:
        half = wide(words, 13) / 2 + 8
        line = {"stroke": "var(--gv-blue)", "stroke_width": 1.3}
        if twig.kind == "open":
            line = {"stroke": "var(--gv-orange)", "stroke_width": 2, "stroke_dasharray": "5 3.5"}
        box = {"x": x - half, "y": y, "width": 2 * half, "height": BOX, "rx": 5}
        yield node("rect", **box, fill="var(--gv-page)", **line)
        yield write(x, y + 16, words, 13, mono=True, text_anchor="middle")


def _say(twig: Twig, tree: Branch, data: bytes) -> str:
    said = f"{tree.name} is open" if tree.open else "finished"
    said += "; ? could be read in a second way" * _is_ambiguous(twig)
    return "\n".join([f"tree of {shorten(label(data[:200]), 60)}: {said}", *_lines(twig, 0)])


def _is_ambiguous(twig: Twig) -> bool:
    return twig.ambiguous or any(map(_is_ambiguous, twig.parts))


def _lines(twig: Twig, depth: int) -> Iterator[str]:
    signs = " …" * (twig.kind == "open") + " ?" * twig.ambiguous + f" △ {twig.text}" * (twig.kind == "folded")
    yield f"{'  ' * depth}{twig.words}{signs}"
    for part in twig.parts:
        yield from _lines(part, depth + 1)
