"""The film of Earley's algorithm: the text with its lexemes, and below it the chart, which grows item by item.

The last frame is laid out once; every part has its key, and a frame says which parts are visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from guidedviz.machines.earley.chart import Item as ShownItem
from guidedviz.machines.earley.items import Item
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node
from guidedviz.sketches.earley_film import ChartFrame, Lexeme
from guidedviz.views.figure import Figure, drawing, moved, soft, wide, write
from guidedviz.views.machine.film_frames import FilmDrawings
from guidedviz.views.stack.earley_chart import EDGE, HEAD, ROW, ChartRow, dotted, draw_legend, draw_row, say_row

CELL, STRIP, GAP = 34.0, 74.0, 12.0
STYLE = """
.gv-machine .gv-item .gv-disc { fill: transparent; stroke: none; }
.gv-machine .gv-item.gv-on .gv-disc { stroke: var(--gv-blue); stroke-width: 1.8; stroke-dasharray: 5 3; }
.gv-machine .gv-item.gv-lit .gv-disc { fill: var(--gv-page); stroke: var(--gv-orange); stroke-width: 2.6; }
.gv-absent { visibility: hidden; }
"""


def build_chart_film(frames: Sequence[ChartFrame]) -> FilmDrawings:
    """One drawing, and per frame the keys of its parts."""
    last = frames[-1]
    numbers = _numbers(last)
    packed: list[dict[str, Any]] = [
        {
            "drawing": 0,
            "states": (seen := [numbers[place] for place in _places(frame)]),
            "arrows": [*map(str, seen), *_marks(frame)],
            "lit": [numbers[frame.lit]] if frame.lit else [],
            "on": [str(numbers[place]) for place in sorted(frame.causes)],
            "groups": [],
            "words": frame.words,
        }
        for frame in frames
    ]
    return FilmDrawings((draw_frame(last, bare=True).drawing,), tuple(packed))


def draw_frame(frame: ChartFrame, bare: bool = False) -> Figure:
    """A frame as a still picture; bare, it has no highlights.

    >>> frames = gv.sketches.earley_frames({"sum": [("sum", "+", "1"), ("1",)]}, "1")
    >>> print(draw_frame(frames[-1]).text)
    the text 1, 1 lexeme; chart: 2 columns
    0
      ▷ predict   start → • sum  from 0
      ▷ predict   sum → • sum "+" "1"  from 0
      ▷ predict   sum → • "1"  from 0
    1, after 1
      ■ scan      sum → "1" •  from 0 ✓
      ◆ complete  start → sum •  from 0 ✓
      ◆ complete  sum → sum • "+" "1"  from 0
    """
    columns = [[ChartRow(kind, _show(item, frame)) for kind, item in column] for column in frame.columns]
    names = ["start", *(_name(lexeme, frame) for lexeme in frame.lexemes)]
    widths = [max([wide(dotted(row.item), 12) for row in rows] + [wide(name, 15)]) + 80 for rows, name in
              zip(columns, names, strict=True)]  # fmt: skip
    lefts = list(accumulate(widths, initial=EDGE))
    high = HEAD + ROW * max(map(len, columns)) + 4
    numbers = _numbers(frame)
    parts = [node("style", STYLE), *_strip(frame)]
    for place, (rows, name) in enumerate(zip(columns, names, strict=True)):
        parts.append(moved(lefts[place], STRIP, *_head(name, place, widths[place] - GAP, high), data_arrow=f"c{place}"))
        for number, row in enumerate(rows):
            spot = lefts[place], STRIP + HEAD + ROW * number, widths[place] - GAP
            kind = "gv-item"
            if not bare:
                here = place, number
                kind += " gv-lit" * (here == frame.lit) + " gv-on" * (here in frame.causes)
            parts.append(_item(row, spot, kind, numbers[place, number]))
    legend, width = draw_legend(columns, "lexeme")
    parts.append(moved(EDGE, STRIP + high + 22, legend))
    text = f"the text {visible(frame.text)}, {counted(len(frame.lexemes), 'lexeme')}"
    said = "\n".join([f"{text}; chart: {counted(len(columns), 'column')}", *_say(columns, names)])
    size = max(lefts[-1], width + 2 * EDGE, EDGE * 2 + _cell(frame) * len(frame.text)), STRIP + high + 38
    return Figure(drawing(*size, node("g", *parts, class_="gv-machine"), alt=said), said, said)


def _places(frame: ChartFrame) -> list[tuple[int, int]]:
    return [(place, row) for place, rows in enumerate(frame.columns) for row in range(len(rows))]


def _numbers(frame: ChartFrame) -> dict[tuple[int, int], int]:
    return {place: number for number, place in enumerate(_places(frame))}


def _marks(frame: ChartFrame) -> list[str]:
    """The keys of the columns and of the lexemes."""
    return [f"c{place}" for place in range(len(frame.columns))] + [f"l{one}" for one in range(len(frame.lexemes))]


def _show(item: Item, frame: ChartFrame) -> ShownItem:
    shown = [f'"{visible(one.encode())}"' if one in frame.literals else one for one in item.symbols]
    before, after = " ".join(shown[: item.dot]), " ".join(shown[item.dot :])
    return ShownItem(item.rule, before, after, item.origin, item.wanted is None, True)


def _name(lexeme: Lexeme, frame: ChartFrame) -> str:
    text = visible(frame.text[lexeme.start : lexeme.end])
    return text if lexeme.name in frame.literals else f"{lexeme.name} {text}"


def _cell(frame: ChartFrame) -> float:
    """The width of a byte; the name of each lexeme fits below its bytes."""
    named = [one for one in frame.lexemes if one.name not in frame.literals]
    return max([CELL, *((wide(one.name, 12) + 8) / (one.end - one.start) for one in named)])


def _strip(frame: ChartFrame) -> list[Element]:
    """The text, byte by byte, and below it the lexemes that were read."""
    parts, cell = [], _cell(frame)
    for place, byte in enumerate(frame.text):
        x = EDGE + cell * place
        parts.append(
            node("rect", x=x, y=10, width=cell - 3, height=26, rx=4, fill="var(--gv-card)", stroke="var(--gv-line)")
        )
        parts.append(write(x + cell / 2 - 1.5, 28, visible(bytes([byte])), 14, mono=True, text_anchor="middle"))
    for number, lexeme in enumerate(frame.lexemes):
        x, width = EDGE + cell * lexeme.start, cell * (lexeme.end - lexeme.start) - 3
        box = {"x": x, "y": 10, "width": width, "height": 26, "rx": 4}
        mark = node("rect", **box, fill="none", stroke="var(--gv-blue)", stroke_width=2.4)
        brace = node("path", d=f"M{x:g} 40v6h{width:g}v-6", fill="none", stroke="var(--gv-blue)", stroke_width=1.6)
        name = "" if lexeme.name in frame.literals else lexeme.name
        about = soft(x + width / 2, 60, name, 12, text_anchor="middle", mono=True)
        parts.append(node("g", mark, brace, about, data_arrow=f"l{number}"))
    return parts


def _head(name: str, place: int, width: float, high: float) -> list[Element]:
    card = node("rect", x=0, y=0, width=width, height=high, rx=7, fill="var(--gv-card)", stroke="var(--gv-line)")
    return [card, write(12, 21, name, 15, font_weight="bold"), soft(width - 10, 21, str(place), text_anchor="end")]


def _item(row: ChartRow, spot: tuple[float, float, float], kind: str, number: int) -> Element:
    x, y, width = spot
    disc = node("rect", x=x + 3, y=y - 0.5, width=width - 6, height=ROW - 1, rx=4, class_="gv-disc")
    return node("g", disc, moved(x, y, *draw_row(row, width)), class_=kind, data_state=number, data_arrow=str(number))


def _say(columns: Sequence[Sequence[ChartRow]], names: Sequence[str]) -> list[str]:
    lines = []
    for place, (rows, name) in enumerate(zip(columns, names, strict=True)):
        lines += [f"{place}" + (f", after {name}" if place else ""), *map(say_row, rows)]
    return lines
