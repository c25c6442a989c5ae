"""The one walk that the engines index, trie and split share: where in the trie does the machine still live?

It is written twice. `walk_steps` goes node by node: for reading, for films, and where few nodes are live. `walk_levels`
takes a whole level of the trie in NumPy: for masks over a large vocabulary. A property test holds their nodes equal.
`MoveTable` numbers the states of a machine, so that a level is one look-up in an array.

Next: `tokens/index.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import RLock
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from guidedviz.machines.machine import S, Steps, first_bytes
from guidedviz.tokens.arrays import Ints, Letters
from guidedviz.tokens.trie import Trie, number_on

SPARSE_LEVEL = 4  # expand node by node where fewer than one in this many is live
MANY_CHILDREN = 16  # children of a node; of more, only those are looked at that a machine may read
MOST_TABLE_STATES = 20_000  # of a table that is kept for the next walk; one walk may exceed it


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
        children: Sequence[int] = range(trie.first[node], trie.first[node + 1])
        if reads is not None and len(children) > MANY_CHILDREN:
            children = trie.children_by(node, reads(state))
        for child in children:
            reached = machine.step(state, trie.letters[child])
            if reached is not None:
                yield child, reached
                waiting.append((child, reached))


def walk_apart(
    trie: Trie, machine: Steps[Any], one: Any, other: Any, differ: Callable[[Any, Any], Iterable[int]]
) -> Iterator[tuple[int, Any]]:
    """Walk from two states where they lead to different ones: yield the nodes, and what the first one leads to.

    At all other nodes both lead to the same. `differ` says which bytes may lead to different states; None is dead.

    >>> machine, trie = gv.regex("n?[ab]*"), gv.Vocabulary([b"ab", b"n", b"na"]).trie
    >>> list(walk_apart(trie, machine, 0, 1, lambda one, other: b"abn"))
    [(2, 1), (4, 1)]
    """
    waiting = [(0, one, other)]
    while waiting:
        node, one, other = waiting.pop()
        children: Sequence[int] = range(trie.first[node], trie.first[node + 1])
        if len(children) > MANY_CHILDREN:
            children = trie.children_by(node, differ(one, other))
        for child in children:
            letter = trie.letters[child]
            reached = None if one is None else machine.step(one, letter)
            beside = None if other is None else machine.step(other, letter)
            if reached is not beside:
                yield child, reached
                waiting.append((child, reached, beside))


def walk_levels(trie: Trie, start: int, step: Callable[[Ints, Letters], Ints]) -> tuple[Ints, Ints]:
    """Walk level by level: the root and the nodes of `walk_steps`, in order, and the label of each.

    A label is the number of a state, 0 if the machine refused; `step` takes many labels and bytes and gives the labels
    reached. The step of the example doubles a label, and refuses c.

    >>> trie = gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie
    >>> nodes, labels = walk_levels(trie, 1, lambda labels, letters: labels * 2 * (letters < 99))
    >>> nodes.tolist(), labels.tolist()
    ([0, 1, 2, 3], [1, 2, 2, 4])
    """
    live = trie.nodes[:1]
    labels = np.array([start])
    found_nodes = [live]
    found_labels = [labels]
    for above, low, high in zip(trie.levels, trie.levels[1:], trie.levels[2:], strict=False):  # a level: low to high
        if len(live) * SPARSE_LEVEL < low - above:  # only the children of live nodes
            first = trie.first[live]
            count = trie.first[live + 1] - first
            nodes = number_on(first, count)
            labels = labels.repeat(count)
        else:  # the whole level, which is contiguous
            nodes = trie.nodes[low:high]
            level = np.zeros(low - above, dtype=np.intp)
            level[live - above] = labels
            labels = level[trie.parent[low:high] - above]
        reached = step(labels, trie.byte[nodes])
        alive = reached.astype(np.bool_).nonzero()[0]
        if not alive.size:
            break
        live = nodes[alive]
        labels = reached[alive]
        found_nodes.append(live)
        found_labels.append(labels)
    return np.concatenate(found_nodes), np.concatenate(found_labels)


def one_byte(state: object, byte: int) -> tuple[int, int]:
    """The lowest and the highest byte of a span of one byte."""
    return byte, byte


class MoveTable(Generic[S]):
    """A machine for `walk_levels`: the states met so far, each with a label, and the moves between them.

    `kinds` says which bytes the machine never distinguishes, and `span` which bytes around one it does not distinguish
    in a state.

    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> table = MoveTable(nested.step, nested.kinds)
    >>> nodes, labels = table.walk(gv.Vocabulary([b"(", b")", b"(x)", b"x)"]).trie, nested.initial)
    >>> nodes.tolist(), [table.states[label].accepting for label in labels]
    ([0, 1, 3, 4, 6], [False, False, True, False, True])
    """

    def __init__(
        self, step: Callable[[S, int], S | None], kinds: bytes, span: Callable[[S, int], tuple[int, int]] = one_byte
    ) -> None:
        self.step = step
        self.span = span
        self._byte_of = first_bytes(kinds)
        self._kind = np.frombuffer(kinds, dtype=np.uint8).astype(np.intp)
        self._lock = RLock()
        self._width = 1 + max(kinds)
        self._forget()

    def _forget(self) -> None:
        self.states: list[S | None] = [None]
        self._labels: dict[S | None, int] = {None: 0}
        # entry label * width + kind: a label, -1 where unknown; at first for 64 labels, doubled when they are used up
        self._moves: Ints = np.full(64 * self._width, -1)
        self._moves[: self._width] = 0  # from refused to refused

    def walk(self, trie: Trie, state: S) -> tuple[Ints, Ints]:
        """The live nodes in order, and the label of each."""
        with self._lock:
            if len(self.states) > MOST_TABLE_STATES:
                self._forget()
            return walk_levels(trie, self._label(state), self._step)

    def _step(self, labels: Ints, letters: Letters) -> Ints:
        """The labels after one more byte; the machine is asked once about each label and kind."""
        keys = labels * self._width + self._kind[letters]
        reached: Ints = self._moves[keys]
        if len(reached) and reached[reached.argmin()] < 0:  # the methods take half the time of the functions
            new = np.sort(keys[reached < 0])
            new = new[np.append(True, new[1:] != new[:-1])]  # each once; the first call of np.unique takes 40 ms
            for key in new.tolist():
                if self._moves[key] < 0:
                    self._learn(*divmod(key, self._width))
            reached = self._moves[keys]
        return reached

    def _learn(self, label: int, kind: int) -> None:
        """Ask the machine about one move; the bytes around it may lead to the same state."""
        state = self.states[label]
        assert state is not None  # from refused to refused is known
        byte = self._byte_of[kind]
        low, high = self.span(state, byte)
        kinds = self._kind[low : high + 1] if low < high else kind  # one alone is quicker to write
        self._moves[label * self._width + kinds] = self._label(self.step(state, byte))

    def _label(self, state: S | None) -> int:
        label = self._labels.setdefault(state, len(self.states))
        if label == len(self.states):
            self.states.append(state)
            if len(self.states) * self._width > len(self._moves):
                self._moves = np.concatenate((self._moves, np.full_like(self._moves, -1)))
        return label

    def judge(self, labels: Ints, of_state: Callable[[S | None], int]) -> npt.NDArray[np.int8]:
        """The number that `of_state` gives to the state of each label; each state is asked about once."""
        met = np.flatnonzero(np.bincount(labels))  # each label once
        numbers = np.zeros(len(self.states), dtype=np.int8)
        numbers[met] = [of_state(self.states[label]) for label in met.tolist()]
        return numbers[labels]
