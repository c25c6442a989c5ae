"""The Earley chart: a column a position, in it the dotted rules and the move that brought each."""

from __future__ import annotations

import html
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.chart import Item
from guidedviz.machines.columns import SKIPPED, Dotted, State
from guidedviz.machines.earley import Earley
from guidedviz.machines.earley import earley as build
from guidedviz.machines.machine import next_bytes, to_bytes
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.views.figure import Figure, drawing, node, shorten, wide, write
from guidedviz.views.words import label

WIDEST = 1140.0
MOST_COLUMNS = 6
MOST_ROWS = 16
ROOM = 30  # characters of a dotted rule
ROW = 21.0
HEAD = 34.0
EDGE = 14.0
SIGNS = {"predict": ("▷", "gold"), "scan": ("■", "blue"), "complete": ("◆", "green"), "skip": ("∅", "soft")}
MEANS = {
    "predict": "predict: may begin here",
    "scan": "scan: a byte was read",
    "complete": "complete: a part is finished",
    "skip": "skip: may be empty",
}


@dataclass(frozen=True)
class Row:
    """A dotted rule and the move that brought it."""

    kind: str
    item: Item


@dataclass(frozen=True)
class Drawn:
    """A column with the rows that are shown of it, those that arrived first."""

    state: State
    byte: bytes  # that led there; none at the start
    rows: tuple[Row, ...]

    @property
    def more(self) -> int:
        return len(self.state.items) - len(self.rows)

    @property
    def width(self) -> float:
        return max([wide(_dotted(row.item), 12) for row in self.rows] + [70.0]) + 80

    @property
    def height(self) -> float:
        return HEAD + ROW * (len(self.rows) + bool(self.more)) + 4


def earley_of(grammar: Any) -> Earley:
    """The Earley machine of a grammar or of its machine; built once."""
    if isinstance(grammar, Earley):
        return grammar
    return _built(grammar) if isinstance(grammar, Hashable) else build(grammar)


_built = lru_cache(maxsize=8)(build)


