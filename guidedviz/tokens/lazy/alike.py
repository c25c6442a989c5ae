"""The masks of a finite machine that counts: one for all states whose counts behave alike within the longest token."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf

from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.lazy.lazy_walk import Walks
from guidedviz.tokens.vocabulary import Vocabulary

MOST_MASKS = 2**26  # bytes


class AlikeMasks:
    """A mask is walked once for each set of states that the longest token cannot tell apart.

    >>> guide = gv.guide(gv.regex("[a-z]{0,5000}"), gv.Vocabulary([b"a", b"bc"]), engine="index")
    >>> state = guide.initial
    >>> for _ in range(2499):
    ...     state = guide.advance(state, 1) if guide.mask(state)[1] else None
    >>> len(guide.source.masks), guide.mask(state).tolist()
    (2, [True, True])
    """

    def __init__(self, machine: PDA, vocabulary: Vocabulary) -> None:
        self.machine, self.walks = machine, Walks(machine, vocabulary)
        self._alike = OpenStack(machine, longest=len(vocabulary.trie.levels) - 2)
        self._room = max(1, MOST_MASKS // len(vocabulary))
        self.masks: dict[Hashable, Mask] = {}

    def mask(self, state: State) -> Mask:
        """True for every legal id; read-only."""
        self.machine.places(state)  # refuses states of other machines
        key = self._alike.known(state, inf), state.accepting
        if key not in self.masks:
            if len(self.masks) >= self._room:
                self.masks.clear()
            self.masks[key] = self.walks.mask(state)
        return self.masks[key]
