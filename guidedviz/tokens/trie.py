r"""The vocabulary as a trie in flat arrays: pieces with a common beginning share its nodes.

Nodes are numbered level by level; the children of node i are the nodes first[i] to first[i + 1]:

           root 0        pieces a, ab, ac, b
          a/    \b
          1      2       first = 1 3 5 5 5 5    node 0 has children 1-2, node 1 has 3-4, the others none
        b/ \c           byte  = . a b b c
        3   4

Next: `tokens/index.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from guidedviz.errors import PatternError
from guidedviz.machines.machine import Machine, Steps, stack_of
from guidedviz.tokens.arrays import Ids, Ints, Letters, Mask

FEW = 4  # expand node by node where fewer than one in this many is live
MOST_WORK = 10_000_000  # moves of a machine for one walk; a few seconds
S = TypeVar("S")
NARROW = 300  # nodes below all live nodes: visit them one by one


class Reader(Protocol[S]):
    """A machine that says which bytes it reads in a state."""

    def step(self, state: S, byte: int) -> S | None: ...

    def reads(self, state: S) -> Collection[int]: ...


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
    def root(self) -> Node:
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
    def loops(self) -> dict[bytes, Any]:
        """The walks of loops so far, see `tokens/split/loops.py`."""
        return {}

    @cached_property
    def _by_node(self) -> tuple[Ints, Ints]:
        """The token ids in the order of their nodes, and where the ids of each node begin."""
        order = np.argsort(self.node_of, kind="stable")
        order = order[np.searchsorted(self.node_of[order], 0) :]
        return order, np.searchsorted(self.node_of[order], np.arange(len(self) + 1))

    @cached_property
    def below(self) -> Ints:
        """The number of nodes below each node."""
        return self.sum_up(np.ones(len(self), dtype=np.intp)) - 1

    def sum_up(self, counts: Ints) -> Ints:
        """The sum of the counts of each node and of all nodes below it.

        >>> gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie.sum_up(np.array([0, 1, 0, 1, 1])).tolist()
        [3, 3, 0, 1, 1]
        """
        sums = counts.copy()
        for above, low, high in reversed(list(zip(self.levels, self.levels[1:], self.levels[2:], strict=False))):
            before = np.concatenate(([0], np.cumsum(sums[low:high])))  # the sum of the level before each of its nodes
            sums[above:low] += np.diff(before[self.first[above : low + 1] - low])
        return sums

    def children(self, nodes: Ints) -> Ints:
        """All children of these nodes.

        >>> gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie.children(np.array([0, 1])).tolist()
        [1, 2, 3, 4]
        """
        return spread(self.first, nodes)

    def tokens(self, nodes: Ints, labels: Ints) -> tuple[Ints | slice, Ints]:
        """The tokens whose bytes end in these nodes, and the label of each; a slice stands for all ids in order.

        >>> gv.Vocabulary([b"a", b"abcdefg", b"a"]).trie.tokens(np.array([1]), np.array([5]))
        (array([0, 2]), array([5, 5]))
        """
        if len(nodes) * FEW > max(len(self), len(self.node_of)):
            label_of = np.zeros(len(self) + 1, dtype=np.intp)  # one more, for the ids without a node
            label_of[nodes] = labels
            return slice(None), label_of[self.node_of]
        order, first = self._by_node
        return order[spread(first, nodes)], np.repeat(labels, first[nodes + 1] - first[nodes])

    def ids(self, node: int) -> list[int]:
        """The tokens whose bytes end in a node."""
        order, first = self._by_node
        found: list[int] = order[first[node] : first[node + 1]].tolist()
        return found

    def mask(self, nodes: Ints) -> Mask:
        """True for the tokens whose bytes end in these nodes.

        >>> gv.Vocabulary([b"a", b"ab", b"a"]).trie.mask(np.array([0, 1])).tolist()
        [True, False, True]
        """
        tokens, live = self.tokens(nodes, np.ones_like(nodes))
        mask = np.zeros(len(self.node_of), dtype=np.bool_)
        mask[tokens] = live > 0
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
    def children(self) -> dict[int, Node]:
        """The nodes below this one, each with the byte that leads to it."""
        low, high = self.trie.first[self.number : self.number + 2]
        return {byte: Node(self.trie, low + place) for place, byte in enumerate(self.trie.letters[low:high])}

    @property
    def tokens(self) -> list[int]:
        """The ids of the tokens whose bytes end here."""
        return self.trie.ids(self.number)


def spread(first: Ints, places: Ints) -> Ints:
    """The numbers first[i] to first[i + 1] of all places i, one after the other.

    >>> spread(np.array([0, 2, 2, 5]), np.array([0, 2])).tolist()
    [0, 1, 2, 3, 4]
    """
    begin = first[places]
    count = first[places + 1] - begin
    numbers: Ints = np.repeat(begin - np.cumsum(count) + count, count)
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


def walk_steps(trie: Trie, machine: Steps, state: Hashable, node: int = 0) -> Iterator[tuple[int, Hashable]]:
    """Walk node by node: yield the nodes whose bytes keep a complete text reachable, and the machine's state there.

    The walk begins at the root or at another node. Below a node that the machine refuses nothing is visited.

    >>> list(walk_steps(gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie, gv.regex("ab*"), 0))
    [(1, 1), (3, 1)]
    """
    waiting = [(node, state)]
    while waiting:
        node, state = waiting.pop()
        for child in range(trie.first[node], trie.first[node + 1]):
            reached = machine.step(state, int(trie.byte[child]))
            if reached is not None:
                yield child, reached
                waiting.append((child, reached))


def walk_few(trie: Trie, machine: Reader[S], state: S, most: int) -> list[tuple[int, S]] | None:
    """The same walk along the bytes that the machine reads; None if it visits more than so many nodes.

    >>> trie = gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie
    >>> from guidedviz.machines.pushdown.open_stack import OpenStack
    >>> stacks = OpenStack(gv.grammar('root ::= "ab"*'))
    >>> [node for node, _ in walk_few(trie, stacks, stacks.at(0), 9)], walk_few(trie, stacks, stacks.at(0), 1)
    ([1, 3], None)
    """
    letters, first, found = trie.letters, trie.first, [(0, state)]
    for node, at in found:
        low, high = int(first[node]), int(first[node + 1])
        for byte in machine.reads(at) if low < high else ():
            child = letters.find(byte, low, high)
            if child >= 0 and (reached := machine.step(at, byte)) is not None:
                found.append((child, reached))
        if len(found) > most:
            return None
    return found[1:]


def walk_levels(
    trie: Trie,
    start: int,
    step: Callable[[Ints, Letters], Ints],
    finish: Callable[[Ints, Ints], tuple[Ints, Ints]] | None = None,
) -> tuple[Ints, Ints]:
    """The same walk level by level: the live nodes in order, and the label of each.

    A label stands for a state, 0 for dead; `step` takes many labels and bytes and gives the labels reached.
    `finish`, if given, takes the live nodes and their labels as soon as few nodes lie below them.

    >>> trie = gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie
    >>> nodes, labels = walk_levels(trie, 1, lambda labels, letters: labels * 2 * (letters < 99))
    >>> nodes.tolist(), labels.tolist()
    ([0, 1, 2, 3], [1, 2, 2, 4])
    """
    live, labels = trie.nodes[:1], np.array([start])
    found = [(live, labels)]
    for above, low, high in zip(trie.levels, trie.levels[1:], trie.levels[2:], strict=False):
        if finish and trie.below[live].sum() < NARROW:
            found.append(finish(live, labels))
            break
        if len(live) * FEW < low - above:  # only their children
            nodes: Ints | slice = trie.children(live)
            labels = np.repeat(labels, trie.first[live + 1] - trie.first[live])
        else:  # the whole level, which is contiguous
            nodes, level = slice(low, high), np.zeros(low - above, dtype=np.intp)
            level[live - above] = labels
            labels = level[trie.parent[nodes] - above]
        reached = step(labels, trie.byte[nodes])
        alive = np.flatnonzero(reached)
        if not alive.size:
            break
        live, labels = trie.nodes[nodes][alive], reached[alive]
        found.append((live, labels))
    return np.concatenate([nodes for nodes, _ in found]), np.concatenate([labels for _, labels in found])


def walk_on(trie: Trie, nodes: Ints, labels: Ints, step: Callable[[Ints, Letters], Ints]) -> tuple[Ints, Ints, Ints]:
    """The same walk from many nodes, none of them below another: the live nodes, their labels, and where each began.

    >>> trie = gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie
    >>> step = lambda labels, letters: labels * (letters > 98)
    >>> [part.tolist() for part in walk_on(trie, np.array([2, 1]), np.array([0, 5]), step)]
    [[1, 4], [5, 5], [1, 1]]
    """
    origin, found = np.arange(len(nodes)), []
    while True:
        alive = np.flatnonzero(labels)
        nodes, labels, origin = nodes[alive], labels[alive], origin[alive]
        found.append((nodes, labels, origin))
        if not alive.size:
            nodes, labels, origin = map(np.concatenate, zip(*found, strict=True))
            return nodes, labels, origin
        count = trie.first[nodes + 1] - trie.first[nodes]
        labels, origin, nodes = np.repeat(labels, count), np.repeat(origin, count), trie.children(nodes)
        labels = step(labels, trie.byte[nodes])


def walk_any(trie: Trie, machine: Machine, state: Hashable) -> tuple[Ints, Ints]:
    """The same for any machine; a label only says that a node is live.

    >>> nodes, _ = walk_any(gv.Vocabulary([b"a", b"ab", b"ac", b"b"]).trie, gv.regex("ab*"), 0)
    >>> nodes.tolist()
    [0, 1, 3]
    """
    level = _Level(trie, machine, state)
    return walk_levels(trie, 1, level.step, level.finish)


class _Bounded:
    """A machine that refuses a step after too many moves in this walk."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.most = machine, getattr(machine, "work", 0) + MOST_WORK

    def step(self, state: Hashable, byte: int) -> Hashable | None:
        if getattr(self.machine, "work", 0) > self.most:
            rules = " and ".join(list(dict.fromkeys(stack_of(self.machine, state)))[:3])
            seen = f"more than {MOST_WORK:,} moves for one mask" + f" in {rules}" * bool(rules)
            hint = "rules that are not ambiguous"
            raise PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)
        return self.machine.step(state, byte)


