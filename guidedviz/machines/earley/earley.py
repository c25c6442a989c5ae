"""The Earley machine: a state is a column of the chart, and a step fills the next column.

A column holds dotted rows: each has a dot position and the column where the row began. Three moves add rows to it:
*scan* reads a byte after a dot, *predict* adds the rows of a phrase after a dot, *complete* moves the dots that stand
before a finished phrase (Jay Earley, 1970). A nullable phrase is skipped when it is predicted (Aycock and Horspool,
2002). A column refers to the columns where its rows began. A finished column does not change.

The rows that read a byte decide all others, so columns with the same ones are one state of the machine, and a flat list
needs constant memory. A chart has a column of its own per position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from guidedviz.errors import PatternError, expect
from guidedviz.machines import syntax
from guidedviz.machines.grammars.grammar import Grammar, check_grammar, parse_grammar
from guidedviz.machines.machine import LazySteps, Machine, byte_kinds, check_text
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.nfa import utf8_rows
from guidedviz.machines.visible import byte_ranges, counted
from guidedviz.machines.work import derive, limited_work

MOST_ROWS = 1_000  # per column, in addition to those of the grammar
MOST_MOVES = 10_000
MOST_COLUMNS = 20_000  # of a chart, or of states one behind the other; 4 kB each
MOST_STATES = 50_000  # then the known states are dropped

# The grammar as productions: rows of symbols.
#
# A part of a rule with its own options (a group, a repeat, a class) becomes a phrase with rows.
# A repeat is left-recursive: `x*` is empty or `x* x`. Earley's algorithm reads left recursion in linear time.
# A count is split in halves: `x{1000}` is `x{500} x{500}`, and `x{0,999}` is `x{0,499}` or `x{500} x{0,499}`. A count
# of n needs about 4 log n rows and adds no ambiguity.


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
def char_rows(ranges: tuple[syntax.Range, ...]) -> list[tuple[Symbol, ...]]:
    """The characters of a class in UTF-8: one symbol per byte; one-byte characters share a row.

    >>> char_rows(((97, 98), (0xE9, 0xE9)))
    [(b'ab',), (b'\\xc3', b'\\xa9')]
    """
    rows = [[bytes(range(a, b + 1)) for a, b in row] for low, high in ranges for row in utf8_rows(low, high)]
    single = b"".join(row[0] for row in rows if len(row) == 1)
    return [(single,)] * bool(single) + [tuple(row) for row in rows if len(row) > 1]


# The machine: each state is a column of dotted rows.


class Dotted(NamedTuple):
    """A row with a dot, and the column where it began."""

    row: Row
    dot: int
    origin: EarleyState

    @property
    def after(self) -> Symbol | None:
        """The symbol after the dot; None at the end of the row."""
        return self.row.symbols[self.dot] if self.dot < len(self.row.symbols) else None

    @property
    def moved(self) -> Dotted:
        """The same with the dot after the next symbol."""
        return self._replace(dot=self.dot + 1)


Cause = Dotted | Phrase | None  # of a move: the finished row that moved the dot, or the phrase that is empty
Move = tuple[Dotted, Cause]


@dataclass(eq=False, slots=True, repr=False)
class EarleyState:
    """A column: its dotted rows, each with its cause. Columns are compared by identity."""

    number: int  # its position in a chart
    items: dict[Dotted, Cause] = field(default_factory=dict)
    waiting: dict[Phrase, list[Dotted]] = field(default_factory=dict)  # the rows with the dot before each phrase
    readers: list[tuple[bytes, Dotted]] = field(default_factory=list)  # the rows with the dot before a byte
    doubts: set[Dotted] = field(default_factory=set)  # rows with more than one derivation
    accepting: bool = False
    moves: dict[int, EarleyState | None] = field(default_factory=dict)  # the known next columns, by kind of byte

    def __repr__(self) -> str:
        return f"q{self.number}"


class Earley(Machine[EarleyState]):
    """Reads bytes by the rules of any context-free grammar.

    A text that can be read in so many ways that a column takes over 1,000 rows or 10,000 moves ends in
    an error.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.phrases = build_productions(grammar)
        symbols = [symbol for phrase in self.phrases for row in phrase.rows for symbol in row.symbols]
        self._size = len(symbols) + sum(len(phrase.rows) for phrase in self.phrases)
        read = {symbol for symbol in symbols if isinstance(symbol, bytes)}
        self._kinds = byte_kinds([(low, high, 0) for low, high in byte_ranges(some)] for some in read)
        self._steps = LazySteps(self, self._kinds, self._read, lambda state: isinstance(state, EarleyState))
        self._states: dict[frozenset[Dotted], EarleyState] = {}
        self.initial = EarleyState(0)
        self._fill(self.initial, [(Dotted(self.phrases[0].rows[0], 0, self.initial), None)])

    def __repr__(self) -> str:
        return f"Earley({counted(sum(phrase.part is None for phrase in self.phrases), 'rule')})"

    @property
    def kinds(self) -> bytes:
        """The kind of every byte: the same rows read all bytes of a kind."""
        return self._kinds

    def step(self, state: EarleyState | None, byte: int) -> EarleyState | None:
        """The next state, or None."""
        return self._steps.step(state, byte)

    def is_accepting(self, state: EarleyState | None) -> bool:
        """Whether the text may end here."""
        return state is not None and self._steps.own(state).accepting

    def chart(self, data: bytes) -> list[EarleyState]:
        """One column per position of a text, up to the first byte that is not allowed.

        >>> [len(column.items) for column in earley('root ::= "a" root | "b"').chart(b"ab")]
        [3, 3, 3]
        """
        check_text(data)
        columns = [self.initial]
        for byte in data:
            if not (rows := self._scan(columns[-1], byte)):
                break
            columns.append(self._column(len(columns), rows))
        return columns

    def _read(self, state: EarleyState, byte: int) -> EarleyState | None:
        """The known state of the rows that read a byte, or a new one."""
        rows = self._scan(state, byte)
        key = frozenset(rows)
        if rows and key not in self._states:
            if len(self._states) >= MOST_STATES:
                for known in (self.initial, *self._states.values()):
                    known.moves.clear()
                self._states.clear()
            self._states[key] = self._column(state.number + 1, rows)
        return self._states[key] if rows else None

    def _scan(self, state: EarleyState, byte: int) -> list[Dotted]:
        return [item.moved for some, item in state.readers if byte in some]

    def _column(self, number: int, rows: Iterable[Dotted]) -> EarleyState:
        if number > MOST_COLUMNS:
            raise PatternError("grammar", seen=f"over {MOST_COLUMNS:,} columns", expected="a shorter text")
        state = EarleyState(number)
        self._fill(state, [(item, None) for item in rows])
        return state

    def _fill(self, state: EarleyState, moves: list[Move]) -> None:
        """Add the first rows and all rows that follow from them, each once."""
        for item, cause in moves:  # it grows
            if item in state.items:
                self._doubt(state, item, cause)
                continue
            state.items[item] = cause
            moves.extend(self._follow(state, item))
            if len(state.items) > MOST_ROWS + self._size or len(moves) > MOST_MOVES + 4 * self._size:
                rules = Counter(item.row.phrase.rule for item in state.items).most_common(3)
                seen = f"over {MOST_ROWS:,} rows or {MOST_MOVES:,} moves at one byte, most of them for "
                seen += " and ".join(rule for rule, _ in rules)
                hint = "unambiguous rules, left-recursive lists"
                raise PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)

    def _follow(self, state: EarleyState, item: Dotted) -> Iterable[Move]:
        """The moves that a row causes in its column."""
        symbol = item.after
        if isinstance(symbol, bytes):
            state.readers.append((symbol, item))
            return ()
        if symbol is None:
            state.accepting |= item.row.phrase is self.phrases[0]
            waiting = item.origin.waiting.get(item.row.phrase, ()) if item.origin is not state else ()
            return [(one.moved, item) for one in waiting]  # an empty row was skipped when it was predicted
        begun = symbol not in state.waiting
        state.waiting.setdefault(symbol, []).append(item)
        predicted: list[Move] = [(Dotted(row, 0, state), None) for row in symbol.rows] if begun else []
        return [*predicted, (item.moved, symbol)] if symbol.nullable else predicted

    def _doubt(self, state: EarleyState, item: Dotted, cause: Cause) -> None:
        """Mark an ambiguity: the row is already here, and it or its last phrase has another derivation."""
        known = state.items[item]
        if isinstance(known, Dotted) and isinstance(cause, Dotted) and known.origin is cause.origin:
            if known != cause:
                state.doubts.add(known)
        elif known and cause and known != cause:
            state.doubts.add(item)


@lru_cache(maxsize=8)
def build_earley(grammar: Grammar) -> Earley:
    """The Earley machine of a grammar; equal grammars share one machine and its known states."""
    check_grammar(grammar)
    return Earley(grammar)


@limited_work()
def earley(grammar: str | Grammar | PDA) -> Earley:
    """The Earley machine of a grammar, given as GBNF text, as rules or as a pushdown machine.

    >>> machine = earley('root ::= root "+" root | "1"')
    >>> machine.accepts(b"1+1+1"), machine.accepts(b"1+"), machine.accepts_prefix(b"1+"), machine.accepts_prefix(b"+")
    (True, False, True, False)
    """
    rules = parse_grammar(grammar) if isinstance(grammar, str) else grammar
    rules = rules.grammar if isinstance(rules, PDA) else rules
    return build_earley(expect(rules, Grammar, "earley", "a grammar", "a str in GBNF"))