def draw_chart(grammar: Any, text: bytes | str) -> Figure:
    """The last columns of the chart of a text; rows of parts that have no name of their own are grey.

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
    about = (
        f"{len(states):,} columns"
        if len(states) == len(columns)
        else f"the last {len(columns)} of {len(states):,} columns"
    )
    parts = [write(EDGE, 20, "chart", 13, font_weight="bold"), write(EDGE + 46, 20, about, 12, fill="var(--gv-soft)")]
    x, high = EDGE, max(column.height for column in columns)
    for column in columns:
        parts.append(node("g", *_column(column, column is columns[-1]), transform=f"translate({x:g} 32)"))
        x += column.width
    legend, width = _legend(column.rows for column in columns)
    parts.append(node("g", legend, transform=f"translate({EDGE:g} {32 + high + 22:g})"))
    said = _say(about, columns)
    return Figure(drawing(max(x + 4, width + 2 * EDGE), 32 + high + 38, *parts, alt=said), said, said)


def _unread(earley: Earley, last: State, data: bytes) -> SettingError:
    place, expected = last.number, visible_bytes(next_bytes(earley, last))
    return SettingError(f"text, byte {place}", seen=visible(data[place : place + 1]), expected=expected)


def _read(earley: Earley, state: State, data: bytes) -> Drawn:
    """A column; of a long one the rows that moved, and of the predicted those of written rules, come first."""
    every = [(number, earley.item(row), by) for number, (row, by) in enumerate(state.items.items())]
    first = sorted(every, key=lambda found: (not found[2] and not found[1].before and not found[1].written, found[0]))
    rows = [Row(_kind(item, by), item) for _, item, by in sorted(first[:MOST_ROWS], key=lambda found: found[0])]
    return Drawn(state, data[max(0, state.number - 1) : state.number], tuple(rows))


def _kind(item: Item, by: Dotted | None) -> str:
    """The move by which a row came: the machine keeps the finished row that moved its dot."""
    if by:
        return "skip" if by[0] == SKIPPED else "complete"
    return "scan" if item.before else "predict"


def _dotted(item: Item) -> str:
    """A dotted rule that keeps its dot, however long it is."""
    left, right = f"{item.rule} → {item.before} ".replace("  ", " "), f" {item.after}".rstrip()
    if len(left) > ROOM - 8:
        left = shorten(item.rule, 10) + " → …" + left[-(ROOM - 22) :]
    return left + "•" + shorten(right, max(8, ROOM - len(left)))


def _column(column: Drawn, now: bool) -> list[str]:
    width = column.width - 10
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2} if now else {"stroke": "var(--gv-line)"}
    parts = [node("rect", x=0, y=0, width=width, height=column.height, rx=7, fill="var(--gv-card)", **line)]
    parts.append(write(12, 21, label(column.byte) if column.byte else "start", 15, font_weight="bold"))
    parts.append(write(width - 10, 21, f"{column.state.number:,}", 12, fill="var(--gv-soft)", text_anchor="end"))
    for number, row in enumerate(column.rows):
        parts.append(node("g", *_row(row, width), transform=f"translate(0 {HEAD + ROW * number:g})"))
    if column.more:
        y = HEAD + ROW * len(column.rows) + 14
        parts.append(write(30, y, f"⋮ {column.more:,} more", 12, fill="var(--gv-soft)"))
    return parts


def _row(row: Row, width: float) -> list[str]:
    sign, colour = SIGNS[row.kind]
    words = _dotted(row.item)
    left, _, right = words.partition("•")
    parts = [node("title", html.escape(str(row.item)))]
    if row.item.done:
        size = {"x": 5, "y": 1, "width": width - 10, "height": ROW - 2, "rx": 4}
        parts.append(node("rect", **size, fill="var(--gv-green)", fill_opacity=0.13))
    parts.append(write(11, 15, sign, 11, fill=f"var(--gv-{colour})"))
    parts.append(write(30, 15, left, 12, mono=True, fill=f"var(--gv-{'ink' if row.item.written else 'soft'})"))
    dot = 30 + wide(left, 12)
    parts.append(node("circle", cx=dot + 3.6, cy=10.6, r=3.1, fill="var(--gv-orange)"))
    parts.append(write(dot + wide("•", 12), 15, right, 12, mono=True, fill="var(--gv-soft)"))
    done = "✓ " if row.item.done else ""
    parts.append(write(width - 10, 15, f"{done}{row.item.origin:,}", 11, fill="var(--gv-soft)", text_anchor="end"))
    return parts


def _legend(rows: Iterable[Sequence[Row]]) -> tuple[str, float]:
    kinds = {row.kind for column in rows for row in column}
    parts, x = [], 0.0
    for kind, (sign, colour) in SIGNS.items():
        if kind in kinds:
            parts.append(write(x, 0, sign, 11, fill=f"var(--gv-{colour})"))
            parts.append(write(x + 16, 0, MEANS[kind], 12, fill="var(--gv-soft)"))
            x += 16 + 6.3 * len(MEANS[kind]) + 20
    words = "✓ finished · the number: where it began"
    return "".join(parts) + write(x, 0, words, 12, fill="var(--gv-soft)"), x + 6.3 * len(words)


def _say(about: str, columns: Sequence[Drawn]) -> str:
    lines = [f"chart: {about}"]
    for column in columns:
        lines.append(f"{column.state.number:,}" + (f", after {label(column.byte)}" if column.byte else ""))
        for row in column.rows:
            item, done = row.item, " ✓" if row.item.done else ""
            dotted = " ".join(filter(None, [item.before, "•", item.after]))
            lines.append(f"  {SIGNS[row.kind][0]} {row.kind:<8}  {item.rule} → {dotted}  from {item.origin:,}{done}")
        lines += [f"  ⋮ {column.more:,} more"] * bool(column.more)
    return "\n".join(lines)
