"""A frame of Earley's film as a drawing: the text with its lexemes, and below it the chart, one card per column.

The last frame is laid out once; every part has its key, and a frame says which parts are visible.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from guidedviz.machines.earley.items import Item
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, figure_of, moved, rect, soft, wide, write, write_legend
from guidedviz.views.machine.film import MOST_FRAMES, FilmDrawings, pack_frame
from guidedviz.views.machine.tape import write_bytes
from guidedviz.views.stack.earley_film import ChartFrame, RowPlace, _dotted

CELL, STRIP, ROW, HEAD, EDGE, GAP = 34.0, 74.0, 21.0, 34.0, 14.0, 12.0
SIGNS = {  # of each kind of move: sign, colour, meaning
    "predict": ("▷", "gold", "predict: may begin here"),
    "scan": ("■", "blue", "scan: a lexeme was read"),
    "complete": ("◆", "green", "complete: a part is finished"),
    "skip": ("∅", "soft", "skip: may be empty"),
}
STYLE = """
.gv-machine .gv-item .gv-disc { fill: transparent; stroke: none; }
.gv-machine .gv-item.gv-on .gv-disc { stroke: var(--gv-blue); stroke-width: 1.8; stroke-dasharray: 5 3; }
.gv-machine .gv-item.gv-lit .gv-disc { fill: var(--gv-page); stroke: var(--gv-orange); stroke-width: 2.6; }
.gv-absent { visibility: hidden; }
"""


def build_chart_film(frames: Sequence[ChartFrame]) -> FilmDrawings:
    """One drawing, and per frame the keys of its parts."""
    packed = []
    for frame in frames:
        seen = [_number((place, row)) for place, rows in enumerate(frame.columns) for row in range(len(rows))]
        marks = [f"c{place}" for place in range(len(frame.columns))] + [f"l{n}" for n in range(len(frame.lexemes))]
        lit = [_number(frame.lit)] if frame.lit else []
        causes = [f"{_number(place)}" for place in sorted(frame.causes)]
        packed.append(pack_frame(seen, [*map(str, seen), *marks], lit, causes, frame.words))
    bare = replace(frames[-1], lit=None, causes=frozenset())
    return FilmDrawings((draw_frame(bare).drawing,), tuple(packed))


def _number(place: RowPlace) -> int:
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
    fitting = ((wide(one.name, 12) + 8) / (one.end - one.start) for one in frame.lexemes)  # names fit below their bytes
    cell, high = max([CELL, *fitting]), HEAD + ROW * max(map(len, frame.columns)) + 4
    parts, x = [node("style", STYLE), *write_bytes(frame.text, cell, 10), *_lexemes(frame, cell)], EDGE
    counts = counted(len(frame.lexemes), "lexeme"), counted(len(frame.columns), "column")
    lines = [f"the text {visible(frame.text)}, {counts[0]}; chart: {counts[1]}"]
    names = ["", *(f"{name} {visible(frame.text[start:end])}".strip() for name, start, end in frame.lexemes)]
    for place, (name, rows) in enumerate(zip(names, frame.columns, strict=True)):
        lines.append(f"{place}" + f", after {name}" * bool(name))
        width = max([wide(_dotted(item), 12) for _, item in rows] + [wide(name, 15), 70.0]) + 68
        card = rect(0, 0, width, high, 7, fill="var(--gv-card)", stroke="var(--gv-line)")
        head = write(12, 21, name or "start", 15, font_weight="bold")
        number = soft(width - 10, 21, f"{place}", text_anchor="end")
        parts.append(moved(x, STRIP, card, head, number, data_arrow=f"c{place}"))
        for row, (kind, item) in enumerate(rows):
            here, key = (place, row), _number((place, row))
            look = "gv-item" + " gv-lit" * (here == frame.lit) + " gv-on" * (here in frame.causes)
            inside, y = _row(kind, item, width), STRIP + HEAD + ROW * row
            parts.append(moved(x, y, *inside, class_=look, data_state=key, data_arrow=f"{key}"))
            done = " ✓" * (item.wanted is None)
            lines.append(f"  {SIGNS[kind][0]} {kind:<8}  {_dotted(item)}  from {item.origin}{done}")
        x += width + GAP
    kinds, low = {kind for rows in frame.columns for kind, _ in rows}, STRIP + high + 22
    shown = (SIGNS[kind] for kind in SIGNS if kind in kinds)
    signs = ((write(8, 4, sign, 12, fill=f"var(--gv-{colour})"), means) for sign, colour, means in shown)
    legend, at, _ = write_legend(signs, EDGE, low)
    parts += [*legend, soft(at, low, "✓ finished · the number: where it began")]
    width, said = max(x, at + 260, EDGE * 2 + cell * len(frame.text)), "\n".join(lines)
    return figure_of(width, low + 16, said, node("g", *parts, class_="gv-machine"))


def _row(kind: str, item: Item, width: float) -> Iterator[Element]:
    """A row: its sign, the dotted rule, and where it began."""
    (sign, colour, _), (left, _, right) = SIGNS[kind], _dotted(item).partition("•")
    done, dot = item.wanted is None, 30 + wide(left, 12)
    size = 3, -0.5, width - 6, ROW - 1, 4
    ground = {"fill": "var(--gv-green)", "fill_opacity": 0.13} if done else {"fill": "none"}
    yield rect(*size, class_="gv-disc") + rect(*size, **ground)
    yield write(11, 15, sign, 12, fill=f"var(--gv-{colour})")
    yield write(30, 15, left, 12, mono=True)
    yield node("circle", cx=dot + 3.6, cy=10.6, r=3.1, fill="var(--gv-orange)")
    yield soft(dot + wide("• ", 12), 15, right.lstrip(), mono=True)
    yield soft(width - 10, 15, "✓ " * done + f"{item.origin}", text_anchor="end")


def _lexemes(frame: ChartFrame, cell: float) -> Iterator[Element]:
    """The lexemes that were read, below their bytes."""
    blue: dict[str, Any] = {"fill": "none", "stroke": "var(--gv-blue)", "stroke_width": 2}
    for number, (name, start, end) in enumerate(frame.lexemes):
        x, width = EDGE + cell * start, cell * (end - start) - 3
        mark = rect(x, 10, width, 26, 4, **blue)
        brace = node("path", d=f"M{x:g} 40v6h{width:g}v-6", **blue)
        about = soft(x + width / 2, 60, name, text_anchor="middle", mono=True)
        yield node("g", mark, brace, about, data_arrow=f"l{number}")
