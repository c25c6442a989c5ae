"""The parse tree of a text or of a prefix, as Earley's algorithm finds it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.earley.derivation import ParseLeaf, ParseTree, derivation, walk_tree
from guidedviz.machines.earley.earley import Earley, earley
from guidedviz.machines.machine import to_bytes
from guidedviz.markup import Element
from guidedviz.views.figure import NEAR_EDGE, Figure, Style, figure_of, heading, path_of, rect, wide, write
from guidedviz.views.words import label

TREE_TOP = 34.0
LEVEL_HIGH = 46.0
NAME_HIGH = 24.0  # of a box
APART = 8.0  # pixels between two texts
BROADEST = 1060.0  # pixels of a tree
DEEPEST_TREE = 60  # levels that are drawn
LEAF_ROOM = 24  # characters of a text
RULE_LINE = {"stroke": "var(--gv-blue)", "stroke_width": 1.3}
PART_LINE = {"stroke": "var(--gv-soft)", "stroke_width": 1.3}
OPEN_LINE = {"stroke": "var(--gv-orange)", "stroke_width": 2, "stroke_dasharray": "5 3.5"}


@dataclass(frozen=True)
class TreePart:
    """A node of the tree as it is drawn."""

    words: str
    kind: str  # rule, open, leaf, next
    parts: "tuple[TreePart, ...]" = ()

    @cached_property
    def width(self) -> float:
        own = wide(self.words) + APART
        if self.kind != "leaf":
            own += 16
        return max(own, self.broad)

    @cached_property
    def broad(self) -> float:
        """The width of all parts."""
        return sum(part.width for part in self.parts)

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
    depth = max(depth for depth, _ in walk_tree(tree))
    drawn = _grow_tree(tree, data) if depth <= DEEPEST_TREE else None
    if drawn is None or drawn.width > BROADEST:
        seen = f"the tree of {len(data):,} bytes"
        expected = "one that fits into a picture"
        raise SettingError("draw_derivation, text", seen=seen, expected=expected, hint="a shorter text")
    lines = list(_say_tree(drawn, 0))
    about = f"{tree.name} is open" if tree.open else "finished"
    if any(" ?" in line for line in lines):  # a text has no spaces
        about += "; ? could be read in a second way"
    shown = shorten(label(data[:200]), 60)
    title = f"tree of {shown}: {about}"
    ground = TREE_TOP + LEVEL_HIGH * (drawn.height - 1)
    parts = _write_tree(drawn, NEAR_EDGE, TREE_TOP, ground)
    widest = max(drawn.width, 40 + 6.4 * len(about))
    height = ground + NAME_HIGH + NEAR_EDGE
    head = heading(NEAR_EDGE, 20, "tree", about)
    text = "\n".join([title, *lines])
    return figure_of(widest + 2 * NEAR_EDGE, height, text, head, *parts)


def _grow_tree(part: ParseTree | ParseLeaf, data: bytes) -> TreePart:
    """A branch with its parts that have text or are open."""
    if isinstance(part, ParseLeaf):
        text = label(data[part.start : part.end])
        return TreePart(shorten(text, LEAF_ROOM), "leaf")
    name = f"{part.name} ?" if part.ambiguous else part.name
    shown = [child for child in part.children if _is_open(child) or child.end > child.start]
    parts = [_grow_tree(child, data) for child in shown]
    if not part.open:
        return TreePart(name, "rule", tuple(parts))
    if not any(map(_is_open, shown)):
        parts.append(TreePart("▸", "next"))
    return TreePart(name, "open", tuple(parts))


def _is_open(part: ParseTree | ParseLeaf) -> bool:
    return isinstance(part, ParseTree) and part.open


def _write_tree(drawn: TreePart, x: float, y: float, ground: float) -> Iterator[Element]:
    """A node centred in its width with its children below; text is on the lowest line."""
    middle = x + drawn.width / 2
    left = x + (drawn.width - drawn.broad) / 2
    for part in drawn.parts:
        top = y + LEVEL_HIGH
        down = ground if part.kind in ("leaf", "next") else top
        to = left + part.width / 2
        line = OPEN_LINE if part.kind in ("open", "next") else PART_LINE
        start = f"M{middle:.1f},{y + NAME_HIGH:.1f}"
        turn = f"L{to:.1f},{min(down, top):.1f}"
        yield path_of(f"{start}{turn}V{down:.1f}", fill="none", **line)
        yield from _write_tree(part, left, down, ground)
        left += part.width
    style: Style = {"mono": True, "text_anchor": "middle"}
    if drawn.kind == "next":
        style["fill"] = "var(--gv-orange)"
    elif drawn.kind == "leaf":
        style["font_weight"] = "bold"
    else:
        half = wide(drawn.words) / 2 + 8
        line = OPEN_LINE if drawn.kind == "open" else RULE_LINE
        left = middle - half
        yield rect(left, y, 2 * half, NAME_HIGH, 5, fill="var(--gv-page)", **line)
    yield write(middle, y + 16, drawn.words, **style)


def _say_tree(drawn: TreePart, depth: int) -> Iterator[str]:
    name = drawn.words
    if drawn.kind == "open":
        name = f"{drawn.words} …"
    yield "".rjust(2 * depth) + name
    for part in drawn.parts:
        yield from _say_tree(part, depth + 1)
