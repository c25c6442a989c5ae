"""The film of Earley's algorithm: the text with its lexemes, and below it the chart, which grows item by item.

A lexer cuts the text into lexemes, and each item that is added is one frame. The last frame is laid out once; every
part has its key, and a frame says which parts are visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from guidedviz.machines.earley.earley import ChartItem
from guidedviz.machines.earley.items import Item, Rules
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import counted, visible
from guidedviz.machines.work import derive
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, drawing, soft, wide
from guidedviz.views.machine.films import MOST_FRAMES, FilmDrawings, check_watchable, pack_frame, write_bytes
from guidedviz.views.stack.chart import EDGE, ChartColumn, say_columns, write_columns

CELL, STRIP = 34.0, 74.0
STYLE = """
.gv-machine .gv-item .gv-disc { fill: transparent; stroke: none; }
.gv-machine .gv-item.gv-on .gv-disc { stroke: var(--gv-blue); stroke-width: 1.8; stroke-dasharray: 5 3; }
.gv-machine .gv-item.gv-lit .gv-disc { fill: var(--gv-page); stroke: var(--gv-orange); stroke-width: 2.6; }
.gv-absent { visibility: hidden; }
"""
RowPlace = tuple[int, int]  # a column, and a row in it


class Lexeme(NamedTuple):
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
        ways = [(rule, way) for rule, some in rules.items() for way in some]
        self.nullable = derive(ways)  # the rules that may be empty
        self.literals = frozenset(symbol for _, way in ways for symbol in way) - {*rules, *lexemes}
        self.columns: list[list[tuple[str, Item]]] = [[]]
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
        columns, lexemes = tuple(map(tuple, self.columns)), tuple(self.lexemes)
        self.frames.append(ChartFrame(self.text, columns, lexemes, self.literals, lit, frozenset(causes), words))
        check_watchable("earley_frames", len(self.frames), "frames", "a shorter text", MOST_FRAMES)

    def find(self, item: Item) -> int | None:
        """The row of an item in the last column."""
        return next((row for row, (_, other) in enumerate(self.columns[-1]) if other == item), None)

    def add(self, kind: str, item: Item, causes: Iterable[RowPlace], words: str) -> None:
        """Add an item to the last column, unless the column has it."""
        if self.find(item) is not None:
            self.show(f"{words.rpartition(',')[0]}; this item is in the column already, it is kept once.", causes)
        else:
            self.columns[-1].append((kind, item))
            self.show(words, causes, (len(self.columns) - 1, len(self.columns[-1]) - 1))

    def close(self) -> None:
        """Predict and complete until nothing is new."""
        here = len(self.columns) - 1
        for row, (_, item) in enumerate(self.columns[-1]):  # it grows
            if item.wanted and item.wanted in self.rules:
                self.predict(item, item.wanted, (here, row))
            if item.wanted is None and item.origin < here:
                for waits, (_, old) in enumerate(self.columns[item.origin]):
                    if old.wanted == item.rule:
                        words = f"complete: {item.rule} is finished. {old.rule} waited for it in column {item.origin}"
                        causes = [(here, row), (item.origin, waits)]
                        self.add("complete", old.moved, causes, f"{words}, and its dot moves.")

    def predict(self, item: Item, wanted: str, place: RowPlace) -> None:
        """Add the alternatives of the rule after the dot, and skip a rule that may be empty."""
        asked = f"predict: {item.rule} waits for {wanted}"
        begun = [Item(wanted, way, 0, place[0]) for way in self.rules[wanted]]
        fresh = [new for new in begun if self.find(new) is None]
        for new in fresh:
            shown = str(new).rpartition(" (")[0]
            self.add("predict", new, [place], f"{asked}, so {shown} may begin here.")
        if not fresh:
            self.show(f"{asked}. Its items are in this column already: nothing is added.", [place])
        if wanted in self.nullable:
            words = f"skip: {wanted} may be empty. {item.rule} waited for it, and its dot moves."
            self.add("skip", item.moved, [place], words)

    def lex(self) -> Lexeme | None:
        """The longest lexeme for which the last column waits."""
        start = self.lexemes[-1].end if self.lexemes else 0
        names = {item.wanted: 0 for _, item in self.columns[-1] if item.wanted and item.wanted not in self.rules}
        found = [Lexeme(name, start, end) for name in names if name for end in self.ends(name, start)]
        return max(found, key=lambda one: one.end, default=None)

    def ends(self, name: str, start: int) -> Iterator[int]:
        """Where a lexeme that begins here may end."""
        if name in self.literals:
            yield from [start + len(name.encode())] * self.text.startswith(name.encode(), start)
            return
        machine = self.machines[name]
        state = machine.initial
        for place in range(start, len(self.text)):
            state = machine.step(state, self.text[place])
            if machine.is_accepting(state):
                yield place + 1

    def scan(self, lexeme: Lexeme) -> None:
        """Begin a column with the items that waited for a lexeme."""
        read, after = (visible(part) for part in (self.text[lexeme.start : lexeme.end], self.text[lexeme.end :][:1]))
        then = f"then comes {after}" if after else "then the text ends"
        words = f"lexer: {read} is read, {then}. The lexeme is a {lexeme.name}."
        if lexeme.name in self.literals:
            words = f"lexer: {read} is read. It is a lexeme of its own."
        before, place = self.columns[-1], len(self.columns) - 1
        self.lexemes.append(lexeme)
        self.columns.append([])
        self.show(words)
        for row, (_, item) in enumerate(before):
            if item.wanted == lexeme.name:
                words = f"scan: {item.rule} waited for {lexeme.name}, and the dot moves over it."
                self.add("scan", item.moved, [(place, row)], words)

    def end(self, whole: Item) -> None:
        """The last frame: whether the text is complete."""
        rest, row = self.text[self.lexemes[-1].end if self.lexemes else 0 :], self.find(whole)
        said = f"start → {whole.symbols[0]} • is"
        if rest:
            sign = visible(rest[:1])
            self.show(f"lexer: nothing that the last column waits for begins with {sign}. The text is refused.")
        elif row is not None:
            self.show(f"{said} in the last column: the text is complete.", lit=(len(self.columns) - 1, row))
        else:
            self.show(f"{said} not in the last column: the text is not complete yet.")


def build_chart_film(frames: Sequence[ChartFrame]) -> FilmDrawings:
    """One drawing, and per frame the keys of its parts."""
    packed = []
    for frame in frames:
        seen = [_number((place, row)) for place, rows in enumerate(frame.columns) for row in range(len(rows))]
        marks = [f"c{place}" for place in range(len(frame.columns))] + [f"l{n}" for n in range(len(frame.lexemes))]
        lit = [_number(frame.lit)] if frame.lit else []
        causes = [f"{_number(place)}" for place in sorted(frame.causes)]
        packed.append(pack_frame(seen, [*map(str, seen), *marks], lit, causes, frame.words))
    return FilmDrawings((draw_frame(frames[-1], bare=True).drawing,), tuple(packed))


def _number(place: RowPlace) -> int:
    """The number of an item on the page."""
    return MOST_FRAMES * place[0] + place[1]


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
    columns = list(_columns(frame))

    def keys(place: int, row: int | None) -> dict[str, Any]:
        if row is None:
            return {"data_arrow": f"c{place}"}
        here, number = (place, row), _number((place, row))
        lit = " gv-lit" * (here == frame.lit) + " gv-on" * (here in frame.causes)
        return {"class_": "gv-item" + lit * (not bare), "data_state": number, "data_arrow": f"{number}"}

    shown, width, low = write_columns(columns, STRIP, keys, "lexeme")
    named = [one for one in frame.lexemes if one.name not in frame.literals]
    cell = max([CELL, *((wide(one.name, 12) + 8) / (one.end - one.start) for one in named)])  # names fit below bytes
    parts = [node("style", STYLE), *write_bytes(frame.text, cell, 10), *_lexemes(frame, cell), *shown]
    text = f"the text {visible(frame.text)}, {counted(len(frame.lexemes), 'lexeme')}"
    said = "\n".join([f"{text}; chart: {counted(len(columns), 'column')}", *say_columns(columns)])
    width = max(width, EDGE * 2 + cell * len(frame.text))
    return Figure(drawing(width, low, node("g", *parts, class_="gv-machine"), alt=said), said, said)


def _columns(frame: ChartFrame) -> Iterator[ChartColumn]:
    def symbols(some: Iterable[str]) -> str:
        return " ".join(f'"{visible(one.encode())}"' if one in frame.literals else one for one in some)

    for number, rows in enumerate(frame.columns):
        name = ""
        if number:
            lexeme = frame.lexemes[number - 1]
            name = f"{lexeme.name} " * (lexeme.name not in frame.literals)
            name += visible(frame.text[lexeme.start : lexeme.end])
        shown = []
        for kind, item in rows:
            before, after = symbols(item.symbols[: item.dot]), symbols(item.symbols[item.dot :])
            shown.append((kind, ChartItem(item.rule, before, after, item.origin, item.wanted is None, True)))
        yield ChartColumn(name, number, tuple(shown))


def _lexemes(frame: ChartFrame, cell: float) -> Iterator[Element]:
    """The lexemes that were read, below their bytes."""
    blue: dict[str, Any] = {"fill": "none", "stroke": "var(--gv-blue)", "stroke_width": 2}
    for number, (name, start, end) in enumerate(frame.lexemes):
        x, width = EDGE + cell * start, cell * (end - start) - 3
        mark = node("rect", x=x, y=10, width=width, height=26, rx=4, **blue)
        brace = node("path", d=f"M{x:g} 40v6h{width:g}v-6", **blue)
        words = "" if name in frame.literals else name
        about = soft(x + width / 2, 60, words, text_anchor="middle", mono=True)
        yield node("g", mark, brace, about, data_arrow=f"l{number}")
