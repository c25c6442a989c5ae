r"""The vocabulary as a trie in flat arrays: pieces with a common beginning share its nodes.

Nodes are numbered level by level; the children of node i are the nodes first[i] to first[i + 1]:

           root 0        pieces a, ab, ac, b
          a/    \b
          1      2       first = 1 3 5 5 5 5    node 0 has children 1-2, node 1 has 3-4, the others none
        b/ \c           byte  = . a b b c
        3   4

Next: `tokens/index.py`.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from guidedviz.machines.machine import Steps, first_bytes

Mask = npt.NDArray[np.bool_]  # one entry per token id, True where the token is legal
Ids = npt.NDArray[np.int32]  # token ids, or other numbers that are stored
Ints = npt.NDArray[np.intp]  # indices; NumPy uses them without conversion
Letters = npt.NDArray[np.uint8]  # bytes of text
Bits = npt.NDArray[np.uint8]  # packed masks: token t is bit t % 8 of byte t // 8, as in the engines' bitmasks

FEW = 4  # expand node by node where fewer than one in this many is live
MANY = 16  # children of a node; of more, only those are looked at that a machine may read
MOST_STATES = 20_000  # of a table that is kept from walk to walk
S = TypeVar("S", bound=Hashable)
L = TypeVar("L", bound=np.generic)
A = TypeVar("A", bound=npt.NDArray[Any])


@dataclass(frozen=True, eq=False)
class Trie:
    """Flat arrays with one entry per node; node 0 is the root. Only ids that may stand for text are in it."""

    first: Ints  # the children of node i are first[i] .. first[i + 1]
    parent: Ints
    byte: Letters  # the byte that leads into the node
    levels: tuple[int, ...]  # the nodes of depth d are levels[d] .. levels[d + 1]
    node_of: Ints  # the node where the bytes of each token id end; -1 for ids that are not text

    def __len__(self) -> int:
        return len(self.byte)

    def __repr__(self) -> str:
        return f"Trie({len(self):,} nodes, {len(self.levels) - 2} levels)"

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
        for above, low, high in reversed(list(zip(self.levels, self.levels[1:], self.levels[2:], strict=False))):
            before = np.concatenate(([0], np.cumsum(sums[low:high])))  # the sum of the level before each of its nodes
            sums[above:low] += np.diff(before[self.first[above : low + 1] - low])
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
        """The number of characters that begin in each token of the trie.

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
        return number_on(self.first[nodes], self.first[nodes + 1] - self.first[nodes])

    def tokens(self, nodes: Ints, labels: npt.NDArray[L]) -> tuple[Ints, npt.NDArray[L]]:
        """The tokens whose bytes end in these nodes, and the label of each; no label is 0.

        >>> gv.Vocabulary([b"a", b"abcdefg", b"a"]).trie.tokens(np.array([1]), np.array([5]))
        (array([0, 2]), array([5, 5]))
        """
        if len(nodes) * FEW > max(len(self), len(self.node_of)):
            label_of = np.zeros(len(self) + 1, dtype=labels.dtype)  # one more, for the ids without a node
            label_of[nodes] = labels
            found = label_of[self.node_of]
            tokens = np.flatnonzero(found)
            return tokens, found[tokens]
        order, first = self._by_node
        count = first[nodes + 1] - first[nodes]
        return order[number_on(first[nodes], count)], np.repeat(labels, count)

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
    numbers: Ints = np.repeat(first - np.cumsum(count) + count, count)
    numbers += np.arange(len(numbers))
    return numbers


def build_trie(pieces: Sequence[bytes], order: Ids) -> Trie:
    """Build the trie of these ids, given in byte order; a node begins where parent or byte differ from the id before.

    >>> trie = build_trie([b"a", b"ab", b"ac", b"b", b"ab", b""], np.array([0, 1, 4, 2, 3]))
    >>> trie, trie.first.tolist(), trie.node_of.tolist()
    (Trie(5 nodes, 2 levels), [1, 3, 5, 5, 5, 5], [1, 3, 4, 2, 3, -1])
    """
    count, pieces = len(pieces), [pieces[token] for token in order]
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    length = np.array(list(map(len, pieces)), dtype=np.int64)
    start = np.cumsum(length) - length
    node = np.zeros(len(order), dtype=np.intp)  # the node that the bytes so far of each id lead to
    parents, letters, levels = [np.zeros(1, dtype=np.intp)], [np.zeros(1, dtype=np.uint8)], [0, 1]
    rows = np.arange(len(order))
    while (rows := rows[length[rows] > len(levels) - 2]).size:
        parent, letter = node[rows], data[start[rows] + len(levels) - 2]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = (parent[1:] != parent[:-1]) | (letter[1:] != letter[:-1])
        node[rows] = levels[-1] - 1 + np.cumsum(new)
        parents.append(parent[new])
        letters.append(letter[new])
        levels.append(levels[-1] + int(new.sum()))
    node_of = np.full(count, -1, dtype=np.intp)
    node_of[order] = node
    parent = np.concatenate(parents)  # in order, so a node's first child stands where its number would be inserted
    first = np.searchsorted(parent[1:], np.arange(len(parent) + 1)) + 1
    return Trie(first, parent, np.concatenate(letters), tuple(levels), node_of)


