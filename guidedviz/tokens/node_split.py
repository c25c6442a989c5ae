"""What the nodes of a pushdown machine alone say of every token: sure yes, sure no, or ask the stack.

All nodes go down the trie together, and what a trie node carries is a column: the state that each of them has reached
there. Tokens with equal columns are of one kind, as in an index: to JSON the 128,256 tokens of Llama 3 are 253 kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from guidedviz.machines.unknown import Column, Together, Unknown
from guidedviz.tokens.ask import ASK, NO, YES, Asking, group_tokens, say
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.storage import Ids, Stored, store
from guidedviz.tokens.table import MoveTable
from guidedviz.tokens.trie import Ints, build_trie, spread
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """What is known of every token at one node."""

    node: int
    sure: Stored  # the tokens that are legal whatever lies below
    asking: Asking  # those that depend on it; all others are illegal

    def __repr__(self) -> str:
        no = self.sure.size - self.sure.count - len(self.ask)
        return f"NodeSplit(node {self.node}: {self.sure.count:,} yes, {no:,} no, {len(self.ask):,} ask)"

    @property
    def ask(self) -> Ids:
        """The tokens that depend on what lies below, in the order of their bytes."""
        return self.asking.tokens

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.sure.nbytes + self.asking.nbytes


def walk_nodes(unknown: Unknown, vocabulary: Vocabulary, nodes: list[int]) -> Iterator[NodeSplit]:
    """The splits of these nodes by one walk.

    >>> from guidedviz.machines.pda import grammar
    >>> unknown = Unknown(grammar('root ::= "(" root ")" | "x"'))
    >>> list(walk_nodes(unknown, Vocabulary([b"(", b")", b"x)"]), [0, 1]))
    [NodeSplit(node 0: 1 yes, 1 no, 1 ask), NodeSplit(node 1: 2 yes, 1 no, 0 ask)]
    """
    together = Together(unknown)
    table = MoveTable[Column](together)
    tokens, labels = table.walk(build_trie(vocabulary), together.begin(nodes))
    said = np.full((len(nodes), len(table.states)), NO, dtype=np.int8)
    for label, column in enumerate(table.states):
        for place, state in column or ():
            said[place, label] = say(state)
    sure, asking = (_chosen(said == answer, tokens, labels) for answer in (YES, ASK))
    for node, yes, ask in zip(nodes, sure, asking, strict=True):
        groups = group_tokens(unknown, vocabulary, ask, unknown.at(node))
        yield NodeSplit(node, store(yes, len(vocabulary)), groups)


def _chosen(wanted: Mask, tokens: Ints | slice, labels: Ints) -> Iterator[Ids]:
    """Row by row the tokens whose labels it wants: they are sorted by label once."""
    count = wanted.shape[1]
    order = np.argsort(labels.astype(np.min_scalar_type(count)), kind="stable")  # small numbers are sorted quicker
    first = np.searchsorted(labels[order], np.arange(count + 1))
    ids = (order if isinstance(tokens, slice) else tokens[order]).astype(np.int32)
    for row in wanted:
        yield ids[spread(first, np.flatnonzero(row))]
