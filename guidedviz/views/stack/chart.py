"""The Earley chart, one column per position, and the parse tree of a text or of a prefix.

A large tree is folded: a finished branch becomes a triangle over its text, as in linguistics; of a long path of open
branches, and of many children, the first and the last are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.earley.derivation import ParseLeaf, ParseTree, derivation
from guidedviz.machines.earley.earley import ChartItem, Earley, EarleyState, earley
from guidedviz.machines.earley.productions import Phrase
from guidedviz.machines.machine import next_bytes, to_bytes
from guidedviz.machines.visible import counted, visible, visible_bytes
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write
from guidedviz.views.words import label

WIDEST, MOST_COLUMNS, MOST_ROWS = 1140.0, 6, 16
ROOM = 30  # characters of a dotted rule
ROW, HEAD, EDGE, GAP = 21.0, 34.0, 14.0, 10.0
SIGNS = {  # of each operation that adds a row: sign, colour, meaning
    "predict": ("▷", "gold", "predict: may begin here"),
    "scan": ("■", "blue", "scan: a byte was read"),
    "complete": ("◆", "green", "complete: a part is finished"),
    "skip": ("∅", "soft", "skip: may be empty"),
}


@dataclass(frozen=True)
class ChartColumn:
    """A column of the chart with the rows that are drawn: dotted rules, each with the operation that added it."""

    name: str  # what was read; empty at the start
    number: int
    rows: tuple[tuple[str, ChartItem], ...]
    more: int = 0  # rows that are not drawn

    @property
    def width(self) -> float:
        return max([wide(dotted(item), 12) for _, item in self.rows] + [wide(self.name, 15), 70.0]) + 80


Attributes = Callable[[int, int | None], dict[str, Any]]  # of a row of a column; of a column's card if the row is None


def draw_chart(grammar: Any, text: bytes | str) -> Figure:
    """The last columns of the chart of a text; rows of unnamed parts are grey.

    >>> print(draw_chart('root ::= "a" root | "b"', "ab").text)
    chart: 3 columns
    0
      ▷ predict   start → • root  from 0
      ▷ predict   root → • "a" root  from 0
      ▷ predict   root → • "b"  from 0
    1, after a
      ■ scan      root → "a" • root  from 0
      ▷ predict   root → • "a" root  from 1
      ▷ predict   root → • "b"  from 1
    2, after b
      ■ scan      root → "b" •  from 1 ✓
      ◆ complete  root → "a" root •  from 0 ✓
      ◆ complete  start → root •  from 0 ✓
    """
    machine, data = _earley_of(grammar), to_bytes(text)
    states = machine.chart(data)
    if len(states) <= len(data):
        place, expected = states[-1].number, visible_bytes(next_bytes(machine, states[-1]))
        raise SettingError(f"text, byte {place}", seen=visible(data[place : place + 1]), expected=expected)
    columns = [_read(state, data) for state in states[-MOST_COLUMNS:]]
    while len(columns) > 1 and sum(column.width for column in columns) > WIDEST:
        columns = columns[1:]
    about = f"the last {len(columns)} of " * (len(columns) < len(states)) + counted(len(states), "column")
    last = len(columns) - 1
    parts, width, low = write_columns(
        columns, 32, lambda place, row: {"data_newest": ""} if row is None and place == last else {}
    )
    said = "\n".join([f"chart: {about}", *say_columns(columns)])
    return Figure(drawing(width, low, heading(EDGE, 20, "chart", about), *parts, alt=said), said, said)


def _earley_of(grammar: Any) -> Earley:
    """The Earley parser of a grammar or of its machine."""
    return grammar if isinstance(grammar, Earley) else earley(grammar)


def _read(state: EarleyState, data: bytes) -> ChartColumn:
    """A column; of a long one, moved rows and predictions of named rules have priority."""
    rows = []
    for row, by in state.items.items():  # the parser keeps the finished row that moved a row's dot
        item = row.shown
        kind = ("skip" if isinstance(by, Phrase) else "complete") if by else "scan" if item.before else "predict"
        rows.append((kind, item))
    first = sorted(range(len(rows)), key=lambda at: rows[at][0] == "predict" and not rows[at][1].written)
    byte = data[max(0, state.number - 1) : state.number]
    shown = tuple(rows[at] for at in sorted(first[:MOST_ROWS]))
    return ChartColumn(label(byte) if byte else "", state.number, shown, len(rows) - len(shown))


def dotted(item: ChartItem) -> str:
    """A dotted rule, shortened around its dot."""
    left, right = f"{item.rule} → {item.before} ".replace("  ", " "), f" {item.after}".rstrip()
    if len(left) > ROOM - 8:
        left = shorten(item.rule, 10) + " → …" + left[-(ROOM - 22) :]
    return left + "•" + shorten(right, max(8, ROOM - len(left)))


def write_columns(
    columns: Sequence[ChartColumn], top: float, attributes: Attributes, read: str = "byte"
) -> tuple[list[Element], float, float]:
    """The columns side by side and the legend of their signs, and how wide and high a picture with them is."""
    parts, x = list[Element](), EDGE
    high = HEAD + ROW * max(len(column.rows) + bool(column.more) for column in columns) + 4
    for place, column in enumerate(columns):
        width, about = column.width - GAP, attributes(place, None)
        line = {"stroke": "var(--gv-line)"} | ({"stroke": "var(--gv-orange)"} if "data_newest" in about else {})
        card = node("rect", x=0, y=0, width=width, height=high, rx=7, fill="var(--gv-card)", **line)
        name = write(12, 21, column.name or "start", 15, font_weight="bold")
        parts.append(moved(x, top, card, name, soft(width - 10, 21, f"{column.number:,}", text_anchor="end"), **about))
        for row, (kind, item) in enumerate(column.rows):
            inside = _row(kind, item, width)
            parts.append(moved(x, top + HEAD + ROW * row, *inside, **attributes(place, row)))
        more = f"⋮ {column.more:,} more"
        parts.append(soft(x + 30, top + HEAD + ROW * len(column.rows) + 14, more) if column.more else NOTHING)
        x += column.width
    kinds, at, low = {kind for column in columns for kind, _ in column.rows}, EDGE, top + high + 22
    for sign, colour, means in (SIGNS[kind] for kind in SIGNS if kind in kinds):
        means = means.replace("byte", read)
        parts += [write(at, low, sign, 12, fill=f"var(--gv-{colour})"), soft(at + 16, low, means)]
        at += 36 + 6.3 * len(means)
    words = "✓ finished · the number: where it began"
    return [*parts, soft(at, low, words)], max(x, at + 6.3 * len(words) + EDGE), low + 16


def _row(kind: str, item: ChartItem, width: float) -> Iterator[Element]:
    """A row: its sign, the dotted rule, and where it began; the frame is lit in a film."""
    sign, colour, _ = SIGNS[kind]
    left, _, right = dotted(item).partition("•")
    size = {"x": 3, "y": -0.5, "width": width - 6, "height": ROW - 1, "rx": 4}
    ground = {"fill": "var(--gv-green)", "fill_opacity": 0.13} if item.done else {"fill": "none"}
    yield node("title", str(item))
    yield node("rect", **size, fill="none", class_="gv-disc") + node("rect", **size, **ground)
    yield write(11, 15, sign, 12, fill=f"var(--gv-{colour})")
    yield write(30, 15, left, 12, mono=True, fill=f"var(--gv-{'ink' if item.written else 'soft'})")
    dot = 30 + wide(left, 12)
    yield node("circle", cx=dot + 3.6, cy=10.6, r=3.1, fill="var(--gv-orange)")
    yield soft(dot + wide("• ", 12), 15, right.lstrip(), mono=True)
    yield soft(width - 10, 15, "✓ " * item.done + f"{item.origin:,}", text_anchor="end")


def say_columns(columns: Iterable[ChartColumn]) -> Iterator[str]:
    """The columns as lines of text."""
    for column in columns:
        yield f"{column.number:,}" + f", after {column.name}" * bool(column.name)
        for kind, item in column.rows:
            sides = " ".join(filter(None, [item.before, "•", item.after]))
            yield f"  {SIGNS[kind][0]} {kind:<8}  {item.rule} → {sides}  from {item.origin:,}{' ✓' * item.done}"
        if column.more:
            yield f"  ⋮ {column.more:,} more"


# --- the tree ---


TOP, LEVEL, BOX, APART, BROADEST = 34.0, 46.0, 24.0, 8.0, 1060.0
OUTER, INNER = 4, 8  # levels kept of a longer path
MOST_PARTS = 16
FIRST, LAST = 2, 6  # children kept of more
TEXT_ROOM = 24  # characters of a text
DETAILS = (8, 6, 5, 4, 3, 2, 1, 0)  # levels of finished branches: the first that fits
PartKind = Literal["rule", "open", "leaf", "folded", "more", "next"]
LOW = ("leaf", "folded", "next")  # on the lowest line
LINE = {"stroke": "var(--gv-soft)", "stroke_width": 1.3}
OPEN = {"stroke": "var(--gv-orange)", "stroke_width": 2, "stroke_dasharray": "5 3.5"}


@dataclass(frozen=True)
class TreePart:
    """A node of the tree as it is drawn."""

    words: str
    kind: PartKind
    parts: tuple[TreePart, ...] = ()

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
    tree = derivation(_earley_of(grammar), data)
    for detail in DETAILS:
        drawn = _grow_open(tree, data, detail)
        if drawn.width <= BROADEST:
            break
    lines, ground = list(_lines(drawn, 0)), TOP + LEVEL * (drawn.height - 1)
    about = f"{tree.name} is open" if tree.open else "finished"
    about += "; ? could be read in a second way" * any(" ?" in line for line in lines)  # a text has no spaces
    said = "\n".join([f"tree of {shorten(label(data[:200]), 60)}: {about}", *lines])
    body = [heading(EDGE, 20, "tree", about), *_write(drawn, EDGE, TOP, ground)]
    width = max(drawn.width + 2 * EDGE, EDGE * 2 + 40 + 6.4 * len(about))
    return Figure(drawing(width, ground + BOX + EDGE, *body, alt=said), said, said)


def _grow_open(tree: ParseTree, data: bytes, detail: int) -> TreePart:
    """The open branches, from the innermost outwards; the middle levels of a long path become one node."""
    path = [tree]
    while (last := path[-1].children[-1:]) and isinstance(last[0], ParseTree) and last[0].open:
        path.append(last[0])
    inner: tuple[TreePart, ...] = (TreePart("▸", "next"),) if tree.open else ()
    middle = range(OUTER, len(path) - INNER) if len(path) > OUTER + INNER + 1 else range(0)
    for level in reversed(range(len(path))):
        if level not in middle:
            finished = path[level].children[: len(path[level].children) - (level < len(path) - 1)]
            parts = (*_grow_parts(finished, data, detail), *inner)
            inner = (TreePart(_name(path[level]), "open" if path[level].open else "rule", parts),)
        elif level == OUTER:
            inner = (TreePart(f"⋮ {len(middle):,} levels", "more", inner),)
    return inner[0]


def _name(branch: ParseTree) -> str:
    return branch.name + " ?" * branch.ambiguous


def _grow_parts(children: Sequence[ParseTree | ParseLeaf], data: bytes, detail: int) -> Iterator[TreePart]:
    """The children with text; of very many, the first and the last."""
    left = len(children) - FIRST - LAST if len(children) > MOST_PARTS else 0
    for place, part in enumerate(children):
        text = shorten(label(data[part.start : min(part.end, part.start + 2 * TEXT_ROOM)]), TEXT_ROOM)
        if FIRST <= place < FIRST + left:
            if place == FIRST:
                yield TreePart(f"⋮ {left:,} parts", "more")
        elif isinstance(part, ParseLeaf):
            yield TreePart(text, "leaf")
        elif part.end > part.start and not detail:
            yield TreePart(_name(part), "rule", (TreePart(text, "folded"),))
        elif part.end > part.start:
            yield TreePart(_name(part), "rule", tuple(_grow_parts(part.children, data, detail - 1)))


def _write(drawn: TreePart, x: float, y: float, ground: float) -> Iterator[Element]:
    """A node centred in its width with its children below; text is on the lowest line."""
    middle, at = x + drawn.width / 2, x + (drawn.width - sum(part.width for part in drawn.parts)) / 2
    for part in drawn.parts:
        down, to, half = ground if part.kind in LOW else y + LEVEL, at + part.width / 2, part.width / 2 - APART
        if part.kind == "folded":
            way, look = f"M{middle:.1f},{y + BOX:.1f}L{to - half:.1f},{down:.1f}H{to + half:.1f}Z", LINE
        else:
            way = f"M{middle:.1f},{y + BOX:.1f}L{to:.1f},{min(down, y + LEVEL):.1f}V{down:.1f}"
            look = OPEN if part.kind in ("open", "next", "more") else LINE
        yield node("path", d=way, fill="none", **look)
        yield from _write(part, at, down, ground)
        at += part.width
    style: dict[str, Any] = {"mono": drawn.kind != "more", "text_anchor": "middle"}
    if drawn.kind in ("rule", "open"):
        half = wide(drawn.words, 13) / 2 + 8
        line = OPEN if drawn.kind == "open" else {"stroke": "var(--gv-blue)", "stroke_width": 1.3}
        yield node("rect", x=middle - half, y=y, width=2 * half, height=BOX, rx=5, fill="var(--gv-page)", **line)
    elif drawn.kind == "next":
        style |= {"fill": "var(--gv-orange)", "data_newest": ""}
    elif drawn.kind == "leaf":
        style |= {"font_weight": "bold"}
    elif drawn.kind == "more":  # it stands on a line
        style |= {"paint_order": "stroke", "stroke": "var(--gv-page)", "stroke_width": 8}
    yield write(middle, y + 16, drawn.words, 13, **style)


def _lines(drawn: TreePart, depth: int) -> Iterator[str]:
    yield "  " * depth + "△ " * (drawn.kind == "folded") + drawn.words + " …" * (drawn.kind == "open")
    for part in drawn.parts:
        yield from _lines(part, depth + 1)
