"""The split of every token at a node of a pushdown machine: legal, illegal, or context-dependent.

The trie is walked from all nodes together; a state is a column, the state reached from each node. Tokens with equal
columns are of one kind, as in an index: to JSON the 128,256 tokens of Llama 3 are 253 kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pushdown.open_stack import OpenStack, ParallelRuns, Place, Runs
from guidedviz.machines.pushdown.rules import Counts
from guidedviz.tokens.arrays import Ids, Ints, Mask
from guidedviz.tokens.move_table import MoveTable
from guidedviz.tokens.split.context import ACCEPTED, DEPENDENT, REJECTED, Asking, group_tokens, say
from guidedviz.tokens.split.storage import Stored, store
from guidedviz.tokens.trie import spread, walk_few
from guidedviz.tokens.vocabulary import Vocabulary

FEW = 100  # nodes of the trie; more are walked level by level


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """The split of the vocabulary at one node."""

    node: int
    counts: Counts  # of its rule, if that is counted and a bound is near
    accepted: Stored  # the tokens that are legal on every stack
    asking: Asking  # the context-dependent tokens; all others are illegal

    def __repr__(self) -> str:
        no = self.accepted.size - self.accepted.count - len(self.dependent)
        counts = f" after {self.counts}" if self.counts else ""
        told = f"{self.accepted.count:,} accepted, {no:,} rejected, {len(self.dependent):,} context-dependent"
        return f"NodeSplit(node {self.node}{counts}: {told})"

    @property
    def dependent(self) -> Ids:
        """The context-dependent tokens in byte order."""
        return self.asking.tokens

    @property
    def verdicts(self) -> npt.NDArray[np.int8]:
        """The verdict on every id: 0 rejected, 1 accepted, 2 context-dependent."""
        accepted = np.zeros(self.accepted.size, dtype=np.bool_)
        self.accepted.put(accepted)
        verdicts = accepted.astype(np.int8)
        verdicts[self.dependent] = DEPENDENT
        return verdicts

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.accepted.nbytes + self.asking.nbytes


def walk_places(unknown: OpenStack, vocabulary: Vocabulary, places: list[Place]) -> Iterator[NodeSplit]:
    r"""Split these nodes by one walk.

    >>> unknown = OpenStack(gv.grammar('root ::= "(" root ")" | "x"'))
    >>> print(*walk_places(unknown, gv.Vocabulary([b"(", b")", b"x)"]), [(0, None), (1, None)]), sep="\n")
    NodeSplit(node 0: 1 accepted, 1 rejected, 1 context-dependent)
    NodeSplit(node 1: 2 accepted, 1 rejected, 0 context-dependent)
    """
    runs = ParallelRuns(unknown)
    table = MoveTable[Runs](runs)
    tokens, labels = table.walk(vocabulary.trie, runs.begin(places))
    said = np.full((len(places), len(table.states)), REJECTED, dtype=np.int8)
    for label, column in enumerate(table.states):
        for start, state in column or ():
            said[start, label] = say(state)
    accepted, dependent = (_chosen(said == answer, tokens, labels) for answer in (ACCEPTED, DEPENDENT))
    for place, yes, ask in zip(places, accepted, dependent, strict=True):
        yield make_split(unknown, vocabulary, place, store(yes, len(vocabulary)), ask)


def walk_few_nodes(unknown: OpenStack, vocabulary: Vocabulary, place: Place) -> NodeSplit | None:
    """Split one node if few nodes of the trie are live."""
    if (reached := walk_few(vocabulary.trie, unknown, unknown.at(*place), FEW)) is None:
        return None
    said: dict[int, list[int]] = {ACCEPTED: [], DEPENDENT: []}
    for node, state in reached:
        said[say(state)] += vocabulary.trie.ids(node)
    yes, ask = (np.array(said[answer], dtype=np.int32) for answer in (ACCEPTED, DEPENDENT))
    return make_split(unknown, vocabulary, place, store(yes, len(vocabulary)), ask)


def make_split(unknown: OpenStack, vocabulary: Vocabulary, place: Place, yes: Stored, ask: Ids) -> NodeSplit:
    """The split of one node from its legal and its context-dependent tokens."""
    groups = group_tokens(unknown, vocabulary, ask, unknown.at(*place))
    return NodeSplit(*place, yes, groups)


def _chosen(wanted: Mask, tokens: Ints | slice, labels: Ints) -> Iterator[Ids]:
    """The tokens with the wanted labels, row by row; they are sorted by label once."""
    count = wanted.shape[1]
    order = np.argsort(labels.astype(np.min_scalar_type(count)), kind="stable")  # small integers are sorted faster
    first = np.searchsorted(labels[order], np.arange(count + 1))
    ids = (order if isinstance(tokens, slice) else tokens[order]).astype(np.int32)
    for row in wanted:
        yield ids[spread(first, np.flatnonzero(row))]
