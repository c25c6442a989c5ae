"""The parse tree of a text or of a prefix: rules above, the text below, open branches dashed.

A large tree is folded: a finished branch becomes a triangle over its text, as in linguistics; of a long path of open
branches, and of many children, the first and the last are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from guidedviz.errors import shorten
from guidedviz.machines.earley.derivation import ParseLeaf, ParseTree, derivation
from guidedviz.machines.machine import to_bytes
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, drawing, heading, soft, wide, write
from guidedviz.views.stack.earley_chart import earley_of
from guidedviz.views.words import label

EDGE, TOP, LEVEL, BOX, GAP, WIDEST = 14.0, 34.0, 46.0, 24.0, 8.0, 1060.0
OUTER, INNER = 4, 8  # levels kept of a longer path
MOST_PARTS = 16
FIRST, LAST = 2, 6  # children kept of more
ROOM = 24  # characters of a text
DETAILS = (8, 6, 5, 4, 3, 2, 1, 0)  # levels of finished branches: the first that fits
PartKind = Literal["rule", "open", "leaf", "folded", "more", "next"]


@dataclass(frozen=True)
class TreePart:
    """A node of the tree as it is drawn."""

    words: str
    kind: PartKind
    parts: tuple[TreePart, ...] = ()
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
    """The parse tree of a text or of a prefix, for a grammar, its machine, or its Earley parser.

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
    drawn = _fit(tree, data)
    said = _say(drawn, tree, data)
    ground = TOP + LEVEL * (drawn.height - 1)
    body = list(_write(drawn, EDGE, TOP, ground))
    about = said.partition("\n")[0].partition(": ")[2]
    title = heading(EDGE, 20, "tree", about)
    width = max(drawn.width + 2 * EDGE, EDGE * 2 + 40 + 6.4 * len(about))
    return Figure(drawing(width, ground + BOX + EDGE, title, *body, alt=said), said, said)


def _fit(tree: ParseTree, data: bytes) -> TreePart:
    """The tree with as many levels as fit."""
    way, drawn = _open_way(tree), TreePart("", "next")
    for detail in DETAILS:
        drawn = _grow_way(way, data, detail)
        if drawn.width <= WIDEST:
            break
    return drawn


def _open_way(tree: ParseTree) -> list[ParseTree]:
    """The path of open branches from the root."""
    way = [tree]
    while (last := way[-1].children[-1:]) and isinstance(last[0], ParseTree) and last[0].open:
        way.append(last[0])
    return way


def _grow_way(way: Sequence[ParseTree], data: bytes, detail: int) -> TreePart:
    """The open branches from the innermost outwards; the middle levels of a long path become one node."""
    inner: tuple[TreePart, ...] = (TreePart("▸", "next"),) if way[0].open else ()
    middle = range(OUTER, len(way) - INNER) if len(way) > OUTER + INNER + 1 else range(0)
    for level in range(len(way) - 1, -1, -1):
        if level in middle:
            inner = inner if level > OUTER else (TreePart(f"⋮ {len(middle):,} levels", "more", inner),)
            continue
        branch = way[level]
        finished = branch.children[: len(branch.children) - (level < len(way) - 1)]
        parts = (*_grow_parts(finished, data, detail), *inner)
        inner = (TreePart(branch.name, "open" if branch.open else "rule", parts, branch.ambiguous),)
    return inner[0]


def _grow_parts(children: Sequence[ParseTree | ParseLeaf], data: bytes, detail: int) -> Iterator[TreePart]:
    """The children with text; of very many, the first and the last."""
    left = len(children) - FIRST - LAST if len(children) > MOST_PARTS else 0
    for child in children[:FIRST] if left else children:
        yield from _grow(child, data, detail)
    if left:
        yield TreePart(f"⋮ {left:,} parts", "more")
        for child in children[-LAST:]:
            yield from _grow(child, data, detail)


