"""Two tokens are of one kind where they move every state of the machine alike; then the index needs them only once.

All states go down the trie together. What a node carries is not a state but a whole column, "from 0 to 3, from 1
nowhere, ...", and equal columns are one kind: to a date, the 128,256 tokens of Llama 3 are 6 kinds.
(Algebra calls the columns the machine's transition monoid.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.tokens.trie import Ints, Letters, Trie, walk_levels

Table = npt.NDArray[np.int32]
MOST_ENTRIES = 2**24  # kinds x states; 64 MB
CHUNK = 2**21  # entries moved at once


def build_table(dfa: DFA) -> Table:
    """The machine as an array, table[state + 1, byte] = next state + 1; row 0 is dead and stays so.

    >>> from guidedviz.machines.regex import regex
    >>> build_table(regex("a"))[:, 96:99].tolist()
    [[0, 0, 0], [0, 2, 0], [0, 0, 0]]
    """
    table = np.zeros((len(dfa) + 1, 256), dtype=np.int32)
    table[1:] = np.frombuffer(dfa.table, dtype=np.int32).reshape(-1, 256)
    table[1:] += 1
    return table


@dataclass(frozen=True, eq=False)
class Kinds:
    """Where each kind of token takes each state."""

    after: Table  # after[kind, state] is the next state, -1 where the kind is illegal; kind 0 is illegal everywhere
    tokens: Ints | slice  # the ids that are legal somewhere (a slice: all ids, the dead among them) ...
    kind: Ints  # ... and the kind of each


def find_kinds(trie: Trie, dfa: DFA) -> Kinds:
    """One walk for all states of the machine.

    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.trie import build_trie
    >>> from guidedviz.tokens.vocabulary import Vocabulary
    >>> kinds = find_kinds(build_trie(Vocabulary([b"3", b".5", b".", b"42"])), regex(r"[0-9]+(\\.[0-9]+)?"))
    >>> kinds.kind.tolist(), kinds.after.tolist()
    ([2, 3, 1, 2], [[-1, -1, -1, -1], [-1, 2, -1, -1], [1, 1, 3, 3], [-1, 3, -1, -1]])
    """
    columns = _Columns(build_table(dfa))
    tokens, kind = trie.spell(*walk_levels(trie, 1, columns.step))
    has_token = np.bincount(kind, minlength=len(columns.kinds)) > 0  # others are only on the way
    has_token[0] = True
    return Kinds(columns.after[: len(has_token)][has_token] - 1, tokens, (np.cumsum(has_token) - 1)[kind])


class _Columns:
    """The machine that all states walk together: its states are the kinds, and its table grows as kinds are met."""

    def __init__(self, table: Table) -> None:
        cut = np.ones(256, dtype=np.bool_)  # bytes between two cuts are one letter: no state tells them apart
        cut[1:] = (table[:, 1:] != table[:, :-1]).any(axis=0)
        self.letter = np.cumsum(cut) - 1
        self.moves = table[:, cut]
        self.width = int(cut.sum())
        self.after: Table = np.zeros((64, len(table) - 1), dtype=np.int32)
        self.after[1] = np.arange(1, len(table))  # no byte read: every state is where it was
        self.kinds = {self.after[0].tobytes(): 0, self.after[1].tobytes(): 1}
        self.go: Ints = np.full(64 * self.width, -1)  # go[kind * width + letter] is the next kind, -1 where unknown
        self.go[: self.width] = 0

    def step(self, kinds: Ints, letters: Letters) -> Ints:
        """The kinds after one more byte."""
        keys = kinds * self.width + self.letter[letters]
        reached = self.go[keys]
        unknown = reached < 0
        if unknown.any():
            new = np.unique(keys[unknown])
            for some in np.array_split(new, 1 + new.size * self.after.shape[1] // CHUNK):
                self.learn(some)
            reached = self.go[keys]
        return reached

    def learn(self, keys: Ints) -> None:
        """Move whole columns by one letter each, and see which are new."""
        kinds, letters = np.divmod(keys, self.width)
        columns = self.moves[self.after[kinds], letters[:, None]]
        live = columns.any(axis=1)
        self.go[keys[~live]] = 0
        for key, column in zip(keys[live].tolist(), columns[live], strict=True):
            kind = self.kinds.setdefault(column.tobytes(), len(self.kinds))
            if kind == len(self.after):
                self.grow()
            self.after[kind] = column
            self.go[key] = kind

    def grow(self) -> None:
        """Room for as many again."""
        if 2 * self.after.size > MOST_ENTRIES:
            raise SettingError("index", seen=f"more than {MOST_ENTRIES:,} entries", expected="a smaller machine")
        self.after = np.concatenate((self.after, np.zeros_like(self.after)))
        self.go = np.concatenate((self.go, np.full_like(self.go, -1)))
