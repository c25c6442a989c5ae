"""A machine as a table that grows as it is asked: its states are numbered, and a walk looks many moves up at once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from guidedviz.tokens.trie import Ints, Letters, Trie, walk_levels

S = TypeVar("S", bound=Hashable)


class Kinded(Protocol[S]):
    """A machine that says which bytes it never tells apart: kinds[byte] is the same for them."""

    kinds: bytes

    def step(self, state: S, byte: int) -> S | None: ...


class MoveTable(Generic[S]):
    """The states met so far, each with a label; 0 is dead.

    >>> from guidedviz.machines.pda import grammar
    >>> from guidedviz.tokens.trie import build_trie
    >>> from guidedviz.tokens.vocabulary import Vocabulary
    >>> nested = grammar('root ::= "(" root ")" | "x"')
    >>> table = MoveTable(nested)
    >>> tokens, labels = table.walk(build_trie(Vocabulary([b"(", b")", b"(x)", b"x)"])), nested.initial)
    >>> [bool(table.states[label]) for label in labels], table.states[labels[2]].accepting
    ([True, False, True, False], True)
    """

    def __init__(self, machine: Kinded[Any]) -> None:
        self.machine = machine
        self.kind = np.frombuffer(machine.kinds, dtype=np.uint8).astype(np.intp)
        self.width = max(machine.kinds) + 1
        self.byte_of = {kind: byte for byte, kind in enumerate(machine.kinds)}
        self.states: list[S | None] = [None]
        self.labels: dict[S | None, int] = {None: 0}
        self.go: Ints = np.full(64 * self.width, -1)  # go[label * width + kind], -1 where nobody asked
        self.go[: self.width] = 0

    def walk(self, trie: Trie, state: S) -> tuple[Ints | slice, Ints]:
        """The tokens that live at their ends, or all (a slice), and the label of each."""
        return trie.spell(*walk_levels(trie, self._label(state), self.step))

    def step(self, labels: Ints, letters: Letters) -> Ints:
        """The labels after one more byte; each pair is asked once."""
        keys = labels * self.width + self.kind[letters]
        reached: Ints = self.go[keys]
        unknown = reached < 0
        if unknown.any():
            for key in np.unique(keys[unknown]).tolist():
                label, kind = divmod(key, self.width)
                self.go[key] = self._label(self.machine.step(self.states[label], self.byte_of[kind]))
            reached = self.go[keys]
        return reached

    def dense(self) -> npt.NDArray[np.int32]:
        """All that was asked so far as table[label, byte]; where nobody asked it is 0."""
        rows = self.go[: len(self.states) * self.width].reshape(-1, self.width)
        return np.maximum(rows, 0)[:, self.kind].astype(np.int32)

    def _label(self, state: S | None) -> int:
        label = self.labels.setdefault(state, len(self.states))
        if label == len(self.states):
            self.states.append(state)
            if label * self.width == len(self.go):
                self.go = np.concatenate((self.go, np.full_like(self.go, -1)))
        return label
