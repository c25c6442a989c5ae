"""A frame of Earley's film as a drawing: the text with its lexemes, and below it the chart, one card per column.

The last frame is laid out once; every part has its key, and a frame says which parts are visible.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from guidedviz.machines.earley.items import Item
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import (
    NEAR_EDGE,
    Figure,
    Style,
    bold,
    circle_at,
    figure_of,
    moved,
    path_of,
    rect,
    soft,
    soft_centred,
    soft_right,
    wide,
    write,
    write_legend,
)
from guidedviz.views.machine.film import MOST_FRAMES, Reel, pack_frame
from guidedviz.views.machine.svg import write_bytes
from guidedviz.views.stack.earley_film import ChartFrame, RowPlace, dotted
from guidedviz.views.theme import paint

BYTE_CELL = 34.0
COLUMNS_TOP = 74.0
ITEM_HIGH = 21.0
COLUMN_HEAD = 34.0
COLUMN_GAP = 12.0
MOVE_SIGNS = {  # of each kind of move: sign, colour, meaning
    "predict": ("▷", "gold", "predict: may begin here"),
    "scan": ("■", "blue", "scan: a lexeme was read"),
    "complete": ("◆", "green", "complete: a part is finished"),
    "skip": ("∅", "soft", "skip: may be empty"),
}
ITEM_STYLE = """
.gv-machine .gv-item .gv-disc { fill: transparent; stroke: none; }
.gv-machine .gv-item.gv-on .gv-disc { stroke: var(--gv-blue); stroke-width: 1.8; stroke-dasharray: 5 3; }
.gv-machine .gv-item.gv-lit .gv-disc { fill: var(--gv-page); stroke: var(--gv-orange); stroke-width: 2.6; }
.gv-absent { visibility: hidden; }
"""


def build_chart_film(frames: Sequence[ChartFrame]) -> Reel:
    """One drawing, and per frame the keys of its parts."""
    packed = []
    for frame in frames:
        seen = []
        for place, rows in enumerate(frame.columns):
            seen += [_item_number((place, row)) for row in range(len(rows))]
        keys = list(map(str, seen))
        keys += [f"c{place}" for place in range(len(frame.columns))]
        keys += [f"l{number}" for number in range(len(frame.lexemes))]
        lit = [_item_number(frame.lit)] if frame.lit else []
        causes = [_item_number(place) for place in sorted(frame.causes)]
        way = [*reversed(causes), *lit]  # a finished item flies to the one that waits for it, and on to the new one
        more = {"flight": way} if len(way) > 1 else {}
        on = list(map(str, causes))
        packed.append(pack_frame(seen, keys, lit, on, frame.words, **more))
    bare = replace(frames[-1], lit=None, causes=frozenset())
    return [draw_frame(bare).drawing], packed


def _item_number(place: RowPlace) -> int:
    """The number of an item on the page."""
    return MOST_FRAMES * place[0] + place[1]


def draw_frame(frame: ChartFrame) -> Figure:
    """A frame as a still picture.

    >>> frames = gv.views.earley_frames({"sum": [("sum", "+", "1"), ("1",)]}, "1")
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
    cell = BYTE_CELL
    for name, start, end in frame.lexemes:
        fitting = (wide(name, 12) + 8) / (end - start)
        cell = max(cell, fitting)  # names fit below their bytes
    longest = max(map(len, frame.columns))
    high = COLUMN_HEAD + ITEM_HIGH * longest + 4
    parts = [node("style", ITEM_STYLE)]
    parts.append(node("g", *write_bytes(frame.text, cell, 10), data_part="tape"))
    parts += _write_lexemes(frame, cell)
    lexemes = counted(len(frame.lexemes), "lexeme")
    columns = counted(len(frame.columns), "column")
    text = visible(frame.text)
    lines = [f"the text {text}, {lexemes}; chart: {columns}"]
    x = NEAR_EDGE
    for place, rows in enumerate(frame.columns):
        name = _column_name(frame, place)
        items = [wide(dotted(item), 12) for _, item in rows]
        width = max([wide(name, 15), 70.0, *items]) + 68
        card = rect(0, 0, width, high, 7, fill="var(--gv-card)", stroke="var(--gv-line)")
        title = bold(12, 21, name or "start", 15)
        number = soft_right(width - 10, 21, f"{place}")
        column = moved(x, COLUMNS_TOP, card, title, number, data_arrow=f"c{place}")
        parts.append(column)
        lines.append(f"{place}, after {name}" if name else f"{place}")
        y = COLUMNS_TOP + COLUMN_HEAD
        for row, (kind, item) in enumerate(rows):
            key = _item_number((place, row))
            names = {"class_": _item_class(frame, (place, row)), "data_state": key, "data_arrow": f"{key}"}
            parts.append(moved(x, y, *_write_item(kind, item, width), **names))
            lines.append(_say_item(kind, item))
            y += ITEM_HIGH
        x += width + COLUMN_GAP
    low = COLUMNS_TOP + high + 22
    legend, right = _write_signs(frame, low)
    tape = NEAR_EDGE * 2 + cell * len(frame.text)
    width = max(x, right + 260, tape)
    chart = node("g", *parts, *legend, class_="gv-machine")
    return figure_of(width, low + 16, "\n".join(lines), chart)


