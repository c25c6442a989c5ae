"""The Earley chart: one column per position, with the dotted rules and the operation that added each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.earley.chart import Item
from guidedviz.machines.earley.columns import SKIPPED, Dotted, State
from guidedviz.machines.earley.earley import Earley
from guidedviz.machines.earley.earley import earley as build
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
    item: Item


@dataclass(frozen=True)
class ChartColumn:
    """A column of the chart with the rows that are drawn."""

    state: State
    byte: bytes  # that was read; none at the start
    rows: tuple[ChartRow, ...]

    @property
    def more(self) -> int:
        return len(self.state.items) - len(self.rows)

    @property
    def width(self) -> float:
        return max([wide(dotted(row.item), 12) for row in self.rows] + [70.0]) + 80

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
    states = earley.columns(data)
    if len(states) <= len(data):
        raise _unread(earley, states[-1], data)
    columns = [_read(earley, state, data) for state in states[-MOST_COLUMNS:]]
    while len(columns) > 1 and sum(column.width for column in columns) > WIDEST:
        columns = columns[1:]
    about = f"the last {len(columns)} of " * (len(columns) < len(states)) + counted(len(states), "column")
    parts, x, high = [heading(EDGE, 20, "chart", about)], EDGE, max(column.height for column in columns)
    for column in columns:
        newest = {"data_newest": ""} if column is columns[-1] else {}
        parts.append(moved(x, 32, *_column(column, bool(newest)), **newest))
        x += column.width
    legend, width = draw_legend(column.rows for column in columns)
    parts.append(moved(EDGE, 32 + high + 22, legend))
    said = _say(about, columns)
    return Figure(drawing(max(x + 4, width + 2 * EDGE), 32 + high + 38, *parts, alt=said), said, said)


def _unread(earley: Earley, last: State, data: bytes) -> SettingError:
    place, expected = last.number, visible_bytes(next_bytes(earley, last))
    return SettingError(f"text, byte {place}", seen=visible(data[place : place + 1]), expected=expected)


def _read(earley: Earley, state: State, data: bytes) -> ChartColumn:
    """A column; of a long one, moved rows and predictions of named rules have priority."""
    every = [(number, earley.item(row), by) for number, (row, by) in enumerate(state.items.items())]
    first = sorted(every, key=lambda found: (not found[2] and not found[1].before and not found[1].written, found[0]))
    rows = [ChartRow(_kind(item, by), item) for _, item, by in sorted(first[:MOST_ROWS], key=lambda found: found[0])]
    return ChartColumn(state, data[max(0, state.number - 1) : state.number], tuple(rows))


def _kind(item: Item, by: Dotted | None) -> str:
    """The operation that added a row: the parser keeps the finished row that moved its dot."""
    if by:
        return "skip" if by[0] == SKIPPED else "complete"
    return "scan" if item.before else "predict"


def dotted(item: Item) -> str:
    """A dotted rule, shortened around its dot."""
    left, right = f"{item.rule} → {item.before} ".replace("  ", " "), f" {item.after}".rstrip()
    if len(left) > ROOM - 8:
        left = shorten(item.rule, 10) + " → …" + left[-(ROOM - 22) :]
    return left + "•" + shorten(right, max(8, ROOM - len(left)))


def _column(column: ChartColumn, now: bool) -> list[Element]:
    width = column.width - 10
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2} if now else {"stroke": "var(--gv-line)"}
    parts = [node("rect", x=0, y=0, width=width, height=column.height, rx=7, fill="var(--gv-card)", **line)]
    parts.append(write(12, 21, label(column.byte) if column.byte else "start", 15, font_weight="bold"))
    parts.append(soft(width - 10, 21, f"{column.state.number:,}", text_anchor="end"))
    for number, row in enumerate(column.rows):
        parts.append(moved(0, HEAD + ROW * number, *draw_row(row, width)))
    if column.more:
        y = HEAD + ROW * len(column.rows) + 14
        parts.append(soft(30, y, f"⋮ {column.more:,} more"))
    return parts


def draw_row(row: ChartRow, width: float) -> list[Element]:
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


def draw_legend(rows: Iterable[Sequence[ChartRow]], read: str = "byte") -> tuple[Element, float]:
    """The signs that the rows use, and the width."""
    kinds = {row.kind for column in rows for row in column}
    parts, x = [], 0.0
    for kind, (sign, colour) in SIGNS.items():
        if kind in kinds:
            parts.append(write(x, 0, sign, 12, fill=f"var(--gv-{colour})"))
            means = MEANS[kind].replace("byte", read)
            parts.append(soft(x + 16, 0, means))
            x += 16 + 6.3 * len(means) + 20
    words = "✓ finished · the number: where it began"
    return together(parts) + soft(x, 0, words), x + 6.3 * len(words)


def _say(about: str, columns: Sequence[ChartColumn]) -> str:
    lines = [f"chart: {about}"]
    for column in columns:
        lines.append(f"{column.state.number:,}" + (f", after {label(column.byte)}" if column.byte else ""))
        lines += map(say_row, column.rows)
        lines += [f"  ⋮ {column.more:,} more"] * bool(column.more)
    return "\n".join(lines)


def say_row(row: ChartRow) -> str:
    """A row as a line of text."""
    item, done = row.item, " ✓" if row.item.done else ""
    sides = " ".join(filter(None, [item.before, "•", item.after]))
    return f"  {SIGNS[row.kind][0]} {row.kind:<8}  {item.rule} → {sides}  from {item.origin:,}{done}"
