"""The film of Earley's algorithm, and the parse tree that it finds.

The film shows the text with its lexemes, and below it the chart, which grows item by item.

A lexer cuts the text into lexemes, and each item that is added is one frame. The last frame is laid out once; every
part has its key, and a frame says which parts are visible.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.earley.derivation import ParseLeaf, ParseTree, derivation, walk
from guidedviz.machines.earley.earley import Earley, earley
from guidedviz.machines.earley.items import Item, Rules
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import counted, visible
from guidedviz.machines.work import derive
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, figure_of, heading, moved, rect, soft, wide, write, write_legend
from guidedviz.views.machine.film import MOST_FRAMES, FilmDrawings, check_watchable, pack_frame
from guidedviz.views.machine.tape import write_bytes
from guidedviz.views.words import label

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
RowPlace = tuple[int, int]  # a column, and a row in it


class Lexeme(NamedTuple):
    """A part of the text that the rules read as one symbol."""

    name: str  # of its regex; empty for a text that stands for itself
    start: int
    end: int


@dataclass(frozen=True)
class ChartFrame:
    """The chart after one move: per column the items, each with the kind of move that added it."""

    text: bytes
    columns: tuple[tuple[tuple[str, Item], ...], ...]
    lexemes: tuple[Lexeme, ...]
    lit: RowPlace | None  # the new item
    causes: frozenset[RowPlace]  # the items that led to it
    words: str


def earley_frames(rules: Rules, text: bytes | str, lexemes: Mapping[str, str] | None = None) -> list[ChartFrame]:
    """One frame per move; the first rule stands for the whole text, `lexemes` holds a regex for each named lexeme.

    >>> sums = {"sum": [("sum", "+", "number"), ("number",)]}
    >>> for frame in earley_frames(sums, "12", {"number": "[0-9]+"}):
    ...     print(frame.words)
    start: the text is one sum.
    predict: start waits for sum, so sum → • sum "+" number may begin here.
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
        symbols = {symbol for ways in rules.values() for way in ways for symbol in way} - {*rules, *lexemes}
        quoted = {symbol: f'"{visible(symbol.encode())}"' for symbol in symbols}
        self.literals = frozenset(quoted.values())
        self.machines = {name: regex(pattern) for name, pattern in lexemes.items()}
        self.machines |= {name: regex(re.escape(symbol)) for symbol, name in quoted.items()}
        self.ways = [(rule, tuple(quoted.get(one, one) for one in way)) for rule in rules for way in rules[rule]]
        self.nullable = derive(self.ways)  # the rules that may be empty
        self.columns: list[list[tuple[str, Item]]] = [[]]
        self.lexemes: list[Lexeme] = []
        start = next(iter(rules))
        self.add("predict", Item("start", (start,), 0, 0), [], f"start: the text is one {start}.")
        self.close()
        while found := self.lex():
            self.scan(*found)
            self.close()
        self.end(Item("start", (start,), 1, 0))

    def show(self, words: str, causes: Iterable[RowPlace] = (), lit: RowPlace | None = None) -> None:
        """Keep a frame."""
        columns, lexemes = tuple(map(tuple, self.columns)), tuple(self.lexemes)
        self.frames.append(ChartFrame(self.text, columns, lexemes, lit, frozenset(causes), words))
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
        begun = [Item(wanted, way, 0, place[0]) for rule, way in self.ways if rule == wanted]
        fresh = [new for new in begun if self.find(new) is None]
        for new in fresh:
            self.add("predict", new, [place], f"{asked}, so {_dotted(new)} may begin here.")
        if not fresh:
            self.show(f"{asked}. Its items are in this column already: nothing is added.", [place])
        if wanted in self.nullable:
            words = f"skip: {wanted} may be empty. {item.rule} waited for it, and its dot moves."
            self.add("skip", item.moved, [place], words)

    @property
    def place(self) -> int:
        """How many bytes are read."""
        return self.lexemes[-1].end if self.lexemes else 0

    def lex(self) -> tuple[str, int] | None:
        """The longest lexeme for which the last column waits, and where it ends."""
        wanted = (item.wanted for _, item in self.columns[-1] if item.wanted in self.machines)
        return max(((name, end) for name in wanted for end in self.ends(name)), key=lambda one: one[1], default=None)

    def ends(self, name: str) -> Iterator[int]:
        """Where a lexeme that begins here may end."""
        machine = self.machines[name]
        path = read_path(machine, self.text[self.place :])
        yield from (self.place + read for read, state in enumerate(path) if read and machine.is_accepting(state))

    def scan(self, name: str, end: int) -> None:
        """Begin a column with the items that waited for a lexeme."""
        read, after = visible(self.text[self.place : end]), visible(self.text[end : end + 1])
        then = f"then comes {after}" if after else "then the text ends"
        words = f"lexer: {read} is read, {then}. The lexeme is a {name}."
        if name in self.literals:
            words = f"lexer: {read} is read. It is a lexeme of its own."
        before, column = self.columns[-1], len(self.columns) - 1
        self.lexemes.append(Lexeme("" if name in self.literals else name, self.place, end))
        self.columns.append([])
        self.show(words)
        for row, (_, item) in enumerate(before):
            if item.wanted == name:
                words = f"scan: {item.rule} waited for {name}, and the dot moves over it."
                self.add("scan", item.moved, [(column, row)], words)

    def end(self, whole: Item) -> None:
        """The last frame: whether the text is complete."""
        rest, row = self.text[self.place :], self.find(whole)
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


