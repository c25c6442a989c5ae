r"""The vocabulary as a trie in flat arrays: pieces that begin alike share the nodes of their beginning.

Nodes are numbered level by level, and the children of node i are the nodes first[i] to first[i + 1], so two arrays
(`first`, and the `byte` that leads into each node) are the whole tree:

           root 0        pieces a, ab, ac, b
          a/    \b
          1      2       first = 1 3 5 5 5 5    node 0 has children 1-2, node 1 has 3-4, the others none
        b/ \c           byte  = . a b b c
        3   4
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError
from guidedviz.machines.machine import Machine, Steps, stack_of
from guidedviz.tokens.vocabulary import Vocabulary

Ints = npt.NDArray[np.intp]  # NumPy indexes by these without converting them
Letters = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
FEW = 4  # go node by node where fewer than one in this many is live
MOST_WORK = 10_000_000  # moves of a machine for one walk; a few seconds
NARROW = 300  # nodes below all that is live: go down to them one by one


@dataclass(frozen=True, eq=False)
class Trie:
    """Flat arrays, one entry a node; node 0 is the root. Only ids that may stand for text are in it."""

    first: Ints  # the children of node i are first[i] .. first[i + 1]
    parent: Ints
    byte: Letters  # the byte that leads into the node
    levels: tuple[int, ...]  # the nodes of depth d are levels[d] .. levels[d + 1]
    node_of: Ints  # for every token id the node where its bytes end; -1 for ids that are no text

    def __len__(self) -> int:
        return len(self.byte)

    def __repr__(self) -> str:
        return f"Trie({len(self):,} nodes, {len(self.levels) - 2} levels)"

    @cached_property
    def nodes(self) -> Ints:
        """Every node's own number."""
        return np.arange(len(self))

    @cached_property
    def _by_node(self) -> tuple[Ints, Ints]:
        """The token ids in the order of their nodes, and for every node where its own begin."""
        order = np.argsort(self.node_of, kind="stable")
        order = order[np.searchsorted(self.node_of[order], 0) :]
        return order, np.searchsorted(self.node_of[order], np.arange(len(self) + 1))

    @cached_property
    def below(self) -> Ints:
        """How many nodes lie below each."""
        return self.sum_up(np.ones(len(self), dtype=np.intp)) - 1

    def sum_up(self, counts: Ints) -> Ints:
        """For each node the sum of what is counted in it and below it.

        >>> build_trie(Vocabulary([b"a", b"ab", b"ac", b"b"])).sum_up(np.array([0, 1, 0, 1, 1])).tolist()
        [3, 3, 0, 1, 1]
        """
        sums = counts.copy()
        for low, high in reversed(list(zip(self.levels[1:], self.levels[2:], strict=False))):
            np.add.at(sums, self.parent[low:high], sums[low:high])
        return sums

    def children(self, nodes: Ints) -> Ints:
        """All children of these nodes.

        >>> build_trie(Vocabulary([b"a", b"ab", b"ac", b"b"])).children(np.array([0, 1])).tolist()
        [1, 2, 3, 4]
        """
        return spread(self.first, nodes)

    def spell(self, nodes: Ints, labels: Ints) -> tuple[Ints | slice, Ints]:
        """The tokens whose bytes end in these nodes, and the label of each; a slice says that it is all ids in order.

        >>> trie = build_trie(Vocabulary([b"a", b"abcdefg", b"a"]))
        >>> trie.spell(np.array([1]), np.array([5]))
        (array([0, 2]), array([5, 5]))
        """
        if len(nodes) * FEW > max(len(self), len(self.node_of)):
            label_of = np.zeros(len(self) + 1, dtype=np.intp)  # one more, for the ids that have no node
            label_of[nodes] = labels
            return slice(None), label_of[self.node_of]
        order, first = self._by_node
        return order[spread(first, nodes)], np.repeat(labels, first[nodes + 1] - first[nodes])

    def tokens(self, live: Bools) -> Bools:
        """The mask of the tokens whose bytes end in a live node; `live` has one more entry than nodes, False."""
        mask: Bools = live[self.node_of]
        return mask


def spread(first: Ints, places: Ints) -> Ints:
    """The numbers first[i] to first[i + 1] for all places i, in a row.

    >>> spread(np.array([0, 2, 2, 5]), np.array([0, 2])).tolist()
    [0, 1, 2, 3, 4]
    """
    begin = first[places]
    count = first[places + 1] - begin
    numbers: Ints = np.repeat(begin - np.cumsum(count) + count, count)
    numbers += np.arange(len(numbers))
    return numbers


@lru_cache(maxsize=8)
def build_trie(vocabulary: Vocabulary) -> Trie:
    """The trie of a vocabulary; it is kept."""
    return make_trie(vocabulary)


