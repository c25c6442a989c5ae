"""How the columns of Earley's chart are filled.

A column holds dotted rows: how far each row has come that may be open here, and in which column it began. Three moves
fill it: *scan* a byte that a row waits for, *predict* the rows of a phrase that one waits for, *complete* what waited
for a row that is finished (Jay Earley, 1970). A phrase that may be empty is skipped as soon as it is predicted (Aycock
and Horspool, 2002). Columns hold each other where rows began; once it is full, a column never changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field

from guidedviz.errors import PatternError
from guidedviz.machines.productions import START, Productions

MOST_ROWS = 1_000  # in one column, beside those of the grammar itself
MOST_MOVES = 10_000  # to fill it

Dotted = tuple[int, "State"]  # a spot in a row, and the column where the row began
Event = tuple[str, Dotted, Dotted | None]  # scan, predict, complete or skip; the row that arrives, and by which one
SKIPPED = -1  # in the place of a finished row: nothing was read


@dataclass(eq=False, slots=True, repr=False)
class State:
    """A column: its dotted rows, each with the finished row that moved its dot; compared by identity."""

    number: int  # its position in a chart; of a shared column any number that is its own
    exact: bool  # a column of a chart: nothing is left out, and it is not shared
    depth: int = 0  # columns that hold each other
    items: dict[Dotted, Dotted | None] = field(default_factory=dict)
    waiting: dict[int, list[Dotted]] = field(default_factory=dict)  # the rows that wait for each phrase
    readers: list[Dotted] = field(default_factory=list)  # the rows that wait for a byte
    outer: dict[int, Dotted] = field(default_factory=dict)  # the row that ends last, if all end with the phrase
    doubts: set[Dotted] = field(default_factory=set)  # rows that can also be read in a second way
    accepting: bool = False
    moves: dict[int, State | None] = field(default_factory=dict)  # what was asked so far, by kind of byte

    def __repr__(self) -> str:
        return f"q{self.number}"


UNASKED = State(-1, False)


class Filler:
    """Fills columns by the rows of a grammar; every row that arrives is a step that can be watched."""

    def __init__(self, productions: Productions) -> None:
        self.productions = productions
        self.after = productions.after
        self._bytes = tuple(symbol if isinstance(symbol, bytes) else b"" for symbol in productions.after)

    def begin_steps(self, exact: bool) -> Generator[Event, None, State]:
        """The first column."""
        state = State(0, exact)
        yield from self._fill(state, [("predict", (START, state), None)])
        return state

    def read_steps(self, state: State, byte: int) -> Generator[Event, None, State | None]:
        """The column after a byte, or None."""
        scanned = [(spot + 1, origin) for spot, origin in state.readers if byte in self._bytes[spot]]
        if not scanned:
            return None
        after = State(state.number + 1, state.exact)
        yield from self._fill(after, [("scan", row, None) for row in scanned])
        return after

    def _fill(self, state: State, events: list[Event]) -> Generator[Event, None, None]:
        """All that follows from the rows that arrived first, each row once."""
        size = len(self.after)
        for event in events:
            _, row, by = event
            if row in state.items:
                self._doubt(state, row, by)
                continue
            state.items[row] = by
            yield event
            events.extend(self._follow(state, row))
            if len(state.items) > MOST_ROWS + size or len(events) > MOST_MOVES + 4 * size:
                raise self._too_many(state)

    def _follow(self, state: State, row: Dotted) -> Iterable[Event]:
        """What a row brings into its column."""
        spot, origin = row
        symbol = self.after[spot]
        if symbol is None:
            state.accepting |= spot == START + 1
            return self._complete(state, row)
        if isinstance(symbol, bytes):
            state.readers.append(row)
            return ()
        events: list[Event] = []
        if symbol not in state.waiting:
            state.waiting[symbol] = []
            events = [("predict", (first, state), None) for first in self.productions.starts[symbol]]
        state.waiting[symbol].append(row)
        if symbol in self.productions.nullable:
            events.append(("skip", (spot + 1, origin), (SKIPPED, state)))
        return events

    def _complete(self, state: State, row: Dotted) -> Iterable[Event]:
        """Move the dot of all that waited where the row began; an empty row was stepped over before."""
        spot, origin = row
        if origin is state:
            return ()
        phrase = self.productions.phrase_at[spot]
        outer = None if state.exact else self._outermost(origin, phrase)
        waiting = [outer] if outer else origin.waiting.get(phrase, ())
        return [("complete", (waits + 1, began), row) for waits, began in waiting]

    def _outermost(self, state: State, phrase: int) -> Dotted | None:
        """If one row alone waits for the phrase and needs nothing after it, and so on outwards, the last such row.

        So a list that ends in itself takes a step an element, not a step for all before it (Joop Leo, 1991).
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
        """The row is here already: it, or what moved its dot, can be read in two ways."""
        known = state.items[row]
        if known is not None and by is not None and known != by:
            state.doubts.add(row if known[1] is not by[1] else known)

    def _too_many(self, state: State) -> PatternError:
        phrases = Counter(self.productions.phrase_at[spot] for spot, _ in state.items)
        names = dict.fromkeys(self.productions.phrases[number].rule for number, _ in phrases.most_common(3))
        seen = f"over {MOST_ROWS:,} rows or {MOST_MOVES:,} moves at one byte, most of them for {' and '.join(names)}"
        hint = "rules that are not ambiguous, lists that begin with themselves"
        return PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)
