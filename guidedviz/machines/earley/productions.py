"""The grammar as productions: rows of symbols.

A part of a rule with its own options (a group, a repeat, a class) becomes a phrase with rows.
A repeat is left-recursive: `x*` is empty or `x* x`. Earley's algorithm reads left recursion in linear time.
A count is split in halves: `x{1000}` is `x{500} x{500}`, and `x{0,999}` is `x{0,499}` or `x{500} x{0,499}`. A count
of n needs about 4 log n rows and adds no ambiguity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.graph import derive
from guidedviz.machines.ranges import Ranges, utf8_rows
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree, no_rules

COPIED_COUNT = 8  # an exact count up to this is written as copies


@dataclass(frozen=True)
class NetPrefix:
    """All paths through a net from its first place to this one."""

    net: Net
    place: int


PhrasePart = Tree | NetPrefix


@dataclass(eq=False, repr=False)
class Phrase:
    """A rule of the grammar, or a part of one that has its own rows; compared by identity."""

    rule: str  # the rule that contains it
    part: PhrasePart | None = None  # None: the whole rule
    rows: list[Row] = field(default_factory=list)
    nullable: bool = False
    empty_twice: bool = False  # the empty text has more than one derivation


@dataclass(frozen=True, eq=False)
class Row:
    """A production: a phrase may be this sequence of phrases and of sets of bytes."""

    phrase: Phrase
    symbols: Symbols

    @property
    def phrases(self) -> list[Phrase]:
        """The phrases in it."""
        return [symbol for symbol in self.symbols if isinstance(symbol, Phrase)]

    @property
    def nullable(self) -> bool:
        """Whether it may be empty."""
        return all(isinstance(symbol, Phrase) and symbol.nullable for symbol in self.symbols)


Symbol = Phrase | bytes
Symbols = tuple[Symbol, ...]  # of a row


def build_productions(grammar: Grammar) -> list[Phrase]:
    """The phrases of a grammar, the start first, without the rows that can never finish.

    >>> phrases = build_productions(gv.grammar('root ::= "(" root ")" | [0-9]+').grammar)
    >>> [(phrase.rule, len(phrase.rows)) for phrase in phrases]
    [('start', 1), ('root', 2), ('root', 2)]
    """
    phrases = _Builder(grammar).phrases
    rows = [row for phrase in phrases for row in phrase.rows if all(row.symbols)]
    finished = derive((row.phrase, row.phrases) for row in rows)
    only_phrases = [(row.phrase, row.phrases) for row in rows if len(row.phrases) == len(row.symbols)]
    nullable = derive(only_phrases)
    for phrase in phrases:
        phrase.rows = []
        phrase.nullable = phrase in nullable
    for row in rows:
        if finished.issuperset(row.phrases):
            row.phrase.rows.append(row)
    _find_empty_twice(phrases)
    return phrases


def _find_empty_twice(phrases: Iterable[Phrase]) -> None:
    """A phrase is empty in two ways if two of its rows may be empty, or if a phrase inside of such a row is."""
    clauses: list[tuple[Phrase, list[Phrase]]] = []
    for phrase in phrases:
        empty = [row for row in phrase.rows if row.nullable]
        if len(empty) > 1:
            clauses.append((phrase, []))
        for row in empty:
            clauses.extend([(phrase, [part]) for part in row.phrases])
    for phrase in derive(clauses):
        phrase.empty_twice = True


class _Builder:
    """Makes each phrase when it is first used; its rows are built later, so that rules may be recursive."""

    def __init__(self, grammar: Grammar) -> None:
        start = Phrase("start", Call("start"))
        self.grammar = grammar
        self.phrases = [start]
        self.met: dict[tuple[str, PhrasePart | None], Phrase] = {}
        start.rows = [Row(start, (self.phrase(grammar.root),))]
        for phrase in islice(self.phrases, 1, None):  # it grows
            phrase.rows = [Row(phrase, row) for row in self.rows(phrase)]

    def phrase(self, rule: str, part: PhrasePart | None = None) -> Phrase:
        if (rule, part) not in self.met:
            self.met[rule, part] = Phrase(rule, part)
            self.phrases.append(self.met[rule, part])
        return self.met[rule, part]

    def rows(self, phrase: Phrase) -> list[Symbols]:
        """The rows of a phrase."""
        match phrase.part:
            case None:
                return self.options(phrase.rule, self.grammar.named[phrase.rule].tree)
            case Repeat():
                return self.repeat(phrase, phrase.part)
            case NetPrefix():
                return self.paths(phrase.rule, phrase.part)
        return self.options(phrase.rule, phrase.part)

    def options(self, rule: str, tree: Tree) -> list[Symbols]:
        """Every option as a row."""
        match tree:
            case Either(options):
                return [row for option in options for row in self.options(rule, option)]
            case Chars(ranges):
                return char_rows(ranges)
        return [self.row(rule, tree)]

    def row(self, rule: str, tree: Tree) -> Symbols:
        """The tree as a row of symbols; a part with options is one symbol."""
        match tree:
            case Chars(ranges):
                rows = char_rows(ranges)
                if len(rows) == 1:
                    return rows[0]
            case Concat(parts):
                return tuple(chain.from_iterable([self.row(rule, part) for part in parts]))
            case Call(name):
                return (self.phrase(name),)
            case Tick():
                no_rules(tree)
            case Net(places):
                return (self.phrase(rule, NetPrefix(tree, places - 1)),)
            case Repeat(part, low, high) if low == high and low <= COPIED_COUNT:
                return self.row(rule, part) * low
        return (self.phrase(rule, tree),)

    def repeat(self, phrase: Phrase, tree: Repeat) -> list[Symbols]:
        low = tree.low
        high = tree.high

        def some(low: int, high: int | None) -> Symbols:
            return self.row(phrase.rule, Repeat(tree.part, low, high))

        once = self.options(phrase.rule, tree.part)
        if high is None:
            if low > 1:
                return [some(low, low) + some(0, None)]
            first = once if low else [()]
            return [*first, *[(phrase, *row) for row in once]]
        if 0 < low < high:
            return [some(low, low) + some(0, high - low)]
        half = (high + 1) // 2
        if low == high:
            return [some(half, half) + some(high - half, high - half)]
        if high == 1:
            return [(), *once]
        return [some(0, half - 1), some(half, half) + some(0, high - half)]

    def paths(self, rule: str, part: NetPrefix) -> list[Symbols]:
        """One row per edge into the place; the first place also has the empty row."""
        rows: list[Symbols] = [] if part.place else [()]
        for source, tree, target in part.net.edges:
            if target == part.place:
                before = NetPrefix(part.net, source)
                rows.extend([(self.phrase(rule, before), *row) for row in self.options(rule, tree)])
        return rows


@lru_cache
def char_rows(ranges: Ranges) -> list[Symbols]:
    """The characters of a class in UTF-8: one symbol per byte; one-byte characters share a row.

    >>> char_rows(((97, 98), (0xE9, 0xE9)))
    [(b'ab',), (b'\\xc3', b'\\xa9')]
    """
    single = b""
    longer: list[Symbols] = []
    for low, high in ranges:
        for row in utf8_rows(low, high):
            symbols = [bytes(range(first, last + 1)) for first, last in row]
            if len(symbols) == 1:
                single += symbols[0]
            else:
                longer.append(tuple(symbols))
    return [(single,), *longer] if single else longer
