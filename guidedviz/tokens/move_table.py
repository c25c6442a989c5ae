"""Moves of a machine as a table that grows as it is used: states get numbers, and many moves are looked up at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.machines.machine import first_bytes
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.arrays import Ids, Ints, Letters
from guidedviz.tokens.trie import Trie, walk_levels

MOST_ENTRIES = 2**24  # kinds x states; 64 MB
CHUNK = 2**21  # entries moved at once
S = TypeVar("S", bound=Hashable)


class Moves:
    """From a label and the kind of a byte to the next label, 0 for dead; `learn` is asked once about each pair."""

    def __init__(self, kind: Ints, learn: Callable[[Ints, Ints], Ints]) -> None:
        self.kind, self.learn, self.width = kind, learn, int(kind.max()) + 1
        self.go: Ints = np.full(64 * self.width, -1)  # go[label * width + kind], -1 where unknown
        self.go[: self.width] = 0

    def step(self, labels: Ints, letters: Letters) -> Ints:
        """The labels after one more byte."""
        keys = labels * self.width + self.kind[letters]
        reached: Ints = self.go[keys]
        unknown = reached < 0
        if unknown.any():
            new = np.unique(keys[unknown])
            found = self.learn(*np.divmod(new, self.width))
            self.reserve(int(found.max()))
            self.go[new] = found
            reached = self.go[keys]
        return reached

    def reserve(self, label: int) -> None:
        """Make room for the moves of a label."""
        while (label + 1) * self.width > len(self.go):
            self.go = np.concatenate((self.go, np.full_like(self.go, -1)))


class Kinded(Protocol[S]):
    """A machine that says which bytes it never distinguishes: they have the same kinds[byte]."""

    kinds: bytes

    def step(self, state: S, byte: int) -> S | None: ...


class MoveTable(Generic[S]):
    """The states met so far, each with a label; 0 is dead.

    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> table = MoveTable(nested)
    >>> tokens, labels = table.walk(gv.Vocabulary([b"(", b")", b"(x)", b"x)"]).trie, nested.initial)
    >>> [bool(table.states[label]) for label in labels], table.states[labels[2]].accepting
    ([True, False, True, False], True)
    """

    def __init__(self, machine: Kinded[Any]) -> None:
        self.machine = machine
        self.byte_of = first_bytes(machine.kinds)
        self.states: list[S | None] = [None]
        self.labels: dict[S | None, int] = {None: 0}
        self.moves = Moves(np.frombuffer(machine.kinds, dtype=np.uint8).astype(np.intp), self._learn)

    def walk(self, trie: Trie, state: S) -> tuple[Ints | slice, Ints]:
        """The tokens that are live at their ends, or all (a slice), and the label of each."""
        start = self.label(state)
        self.moves.reserve(start)
        return trie.tokens(*walk_levels(trie, start, self.moves.step))

    def dense(self) -> Ids:
        """All moves looked up so far as table[label, byte]; the others are 0."""
        self.moves.reserve(len(self.states) - 1)
        rows = self.moves.go[: len(self.states) * self.moves.width].reshape(-1, self.moves.width)
        return np.maximum(rows, 0)[:, self.moves.kind].astype(np.int32)

    def _learn(self, labels: Ints, kinds: Ints) -> Ints:
        pairs = zip(labels.tolist(), kinds.tolist(), strict=True)
        step, states, byte_of = self.machine.step, self.states, self.byte_of
        return np.array([self.label(step(states[label], byte_of[kind])) for label, kind in pairs], dtype=np.intp)

    def label(self, state: S | None) -> int:
        """The number of a state."""
        label = self.labels.setdefault(state, len(self.states))
        if label == len(self.states):
            self.states.append(state)
        return label


def build_table(dfa: DFA) -> Ids:
    """The machine as an array, table[state + 1, byte] = next state + 1; row 0 is dead and stays so.

    >>> build_table(gv.regex("a"))[:, 96:99].tolist()
    [[0, 0, 0], [0, 2, 0], [0, 0, 0]]
    """
    table = np.zeros((len(dfa) + 1, 256), dtype=np.int32)
    table[1:] = np.frombuffer(dfa.table, dtype=np.int32).reshape(-1, 256)
    table[1:] += 1
    return table


def table_walk(trie: Trie, dfa: DFA) -> Callable[[int], Ints]:
    """The walk of a trie from any state of a finite machine, one look-up per level: it gives the live nodes.

    >>> table_walk(gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie, gv.regex("ab*"))(0).tolist()
    [0, 1, 3]
    """
    table = build_table(dfa).ravel()
    return lambda state: walk_levels(trie, state + 1, lambda states, letters: table[states * 256 + letters])[0]


@dataclass(frozen=True, eq=False)
class Kinds:
    """Tokens are of one kind if they move every state alike; algebra calls this the transition monoid.

    To a date, the 128,256 tokens of Llama 3 are 6 kinds.
    """

    after: Ids  # after[kind, state] is the next state, -1 where the kind is illegal; kind 0 is illegal everywhere
    tokens: Ints | slice  # the ids that are legal in some state (a slice: all ids, dead ones included) ...
    kind: Ints  # ... and the kind of each


def find_kinds(trie: Trie, dfa: DFA) -> Kinds:
    """Walk the trie from all states of the machine together.

    >>> kinds = find_kinds(gv.Vocabulary([b"3", b".5", b".", b"42"]).trie, gv.regex(r"[0-9]+(\\.[0-9]+)?"))
    >>> kinds.kind.tolist(), kinds.after.tolist()
    ([2, 3, 1, 2], [[-1, -1, -1, -1], [-1, 2, -1, -1], [1, 1, 3, 3], [-1, 3, -1, -1]])
    """
    columns = _Columns(build_table(dfa))
    tokens, kind = trie.tokens(*walk_levels(trie, 1, columns.moves.step))
    has_token = np.bincount(kind, minlength=len(columns.kinds)) > 0  # the other kinds are only on the way
    has_token[0] = True
    return Kinds(columns.after[: len(has_token)][has_token] - 1, tokens, (np.cumsum(has_token) - 1)[kind])


class _Columns:
    """A machine whose state is a column: the state reached from each state of the DFA. Its labels are the kinds."""

    def __init__(self, table: Ids) -> None:
        cut = np.ones(256, dtype=np.bool_)  # bytes between two cuts are of one kind: no state distinguishes them
        cut[1:] = (table[:, 1:] != table[:, :-1]).any(axis=0)
        self.moves, self.table = Moves(np.cumsum(cut) - 1, self._learn), table[:, cut]
        self.after: Ids = np.zeros((64, len(table) - 1), dtype=np.int32)
        self.after[1] = np.arange(1, len(table))  # no byte is read yet: every state is itself
        self.kinds = {self.after[0].tobytes(): 0, self.after[1].tobytes(): 1}

    def _learn(self, kinds: Ints, letters: Ints) -> Ints:
        found = np.zeros(len(kinds), dtype=np.intp)
        for some in np.array_split(np.arange(len(kinds)), 1 + len(kinds) * self.after.shape[1] // CHUNK):
            columns = self.table[self.after[kinds[some]], letters[some, None]]
            live = columns.any(axis=1)
            found[some[live]] = list(map(self._kind, columns[live]))
        return found

    def _kind(self, column: Ids) -> int:
        kind = self.kinds.setdefault(column.tobytes(), len(self.kinds))
        if kind == len(self.after):
            if 2 * self.after.size > MOST_ENTRIES:
                raise SettingError("index", seen=f"more than {MOST_ENTRIES:,} entries", expected="a smaller machine")
            self.after = np.concatenate((self.after, np.zeros_like(self.after)))
        self.after[kind] = column
        return kind