def walk_steps(
    trie: Trie, machine: Steps[Any], state: Any, reads: Callable[[Any], Iterable[int]] | None = None
) -> Iterator[tuple[int, Any]]:
    """Walk node by node: yield the nodes whose bytes keep a complete text reachable, and the machine's state there.

    Below a node that the machine refuses nothing is visited. If `reads` says which bytes a state may read, the machine
    is asked about no others.

    >>> list(walk_steps(gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie, gv.regex("ab*"), 0))
    [(1, 1), (3, 1)]
    """
    waiting = [(0, state)]
    while waiting:
        node, state = waiting.pop()
        low, high = int(trie.first[node]), int(trie.first[node + 1])
        children: Iterable[int] = range(low, high)
        if reads is not None and high - low > MANY:
            children = [child for byte in reads(state) if (child := trie.letters.find(byte, low, high)) >= 0]
        for child in children:
            reached = machine.step(state, trie.letters[child])
            if reached is not None:
                yield child, reached
                waiting.append((child, reached))


def walk_levels(trie: Trie, start: int, step: Callable[[Ints, Letters], Ints]) -> tuple[Ints, Ints]:
    """The same walk level by level: the live nodes in order, and the label of each.

    A label stands for a state, 0 for dead; `step` takes many labels and bytes and gives the labels reached.

    >>> trie = gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie
    >>> nodes, labels = walk_levels(trie, 1, lambda labels, letters: labels * 2 * (letters < 99))
    >>> nodes.tolist(), labels.tolist()
    ([0, 1, 2, 3], [1, 2, 2, 4])
    """
    live, labels = trie.nodes[:1], np.array([start])
    found = [(live, labels)]
    for above, low, high in zip(trie.levels, trie.levels[1:], trie.levels[2:], strict=False):
        if len(live) * FEW < low - above:  # only their children
            first = trie.first[live]
            count = trie.first[live + 1] - first
            nodes, labels = number_on(first, count), np.repeat(labels, count)
        else:  # the whole level, which is contiguous
            nodes, level = trie.nodes[low:high], np.zeros(low - above, dtype=np.intp)
            level[live - above] = labels
            labels = level[trie.parent[low:high] - above]
        reached = step(labels, trie.byte[nodes])
        alive = reached.nonzero()[0]
        if not alive.size:
            break
        live, labels = nodes[alive], reached[alive]
        found.append((live, labels))
    return np.concatenate([nodes for nodes, _ in found]), np.concatenate([labels for _, labels in found])


class MoveTable(Generic[S]):
    """A machine for `walk_levels`: the states met so far, each with a label, and the moves between them.

    `kinds` says which bytes the machine never distinguishes.

    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> table = MoveTable(nested.step, nested.kinds)
    >>> nodes, labels = table.walk(gv.Vocabulary([b"(", b")", b"(x)", b"x)"]).trie, nested.initial)
    >>> nodes.tolist(), [table.states[label].accepting for label in labels]
    ([0, 1, 3, 4, 6], [False, False, True, False, True])
    """

    def __init__(self, step: Callable[[S, int], S | None], kinds: bytes) -> None:
        self.step, self._byte_of = step, first_bytes(kinds)
        self._kind, self._lock = np.frombuffer(kinds, dtype=np.uint8).astype(np.intp), RLock()
        self._width = 1 + max(kinds)
        self._forget()

    def _forget(self) -> None:
        self.states: list[S | None] = [None]
        self._labels: dict[S | None, int] = {None: 0}
        self._moves: Ints = np.full(64 * self._width, -1)  # of a label and a kind to a label, -1 where unknown
        self._moves[: self._width] = 0

    def walk(self, trie: Trie, state: S) -> tuple[Ints, Ints]:
        """The live nodes in order, and the label of each."""
        with self._lock:
            if len(self.states) > MOST_STATES:
                self._forget()
            return walk_levels(trie, self._label(state), self._step)

    def _step(self, labels: Ints, letters: Letters) -> Ints:
        """The labels after one more byte; the machine is asked once about each label and kind."""
        keys = labels * self._width + self._kind[letters]
        reached: Ints = self._moves[keys]
        if len(reached) and reached.min() < 0:
            new = np.sort(keys[reached < 0])
            new = new[np.append(True, new[1:] != new[:-1])]  # each once; the first call of np.unique takes 40 ms
            found = [self._move(*divmod(key, self._width)) for key in new.tolist()]
            self._moves[new] = found
            reached = self._moves[keys]
        return reached

    def _move(self, label: int, kind: int) -> int:
        state = self.states[label]
        return 0 if state is None else self._label(self.step(state, self._byte_of[kind]))

    def _label(self, state: S | None) -> int:
        label = self._labels.setdefault(state, len(self.states))
        if label == len(self.states):
            self.states.append(state)
            if len(self.states) * self._width > len(self._moves):
                self._moves = np.concatenate((self._moves, np.full_like(self._moves, -1)))
        return label

    def say(self, labels: Ints, of_state: Callable[[S | None], int]) -> npt.NDArray[np.int8]:
        """A number of the state of each label."""
        met = np.flatnonzero(np.bincount(labels))
        said = np.zeros(len(self.states), dtype=np.int8)
        said[met] = [of_state(self.states[label]) for label in met.tolist()]
        return said[labels]


def read_only(array: A) -> A:
    """The array, in which nothing can be changed from now on."""
    array.flags.writeable = False
    return array


# Masks as packed bits.


def pack(mask: Mask) -> Bits:
    """Pack masks to one bit per token.

    >>> pack(np.array([False, True, True])).tolist()
    [6]
    """
    return np.packbits(mask, axis=-1, bitorder="little")


def unpack(bits: Bits, size: int) -> Mask:
    """Unpack masks of `size` tokens; the result is read-only.

    >>> unpack(np.array([[6]], dtype=np.uint8), 3).tolist()
    [[False, True, True]]
    """
    return read_only(np.unpackbits(bits, axis=-1, count=size, bitorder="little").view(np.bool_))


def words_of(size: int) -> int:
    """How many 32-bit words hold the bits of this many tokens, as the engines exchange masks.

    >>> words_of(32), words_of(33), words_of(128_256)
    (1, 2, 4008)
    """
    return -(-size // 32)
