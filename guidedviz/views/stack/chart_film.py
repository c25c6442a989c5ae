"""The film of Earley's algorithm: the text with its lexemes, and below it the chart, which grows item by item.

A lexer cuts the text into lexemes, and each item that is added is one frame. The last frame is laid out once; every
part has its key, and a frame says which parts are visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.machines.earley.earley import ChartItem
from guidedviz.machines.earley.items import Item, Rules, complete
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, drawing, moved, soft, wide
from guidedviz.views.machine.films import MOST_FRAMES, FilmDrawings, check_watchable, pack_frame, write_bytes
from guidedviz.views.stack.chart import (
    EDGE,
    HEAD,
    ROW,
    ChartColumn,
    ChartRow,
    draw_head,
    draw_legend,
    draw_row,
    say_columns,
)

CELL, STRIP, GAP = 34.0, 74.0, 12.0
STYLE = """
.gv-machine .gv-item .gv-disc { fill: transparent; stroke: none; }
.gv-machine .gv-item.gv-on .gv-disc { stroke: var(--gv-blue); stroke-width: 1.8; stroke-dasharray: 5 3; }
.gv-machine .gv-item.gv-lit .gv-disc { fill: var(--gv-page); stroke: var(--gv-orange); stroke-width: 2.6; }
.gv-absent { visibility: hidden; }
"""
RowPlace = tuple[int, int]  # a column, and a row in it


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
    columns: tuple[tuple[tuple[str, Item], ...], ...]
    lexemes: tuple[Lexeme, ...]
    literals: frozenset[str]  # symbols that stand for themselves
    lit: RowPlace | None  # the new item
    causes: frozenset[RowPlace]  # the items that led to it
    words: str

    @property
    def numbers(self) -> dict[RowPlace, int]:
        """The number of each item on the page."""
        every = [(place, row) for place, rows in enumerate(self.columns) for row in range(len(rows))]
        return {place: number for number, place in enumerate(every)}

    @property
    def cell(self) -> float:
        """The width of a byte; the name of each lexeme fits below its bytes."""
        named = [one for one in self.lexemes if one.name not in self.literals]
        return max([CELL, *((wide(one.name, 12) + 8) / (one.end - one.start) for one in named)])


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
    return _ChartFilm(rules, to_bytes(text), lexemes or {}).frames


class _ChartFilm:
    """Reads a text, and keeps a frame of each move."""

    def __init__(self, rules: Rules, text: bytes, lexemes: Mapping[str, str]) -> None:
        self.rules, self.text, self.frames = rules, text, list[ChartFrame]()
        self.machines: dict[str, Machine[Any]] = {name: regex(pattern) for name, pattern in lexemes.items()}
        symbols = {symbol for ways in rules.values() for way in ways for symbol in way}
        self.literals, self.nullable = frozenset(symbols - {*rules, *lexemes}), find_nullable(rules)
        self.chart: list[list[Item]] = [[]]
        self.kinds: list[list[str]] = [[]]  # of the moves that added the items
        self.lexemes: list[Lexeme] = []
        start = next(iter(rules))
        self.add("predict", Item("start", (start,), 0, 0), [], f"start: the text is one {start}.")
        self.close()
        while lexeme := self.lex():
            self.scan(lexeme)
            self.close()
        self.end(Item("start", (start,), 1, 0))

    def show(self, words: str, causes: Iterable[RowPlace] = (), lit: RowPlace | None = None) -> None:
        """Keep a frame."""
        columns = tuple(tuple(zip(*both, strict=True)) for both in zip(self.kinds, self.chart, strict=True))
        lexemes = tuple(self.lexemes)
        self.frames.append(ChartFrame(self.text, columns, lexemes, self.literals, lit, frozenset(causes), words))
        check_watchable("earley_frames", len(self.frames), "frames", "a shorter text", MOST_FRAMES)

    def add(self, kind: str, item: Item, causes: Iterable[RowPlace], words: str) -> None:
        """Add an item to the last column."""
        self.chart[-1].append(item)
        self.kinds[-1].append(kind)
        self.show(words, causes, (len(self.chart) - 1, len(self.chart[-1]) - 1))

    def move_dot(self, kind: str, item: Item, causes: Iterable[RowPlace], words: str) -> None:
        """Add an item whose dot has moved, unless the column has it."""
        if item in self.chart[-1]:
            self.show(f"{words}; this item is in the column already, it is kept once.", causes)
        else:
            self.add(kind, item, causes, f"{words}, and its dot moves.")

    def close(self) -> None:
        """Predict and complete until nothing is new."""
        here = len(self.chart) - 1
        for row, item in enumerate(self.chart[-1]):  # it grows
            if item.wanted is None and item.origin < here:
                for new in complete(self.chart, item):
                    old = self.chart[item.origin].index(new._replace(dot=new.dot - 1))
                    words = f"complete: {item.rule} is finished. {new.rule} waited for it in column {item.origin}"
                    self.move_dot("complete", new, [(here, row), (item.origin, old)], words)
            if item.wanted and item.wanted in self.rules:
                self.predict(item, item.wanted, (here, row))

    def predict(self, item: Item, wanted: str, place: RowPlace) -> None:
        """Add the alternatives of the rule after the dot, and skip a rule that may be empty."""
        asked = f"predict: {item.rule} waits for {wanted}"
        begun = [Item(wanted, way, 0, place[0]) for way in self.rules[wanted]]
        fresh = [new for new in begun if new not in self.chart[-1]]
        for new in fresh:
            shown = str(new).rpartition(" (")[0]
            self.add("predict", new, [place], f"{asked}, so {shown} may begin here.")
        if not fresh:
            self.show(f"{asked}. Its items are in this column already: nothing is added.", [place])
        if wanted in self.nullable:
            words = f"skip: {wanted} may be empty. {item.rule} waited for it"
            self.move_dot("skip", item.moved, [place], words)

    def lex(self) -> Lexeme | None:
        """The longest lexeme for which the last column waits."""
        start = self.lexemes[-1].end if self.lexemes else 0
        names = dict.fromkeys(item.wanted for item in self.chart[-1] if item.wanted and item.wanted not in self.rules)
        found = [Lexeme(name, start, self.longest(name, start)) for name in names]
        return max((one for one in found if one.end > start), key=lambda one: one.end, default=None)

    def longest(self, name: str, start: int) -> int:
        """The end of the longest text of a lexeme; its start if there is none."""
        if name in self.literals:
            return start + len(name.encode()) if self.text.startswith(name.encode(), start) else start
        machine, end = self.machines[name], start
        state = machine.initial
        for place in range(start, len(self.text)):
            state = machine.step(state, self.text[place])
            if state is None:
                break
            end = place + 1 if machine.is_accepting(state) else end
        return end

    def scan(self, lexeme: Lexeme) -> None:
        """Begin a column with the items that waited for a lexeme."""
        read, after = (visible(part) for part in (self.text[lexeme.start : lexeme.end], self.text[lexeme.end :][:1]))
        then = f"then comes {after}" if after else "then the text ends"
        words = f"lexer: {read} is read, {then}. The lexeme is a {lexeme.name}."
        if lexeme.name in self.literals:
            words = f"lexer: {read} is read. It is a lexeme of its own."
        before, place = self.chart[-1], len(self.chart) - 1
        self.lexemes.append(lexeme)
        self.chart.append([])
        self.kinds.append([])
        self.show(words)
        for row, item in enumerate(before):
            if item.wanted == lexeme.name:
                words = f"scan: {item.rule} waited for {lexeme.name}, and the dot moves over it."
                self.add("scan", item.moved, [(place, row)], words)

    def end(self, whole: Item) -> None:
        """The last frame: whether the text is complete."""
        column, rest = self.chart[-1], self.text[self.lexemes[-1].end if self.lexemes else 0 :]
        said = f"start → {whole.symbols[0]} • is"
        if rest:
            sign = visible(rest[:1])
            self.show(f"lexer: nothing that the last column waits for begins with {sign}. The text is refused.")
        elif whole in column:
            place = len(self.chart) - 1, column.index(whole)
            self.show(f"{said} in the last column: the text is complete.", lit=place)
        else:
            self.show(f"{said} not in the last column: the text is not complete yet.")


def find_nullable(rules: Rules) -> frozenset[str]:
    """The rules that may be empty.

    >>> sorted(find_nullable({"root": [("blank", "x")], "blank": [(), (" ", "blank")]}))
    ['blank']
    """
    found: set[str] = set()
    while more := {rule for rule, ways in rules.items() if any(found.issuperset(way) for way in ways)} - found:
        found |= more
    return frozenset(found)


def build_chart_film(frames: Sequence[ChartFrame]) -> FilmDrawings:
    """One drawing, and per frame the keys of its parts."""
    numbers = frames[-1].numbers
    packed = []
    for frame in frames:
        seen = [numbers[place] for place in frame.numbers]
        marks = [f"c{place}" for place in range(len(frame.columns))] + [f"l{n}" for n in range(len(frame.lexemes))]
        lit = [numbers[frame.lit]] if frame.lit else []
        causes = [str(numbers[place]) for place in sorted(frame.causes)]
        packed.append(pack_frame(seen, [*map(str, seen), *marks], lit, causes, frame.words))
    return FilmDrawings((draw_frame(frames[-1], bare=True).drawing,), tuple(packed))


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
    columns, x = _columns(frame), EDGE
    high, numbers = HEAD + ROW * max(len(column.rows) for column in columns) + 4, frame.numbers
    parts = [node("style", STYLE), *write_bytes(frame.text, frame.cell, 10), *_lexemes(frame)]
    for place, column in enumerate(columns):
        width = column.width - GAP
        parts.append(moved(x, STRIP, *draw_head(column, width, high), data_arrow=f"c{place}"))
        for row, shown in enumerate(column.rows):
            here, y = (place, row), STRIP + HEAD + ROW * row
            kind = "gv-item" + (" gv-lit" * (here == frame.lit) + " gv-on" * (here in frame.causes)) * (not bare)
            size = {"x": x + 3, "y": y - 0.5, "width": width - 6, "height": ROW - 1, "rx": 4}
            inside = node("rect", **size, class_="gv-disc"), moved(x, y, *draw_row(shown, width))
            key = numbers[here]
            parts.append(node("g", *inside, class_=kind, data_state=key, data_arrow=str(key)))
        x += column.width
    legend, broad = draw_legend(columns, "lexeme")
    parts.append(moved(EDGE, STRIP + high + 22, legend))
    text = f"the text {visible(frame.text)}, {counted(len(frame.lexemes), 'lexeme')}"
    said = "\n".join([f"{text}; chart: {counted(len(columns), 'column')}", *say_columns(columns)])
    extent = max(x, broad + 2 * EDGE, EDGE * 2 + frame.cell * len(frame.text)), STRIP + high + 38
    return Figure(drawing(*extent, node("g", *parts, class_="gv-machine"), alt=said), said, said)


def _columns(frame: ChartFrame) -> list[ChartColumn]:
    named = [f"{one.name} " * (one.name not in frame.literals) for one in frame.lexemes]
    texts = [visible(frame.text[one.start : one.end]) for one in frame.lexemes]
    names = ["", *map(str.__add__, named, texts)]
    return [
        ChartColumn(name, number, tuple(ChartRow(kind, _show(item, frame)) for kind, item in rows))
        for number, (name, rows) in enumerate(zip(names, frame.columns, strict=True))
    ]


def _show(item: Item, frame: ChartFrame) -> ChartItem:
    shown = [f'"{visible(one.encode())}"' if one in frame.literals else one for one in item.symbols]
    before, after = " ".join(shown[: item.dot]), " ".join(shown[item.dot :])
    return ChartItem(item.rule, before, after, item.origin, item.wanted is None, True)


def _lexemes(frame: ChartFrame) -> list[Element]:
    """The lexemes that were read, below their bytes."""
    parts = []
    for number, lexeme in enumerate(frame.lexemes):
        x, width = EDGE + frame.cell * lexeme.start, frame.cell * (lexeme.end - lexeme.start) - 3
        box = {"x": x, "y": 10, "width": width, "height": 26, "rx": 4}
        mark = node("rect", **box, fill="none", stroke="var(--gv-blue)", stroke_width=2.4)
        brace = node("path", d=f"M{x:g} 40v6h{width:g}v-6", fill="none", stroke="var(--gv-blue)", stroke_width=1.6)
        name = "" if lexeme.name in frame.literals else lexeme.name
        about = soft(x + width / 2, 60, name, 12, text_anchor="middle", mono=True)
        parts.append(node("g", mark, brace, about, data_arrow=f"l{number}"))
    return parts
