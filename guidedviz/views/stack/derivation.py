"""The parse tree of a text or of a prefix, as Earley's algorithm finds it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.earley.derivation import ParseLeaf, ParseTree, derivation, walk
from guidedviz.machines.earley.earley import Earley, earley
from guidedviz.machines.machine import to_bytes
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, figure_of, heading, rect, wide, write
from guidedviz.views.stack.earley_chart import EDGE
from guidedviz.views.words import label

TREE_TOP, LEVEL, BOX, APART, BROADEST = 34.0, 46.0, 24.0, 8.0, 1060.0
DEEPEST = 60  # levels that are drawn
TEXT_ROOM = 24  # characters of a text
LOW = ("leaf", "next")  # kinds of parts on the lowest line
LINE = {"stroke": "var(--gv-soft)", "stroke_width": 1.3}
OPEN = {"stroke": "var(--gv-orange)", "stroke_width": 2, "stroke_dasharray": "5 3.5"}


@dataclass(frozen=True)
class TreePart:
    """A node of the tree as it is drawn."""

    words: str
    kind: str  # rule, open, leaf, next
    parts: "tuple[TreePart, ...]" = ()

    @cached_property
    def width(self) -> float:
        own = wide(self.words, 13) + APART + 16 * (self.kind != "leaf")
        return max(own, sum(part.width for part in self.parts))

    @cached_property
    def height(self) -> int:
        return 1 + max((part.height for part in self.parts), default=0)


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
    tree = derivation(grammar if isinstance(grammar, Earley) else earley(grammar), data)
    drawn = _grow(tree, data) if max(depth for depth, _ in walk(tree)) <= DEEPEST else None
    if drawn is None or drawn.width > BROADEST:
        seen, expected = f"the tree of {len(data):,} bytes", "one that fits into a picture"
        raise SettingError("draw_derivation, text", seen=seen, expected=expected, hint="a shorter text")
    lines, ground = list(_lines(drawn, 0)), TREE_TOP + LEVEL * (drawn.height - 1)
    about = f"{tree.name} is open" if tree.open else "finished"
    about += "; ? could be read in a second way" * any(" ?" in line for line in lines)  # a text has no spaces
    said = "\n".join([f"tree of {shorten(label(data[:200]), 60)}: {about}", *lines])
    body = [heading(EDGE, 20, "tree", about), *_write(drawn, EDGE, TREE_TOP, ground)]
    width = max(drawn.width + 2 * EDGE, EDGE * 2 + 40 + 6.4 * len(about))
    return figure_of(width, ground + BOX + EDGE, said, *body)


def _grow(part: ParseTree | ParseLeaf, data: bytes) -> TreePart:
    """A branch with its parts that have text or are open."""
    if isinstance(part, ParseLeaf):
        return TreePart(shorten(label(data[part.start : part.end]), TEXT_ROOM), "leaf")
    opened = {child for child in part.children if isinstance(child, ParseTree) and child.open}
    parts = [_grow(child, data) for child in part.children if child in opened or child.end > child.start]
    parts += [TreePart("▸", "next")] * (part.open and not opened)
    return TreePart(part.name + " ?" * part.ambiguous, "open" if part.open else "rule", tuple(parts))


def _write(drawn: TreePart, x: float, y: float, ground: float) -> Iterator[Element]:
    """A node centred in its width with its children below; text is on the lowest line."""
    middle, at = x + drawn.width / 2, x + (drawn.width - sum(part.width for part in drawn.parts)) / 2
    for part in drawn.parts:
        down, to = ground if part.kind in LOW else y + LEVEL, at + part.width / 2
        way = f"M{middle:.1f},{y + BOX:.1f}L{to:.1f},{min(down, y + LEVEL):.1f}V{down:.1f}"
        yield node("path", d=way, fill="none", **(OPEN if part.kind in ("open", "next") else LINE))
        yield from _write(part, at, down, ground)
        at += part.width
    style: dict[str, Any] = {"mono": True, "text_anchor": "middle"}
    if drawn.kind in ("rule", "open"):
        half = wide(drawn.words, 13) / 2 + 8
        line = OPEN if drawn.kind == "open" else {"stroke": "var(--gv-blue)", "stroke_width": 1.3}
        yield rect(middle - half, y, 2 * half, BOX, 5, fill="var(--gv-page)", **line)
    elif drawn.kind == "next":
        style |= {"fill": "var(--gv-orange)"}
    elif drawn.kind == "leaf":
        style |= {"font_weight": "bold"}
    yield write(middle, y + 16, drawn.words, 13, **style)


def _lines(drawn: TreePart, depth: int) -> Iterator[str]:
    yield "  " * depth + drawn.words + " …" * (drawn.kind == "open")
    for part in drawn.parts:
        yield from _lines(part, depth + 1)
