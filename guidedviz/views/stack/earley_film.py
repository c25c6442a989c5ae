"""The film of Earley's algorithm: a lexer cuts the text into lexemes, and each item that is added is one frame."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from guidedviz.machines.earley.items import Item, Rules, begin
from guidedviz.machines.graph import derive
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible
from guidedviz.views.figure import check_count
from guidedviz.views.machine.film import MOST_FRAMES

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
        self.named = {*rules, *lexemes}  # all other symbols are texts
        self.text = text
        self.frames = list[ChartFrame]()
        self.columns: list[list[tuple[str, Item]]] = [[]]
        self.lexemes = list[Lexeme]()
        self.read = 0  # bytes of the text
        self.machines = {name: regex(pattern) for name, pattern in lexemes.items()}
        self.rules = dict[str, list[tuple[str, ...]]]()
        for rule, ways in rules.items():
            self.rules[rule] = [tuple(map(self.name_symbol, one)) for one in ways]
        clauses = [(rule, one) for rule, ways in self.rules.items() for one in ways]
        self.nullable = derive(clauses)  # those may be empty
        start = next(iter(rules))
        first = Item("start", (start,), 0, 0)
        self.add("predict", first, [], f"start: the text is one {start}.")
        self.close()
        found = self.lex()
        while found:
            self.scan(*found)
            self.close()
            found = self.lex()
        self.end(Item("start", (start,), 1, 0))

    def name_symbol(self, symbol: str) -> str:
        """The name of a symbol: a text that stands for itself is a lexeme in quotes."""
        if symbol in self.named:
            return symbol
        name = f'"{visible(symbol.encode())}"'
        self.machines[name] = regex(re.escape(symbol))
        return name

    def show(self, words: str, causes: Iterable[RowPlace] = (), lit: RowPlace | None = None) -> None:
        """Keep a frame."""
        columns = tuple(map(tuple, self.columns))
        lexemes = tuple(self.lexemes)
        self.frames.append(ChartFrame(self.text, columns, lexemes, lit, frozenset(causes), words))
        check_count("earley_frames", len(self.frames), "frames", MOST_FRAMES, "a shorter text")

    def find(self, item: Item) -> int | None:
        """The row of an item in the last column."""
        items = [item for _, item in self.columns[-1]]
        return items.index(item) if item in items else None

    def add(self, kind: str, item: Item, causes: Iterable[RowPlace], words: str) -> None:
        """Add an item to the last column, unless the column has it."""
        if self.find(item) is not None:
            move, _, _ = words.rpartition(",")
            self.show(f"{move}; this item is in the column already, it is kept once.", causes)
        else:
            row = len(self.columns[-1])
            self.columns[-1].append((kind, item))
            self.show(words, causes, (len(self.columns) - 1, row))

    def close(self) -> None:
        """Predict and complete until nothing is new."""
        here = len(self.columns) - 1
        for row, (_, item) in enumerate(self.columns[-1]):  # it grows
            if item.wanted in self.rules:
                self.predict(item, (here, row))
            if item.wanted is None and item.origin < here:
                self.complete(item, (here, row))

    def complete(self, item: Item, place: RowPlace) -> None:
        """Move the dots of the items that waited for a finished rule, in the column where it began."""
        for row, (_, old) in enumerate(self.columns[item.origin]):
            if old.wanted == item.rule:
                words = f"complete: {item.rule} is finished. {old.rule} waited for it in column "
                words += f"{item.origin}, and its dot moves."
                causes = [place, (item.origin, row)]
                self.add("complete", old.moved, causes, words)

    def predict(self, item: Item, place: RowPlace) -> None:
        """Add the alternatives of the rule after the dot, and skip a rule that may be empty."""
        asked = f"predict: {item.rule} waits for {item.wanted}"
        fresh = [new for new in begin(self.rules, item, place[0]) if self.find(new) is None]
        for new in fresh:
            words = f"{asked}, so {dotted(new)} may begin here."
            self.add("predict", new, [place], words)
        if not fresh:
            self.show(f"{asked}. Its items are in this column already: nothing is added.", [place])
        if item.wanted in self.nullable:
            words = f"skip: {item.wanted} may be empty. {item.rule} waited for it, and its dot moves."
            self.add("skip", item.moved, [place], words)

    def lex(self) -> tuple[str, int] | None:
        """The longest lexeme for which the last column waits, and where it ends."""
        longest = None
        end = self.read
        for _, item in self.columns[-1]:
            if item.wanted in self.machines:
                machine = self.machines[item.wanted]
                path = read_path(machine, self.text[self.read :])
                for place, state in enumerate(path, self.read):
                    if place > end and machine.is_accepting(state):
                        longest = item.wanted
                        end = place
        return (longest, end) if longest else None

    def scan(self, name: str, end: int) -> None:
        """Begin a column with the items that waited for a lexeme."""
        lexeme = visible(self.text[self.read : end])
        words = f"lexer: {lexeme} is read"
        if name in self.named:
            after = visible(self.text[end : end + 1])
            then = f"then comes {after}" if after else "then the text ends"
            self.lexemes.append(Lexeme(name, self.read, end))
            words += f", {then}. The lexeme is a {name}."
        else:
            self.lexemes.append(Lexeme("", self.read, end))
            words += ". It is a lexeme of its own."
        self.read = end
        self.columns.append([])
        self.show(words)
        before = len(self.columns) - 2
        for row, (_, item) in enumerate(self.columns[before]):
            if item.wanted == name:
                words = f"scan: {item.rule} waited for {name}, and the dot moves over it."
                self.add("scan", item.moved, [(before, row)], words)

    def end(self, whole: Item) -> None:
        """The last frame: whether the text is complete."""
        rest = self.text[self.read :]
        row = self.find(whole)
        said = f"start → {whole.symbols[0]} • is"
        if rest:
            sign = visible(rest[:1])
            self.show(f"lexer: nothing that the last column waits for begins with {sign}. The text is refused.")
        elif row is not None:
            here = len(self.columns) - 1, row
            self.show(f"{said} in the last column: the text is complete.", lit=here)
        else:
            self.show(f"{said} not in the last column: the text is not complete yet.")


def dotted(item: Item) -> str:
    return str(item).rpartition(" (")[0]
