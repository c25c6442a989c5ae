"""The Earley chart, one column per position, and the parse tree of a text or of a prefix.

A large tree is folded: a finished branch becomes a triangle over its text, as in linguistics; of a long path of open
branches, and of many children, the first and the last are kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.earley.derivation import ParseLeaf, ParseTree, derivation
from guidedviz.machines.earley.earley import Cause, ChartItem, Earley, EarleyState
from guidedviz.machines.earley.earley import earley as build
from guidedviz.machines.earley.productions import Phrase
from guidedviz.machines.machine import next_bytes, to_bytes
from guidedviz.machines.visible import counted, visible, visible_bytes
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write
from guidedviz.views.words import label

WIDEST, MOST_COLUMNS, MOST_ROWS = 1140.0, 6, 16
ROOM = 30  # characters of a dotted rule
ROW, HEAD, EDGE = 21.0, 34.0, 14.0
SIGNS = {"predict": ("▷", "gold"), "scan": ("■", "blue"), "complete": ("◆", "green"), "skip": ("∅", "soft")}
MEANS = {
    "predict": "predict: may begin here",
    "scan": "scan: a byte was read",
    "complete": "complete: a part is finished",
    "skip": "skip: may be empty",
}


@dataclass(frozen=True)
class ChartRow:
    """A dotted rule and the operation that added it."""

    kind: str
    item: ChartItem


@dataclass(frozen=True)
class ChartColumn:
    """A column of the chart with the rows that are drawn."""

    name: str  # what was read; empty at the start
    number: int
    rows: tuple[ChartRow, ...]
    more: int = 0  # rows that are not drawn

    @property
    def width(self) -> float:
        return max([wide(dotted(row.item), 12) for row in self.rows] + [wide(self.name, 15), 70.0]) + 80

    @property
    def height(self) -> float:
        return HEAD + ROW * (len(self.rows) + bool(self.more)) + 4


def earley_of(grammar: Any) -> Earley:
    """The Earley parser of a grammar or of its machine; built once."""
    if isinstance(grammar, Earley):
        return grammar
    return _built(grammar) if isinstance(grammar, Hashable) else build(grammar)


_built = lru_cache(maxsize=8)(build)


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
    earley, data = earley_of(grammar), to_bytes(text)
    states = earley.chart(data)
    if len(states) <= len(data):
        place, expected = states[-1].number, visible_bytes(next_bytes(earley, states[-1]))
        raise SettingError(f"text, byte {place}", seen=visible(data[place : place + 1]), expected=expected)
    columns = [_read(state, data) for state in states[-MOST_COLUMNS:]]
    while len(columns) > 1 and sum(column.width for column in columns) > WIDEST:
        columns = columns[1:]
    about = f"the last {len(columns)} of " * (len(columns) < len(states)) + counted(len(states), "column")
    parts, x, high = [heading(EDGE, 20, "chart", about)], EDGE, max(column.height for column in columns)
    for column in columns:
        newest = {"data_newest": ""} if column is columns[-1] else {}
        parts.append(moved(x, 32, *_draw_column(column, bool(newest)), **newest))
        x += column.width
    legend, width = draw_legend(columns)
    parts.append(moved(EDGE, 32 + high + 22, legend))
    said = "\n".join([f"chart: {about}", *say_columns(columns)])
    return Figure(drawing(max(x + 4, width + 2 * EDGE), 32 + high + 38, *parts, alt=said), said, said)


def _read(state: EarleyState, data: bytes) -> ChartColumn:
    """A column; of a long one, moved rows and predictions of named rules have priority."""
    every = [(number, row.shown, by) for number, (row, by) in enumerate(state.items.items())]
    first = sorted(every, key=lambda found: (not found[2] and not found[1].before and not found[1].written, found[0]))
    rows = [ChartRow(_kind(item, by), item) for _, item, by in sorted(first[:MOST_ROWS], key=lambda found: found[0])]
    byte = data[max(0, state.number - 1) : state.number]
    return ChartColumn(label(byte) if byte else "", state.number, tuple(rows), len(every) - len(rows))


def _kind(item: ChartItem, by: Cause) -> str:
    """The operation that added a row: the parser keeps the finished row that moved its dot."""
    if by:
        return "skip" if isinstance(by, Phrase) else "complete"
    return "scan" if item.before else "predict"


def dotted(item: ChartItem) -> str:
    """A dotted rule, shortened around its dot."""
    left, right = f"{item.rule} → {item.before} ".replace("  ", " "), f" {item.after}".rstrip()
    if len(left) > ROOM - 8:
        left = shorten(item.rule, 10) + " → …" + left[-(ROOM - 22) :]
    return left + "•" + shorten(right, max(8, ROOM - len(left)))


def _draw_column(column: ChartColumn, now: bool) -> list[Element]:
    parts = draw_head(column, column.width - 10, column.height, now)
    for number, row in enumerate(column.rows):
        parts.append(moved(0, HEAD + ROW * number, *draw_row(row, column.width - 10)))
    if column.more:
        parts.append(soft(30, HEAD + ROW * len(column.rows) + 14, f"⋮ {column.more:,} more"))
    return parts


def draw_head(column: ChartColumn, width: float, height: float, now: bool = False) -> list[Element]:
    """The card of a column, its name and its number."""
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2} if now else {"stroke": "var(--gv-line)"}
    card = node("rect", x=0, y=0, width=width, height=height, rx=7, fill="var(--gv-card)", **line)
    number = soft(width - 10, 21, f"{column.number:,}", text_anchor="end")
    return [card, write(12, 21, column.name or "start", 15, font_weight="bold"), number]


def draw_row(row: ChartRow, width: float) -> list[Element]:
    """A row: its sign, the dotted rule, and where it began."""
    sign, colour = SIGNS[row.kind]
    words = dotted(row.item)
    left, _, right = words.partition("•")
    parts = [node("title", str(row.item))]
    if row.item.done:
        size = {"x": 5, "y": 1, "width": width - 10, "height": ROW - 2, "rx": 4}
        parts.append(node("rect", **size, fill="var(--gv-green)", fill_opacity=0.13))
    parts.append(write(11, 15, sign, 12, fill=f"var(--gv-{colour})"))
    parts.append(write(30, 15, left, 12, mono=True, fill=f"var(--gv-{'ink' if row.item.written else 'soft'})"))
    dot = 30 + wide(left, 12)
    parts.append(node("circle", cx=dot + 3.6, cy=10.6, r=3.1, fill="var(--gv-orange)"))
    parts.append(soft(dot + wide("• ", 12), 15, right.lstrip(), mono=True))
    done = "✓ " if row.item.done else ""
    parts.append(soft(width - 10, 15, f"{done}{row.item.origin:,}", 12, text_anchor="end"))
    return parts


def draw_legend(columns: Iterable[ChartColumn], read: str = "byte") -> tuple[Element, float]:
    """The signs that the rows use, and the width."""
    kinds = {row.kind for column in columns for row in column.rows}
    parts, x = [], 0.0
    for kind, (sign, colour) in SIGNS.items():
        if kind in kinds:
            parts.append(write(x, 0, sign, 12, fill=f"var(--gv-{colour})"))
            means = MEANS[kind].replace("byte", read)
            parts.append(soft(x + 16, 0, means))
            x += 16 + 6.3 * len(means) + 20
    words = "✓ finished · the number: where it began"
    return together(parts) + soft(x, 0, words), x + 6.3 * len(words)


def say_columns(columns: Iterable[ChartColumn]) -> Iterator[str]:
    """The columns as lines of text."""
    for column in columns:
        yield f"{column.number:,}" + f", after {column.name}" * bool(column.name)
        for row in column.rows:
            sides = " ".join(filter(None, [row.item.before, "•", row.item.after]))
            done = " ✓" * row.item.done
            yield f"  {SIGNS[row.kind][0]} {row.kind:<8}  {row.item.rule} → {sides}  from {row.item.origin:,}{done}"
        if column.more:
            yield f"  ⋮ {column.more:,} more"


# --- the tree ---


TOP, LEVEL, BOX, GAP, BROADEST = 34.0, 46.0, 24.0, 8.0, 1060.0
OUTER, INNER = 4, 8  # levels kept of a longer path
MOST_PARTS = 16
FIRST, LAST = 2, 6  # children kept of more
TEXT_ROOM = 24  # characters of a text
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
    said = _say_tree(drawn, tree, data)
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
        if drawn.width <= BROADEST:
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
    text = label(data[part.start : min(part.end, part.start + 2 * TEXT_ROOM)])
    if isinstance(part, ParseLeaf):
        yield TreePart(shorten(text, TEXT_ROOM), "leaf")
    elif part.end > part.start and not detail:
        yield TreePart(part.name, "folded", ambiguous=part.ambiguous, text=shorten(text, TEXT_ROOM))
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


def _say_tree(drawn: TreePart, tree: ParseTree, data: bytes) -> str:
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