def _dotted(item: Item) -> str:
    return str(item).rpartition(" (")[0]


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


# --- the parse tree of a text or of a prefix; ---


TREE_TOP, LEVEL, BOX, APART, BROADEST = 34.0, 46.0, 24.0, 8.0, 1060.0
DEEPEST = 60  # levels that are drawn
TEXT_ROOM = 24  # characters of a text
LOW = ("leaf", "next")  # kinds of parts on the lowest line
LINE = {"stroke": "var(--gv-soft)", "stroke_width": 1.3}
OPEN = {"stroke": "var(--gv-orange)", "stroke_width": 2, "stroke_dasharray": "5 3.5"}


@dataclass(frozen=True)
class TreePart:
    """A node of the tree as it is drawn."""

    words: str
    kind: str  # rule, open, leaf, next
    parts: "tuple[TreePart, ...]" = ()

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
    tree = derivation(grammar if isinstance(grammar, Earley) else earley(grammar), data)
    drawn = _grow(tree, data) if max(depth for depth, _ in walk(tree)) <= DEEPEST else None
    if drawn is None or drawn.width > BROADEST:
        seen, expected = f"the tree of {len(data):,} bytes", "one that fits into a picture"
        raise SettingError("draw_derivation, text", seen=seen, expected=expected, hint="a shorter text")
    lines, ground = list(_lines(drawn, 0)), TREE_TOP + LEVEL * (drawn.height - 1)
    about = f"{tree.name} is open" if tree.open else "finished"
    about += "; ? could be read in a second way" * any(" ?" in line for line in lines)  # a text has no spaces
    said = "\n".join([f"tree of {shorten(label(data[:200]), 60)}: {about}", *lines])
    body = [heading(EDGE, 20, "tree", about), *_write(drawn, EDGE, TREE_TOP, ground)]
    width = max(drawn.width + 2 * EDGE, EDGE * 2 + 40 + 6.4 * len(about))
    return figure_of(width, ground + BOX + EDGE, said, *body)


def _grow(part: ParseTree | ParseLeaf, data: bytes) -> TreePart:
    """A branch with its parts that have text or are open."""
    if isinstance(part, ParseLeaf):
        return TreePart(shorten(label(data[part.start : part.end]), TEXT_ROOM), "leaf")
    opened = {child for child in part.children if isinstance(child, ParseTree) and child.open}
    parts = [_grow(child, data) for child in part.children if child in opened or child.end > child.start]
    parts += [TreePart("▸", "next")] * (part.open and not opened)
    return TreePart(part.name + " ?" * part.ambiguous, "open" if part.open else "rule", tuple(parts))


def _write(drawn: TreePart, x: float, y: float, ground: float) -> Iterator[Element]:
    """A node centred in its width with its children below; text is on the lowest line."""
    middle, at = x + drawn.width / 2, x + (drawn.width - sum(part.width for part in drawn.parts)) / 2
    for part in drawn.parts:
        down, to = ground if part.kind in LOW else y + LEVEL, at + part.width / 2
        way = f"M{middle:.1f},{y + BOX:.1f}L{to:.1f},{min(down, y + LEVEL):.1f}V{down:.1f}"
        yield node("path", d=way, fill="none", **(OPEN if part.kind in ("open", "next") else LINE))
        yield from _write(part, at, down, ground)
        at += part.width
    style: dict[str, Any] = {"mono": True, "text_anchor": "middle"}
    if drawn.kind in ("rule", "open"):
        half = wide(drawn.words, 13) / 2 + 8
        line = OPEN if drawn.kind == "open" else {"stroke": "var(--gv-blue)", "stroke_width": 1.3}
        yield rect(middle - half, y, 2 * half, BOX, 5, fill="var(--gv-page)", **line)
    elif drawn.kind == "next":
        style |= {"fill": "var(--gv-orange)"}
    elif drawn.kind == "leaf":
        style |= {"font_weight": "bold"}
    yield write(middle, y + 16, drawn.words, 13, **style)


def _lines(drawn: TreePart, depth: int) -> Iterator[str]:
    yield "  " * depth + drawn.words + " …" * (drawn.kind == "open")
    for part in drawn.parts:
        yield from _lines(part, depth + 1)