def make_trie(vocabulary: Vocabulary) -> Trie:
    """One pass a level over the sorted pieces: a node begins where parent or byte differ from the row above.

    >>> trie = make_trie(Vocabulary([b"a", b"ab", b"ac", b"b", b"ab", b""]))
    >>> trie, trie.first.tolist(), trie.node_of.tolist()
    (Trie(5 nodes, 2 levels), [1, 3, 5, 5, 5, 5], [1, 3, 4, 2, 3, -1])
    """
    ids = np.array(sorted(vocabulary.text_ids, key=vocabulary.pieces.__getitem__), dtype=np.int64)
    pieces = [vocabulary.pieces[token] for token in ids]
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    length = np.array(list(map(len, pieces)), dtype=np.int64)
    start = np.cumsum(length) - length
    node = np.zeros(len(ids), dtype=np.intp)  # for every row the node that its bytes so far lead to
    parents, letters, levels = [np.zeros(1, dtype=np.intp)], [np.zeros(1, dtype=np.uint8)], [0, 1]
    rows = np.arange(len(ids))
    while (rows := rows[length[rows] > len(levels) - 2]).size:
        parent, letter = node[rows], data[start[rows] + len(levels) - 2]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = (parent[1:] != parent[:-1]) | (letter[1:] != letter[:-1])
        node[rows] = levels[-1] - 1 + np.cumsum(new)
        parents.append(parent[new])
        letters.append(letter[new])
        levels.append(levels[-1] + int(new.sum()))
    node_of = np.full(len(vocabulary), -1, dtype=np.intp)
    node_of[ids] = node
    parent = np.concatenate(parents)
    return Trie(first_children(parent), parent, np.concatenate(letters), tuple(levels), node_of)


def first_children(parent: Ints) -> Ints:
    """Parents come in order, so a node's first child stands where its number would be sorted in.

    >>> first_children(np.array([0, 0, 0, 1, 1])).tolist()
    [1, 3, 5, 5, 5, 5]
    """
    return np.searchsorted(parent[1:], np.arange(len(parent) + 1)) + 1


def walk_steps(trie: Trie, machine: Steps, state: Hashable, node: int = 0) -> Iterator[tuple[int, Hashable]]:
    """The walk, node by node: those whose bytes keep a complete text reachable, and the machine's state there.

    It begins at the root, or at another node. A node that the machine refuses takes its whole subtree with it.

    >>> from guidedviz.machines.regex import regex
    >>> list(walk_steps(build_trie(Vocabulary([b"a", b"ab", b"ac", b"b"])), regex("ab*"), 0))
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


def walk(trie: Trie, machine: Machine, state: Hashable) -> Bools:
    """The live nodes, root included, for any machine.

    >>> from guidedviz.machines.regex import regex
    >>> walk(build_trie(Vocabulary([b"a", b"ab", b"ac", b"b"])), regex("ab*"), 0).tolist()
    [True, True, False, True, False, False]
    """
    live = np.zeros(len(trie) + 1, dtype=np.bool_)
    live[0] = True
    for node, _ in walk_steps(trie, machine, state):
        live[node] = True
    return live


def walk_levels(
    trie: Trie,
    start: int,
    step: Callable[[Ints, Letters], Ints],
    finish: Callable[[Ints, Ints], tuple[Ints, Ints]] | None = None,
) -> tuple[Ints, Ints]:
    """The same walk a level at once: the live nodes in order, and the label of each.

    A label stands for the state there, 0 for dead; `step` takes many labels and bytes and gives the labels reached.
    `finish`, if there is one, takes the live nodes and their labels as soon as little lies below them.

    >>> trie = build_trie(Vocabulary([b"a", b"ab", b"ac", b"b"]))
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
        else:  # the whole level, which lies in one piece
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


def walk_any(trie: Trie, machine: Machine, state: Hashable) -> tuple[Ints, Ints]:
    """The same for any machine; a label says only that a node is live.

    >>> from guidedviz.machines.regex import regex
    >>> nodes, _ = walk_any(build_trie(Vocabulary([b"a", b"ab", b"ac", b"b"])), regex("ab*"), 0)
    >>> nodes.tolist()
    [0, 1, 3]
    """
    level = _Level(trie, machine, state)
    return walk_levels(trie, 1, level.step, level.finish)


class _Bounded:
    """A machine that takes a step only if it has not made too many moves for this walk."""

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
    """The states that live on one level of the walk; a label is the place of a state among them."""

    def __init__(self, trie: Trie, machine: Machine, state: Hashable) -> None:
        self.trie, self.machine, self.states = trie, _Bounded(machine), [None, state]

    def step(self, labels: Ints, letters: Letters) -> Ints:
        """On to the next level; each pair of a state and a byte is asked once."""
        pairs = labels * 256 + letters
        met = np.zeros(256 * len(self.states), dtype=np.bool_)
        met[pairs] = True
        met[:256] = False  # whatever is dead stays dead
        asked = np.flatnonzero(met)
        numbers: dict[Hashable | None, int] = {None: 0}
        reached = (self.machine.step(self.states[pair >> 8], pair & 255) for pair in asked.tolist())
        table = np.zeros(len(met), dtype=np.intp)
        table[asked] = [numbers.setdefault(state, len(numbers)) for state in reached]
        self.states = list(numbers)
        following: Ints = table[pairs]
        return following

    def finish(self, nodes: Ints, labels: Ints) -> tuple[Ints, Ints]:
        """The few nodes that are left, one by one."""
        starts = zip(nodes.tolist(), labels.tolist(), strict=True)
        walks = (walk_steps(self.trie, self.machine, self.states[label], node) for node, label in starts)
        found = np.array(sorted(node for walk in walks for node, _ in walk), dtype=np.intp)
        return found, np.ones_like(found)
