"""The splits of a counted node near its upper bound, all from one walk.

The walk finds how many parts of the repeat each token begins: a token is legal while so many more parts are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guidedviz.machines.pushdown.counts import Counts
from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.tokens.arrays import Ids, Ints, Mask
from guidedviz.tokens.move_table import MoveTable
from guidedviz.tokens.split.context import ASK, YES, Asking, group_tokens, merge, say, single
from guidedviz.tokens.split.node_split import NodeSplit
from guidedviz.tokens.split.storage import store
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class NearEnd:
    """The walk from a counted node whose repeat may have many more parts."""

    node: int
    vocabulary: Vocabulary
    label: Ids  # of every token; 0: illegal
    sure: Mask  # of every label: its tokens are legal if their parts fit
    clean: Mask  # of every label: its tokens are read inside the repeat only
    begun: Ints  # of every label: how many parts its tokens begin
    asking: Asking

    def split(self, counts: Counts, room: int) -> NodeSplit:
        """The split if so many more parts are allowed."""
        fits = self.begun <= room
        sure = np.flatnonzero((self.sure & fits)[self.label]).astype(np.int32)
        left = np.flatnonzero((self.sure & ~fits & ~self.clean)[self.label]).astype(np.int32)
        parts = [self.asking, single(left)] if left.size else [self.asking]
        asking = merge(self.vocabulary, parts, np.zeros(len(self.vocabulary), dtype=np.bool_))
        return NodeSplit(self.node, counts, store(sure, len(self.vocabulary)), asking)


def walk_near_end(unknown: OpenStack, vocabulary: Vocabulary, node: int, first: int) -> NearEnd:
    """Walk from a node after `first` parts, the lowest count that is near the upper bound.

    >>> unknown = OpenStack(gv.grammar('root ::= [a-z]{0,5000} "."'))
    >>> near = walk_near_end(unknown, gv.Vocabulary([b"a", b"abc", b"ab.", b"."]), 3, 4990)
    >>> near.split(None, 5), near.split(None, 2), near.split(None, 1).ask.tolist()
    (NodeSplit(node 3: 2 yes, 1 no, 1 ask), NodeSplit(node 3: 1 yes, 2 no, 1 ask), [2])
    """
    start = unknown.at(node, ((first, first),))
    table = MoveTable[State](unknown)
    tokens, labels = table.walk(vocabulary.trie, start)
    label = np.zeros(len(vocabulary), dtype=np.int32)
    label[tokens] = labels
    said = np.array(list(map(say, table.states)), dtype=np.int8)
    clean = np.array([state is None or state.clean for state in table.states])
    begun = np.array([0 if state is None else unknown.begun(state, node, first) for state in table.states])
    ask = np.flatnonzero((said == ASK)[label]).astype(np.int32)
    return NearEnd(node, vocabulary, label, said == YES, clean, begun, group_tokens(unknown, vocabulary, ask, start))
