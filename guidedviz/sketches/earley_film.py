"""The frames of Earley's algorithm: a lexer cuts the text into lexemes, and each item that is added is one frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from guidedviz.errors import SettingError
from guidedviz.machines.earley.items import Item, Rules, complete
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible

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
            yield self._say(words, [place])
        if item.wanted in self.nullable:
            words = f"skip: {item.wanted} may be empty. {item.rule} waited for it"
            yield self._grow("skip", column, item.moved, [place], words)

    def _grow(self, kind: str, column: list[Item], new: Item, causes: list[Place], words: str) -> ChartFrame:
        if new in column:
            return self._say(f"{words}; this item is in the column already, it is kept once.", causes)
        column.append(new)
        return self._add(kind, new, causes, f"{words}, and its dot moves.")

    def _add(self, kind: str, item: Item, causes: Iterable[Place], words: str) -> ChartFrame:
        *done, last = self.frame.columns
        lit = len(done), len(last)
        self.frame = replace(self.frame, columns=(*done, (*last, (kind, item))), lit=lit)
        return self._say(words, causes, lit)

    def _say(self, words: str, causes: Iterable[Place], lit: Place | None = None) -> ChartFrame:
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
        return self._say(words, [])

    def _end(self, column: list[Item]) -> ChartFrame:
        whole, end = Item("start", (self.start,), 1, 0), self.frame.lexemes[-1].end if self.frame.lexemes else 0
        place = len(self.frame.columns) - 1
        if end < len(self.frame.text):
            sign = visible(self.frame.text[end : end + 1])
            return self._say(
                f"lexer: nothing that the last column waits for begins with {sign}. The text is refused.", []
            )
        if whole in column:
            words = f"start → {self.start} • is in the last column: the text is complete."
            return self._say(words, [], (place, column.index(whole)))
        return self._say(f"start → {self.start} • is not in the last column: the text is not complete yet.", [])


def find_nullable(rules: Rules) -> frozenset[str]:
    """The rules that may be empty.

    >>> sorted(find_nullable({"root": [("blank", "x")], "blank": [(), (" ", "blank")]}))
    ['blank']
    """
    found: set[str] = set()
    while more := {rule for rule, ways in rules.items() if any(found.issuperset(way) for way in ways)} - found:
        found |= more
    return frozenset(found)
