"""The film of Earley's algorithm: the text with its lexemes, and below it the chart, which grows item by item.

The last frame is laid out once; every part has its key, and a frame says which parts are visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.earley.chart import Item as ShownItem
from guidedviz.machines.earley.items import Item, Rules, complete
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, drawing, moved, soft, wide, write
from guidedviz.views.machine.films import FilmDrawings
from guidedviz.views.stack.chart import EDGE, HEAD, ROW, ChartRow, dotted, draw_legend, draw_row, say_row

# The frames of Earley's algorithm: a lexer cuts the text into lexemes, and each item that is added is one frame.


MOST_FRAMES = 300
Place = tuple[int, int]  # a column, and a row in it


@dataclass(frozen=True)
class Lexeme:
    """A part of the text that the rules read as one symbol."""

    name: str  # of its regex; a text stands for itself
    start: int
    end: int


@dataclass(frozen=True)
class ChartFrame:
    """The chart after one move: per column the items, each with the kind of move that added it."""

    text: bytes
    columns: tuple[tuple[tuple[str, Item], ...], ...] = ()
    lexemes: tuple[Lexeme, ...] = ()
    literals: frozenset[str] = frozenset()  # symbols that stand for themselves
    lit: Place | None = None  # the new item
    causes: frozenset[Place] = frozenset()  # the items that led to it
    words: str = ""


def earley_frames(rules: Rules, text: bytes | str, lexemes: Mapping[str, str] | None = None) -> list[ChartFrame]:
    """One frame per move; the first rule stands for the whole text, `lexemes` holds a regex for each named lexeme.

    >>> sums = {"sum": [("sum", "+", "number"), ("number",)]}
    >>> for frame in earley_frames(sums, "12", {"number": "[0-9]+"}):
    ...     print(frame.words)
    start: the text is one sum.
    predict: start waits for sum, so sum → • sum + number may begin here.
    predict: start waits for sum, so sum → • number may begin here.
    predict: sum waits for sum. Its items are in this column already: nothing is added.
    lexer: 12 is read, then the text ends. The lexeme is a number.
    scan: sum waited for number, and the dot moves over it.
    complete: sum is finished. start waited for it in column 0, and its dot moves.
    complete: sum is finished. sum waited for it in column 0, and its dot moves.
    start → sum • is in the last column: the text is complete.
    """
    frames = list(_Film(rules, to_bytes(text), lexemes or {}).play())
    if len(frames) > MOST_FRAMES:
        expected = f"at most {MOST_FRAMES}"
        raise SettingError("earley_frames", seen=f"{len(frames):,} frames", expected=expected, hint="a shorter text")
    return frames


class _Film:
    """Reads a text, and keeps the last frame."""

    def __init__(self, rules: Rules, text: bytes, lexemes: Mapping[str, str]) -> None:
        self.rules, self.start = rules, next(iter(rules))
        self.machines: dict[str, Machine] = {name: regex(pattern) for name, pattern in lexemes.items()}
        symbols = {symbol for ways in rules.values() for way in ways for symbol in way}
        self.nullable = find_nullable(rules)
        self.frame = ChartFrame(text, literals=frozenset(symbols - {*rules, *lexemes}))

    def play(self) -> Iterator[ChartFrame]:
        column = [Item("start", (self.start,), 0, 0)]
        chart = [column]
        self.frame = replace(self.frame, columns=((),))
        yield self._add("predict", column[0], [], f"start: the text is one {self.start}.")
        while True:
            yield from self._close(chart)
            lexeme = self._lex(column)
            if lexeme is None:
                break
            yield self._show_lexeme(lexeme)
            column = []
            for row, item in enumerate(chart[-1]):
                if item.wanted == lexeme.name:
                    column.append(item.moved)
                    words = f"scan: {item.rule} waited for {lexeme.name}, and the dot moves over it."
                    yield self._add("scan", item.moved, [(len(chart) - 1, row)], words)
            chart.append(column)
        yield self._end(column)

    def _close(self, chart: list[list[Item]]) -> Iterator[ChartFrame]:
        """Predict and complete until nothing is new."""
        column, here = chart[-1], len(chart) - 1
        for row, item in enumerate(column):  # it grows
            if item.wanted is None and item.origin < here:
                for new in complete(chart, item):
                    old = chart[item.origin].index(new._replace(dot=new.dot - 1))
                    words = f"complete: {item.rule} is finished. {new.rule} waited for it in column {item.origin}"
                    yield self._grow("complete", column, new, [(here, row), (item.origin, old)], words)
            if item.wanted in self.rules:
                yield from self._predict(column, item, (here, row))

    def _predict(self, column: list[Item], item: Item, place: Place) -> Iterator[ChartFrame]:
        asked = f"predict: {item.rule} waits for {item.wanted}"
        begun = [Item(item.wanted or "", way, 0, place[0]) for way in self.rules[item.wanted or ""]]
        fresh = [new for new in begun if new not in column]
        for new in fresh:
            column.append(new)
            shown = str(new).rpartition(" (")[0]
            yield self._add("predict", new, [place], f"{asked}, so {shown} may begin here.")
        if not fresh:
            words = f"{asked}. Its items are in this column already: nothing is added."
            yield self._say_tree(words, [place])
        if item.wanted in self.nullable:
            words = f"skip: {item.wanted} may be empty. {item.rule} waited for it"
            yield self._grow("skip", column, item.moved, [place], words)

    def _grow(self, kind: str, column: list[Item], new: Item, causes: list[Place], words: str) -> ChartFrame:
        if new in column:
            return self._say_tree(f"{words}; this item is in the column already, it is kept once.", causes)
        column.append(new)
        return self._add(kind, new, causes, f"{words}, and its dot moves.")

    def _add(self, kind: str, item: Item, causes: Iterable[Place], words: str) -> ChartFrame:
        *done, last = self.frame.columns
        lit = len(done), len(last)
        self.frame = replace(self.frame, columns=(*done, (*last, (kind, item))), lit=lit)
        return self._say_tree(words, causes, lit)

    def _say_tree(self, words: str, causes: Iterable[Place], lit: Place | None = None) -> ChartFrame:
        self.frame = replace(self.frame, words=words, causes=frozenset(causes), lit=lit)
        return self.frame

    def _lex(self, column: Iterable[Item]) -> Lexeme | None:
        """The longest lexeme for which the column waits."""
        start = self.frame.lexemes[-1].end if self.frame.lexemes else 0
        names = dict.fromkeys(item.wanted for item in column if item.wanted and item.wanted not in self.rules)
        found = [Lexeme(name, start, self._longest(name, start)) for name in names]
        return max((one for one in found if one.end > start), key=lambda one: one.end, default=None)

    def _longest(self, name: str, start: int) -> int:
        """The end of the longest text of a lexeme; its start if there is none."""
        text = self.frame.text
        if name not in self.machines:
            return start + len(name.encode()) if text.startswith(name.encode(), start) else start
        machine, end = self.machines[name], start
        state = machine.initial
        for place in range(start, len(text)):
            after = machine.step(state, text[place])
            if after is None:
                break
            state = after
            end = place + 1 if machine.is_accepting(state) else end
        return end

    def _show_lexeme(self, lexeme: Lexeme) -> ChartFrame:
        text = self.frame.text
        read, after = visible(text[lexeme.start : lexeme.end]), visible(text[lexeme.end : lexeme.end + 1])
        then = f"then comes {after}" if after else "then the text ends"
        words = f"lexer: {read} is read, {then}. The lexeme is a {lexeme.name}."
        if lexeme.name in self.frame.literals:
            words = f"lexer: {read} is read. It is a lexeme of its own."
        self.frame = replace(self.frame, lexemes=(*self.frame.lexemes, lexeme), columns=(*self.frame.columns, ()))
        return self._say_tree(words, [])

    def _end(self, column: list[Item]) -> ChartFrame:
        whole, end = Item("start", (self.start,), 1, 0), self.frame.lexemes[-1].end if self.frame.lexemes else 0
        place = len(self.frame.columns) - 1
        if end < len(self.frame.text):
            sign = visible(self.frame.text[end : end + 1])
            return self._say_tree(
                f"lexer: nothing that the last column waits for begins with {sign}. The text is refused.", []
            )
        if whole in column:
            words = f"start → {self.start} • is in the last column: the text is complete."
            return self._say_tree(words, [], (place, column.index(whole)))
        return self._say_tree(f"start → {self.start} • is not in the last column: the text is not complete yet.", [])


def find_nullable(rules: Rules) -> frozenset[str]:
    """The rules that may be empty.

    >>> sorted(find_nullable({"root": [("blank", "x")], "blank": [(), (" ", "blank")]}))
    ['blank']
    """
    found: set[str] = set()
    while more := {rule for rule, ways in rules.items() if any(found.issuperset(way) for way in ways)} - found:
        found |= more
    return frozenset(found)


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
    said = "\n".join([f"{text}; chart: {counted(len(columns), 'column')}", *_say_tree(columns, names)])
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


def _say_tree(columns: Sequence[Sequence[ChartRow]], names: Sequence[str]) -> list[str]:
    lines = []
    for place, (rows, name) in enumerate(zip(columns, names, strict=True)):
        lines += [f"{place}" + (f", after {name}" if place else ""), *map(say_row, rows)]
    return lines
