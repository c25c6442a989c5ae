r"""The vocabulary as a trie in flat arrays: pieces with a common beginning share its nodes.

Nodes are numbered level by level; the children of node i are first[i] up to, not including, first[i + 1]:

           root 0        pieces a, ab, ac, b
          a/    \b
          1      2       first = 1 3 5 5 5 5    node 0 has children 1-2, node 1 has 3-4, the others none
        b/ \c           byte  = . a b b c
        3   4

Next: `tokens/walk.py`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from guidedviz.tokens.arrays import Ids, Ints, Letters, Mask

SPARSE_LOOKUP = 4  # look tokens up node by node where fewer than one node in this many is asked for
L = TypeVar("L", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Trie:
    """Flat arrays with one entry per node; node 0 is the root. `Vocabulary.trie` has the ids that may be text."""

    first: Ints  # the children of node i: first[i] up to, not including, first[i + 1]
    parent: Ints
    byte: Letters  # the byte that leads into the node
    levels: tuple[int, ...]  # the nodes of depth d: levels[d] up to, not including, levels[d + 1]
    node_of: Ints  # the node where the bytes of each token id end; -1 for ids that are not in the trie

    def __len__(self) -> int:
        return len(self.byte)

    def __repr__(self) -> str:
        return f"Trie({len(self):,} nodes, {self.depth} levels)"

    @property
    def depth(self) -> int:
        """The bytes of the longest token."""
        return len(self.levels) - 2

    @property
    def root(self) -> "Node":
        """The first node, to walk the trie by hand."""
        return Node(self, 0)

    @cached_property
    def nodes(self) -> Ints:
        """The number of every node."""
        return np.arange(len(self))

    @cached_property
    def letters(self) -> bytes:
        """The byte of every node, to search in."""
        return self.byte.tobytes()

    @cached_property
    def _by_node(self) -> tuple[Ints, Ints]:
        """The token ids in the order of their nodes, and where the ids of each node begin."""
        order = np.argsort(self.node_of, kind="stable")
        order = order[np.searchsorted(self.node_of[order], 0) :]
        return order, np.searchsorted(self.node_of[order], np.arange(len(self) + 1))

    @cached_property
    def below(self) -> Ints:
        """The number of nodes below each node.

        >>> gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie.below.tolist()
        [4, 2, 0, 0, 0]
        """
        sums = np.ones(len(self), dtype=np.intp)
        for depth in range(self.depth, 0, -1):
            low, high = self.levels[depth : depth + 2]
            np.add.at(sums, self.parent[low:high], sums[low:high])
        return sums - 1

    def sum_down(self, counts: Ints) -> Ints:
        """The sum of the counts of each node and of all nodes above it.

        >>> gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie.sum_down(np.array([0, 1, 0, 1, 1])).tolist()
        [0, 1, 0, 2, 2]
        """
        sums = counts.copy()
        for low, high in zip(self.levels[1:], self.levels[2:], strict=False):
            sums[low:high] += sums[self.parent[low:high]]
        return sums

    @cached_property
    def characters(self) -> Ints:
        """The number of characters that begin in each token of the trie; other ids have no meaningful number.

        >>> gv.Vocabulary(["aé".encode(), "é".encode()[1:], b"ab"]).trie.characters.tolist()
        [2, 0, 2]
        """
        begins = ((self.byte & 0xC0) != 0x80).astype(np.intp)
        begins[0] = 0
        return self.sum_down(begins)[self.node_of]

    def children(self, nodes: Ints) -> Ints:
        """All children of these nodes.

        >>> gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie.children(np.array([0, 1])).tolist()
        [1, 2, 3, 4]
        """
        first = self.first[nodes]
        return number_on(first, self.first[nodes + 1] - first)

    def children_by(self, node: int, letters: Iterable[int]) -> list[int]:
        """The children of one node to which these bytes lead.

        >>> gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie.children_by(1, b"ca")
        [4]
        """
        low = int(self.first[node])
        high = int(self.first[node + 1])
        found = [self.letters.find(letter, low, high) for letter in letters]
        return [child for child in found if child >= 0]

    def tokens(self, nodes: Ints, labels: npt.NDArray[L]) -> tuple[Ints, npt.NDArray[L]]:
        """The tokens whose bytes end in these nodes, and the label of each. No label may be 0.

        >>> gv.Vocabulary([b"a", b"abcdefg", b"a"]).trie.tokens(np.array([1]), np.array([5]))
        (array([0, 2]), array([5, 5]))
        """
        if len(nodes) * SPARSE_LOOKUP > max(len(self), len(self.node_of)):
            # 0 stands for no label; one entry more, for the ids without a node
            label_of = np.zeros(len(self) + 1, dtype=labels.dtype)
            label_of[nodes] = labels
            found = label_of[self.node_of]
            tokens = np.flatnonzero(found)
            return tokens, found[tokens]
        order, first = self._by_node
        count = first[nodes + 1] - first[nodes]
        return order[number_on(first[nodes], count)], labels.repeat(count)

    def mask(self, nodes: Ints) -> Mask:
        """True for the tokens whose bytes end in these nodes.

        >>> gv.Vocabulary([b"a", b"ab", b"a"]).trie.mask(np.array([0, 1])).tolist()
        [True, False, True]
        """
        mask = np.zeros(len(self.node_of), dtype=np.bool_)
        mask[self.tokens(nodes, np.ones_like(nodes))[0]] = True
        return mask


@dataclass(frozen=True)
class Node:
    """One node of a trie.

    >>> root = gv.Vocabulary([b"a", b"ab", b"b"]).trie.root
    >>> root.tokens, root.children, root.children[ord("a")].tokens
    ([], {97: Node(1), 98: Node(2)}, [0])
    """

    trie: Trie
    number: int

    def __repr__(self) -> str:
        return f"Node({self.number})"

    @property
    def children(self) -> dict[int, "Node"]:
        """The nodes below this one, each with the byte that leads to it."""
        low, high = self.trie.first[self.number : self.number + 2]
        return {byte: Node(self.trie, low + place) for place, byte in enumerate(self.trie.letters[low:high])}

    @property
    def tokens(self) -> list[int]:
        """The ids of the tokens whose bytes end here."""
        order, first = self.trie._by_node
        found: list[int] = order[first[self.number] : first[self.number + 1]].tolist()
        return found


def number_on(first: Ints, count: Ints) -> Ints:
    """So many numbers from each of these on, one after the other.

    >>> number_on(np.array([0, 7]), np.array([2, 3])).tolist()
    [0, 1, 7, 8, 9]
    """
    numbers: Ints = (first - count.cumsum() + count).repeat(count)
    numbers += np.arange(len(numbers))
    return numbers


def build_trie(pieces: Sequence[bytes], order: Ids) -> Trie:
    """Build the trie of these ids, given in byte order; a node begins where parent or byte differ from the id before.

    >>> trie = build_trie([b"a", b"ab", b"ac", b"b", b"ab", b""], np.array([0, 1, 4, 2, 3]))
    >>> trie, trie.first.tolist(), trie.node_of.tolist()
    (Trie(5 nodes, 2 levels), [1, 3, 5, 5, 5, 5], [1, 3, 4, 2, 3, -1])
    """
    ordered = [pieces[token] for token in order]
    data = np.frombuffer(b"".join(ordered), dtype=np.uint8)
    length = np.array(list(map(len, ordered)), dtype=np.int64)
    start = np.cumsum(length) - length
    node = np.zeros(len(order), dtype=np.intp)  # the node that the bytes so far of each id lead to
    parents = [np.zeros(1, dtype=np.intp)]
    letters = [np.zeros(1, dtype=np.uint8)]
    levels = [0, 1]
    rows = np.flatnonzero(length > 0)  # the places in `order` of ids with another byte
    while rows.size:
        depth = len(levels) - 2  # of the parents
        parent = node[rows]
        letter = data[start[rows] + depth]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = (parent[1:] != parent[:-1]) | (letter[1:] != letter[:-1])
        node[rows] = levels[-1] - 1 + np.cumsum(new)
        parents.append(parent[new])
        letters.append(letter[new])
        levels.append(levels[-1] + int(new.sum()))
        rows = rows[length[rows] > depth + 1]
    node_of = np.full(len(pieces), -1, dtype=np.intp)
    node_of[order] = node
    parent = np.concatenate(parents)  # sorted: the first child of a node is the first entry not below its number
    first = np.searchsorted(parent[1:], np.arange(len(parent) + 1)) + 1
    return Trie(first, parent, np.concatenate(letters), tuple(levels), node_of)
