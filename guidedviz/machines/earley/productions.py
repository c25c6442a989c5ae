"""A grammar as productions (rows of symbols) for the Earley machine.

A part of a rule with its own options (a group, a repeat, a class) becomes a phrase with rows.
A repeat is left-recursive: `x*` is empty or `x* x`. Earley's algorithm reads left recursion in linear time.
A count is split in halves: `x{1000}` is `x{500} x{500}`, and `x{0,999}` is `x{0,499}` or `x{500} x{0,499}`. A count
of n needs about 4 log n rows and adds no ambiguity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, groupby

from guidedviz.errors import PatternError, shorten
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.regular.nfa import utf8_rows
from guidedviz.machines.tree import Call, Chars, Concat, Either, Net, Range, Repeat, Tick, Tree, no_ticks
from guidedviz.machines.visible import counted, visible, visible_bytes
from guidedviz.machines.work import derive

Symbol = int | bytes  # the number of a phrase, or a set of bytes
Production = tuple[Symbol, ...]
MOST_SHOWN = 60  # characters of a part of a rule
INLINE = 8  # an exact count up to this is written as copies
START = 0  # the phrase of the whole text; its only row is the root


@dataclass(frozen=True)
class NetPrefix:
    """All paths through a net from its first place to this one."""

    net: Net
    place: int


@dataclass(frozen=True)
class Phrase:
    """A rule of the grammar, or a part of one that has its own rows."""

    rule: str  # the rule that contains it
    part: Tree | NetPrefix | None  # None: the whole rule
    rows: tuple[Production, ...]

    @property
    def written(self) -> bool:
        return self.part is None

    @cached_property
    def words(self) -> str:
        """The name of a rule, or the GBNF of a part."""
        if self.part is None:
            return self.rule
        if isinstance(self.part, NetPrefix):
            return f"{self.rule}, to place {self.part.place} of {self.part.net.places}"
        return shorten(show_gbnf(Grammar((Rule("", self.part, (0, 0)),))).split(" ::= ", 1)[1], MOST_SHOWN)


@dataclass(frozen=True)
class Productions:
    """The phrases of a grammar. A spot is a dot position in a row; spots are numbered across all rows."""

    phrases: tuple[Phrase, ...]

    def __repr__(self) -> str:
        return f"Productions({counted(len(self.phrases), 'phrase')}, {counted(len(self.after), 'spot')})"

    @cached_property
    def _rows(self) -> list[tuple[int, Production]]:
        return [(number, row) for number, phrase in enumerate(self.phrases) for row in phrase.rows]

    @cached_property
    def after(self) -> tuple[Symbol | None, ...]:
        """The symbol after each spot; None at the end of a row."""
        return tuple(symbol for _, row in self._rows for symbol in (*row, None))

    @cached_property
    def phrase_at(self) -> tuple[int, ...]:
        """The phrase of each spot."""
        return tuple(number for number, row in self._rows for _ in range(len(row) + 1))

    @cached_property
    def row_at(self) -> tuple[int, ...]:
        """The first spot of each spot's row."""
        firsts = accumulate((len(row) + 1 for _, row in self._rows), initial=0)
        return tuple(first for (_, row), first in zip(self._rows, firsts, strict=False) for _ in range(len(row) + 1))

    @cached_property
    def starts(self) -> tuple[tuple[int, ...], ...]:
        """The first spots of the rows of each phrase."""
        starts: list[list[int]] = [[] for _ in self.phrases]
        for first in dict.fromkeys(self.row_at):
            starts[self.phrase_at[first]].append(first)
        return tuple(map(tuple, starts))

    @cached_property
    def nullable(self) -> frozenset[int]:
        """The phrases that may be empty."""
        return derive(self._clauses(lambda some: False))

    def _clauses(self, holds: Callable[[bytes], object]) -> Iterator[tuple[int, list[int]]]:
        """A Horn clause per row: the phrase follows from the row's phrases, if `holds` is true for the row's bytes."""
        for number, row in self._rows:
            if all(holds(symbol) for symbol in row if isinstance(symbol, bytes)):
                yield number, [symbol for symbol in row if isinstance(symbol, int)]

    @cached_property
    def kinds(self) -> bytes:
        """The kind of every byte: the same rows read all bytes of a kind."""
        symbols = {symbol for symbol in self.after if isinstance(symbol, bytes)}
        numbers: dict[tuple[bool, ...], int] = {}
        looks = (tuple(byte in symbol for symbol in symbols) for byte in range(256))
        return bytes(numbers.setdefault(look, len(numbers)) for look in looks)

    @cached_property
    def empty_twice(self) -> frozenset[int]:
        """The phrases with more than one derivation of the empty text."""
        empty = [[row for row in phrase.rows if self.nullable.issuperset(row)] for phrase in self.phrases]
        twice = {number for number, rows in enumerate(empty) if len(rows) > 1}
        while more := {number for number, rows in enumerate(empty) for row in rows if twice & set(row)} - twice:
            twice |= more
        return frozenset(twice)

    def trim(self) -> Productions:
        """The productions without the rows that can never finish."""
        live = derive(self._clauses(bool))
        if START not in live:
            seen, hint = f"the rule {self.phrases[1].rule} can never finish", "an option without rule calls"
            raise PatternError("grammar", seen=seen, expected="a text", hint=hint)

        def finishes(row: Production) -> bool:
            return all(symbol in live if isinstance(symbol, int) else symbol for symbol in row)

        return Productions(tuple(Phrase(old.rule, old.part, tuple(filter(finishes, old.rows))) for old in self.phrases))

    def show(self, symbols: Iterable[Symbol | None]) -> str:
        """Symbols as GBNF; adjacent single bytes become one text."""
        shown = []
        for single, run in groupby(symbols, key=lambda symbol: isinstance(symbol, bytes) and len(symbol) == 1):
            if single:
                text = visible(b"".join(symbol for symbol in run if isinstance(symbol, bytes)))
                shown.append('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
            else:
                shown += [self._show_symbol(symbol) for symbol in run if symbol is not None]
        return " ".join(shown)

    def _show_symbol(self, symbol: Symbol) -> str:
        if isinstance(symbol, bytes):
            return f"[{visible_bytes(symbol)}]"
        words, part = self.phrases[symbol].words, self.phrases[symbol].part
        return f"({words})" if isinstance(part, Either | NetPrefix) else words


def build_productions(grammar: Grammar) -> Productions:
    """The productions reachable from the root, without the rows that can never finish.

    >>> built = build_productions(gv.grammar('root ::= "(" root ")" | [0-9]+').grammar)
    >>> for phrase in built.phrases:
    ...     print(phrase.words, "=", " or ".join(map(built.show, phrase.rows)))
    start = root
    root = "(" root ")" or [0-9]+
    [0-9]+ = [0-9] or [0-9]+ [0-9]
    """
    builder = _Builder(grammar)
    phrases = [Phrase("start", Call("start"), ((builder.number(grammar.root, None),),))]
    for rule, part in builder.met:  # self.rows appends to it
        phrases.append(Phrase(rule, part, tuple(builder.rows(rule, part))))
    return Productions(tuple(phrases)).trim()


class _Builder:
    """Numbers each phrase when it is first used; its rows are built later, so that rules may be recursive."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.met: list[tuple[str, Tree | NetPrefix | None]] = []
        self.numbers: dict[tuple[str, Tree | NetPrefix | None], int] = {}

    def number(self, rule: str, part: Tree | NetPrefix | None) -> int:
        key = rule, part
        if key not in self.numbers:
            self.met.append(key)
            self.numbers[key] = START + len(self.met)
        return self.numbers[key]

    def rows(self, rule: str, part: Tree | NetPrefix | None) -> list[Production]:
        """The rows of a phrase."""
        if part is None:
            return self.options(rule, self.grammar.rule(rule).tree)
        if isinstance(part, Repeat):
            return self.repeat(rule, part)
        return self.places(rule, part) if isinstance(part, NetPrefix) else self.options(rule, part)

    def options(self, rule: str, tree: Tree) -> list[Production]:
        """Every option as a row."""
        match tree:
            case Either(options):
                return [row for option in options for row in self.options(rule, option)]
            case Chars(ranges):
                return char_rows(ranges)
        return [self.row(rule, tree)]

    def row(self, rule: str, tree: Tree) -> Production:
        """The tree as a row of symbols; a part with options is one symbol."""
        match tree:
            case Chars(ranges):
                rows = char_rows(ranges)
                return rows[0] if len(rows) == 1 else (self.number(rule, tree),)
            case Concat(parts):
                return tuple(symbol for part in parts for symbol in self.row(rule, part))
            case Call(name):
                return (self.number(name, None),)
            case Tick():
                raise no_ticks(tree)
            case Net(places):
                return (self.number(rule, NetPrefix(tree, places - 1)),)
            case Repeat(part, low, high) if low == high and low <= INLINE:
                return self.row(rule, part) * low
        return (self.number(rule, tree),)

    def repeat(self, rule: str, tree: Repeat) -> list[Production]:
        def some(low: int, high: int | None) -> Production:
            return self.row(rule, Repeat(tree.part, low, high))

        once, low, high = self.options(rule, tree.part), tree.low, tree.high
        if high is None and low <= 1:
            return [*(once if low else [()]), *((self.number(rule, tree), *row) for row in once)]
        if high is None or 0 < low < high:
            return [some(low, low) + some(0, high if high is None else high - low)]
        half = (high + 1) // 2
        if low == high:
            return [some(half, half) + some(high - half, high - half)]
        return [some(0, half - 1), some(half, half) + some(0, high - half)] if high > 1 else [(), *once]

    def places(self, rule: str, part: NetPrefix) -> list[Production]:
        """One row per edge into the place; the first place also has the empty row."""
        ways = [
            (self.number(rule, NetPrefix(part.net, source)), *row)
            for source, tree, target in part.net.edges
            if target == part.place
            for row in self.options(rule, tree)
        ]
        return ways if part.place else [(), *ways]


@lru_cache
def char_rows(ranges: tuple[Range, ...]) -> list[Production]:
    """The characters of a class in UTF-8: one symbol per byte; one-byte characters share a row.

    >>> char_rows(((97, 98), (0xE9, 0xE9)))
    [(b'ab',), (b'\\xc3', b'\\xa9')]
    """
    rows = [[bytes(range(a, b + 1)) for a, b in row] for low, high in ranges for row in utf8_rows(low, high)]
    single = b"".join(row[0] for row in rows if len(row) == 1)
    return [(single,)] * bool(single) + [tuple(row) for row in rows if len(row) > 1]
