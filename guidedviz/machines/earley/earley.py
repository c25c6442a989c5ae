"""The Earley machine: a state is a column of the chart (see columns.py), and a step fills the next column.

Columns with the same waiting items accept the same continuations and are stored once, so a flat list needs constant
memory. A displayed chart has separate columns, one per position with all items.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cache, lru_cache, partial
from typing import Any, TypeVar

from guidedviz.errors import PatternError
from guidedviz.machines.earley.chart import Column, EarleyStep, Item, say_step, spot_words
from guidedviz.machines.earley.columns import Dotted, Event, Filler, State
from guidedviz.machines.earley.productions import Productions, build_productions
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, check_grammar
from guidedviz.machines.machine import LazySteps, check_text, read
from guidedviz.machines.visible import counted, visible
from guidedviz.machines.work import drain, limited_work

MOST_DEPTH = 200_000  # nested columns where rows began; 4 kB each
MOST_STATES = 50_000  # then the known states are dropped
MOST_KEPT = 20_000  # columns of charts kept in memory

Reached = TypeVar("Reached")


class Earley:
    """Reads bytes by the rules of any context-free grammar.

    Raises PatternError if a column needs over 1,000 rows or 10,000 moves, or if the depth is over 200,000.
    """

    def __init__(self, productions: Productions) -> None:
        self.productions, self.kinds = productions, productions.kinds
        self.filler = Filler(productions)
        self._steps: LazySteps[State] = LazySteps(self, self.kinds, self._read, lambda state: isinstance(state, State))
        self._words = cache(partial(spot_words, productions))
        self._states: dict[object, State] = {}
        self._first: State | None = None
        self._charted = self._kept = 0
        self.initial: State = drain(self.filler.begin_steps(False))

    def __repr__(self) -> str:
        return f"Earley({counted(sum(phrase.written for phrase in self.productions.phrases), 'rule')})"

    def step(self, state: State | None, byte: int) -> State | None:
        """The next state, or None."""
        return self._steps.step(state, byte)

    def _read(self, state: State, byte: int) -> State | None:
        after = drain(self.filler.read_steps(state, byte))
        return after and self._keep(after)

    def is_accepting(self, state: State | None) -> bool:
        """Whether the text may end here."""
        return state is not None and self._steps.own(state).accepting

    def accepts(self, data: bytes) -> bool:
        """Whether this is a complete text."""
        state = read(self, data)
        return isinstance(state, State) and state.accepting

    def accepts_prefix(self, data: bytes) -> bool:
        """Whether this can become a complete text."""
        return read(self, data) is not None

    def columns(self, data: bytes) -> list[State]:
        """The columns of a text, each with all its rows, up to the first byte that is not allowed."""
        check_text(data)
        if len(data) > MOST_KEPT:
            raise PatternError("chart", seen=f"a text of {len(data):,} bytes", expected=f"at most {MOST_KEPT:,}")
        with self._steps.lock:
            if self._first is None or self._charted > MOST_KEPT:
                self._first, self._charted = drain(self.filler.begin_steps(True)), 0
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
        return self.show(self.columns(data), data)

    def show(self, columns: Sequence[State], data: bytes) -> tuple[Column, ...]:
        """Columns in a form for display."""
        bytes_read = [None, *data]
        return tuple(
            Column(column.number, bytes_read[column.number], tuple(self.item(row) for row in column.items))
            for column in columns
        )

    def item(self, row: Dotted) -> Item:
        """A dotted row in a form for display."""
        spot, origin = row
        written = self.productions.phrases[self.productions.phrase_at[spot]].written
        return Item(*self._words(spot), origin.number, self.filler.after[spot] is None, written)

    def before(self, row: Dotted) -> str:
        """The symbol before the dot."""
        return self.productions.show(self.filler.after[row[0] - 1 : row[0]])

    def _keep(self, state: State) -> State:
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


def earley_steps(machine: Earley, data: bytes) -> Generator[EarleyStep, None, tuple[Column, ...]]:
    """The moves of the machine, byte by byte and item by item; returns the chart.

    >>> for step in earley_steps(earley('root ::= "a" root | "b"'), b"ab"):
    ...     print(step.position, step.words)
    0 predict: start may begin here with root
    0 predict: root may begin here with "a" root
    0 predict: root may begin here with "b"
    1 scan: a was read, root waits for root
    1 predict: root may begin here with "a" root
    1 predict: root may begin here with "b"
    2 scan: b was read, root is finished
    2 complete: root is finished, root is finished too
    2 complete: root is finished, start is finished too
    """
    check_earley(machine, "earley_steps")
    check_text(data)
    columns = [(yield from _say(machine, machine.filler.begin_steps(True), 0, ""))]
    for place, byte in enumerate(data):
        steps = machine.filler.read_steps(columns[-1], byte)
        after = yield from _say(machine, steps, place + 1, visible(bytes([byte])))
        if after is None:
            break
        columns.append(after)
    return machine.show(columns, data)


def _say(
    machine: Earley, events: Generator[Event, None, Reached], position: int, byte: str
) -> Generator[EarleyStep, None, Reached]:
    while True:
        try:
            kind, row, by = next(events)
        except StopIteration as stop:
            reached: Reached = stop.value
            return reached
        cause = byte if by is None else machine.before(row)
        item = machine.item(row)
        yield EarleyStep(position, kind, item, say_step(kind, item, cause))


def check_earley(machine: object, where: str) -> None:
    """Raise an error for any other object than an Earley machine."""
    if not isinstance(machine, Earley):
        seen, expected = type(machine).__name__, "an Earley machine"
        raise PatternError(where, seen=seen, expected=expected, hint="gv.earley(text)")


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