def _column_name(frame: ChartFrame, place: int) -> str:
    """The lexeme before a column."""
    if place == 0:
        return ""
    name, start, end = frame.lexemes[place - 1]
    text = visible(frame.text[start:end])
    return f"{name} {text}".strip()


def _item_class(frame: ChartFrame, place: RowPlace) -> str:
    look = "gv-item"
    if place == frame.lit:
        look += " gv-lit"
    if place in frame.causes:
        look += " gv-on"
    return look


def _say_item(kind: str, item: Item) -> str:
    sign = MOVE_SIGNS[kind][0]
    move = f"  {sign} {kind:<8}"
    said = f"{move}  {dotted(item)}  from {item.origin}"
    return said if item.wanted else f"{said} ✓"


def _write_signs(frame: ChartFrame, y: float) -> tuple[list[Element], float]:
    """The legend of the signs in the chart, and where its last words begin."""
    kinds = {kind for rows in frame.columns for kind, _ in rows}
    signs = []
    for kind, (sign, colour, means) in MOVE_SIGNS.items():
        if kind in kinds:
            shape = write(8, 4, sign, 12, fill=paint(colour))
            signs.append((shape, means))
    legend, right, _ = write_legend(signs, NEAR_EDGE, y)
    return [*legend, soft(right, y, "✓ finished · the number: where it began")], right


def _write_item(kind: str, item: Item, width: float) -> Iterator[Element]:
    """A row: its sign, the dotted rule, and where it began."""
    sign, colour, _ = MOVE_SIGNS[kind]
    left, _, right = dotted(item).partition("•")
    dot = 30 + wide(left, 12)
    size = (3, -0.5, width - 6, ITEM_HIGH - 1, 4)
    yield rect(*size, class_="gv-disc")
    if item.wanted:
        yield rect(*size, fill="none")
    else:
        yield rect(*size, fill="var(--gv-green)", fill_opacity=0.13)
    yield write(11, 15, sign, 12, fill=paint(colour))
    yield write(30, 15, left, 12, mono=True)
    yield circle_at(dot + 3.6, 10.6, 3.1, fill="var(--gv-ink)")
    after = dot + wide("• ", 12)
    yield soft(after, 15, right.lstrip(), mono=True)
    origin = f"{item.origin}" if item.wanted else f"✓ {item.origin}"
    yield soft_right(width - 10, 15, origin)


def _write_lexemes(frame: ChartFrame, cell: float) -> Iterator[Element]:
    """The lexemes that were read, below their bytes."""
    blue: Style = {"fill": "none", "stroke": "var(--gv-blue)", "stroke_width": 2}
    for number, (name, start, end) in enumerate(frame.lexemes):
        x = NEAR_EDGE + cell * start
        width = cell * (end - start) - 3
        mark = rect(x, 10, width, 26, 4, **blue)
        below = f"M{x:g} 40v6h{width:g}v-6"
        brace = path_of(below, **blue)
        about = soft_centred(x + width / 2, 60, name, mono=True)
        yield node("g", mark, brace, about, data_arrow=f"l{number}")
