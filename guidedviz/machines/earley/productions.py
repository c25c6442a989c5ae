"""The grammar as productions: rows of symbols.

A part of a rule with its own options (a group, a repeat, a class) becomes a phrase with rows.
A repeat is left-recursive: `x*` is empty or `x* x`. Earley's algorithm reads left recursion in linear time.
A count is split in halves: `x{1000}` is `x{500} x{500}`, and `x{0,999}` is `x{0,499}` or `x{500} x{0,499}`. A count
of n needs about 4 log n rows and adds no ambiguity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from guidedviz.machines import syntax
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.graph import derive
from guidedviz.machines.ranges import Range
from guidedviz.machines.regular.utf8 import utf8_rows

INLINE = 8  # an exact count up to this is written as copies


@dataclass(frozen=True)
class NetPrefix:
    """All paths through a net from its first place to this one."""

    net: syntax.Net
    place: int


Part = syntax.Tree | NetPrefix


@dataclass(eq=False, repr=False)
class Phrase:
    """A rule of the grammar, or a part of one that has its own rows; compared by identity."""

    rule: str  # the rule that contains it
    part: Part | None = None  # None: the whole rule
    rows: list[Row] = field(default_factory=list)
    nullable: bool = False
    empty_twice: bool = False  # the empty text has more than one derivation


@dataclass(frozen=True, eq=False)
class Row:
    """A production: a phrase may be this sequence of phrases and of sets of bytes."""

    phrase: Phrase
    symbols: tuple[Symbol, ...]

    @property
    def phrases(self) -> list[Phrase]:
        """The phrases in it."""
        return [symbol for symbol in self.symbols if isinstance(symbol, Phrase)]

    @property
    def nullable(self) -> bool:
        """Whether it may be empty."""
        return all(isinstance(symbol, Phrase) and symbol.nullable for symbol in self.symbols)


Symbol = Phrase | bytes


def build_productions(grammar: Grammar) -> list[Phrase]:
    """The phrases of a grammar, the start first, without the rows that can never finish.

    >>> phrases = build_productions(gv.grammar('root ::= "(" root ")" | [0-9]+').grammar)
    >>> [(phrase.rule, len(phrase.rows)) for phrase in phrases]
    [('start', 1), ('root', 2), ('root', 2)]
    """
    phrases = _Builder(grammar).phrases
    live = _that_follow(phrases, bool)
    nullable = _that_follow(phrases, lambda some: False)
    for phrase in phrases:
        phrase.rows = [row for row in phrase.rows if all(row.symbols) and live.issuperset(row.phrases)]
        phrase.nullable = phrase in nullable
    empty = [row for phrase in phrases for row in phrase.rows if row.nullable]
    several = [phrase for phrase, rows in Counter(row.phrase for row in empty).items() if rows > 1]
    inside = [(row.phrase, [part]) for row in empty for part in row.phrases]
    for phrase in derive([*((phrase, list[Phrase]()) for phrase in several), *inside]):
        phrase.empty_twice = True
    return phrases


def _that_follow(phrases: Iterable[Phrase], holds: Callable[[bytes], object]) -> frozenset[Phrase]:
    """The phrases with a row of which all bytes hold and all phrases follow."""
    rows = (row for phrase in phrases for row in phrase.rows)
    fit = (row for row in rows if all(holds(some) for some in row.symbols if isinstance(some, bytes)))
    return derive((row.phrase, row.phrases) for row in fit)


class _Builder:
    """Makes each phrase when it is first used; its rows are built later, so that rules may be recursive."""

    def __init__(self, grammar: Grammar) -> None:
        start = Phrase("start", syntax.Call("start"))
        self.grammar, self.phrases = grammar, [start]
        self.met: dict[tuple[str, Part | None], Phrase] = {}
        start.rows = [Row(start, (self.phrase(grammar.root),))]
        for phrase in islice(self.phrases, 1, None):  # it grows
            phrase.rows = [Row(phrase, row) for row in self.rows(phrase)]

    def phrase(self, rule: str, part: Part | None = None) -> Phrase:
        if (rule, part) not in self.met:
            self.met[rule, part] = Phrase(rule, part)
            self.phrases.append(self.met[rule, part])
        return self.met[rule, part]

    def rows(self, phrase: Phrase) -> list[tuple[Symbol, ...]]:
        """The rows of a phrase."""
        match phrase.part:
            case None:
                return self.options(phrase.rule, self.grammar.named[phrase.rule].tree)
            case syntax.Repeat():
                return self.repeat(phrase, phrase.part)
            case NetPrefix():
                return self.paths(phrase.rule, phrase.part)
        return self.options(phrase.rule, phrase.part)

    def options(self, rule: str, tree: syntax.Tree) -> list[tuple[Symbol, ...]]:
        """Every option as a row."""
        match tree:
            case syntax.Either(options):
                return [row for option in options for row in self.options(rule, option)]
            case syntax.Chars(ranges):
                return char_rows(ranges)
        return [self.row(rule, tree)]

    def row(self, rule: str, tree: syntax.Tree) -> tuple[Symbol, ...]:
        """The tree as a row of symbols; a part with options is one symbol."""
        match tree:
            case syntax.Chars(ranges) if len(rows := char_rows(ranges)) == 1:
                return rows[0]
            case syntax.Concat(parts):
                return tuple(symbol for part in parts for symbol in self.row(rule, part))
            case syntax.Call(name):
                return (self.phrase(name),)
            case syntax.Tick():
                syntax.no_rules(tree)
            case syntax.Net(places):
                return (self.phrase(rule, NetPrefix(tree, places - 1)),)
            case syntax.Repeat(part, low, high) if low == high and low <= INLINE:
                return self.row(rule, part) * low
        return (self.phrase(rule, tree),)

    def repeat(self, phrase: Phrase, tree: syntax.Repeat) -> list[tuple[Symbol, ...]]:
        def some(low: int, high: int | None) -> tuple[Symbol, ...]:
            return self.row(phrase.rule, syntax.Repeat(tree.part, low, high))

        once, low, high = self.options(phrase.rule, tree.part), tree.low, tree.high
        if high is None and low <= 1:
            return [*(once if low else [()]), *((phrase, *row) for row in once)]
        if high is None or 0 < low < high:
            return [some(low, low) + some(0, high if high is None else high - low)]
        half = (high + 1) // 2
        if low == high:
            return [some(half, half) + some(high - half, high - half)]
        return [some(0, half - 1), some(half, half) + some(0, high - half)] if high > 1 else [(), *once]

    def paths(self, rule: str, part: NetPrefix) -> list[tuple[Symbol, ...]]:
        """One row per edge into the place; the first place also has the empty row."""
        rows = [
            (self.phrase(rule, NetPrefix(part.net, source)), *row)
            for source, tree, target in part.net.edges
            if target == part.place
            for row in self.options(rule, tree)
        ]
        return rows if part.place else [(), *rows]


@lru_cache
def char_rows(ranges: tuple[Range, ...]) -> list[tuple[Symbol, ...]]:
    """The characters of a class in UTF-8: one symbol per byte; one-byte characters share a row.

    >>> char_rows(((97, 98), (0xE9, 0xE9)))
    [(b'ab',), (b'\\xc3', b'\\xa9')]
    """
    rows = [[bytes(range(a, b + 1)) for a, b in row] for low, high in ranges for row in utf8_rows(low, high)]
    single = b"".join(row[0] for row in rows if len(row) == 1)
    return [(single,)] * bool(single) + [tuple(row) for row in rows if len(row) > 1]
