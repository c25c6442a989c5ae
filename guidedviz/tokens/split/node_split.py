"""The split of every token at a node of a pushdown machine: legal, illegal, or context-dependent.

The trie is walked from all nodes together; a state is a column, the state reached from each node. Tokens with equal
columns are of one kind, as in an index: to JSON the 128,256 tokens of Llama 3 are 253 kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from guidedviz.machines.pushdown.counts import Counts
from guidedviz.machines.pushdown.open_stack import OpenStack, ParallelRuns, Place, Runs
from guidedviz.tokens.arrays import Ids, Ints, Mask
from guidedviz.tokens.move_table import MoveTable
from guidedviz.tokens.split.context import ASK, NO, YES, Asking, group_tokens, say
from guidedviz.tokens.split.storage import Stored, store
from guidedviz.tokens.trie import spread, walk_few
from guidedviz.tokens.vocabulary import Vocabulary

FEW = 100  # nodes of the trie; more are walked level by level


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """The split of the vocabulary at one node."""

    node: int
    counts: Counts  # of its rule, if that is counted and a bound is near
    sure: Stored  # the tokens that are legal on every stack
    asking: Asking  # the context-dependent tokens; all others are illegal

    def __repr__(self) -> str:
        no = self.sure.size - self.sure.count - len(self.ask)
        counts = f" after {self.counts}" if self.counts else ""
        return f"NodeSplit(node {self.node}{counts}: {self.sure.count:,} yes, {no:,} no, {len(self.ask):,} ask)"

    @property
    def ask(self) -> Ids:
        """The context-dependent tokens in byte order."""
        return self.asking.tokens

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.sure.nbytes + self.asking.nbytes


def walk_places(unknown: OpenStack, vocabulary: Vocabulary, places: list[Place]) -> Iterator[NodeSplit]:
    """Split these nodes by one walk.

    >>> unknown = OpenStack(gv.grammar('root ::= "(" root ")" | "x"'))
    >>> list(walk_places(unknown, gv.Vocabulary([b"(", b")", b"x)"]), [(0, None), (1, None)]))
    [NodeSplit(node 0: 1 yes, 1 no, 1 ask), NodeSplit(node 1: 2 yes, 1 no, 0 ask)]
    """
    runs = ParallelRuns(unknown)
    table = MoveTable[Runs](runs)
    tokens, labels = table.walk(vocabulary.trie, runs.begin(places))
    said = np.full((len(places), len(table.states)), NO, dtype=np.int8)
    for label, column in enumerate(table.states):
        for start, state in column or ():
            said[start, label] = say(state)
    sure, asking = (_chosen(said == answer, tokens, labels) for answer in (YES, ASK))
    for place, yes, ask in zip(places, sure, asking, strict=True):
        yield make_split(unknown, vocabulary, place, yes, ask)


def walk_few_nodes(unknown: OpenStack, vocabulary: Vocabulary, place: Place) -> NodeSplit | None:
    """Split one node if few nodes of the trie are live."""
    if (reached := walk_few(vocabulary.trie, unknown, unknown.at(*place), FEW)) is None:
        return None
    said: dict[int, list[int]] = {YES: [], ASK: []}
    for node, state in reached:
        said[say(state)] += vocabulary.trie.ids(node)
    yes, ask = (np.array(said[answer], dtype=np.int32) for answer in (YES, ASK))
    return make_split(unknown, vocabulary, place, yes, ask)


def make_split(unknown: OpenStack, vocabulary: Vocabulary, place: Place, yes: Ids, ask: Ids) -> NodeSplit:
    """The split of one node from its legal and its context-dependent tokens."""
    groups = group_tokens(unknown, vocabulary, ask, unknown.at(*place))
    return NodeSplit(*place, store(yes, len(vocabulary)), groups)


def _chosen(wanted: Mask, tokens: Ints | slice, labels: Ints) -> Iterator[Ids]:
    """The tokens with the wanted labels, row by row; they are sorted by label once."""
    count = wanted.shape[1]
    order = np.argsort(labels.astype(np.min_scalar_type(count)), kind="stable")  # small integers are sorted faster
    first = np.searchsorted(labels[order], np.arange(count + 1))
    ids = (order if isinstance(tokens, slice) else tokens[order]).astype(np.int32)
    for row in wanted:
        yield ids[spread(first, np.flatnonzero(row))]