class _Level:
    """The live states of one level of the walk; a label is the position of a state among them."""

    def __init__(self, trie: Trie, machine: Machine, state: Hashable) -> None:
        self.trie, self.machine, self.states = trie, _Bounded(machine), [None, state]

    def step(self, labels: Ints, letters: Letters) -> Ints:
        """Go to the next level; each pair of a state and a byte is looked up once."""
        pairs = labels * 256 + letters
        met = np.zeros(256 * len(self.states), dtype=np.bool_)
        met[pairs] = True
        met[:256] = False  # dead states stay dead
        asked = np.flatnonzero(met)
        numbers: dict[Hashable | None, int] = {None: 0}
        reached = (self.machine.step(self.states[pair >> 8], pair & 255) for pair in asked.tolist())
        table = np.zeros(len(met), dtype=np.intp)
        table[asked] = [numbers.setdefault(state, len(numbers)) for state in reached]
        self.states = list(numbers)
        following: Ints = table[pairs]
        return following

    def finish(self, nodes: Ints, labels: Ints) -> tuple[Ints, Ints]:
        """Visit the few nodes that are left one by one."""
        starts = zip(nodes.tolist(), labels.tolist(), strict=True)
        walks = (walk_steps(self.trie, self.machine, self.states[label], node) for node, label in starts)
        found = np.array(sorted(node for walk in walks for node, _ in walk), dtype=np.intp)
        return found, np.ones_like(found)
