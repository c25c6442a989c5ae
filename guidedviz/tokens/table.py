"""A machine as a table that grows as it is asked: its states are numbered, and a walk looks many moves up at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pda import PDA, State
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.trie import Ints, Letters, Trie, walk_levels

MOST_LABELS = 50_000


class MoveTable:
    """The states met so far, each with a label; 0 is dead. `accepting[label]` is known of all of them."""

    def __init__(self, machine: PDA, trie: Trie) -> None:
        self.machine, self.trie = machine, trie
        self.kind = np.frombuffer(machine.kinds, dtype=np.uint8).astype(np.intp)
        self.width = max(machine.kinds) + 1
        self.byte_of = {kind: byte for byte, kind in enumerate(machine.kinds)}
        self._clear()

    def _clear(self) -> None:
        self.states: list[State | None] = [None]
        self.labels: dict[State | None, int] = {None: 0}
        self.accepting: npt.NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self.go: Ints = np.full(64 * self.width, -1)  # go[label * width + kind], -1 where nobody asked
        self.go[: self.width] = 0

    def walk(self, state: State) -> tuple[Ints | slice, Mask, Mask]:
        """The tokens that are alive at their ends, or all; for each whether it is, and whether it is accepted there."""
        if len(self.states) > MOST_LABELS:
            self._clear()
        tokens, labels = self.trie.spell(*walk_levels(self.trie, self._label(state), self.step))
        accepted: Mask = self.accepting[labels]
        return tokens, labels > 0, accepted

    def step(self, labels: Ints, letters: Letters) -> Ints:
        """The labels after one more byte; each pair is asked once."""
        keys = labels * self.width + self.kind[letters]
        reached: Ints = self.go[keys]
        unknown = reached < 0
        if unknown.any():
            for key in np.unique(keys[unknown]).tolist():
                label, kind = divmod(key, self.width)
                state = self.states[label]
                assert state is not None
                self.go[key] = self._label(self.machine.step(state, self.byte_of[kind]))
            reached = self.go[keys]
        return reached

    def _label(self, state: State | None) -> int:
        label = self.labels.setdefault(state, len(self.states))
        if label == len(self.states):
            self.states.append(state)
            if label == len(self.accepting):
                self.accepting = np.concatenate((self.accepting, np.zeros_like(self.accepting)))
                self.go = np.concatenate((self.go, np.full_like(self.go, -1)))
            self.accepting[label] = state is not None and state.accepting
        return label
