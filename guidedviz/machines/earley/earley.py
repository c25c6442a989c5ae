"""The Earley machine: a state is a column of the chart, and a step fills the next column.

A column holds dotted rows: each has a dot position and the column where the row began. Three moves add rows to it:
*scan* reads a byte after a dot, *predict* adds the rows of a phrase after a dot, *complete* moves the dots that stand
before a finished phrase (Jay Earley, 1970). A nullable phrase is skipped when it is predicted (Aycock and Horspool,
2002). A column refers to the columns where its rows began. A finished column does not change.

Columns with the same waiting rows accept the same continuations and are stored once, so a flat list needs constant
memory. A displayed chart has separate columns, one per position with all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.earley.productions import START, Productions, build_productions
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, check_grammar
from guidedviz.machines.machine import LazySteps, Machine, check_text
from guidedviz.machines.visible import counted
from guidedviz.machines.work import limited_work

MOST_ROWS = 1_000  # per column, in addition to the grammar's own rows
MOST_MOVES = 10_000  # per column

Dotted = tuple[int, "EarleyState"]  # a spot in a row, and the column where the row began
Move = tuple[Dotted, Dotted | None]  # the new row, and the finished row that moved its dot
SKIPPED = -1  # replaces the finished row: the phrase is empty
MOST_DEPTH = 200_000  # nested columns where rows began; 4 kB each
MOST_STATES = 50_000  # then the known states are dropped
MOST_KEPT = 20_000  # columns of charts kept in memory
MOST_SHOWN = 60  # symbols before a dot, and after it


@dataclass(eq=False, slots=True, repr=False)
class EarleyState:
    """A column: its dotted rows, each with the finished row that moved its dot. Columns are compared by identity."""

    number: int  # its position in a chart; a unique number if the column is shared
    exact: bool  # a column of a chart: it has all rows and is not shared
    depth: int = 0  # length of the longest chain of columns that it refers to
    items: dict[Dotted, Dotted | None] = field(default_factory=dict)
    waiting: dict[int, list[Dotted]] = field(default_factory=dict)  # the rows with the dot before each phrase
    readers: list[Dotted] = field(default_factory=list)  # the rows with the dot before a byte
    outer: dict[int, Dotted] = field(default_factory=dict)  # cache of `_outermost`: the last row of the chain
    doubts: set[Dotted] = field(default_factory=set)  # rows with more than one derivation
    accepting: bool = False
    moves: dict[int, EarleyState | None] = field(default_factory=dict)  # the known next columns, by kind of byte

    def __repr__(self) -> str:
        return f"q{self.number}"


class Filler:
    """Fills columns by the rows of a grammar."""

    def __init__(self, productions: Productions) -> None:
        self.productions = productions
        self.after = productions.after
        self._bytes = tuple(symbol if isinstance(symbol, bytes) else b"" for symbol in productions.after)

    def begin(self, exact: bool) -> EarleyState:
        """The first column."""
        state = EarleyState(0, exact)
        self._fill(state, [((START, state), None)])
        return state

    def read(self, state: EarleyState, byte: int) -> EarleyState | None:
        """The column after a byte, or None."""
        scanned = [(spot + 1, origin) for spot, origin in state.readers if byte in self._bytes[spot]]
        if not scanned:
            return None
        after = EarleyState(state.number + 1, state.exact)
        self._fill(after, [(row, None) for row in scanned])
        return after

    def _fill(self, state: EarleyState, moves: list[Move]) -> None:
        """Add the first rows and all rows that follow from them, each once."""
        size = len(self.after)
        for row, by in moves:  # it grows
            if row in state.items:
                self._doubt(state, row, by)
                continue
            state.items[row] = by
            moves.extend(self._follow(state, row))
            if len(state.items) > MOST_ROWS + size or len(moves) > MOST_MOVES + 4 * size:
                raise self._too_many(state)

    def _follow(self, state: EarleyState, row: Dotted) -> Iterable[Move]:
        """The moves that a row causes in its column."""
        spot, origin = row
        symbol = self.after[spot]
        if symbol is None:
            state.accepting |= spot == START + 1
            return self._complete(state, row)
        if isinstance(symbol, bytes):
            state.readers.append(row)
            return ()
        moves: list[Move] = []
        if symbol not in state.waiting:
            state.waiting[symbol] = []
            moves = [((first, state), None) for first in self.productions.starts[symbol]]
        state.waiting[symbol].append(row)
        if symbol in self.productions.nullable:
            moves.append(((spot + 1, origin), (SKIPPED, state)))
        return moves

    def _complete(self, state: EarleyState, row: Dotted) -> Iterable[Move]:
        """Move the dots before the finished phrase in the column where the row began; a skip has handled empty rows."""
        spot, origin = row
        if origin is state:
            return ()
        phrase = self.productions.phrase_at[spot]
        outer = None if state.exact else self._outermost(origin, phrase)
        waiting = [outer] if outer else origin.waiting.get(phrase, ())
        return [((waits + 1, began), row) for waits, began in waiting]

    def _outermost(self, state: EarleyState, phrase: int) -> Dotted | None:
        """The last row of a chain: each row is the only one that waits for the phrase, and the phrase ends it.

        A right-recursive list then takes one step per element, and not one step per earlier element (Joop Leo, 1991).
        """
        way: list[tuple[EarleyState, int]] = []
        row: Dotted | None = None
        while phrase not in state.outer and self._ends_with_it(state.waiting.get(phrase, ())):
            way.append((state, phrase))
            row = state.waiting[phrase][0]
            state, phrase = row[1], self.productions.phrase_at[row[0]]
        row = state.outer.get(phrase, row)
        if row:
            for inner, waited in way:
                inner.outer[waited] = row
        return row

    def _ends_with_it(self, waiting: Sequence[Dotted]) -> bool:
        return len(waiting) == 1 and self.after[waiting[0][0] + 1] is None

    def _doubt(self, state: EarleyState, row: Dotted, by: Dotted | None) -> None:
        """Mark an ambiguity: the row is already here, and another finished row moved its dot."""
        known = state.items[row]
        if known is not None and by is not None and known != by:
            state.doubts.add(row if known[1] is not by[1] else known)

    def _too_many(self, state: EarleyState) -> PatternError:
        phrases = Counter(self.productions.phrase_at[spot] for spot, _ in state.items)
        names = dict.fromkeys(self.productions.phrases[number].rule for number, _ in phrases.most_common(3))
        seen = f"over {MOST_ROWS:,} rows or {MOST_MOVES:,} moves at one byte, most of them for {' and '.join(names)}"
        hint = "unambiguous rules, left-recursive lists"
        return PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)


@dataclass(frozen=True)
class ChartItem:
    """A dotted production: the symbols before the dot and those after it.

    >>> print(ChartItem("pair", "key", '":" value', 3, False, True))
    pair → key • ":" value (from 3)
    """

    rule: str  # the rule, or the part of a rule in GBNF
    before: str
    after: str
    origin: int  # bytes before it
    done: bool  # nothing must follow
    written: bool  # a rule of the grammar's text, not a part of one

    def __str__(self) -> str:
        sides = " ".join(filter(None, [self.before, "•", self.after]))
        return f"{self.rule} → {sides} (from {self.origin})"


@dataclass(frozen=True)
class Column:
    """The items at a position of the text."""

    position: int
    byte: int | None  # the one that led here
    items: tuple[ChartItem, ...]


def spot_words(productions: Productions, spot: int) -> tuple[str, str, str]:
    """The rule or part of a rule at a spot, and the symbols before and after the dot."""
    after, first = productions.after, productions.row_at[spot]
    end = after.index(None, spot)
    left, right = max(first, spot - MOST_SHOWN), min(end, spot + MOST_SHOWN)
    before = "… " * (first < left) + productions.show(after[left:spot])
    rest = productions.show(after[spot:right]) + " …" * (right < end)
    return productions.phrases[productions.phrase_at[spot]].words, before, rest


class Earley(Machine[EarleyState]):
    """Reads bytes by the rules of any context-free grammar.

    Raises PatternError if a column needs over 1,000 rows or 10,000 moves, or if the depth is over 200,000.
    """

    def __init__(self, productions: Productions) -> None:
        self.productions = productions
        self.filler = Filler(productions)
        self._steps: LazySteps[EarleyState] = LazySteps(
            self, self.kinds, self._read, lambda state: isinstance(state, EarleyState)
        )
        self._words = cache(partial(spot_words, productions))
        self._states: dict[object, EarleyState] = {}
        self._first: EarleyState | None = None
        self._charted = self._kept = 0
        self.initial: EarleyState = self.filler.begin(False)

    def __repr__(self) -> str:
        return f"Earley({counted(sum(phrase.written for phrase in self.productions.phrases), 'rule')})"

    @property
    def kinds(self) -> bytes:
        """The kind of every byte: the same rows read all bytes of a kind."""
        return self.productions.kinds

    def step(self, state: EarleyState | None, byte: int) -> EarleyState | None:
        """The next state, or None."""
        return self._steps.step(state, byte)

    def _read(self, state: EarleyState, byte: int) -> EarleyState | None:
        after = self.filler.read(state, byte)
        return after and self._keep(after)

    def is_accepting(self, state: EarleyState | None) -> bool:
        """Whether the text may end here."""
        return state is not None and self._steps.own(state).accepting

    def columns(self, data: bytes) -> list[EarleyState]:
        """The columns of a text, each with all its rows, up to the first byte that is not allowed."""
        check_text(data)
        if len(data) > MOST_KEPT:
            raise PatternError("chart", seen=f"a text of {len(data):,} bytes", expected=f"at most {MOST_KEPT:,}")
        with self._steps.lock:
            if self._first is None or self._charted > MOST_KEPT:
                self._first, self._charted = self.filler.begin(True), 0
            columns = [self._first]
        for byte in data:
            after = self.step(columns[-1], byte)
            if after is None:
                break
            columns.append(after)
        return columns

    def chart(self, data: bytes) -> tuple[Column, ...]:
        """One displayed column per position.

        >>> for column in earley('root ::= "a" root | "b"').chart(b"ab"):
        ...     print(column.position, *column.items, sep="; ")
        0; start → • root (from 0); root → • "a" root (from 0); root → • "b" (from 0)
        1; root → "a" • root (from 0); root → • "a" root (from 1); root → • "b" (from 1)
        2; root → "b" • (from 1); root → "a" root • (from 0); start → root • (from 0)
        """
        bytes_read = [None, *data]
        return tuple(
            Column(column.number, bytes_read[column.number], tuple(self.item(row) for row in column.items))
            for column in self.columns(data)
        )

    def item(self, row: Dotted) -> ChartItem:
        """A dotted row in a form for display."""
        spot, origin = row
        written = self.productions.phrases[self.productions.phrase_at[spot]].written
        return ChartItem(*self._words(spot), origin.number, self.filler.after[spot] is None, written)

    def _keep(self, state: EarleyState) -> EarleyState:
        """The known state with the same waiting rows, or this one."""
        if state.exact:
            self._charted += 1
            return state
        rows = [row for rows in (*state.waiting.values(), state.readers) for row in rows if row[1] is not state]
        state.items.clear()
        state.doubts.clear()
        state.depth = 1 + max((origin.depth for _, origin in rows), default=0)
        if state.depth > MOST_DEPTH:
            raise PatternError("grammar", seen=f"a depth over {MOST_DEPTH:,}", expected="less nesting")
        if len(self._states) >= MOST_STATES:
            self._forget()
        self._kept += 1
        state.number = self._kept
        return self._states.setdefault((state.accepting, frozenset(rows)), state)

    def _forget(self) -> None:
        """Drop all states that have no other reference."""
        for state in (self.initial, *self._states.values()):
            state.moves.clear()
        self._states.clear()


@lru_cache(maxsize=8)
def build_earley(grammar: Grammar) -> Earley:
    """The Earley machine of a grammar; equal grammars share one machine and its known states."""
    return Earley(build_productions(grammar))


@limited_work()
def earley(grammar: Any, root: str = "root") -> Earley:
    """The Earley machine of a grammar, given as GBNF text, as rules or as a pushdown machine.

    >>> machine = earley('root ::= root "+" root | "1"')
    >>> machine.accepts(b"1+1+1"), machine.accepts(b"1+"), machine.accepts_prefix(b"1+"), machine.accepts_prefix(b"+")
    (True, False, True, False)
    """
    if isinstance(grammar, str):
        grammar = parse_grammar(grammar, root)
    grammar = getattr(grammar, "grammar", grammar)
    if not isinstance(grammar, Grammar):
        raise PatternError("earley", seen=type(grammar).__name__, expected="a grammar", hint="a str in GBNF")
    check_grammar(grammar)
    return build_earley(grammar)
