"""How the columns of Earley's chart are filled.

A column holds dotted rows: each has a dot position and the column where the row began. Three moves add rows to it:
*scan* reads a byte after a dot, *predict* adds the rows of a phrase after a dot, *complete* moves the dots that stand
before a finished phrase (Jay Earley, 1970). A nullable phrase is skipped when it is predicted (Aycock and Horspool,
2002). A column refers to the columns where its rows began. A finished column does not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from guidedviz.errors import PatternError
from guidedviz.machines.earley.productions import START, Productions

MOST_ROWS = 1_000  # per column, in addition to the grammar's own rows
MOST_MOVES = 10_000  # per column

Dotted = tuple[int, "State"]  # a spot in a row, and the column where the row began
Move = tuple[Dotted, Dotted | None]  # the new row, and the finished row that moved its dot
SKIPPED = -1  # replaces the finished row: the phrase is empty


@dataclass(eq=False, slots=True, repr=False)
class State:
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
    moves: dict[int, State | None] = field(default_factory=dict)  # the known next columns, by kind of byte

    def __repr__(self) -> str:
        return f"q{self.number}"


class Filler:
    """Fills columns by the rows of a grammar."""

    def __init__(self, productions: Productions) -> None:
        self.productions = productions
        self.after = productions.after
        self._bytes = tuple(symbol if isinstance(symbol, bytes) else b"" for symbol in productions.after)

    def begin(self, exact: bool) -> State:
        """The first column."""
        state = State(0, exact)
        self._fill(state, [((START, state), None)])
        return state

    def read(self, state: State, byte: int) -> State | None:
        """The column after a byte, or None."""
        scanned = [(spot + 1, origin) for spot, origin in state.readers if byte in self._bytes[spot]]
        if not scanned:
            return None
        after = State(state.number + 1, state.exact)
        self._fill(after, [(row, None) for row in scanned])
        return after

    def _fill(self, state: State, moves: list[Move]) -> None:
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

    def _follow(self, state: State, row: Dotted) -> Iterable[Move]:
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

    def _complete(self, state: State, row: Dotted) -> Iterable[Move]:
        """Move the dots before the finished phrase in the column where the row began; a skip has handled empty rows."""
        spot, origin = row
        if origin is state:
            return ()
        phrase = self.productions.phrase_at[spot]
        outer = None if state.exact else self._outermost(origin, phrase)
        waiting = [outer] if outer else origin.waiting.get(phrase, ())
        return [((waits + 1, began), row) for waits, began in waiting]

    def _outermost(self, state: State, phrase: int) -> Dotted | None:
        """The last row of a chain: each row is the only one that waits for the phrase, and the phrase ends it.

        A right-recursive list then takes one step per element, and not one step per earlier element (Joop Leo, 1991).
        """
        way: list[tuple[State, int]] = []
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

    def _doubt(self, state: State, row: Dotted, by: Dotted | None) -> None:
        """Mark an ambiguity: the row is already here, and another finished row moved its dot."""
        known = state.items[row]
        if known is not None and by is not None and known != by:
            state.doubts.add(row if known[1] is not by[1] else known)

    def _too_many(self, state: State) -> PatternError:
        phrases = Counter(self.productions.phrase_at[spot] for spot, _ in state.items)
        names = dict.fromkeys(self.productions.phrases[number].rule for number, _ in phrases.most_common(3))
        seen = f"over {MOST_ROWS:,} rows or {MOST_MOVES:,} moves at one byte, most of them for {' and '.join(names)}"
        hint = "unambiguous rules, left-recursive lists"
        return PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)
