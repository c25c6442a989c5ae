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
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from guidedviz.errors import PatternError, expect
from guidedviz.files import text_of
from guidedviz.machines import limits
from guidedviz.machines.earley.productions import Phrase, Row, Symbol, build_productions
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, check_grammar
from guidedviz.machines.machine import LazySteps, Machine, byte_kinds, check_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.ranges import byte_ranges
from guidedviz.machines.visible import counted
from guidedviz.machines.work import limited_work


class Dotted(NamedTuple):
    """A row with a dot, and the column where it began."""

    row: Row
    dot: int
    origin: EarleyState

    @property
    def after(self) -> Symbol | None:
        """The symbol after the dot; None at the end of the row."""
        if self.dot < len(self.row.symbols):
            return self.row.symbols[self.dot]
        return None

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
        rows = [row for phrase in self.phrases for row in phrase.rows]
        symbols = [symbol for row in rows for symbol in row.symbols]
        self._size = len(symbols) + len(rows)
        read = {symbol for symbol in symbols if isinstance(symbol, bytes)}
        self.kinds = byte_kinds([(low, high, 0) for low, high in byte_ranges(some)] for some in read)
        self._steps: LazySteps[EarleyState] = LazySteps(self, self.kinds, self)
        self._states: dict[frozenset[Dotted], EarleyState] = {}
        self.initial = EarleyState(0)
        self.whole = self.phrases[0].rows[0]  # the row of the start: the whole text
        self._fill(self.initial, [(Dotted(self.whole, 0, self.initial), None)])

    def __repr__(self) -> str:
        rules = [phrase for phrase in self.phrases if phrase.part is None]
        return f"Earley({counted(len(rules), 'rule')})"

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
        check_bytes(data)
        columns = [self.initial]
        for byte in data:
            rows = self._scan(columns[-1], byte)
            if not rows:
                break
            columns.append(self._column(len(columns), rows))
        return columns

    def owns(self, state: object) -> bool:
        """Whether this is a column of a chart."""
        return isinstance(state, EarleyState)

    def read_byte(self, state: EarleyState, byte: int) -> EarleyState | None:
        """The known state of the rows that read a byte, or a new one."""
        rows = self._scan(state, byte)
        if not rows:
            return None
        key = frozenset(rows)
        if key not in self._states:
            if len(self._states) >= limits.EARLEY_STATES:
                self._forget()
            self._states[key] = self._column(state.number + 1, rows)
        return self._states[key]

    def _forget(self) -> None:
        """Drop the known states and the steps between them."""
        for known in (self.initial, *self._states.values()):
            known.moves.clear()
        self._states.clear()

    def _scan(self, state: EarleyState, byte: int) -> list[Dotted]:
        return [item.moved for some, item in state.readers if byte in some]

    def _column(self, number: int, rows: Iterable[Dotted]) -> EarleyState:
        if number > limits.CHART_COLUMNS:
            raise PatternError("grammar", seen=f"over {limits.CHART_COLUMNS:,} columns", expected="a shorter text")
        state = EarleyState(number)
        self._fill(state, [(item, None) for item in rows])
        return state

    def _fill(self, state: EarleyState, moves: list[Move]) -> None:
        """Add the first rows and all rows that follow from them, each once."""
        most_rows = limits.COLUMN_ROWS + self._size
        most_moves = limits.COLUMN_MOVES + 4 * self._size
        for item, cause in moves:  # it grows
            if item in state.items:
                self._doubt(state, item, cause)
                continue
            state.items[item] = cause
            moves.extend(self._follow(state, item))
            if len(state.items) > most_rows or len(moves) > most_moves:
                raise _too_ambiguous(state)

    def _follow(self, state: EarleyState, item: Dotted) -> Iterable[Move]:
        """The moves that a row causes in its column."""
        symbol = item.after
        if isinstance(symbol, bytes):
            state.readers.append((symbol, item))
            return ()
        if symbol:
            return self._predict(state, item, symbol)
        return self._complete(state, item)

    def _predict(self, state: EarleyState, item: Dotted, phrase: Phrase) -> list[Move]:
        """The rows of the phrase after the dot, once per column; a phrase that may be empty is skipped, too."""
        moves: list[Move] = []
        if phrase not in state.waiting:
            state.waiting[phrase] = []
            moves = [(Dotted(row, 0, state), None) for row in phrase.rows]
        state.waiting[phrase].append(item)
        if phrase.nullable:
            moves.append((item.moved, phrase))
        return moves

    def _complete(self, state: EarleyState, item: Dotted) -> list[Move]:
        """The rows that waited for a finished one where it began."""
        if item.row is self.whole:
            state.accepting = True
        if item.origin is state:
            return []  # an empty row was skipped when it was predicted
        return [(one.moved, item) for one in item.origin.waiting.get(item.row.phrase, ())]

    def _doubt(self, state: EarleyState, item: Dotted, cause: Cause) -> None:
        """Mark an ambiguity: the row is already here, and it or its last phrase has another derivation."""
        known = state.items[item]
        if isinstance(known, Dotted) and isinstance(cause, Dotted) and known.origin is cause.origin:
            if known != cause:
                state.doubts.add(known)
        elif known and cause and known != cause:
            state.doubts.add(item)


def _too_ambiguous(state: EarleyState) -> PatternError:
    rules = Counter(item.row.phrase.rule for item in state.items).most_common(3)
    seen = f"over {limits.COLUMN_ROWS:,} rows or {limits.COLUMN_MOVES:,} moves at one byte, most of them for "
    seen += " and ".join([rule for rule, _ in rules])
    hint = "unambiguous rules, left-recursive lists"
    return PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)


@lru_cache(maxsize=8)
def build_earley(grammar: Grammar) -> Earley:
    """The Earley machine of a grammar; equal grammars share one machine and its known states."""
    check_grammar(grammar)
    return Earley(grammar)


@limited_work()
def earley(grammar: str | Grammar | PDA) -> Earley:
    """The Earley machine of a grammar, given as GBNF text, as rules or as a pushdown machine.

    >>> machine = gv.earley('root ::= root "+" root | "1"')
    >>> machine.accepts(b"1+1+1"), machine.accepts(b"1+"), machine.accepts_prefix(b"1+"), machine.accepts_prefix(b"+")
    (True, False, True, False)
    """
    grammar = text_of(grammar, "earley")
    rules = parse_grammar(grammar) if isinstance(grammar, str) else grammar
    rules = rules.grammar if isinstance(rules, PDA) else rules
    return build_earley(expect(rules, Grammar, "earley", "a grammar", "a str in GBNF"))