def _grow(part: ParseTree | ParseLeaf, data: bytes, detail: int) -> Iterator[TreePart]:
    text = label(data[part.start : min(part.end, part.start + 2 * ROOM)])
    if isinstance(part, ParseLeaf):
        yield TreePart(shorten(text, ROOM), "leaf")
    elif part.end > part.start and not detail:
        yield TreePart(part.name, "folded", ambiguous=part.ambiguous, text=shorten(text, ROOM))
    elif part.end > part.start:
        yield TreePart(part.name, "rule", tuple(_grow_parts(part.children, data, detail - 1)), part.ambiguous)


def _write(drawn: TreePart, x: float, y: float, ground: float) -> Iterator[Element]:
    """A node centred in its width with its children below; text is on the lowest line."""
    middle, at = x + drawn.width / 2, x + (drawn.width - sum(part.width for part in drawn.parts)) / 2
    for part in drawn.parts:
        down = ground if part.kind in ("leaf", "next") else y + LEVEL
        yield _branch(middle, y + BOX, at + part.width / 2, down, part)
        yield from _write(part, at, down, ground)
        at += part.width
    if drawn.kind == "folded":
        half = wide(drawn.text, 13) / 2 + 4
        points = f"{middle:.1f},{y + BOX:.1f} {middle - half:.1f},{ground + 3:.1f} {middle + half:.1f},{ground + 3:.1f}"
        yield node("polygon", points=points, fill="var(--gv-blue)", fill_opacity=0.1, stroke="var(--gv-blue)")
        yield write(middle, ground + 17, drawn.text, 13, mono=True, text_anchor="middle")
    newest = {"data_newest": ""} if drawn.kind == "next" else {}
    yield node("g", *_part(drawn, middle, y), **newest)


def _branch(x: float, y: float, a: float, b: float, part: TreePart) -> Element:
    way = f"M{x:.1f},{y:.1f}L{a:.1f},{min(b, y + LEVEL - BOX):.1f}V{b:.1f}"
    style = {"stroke": "var(--gv-soft)", "stroke_width": 1.3}
    if part.kind in ("open", "next", "more"):
        style = {"stroke": "var(--gv-orange)", "stroke_width": 1.8, "stroke_dasharray": "5 3.5"}
    return node("path", d=way, fill="none", **style)


def _part(drawn: TreePart, x: float, y: float) -> Iterator[Element]:
    words = drawn.words + " ?" * drawn.ambiguous
    if drawn.kind == "next":
        yield write(x, y + 17, "▸", 15, fill="var(--gv-orange)", text_anchor="middle")
    elif drawn.kind == "leaf":
        yield write(x, y + 17, words, 13, mono=True, text_anchor="middle", font_weight="bold")
    elif drawn.kind == "more":
        yield node("rect", x=x - drawn.width / 2, y=y, width=drawn.width, height=BOX, fill="var(--gv-page)")
        yield soft(x, y + 16, words, text_anchor="middle")
    else:
        half = wide(words, 13) / 2 + 8
        line = {"stroke": "var(--gv-blue)", "stroke_width": 1.3}
        if drawn.kind == "open":
            line = {"stroke": "var(--gv-orange)", "stroke_width": 2, "stroke_dasharray": "5 3.5"}
        box = {"x": x - half, "y": y, "width": 2 * half, "height": BOX, "rx": 5}
        yield node("rect", **box, fill="var(--gv-page)", **line)
        yield write(x, y + 16, words, 13, mono=True, text_anchor="middle")


def _say(drawn: TreePart, tree: ParseTree, data: bytes) -> str:
    said = f"{tree.name} is open" if tree.open else "finished"
    said += "; ? could be read in a second way" * _is_ambiguous(drawn)
    return "\n".join([f"tree of {shorten(label(data[:200]), 60)}: {said}", *_lines(drawn, 0)])


def _is_ambiguous(drawn: TreePart) -> bool:
    return drawn.ambiguous or any(map(_is_ambiguous, drawn.parts))


def _lines(drawn: TreePart, depth: int) -> Iterator[str]:
    signs = " …" * (drawn.kind == "open") + " ?" * drawn.ambiguous + f" △ {drawn.text}" * (drawn.kind == "folded")
    yield f"{'  ' * depth}{drawn.words}{signs}"
    for part in drawn.parts:
        yield from _lines(part, depth + 1)
