"""A lazy walk as a tree small enough to read: nodes that lead to one machine state share a branch.

After "20", the digits 0 to 9 lead to one state, so they are one branch of the tree and not ten. Each cut is one branch
without children. The tree grows where most nodes are live, up to a given size.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

import numpy as np

from guidedviz.tokens.arrays import Ints
from guidedviz.tokens.lazy import LazyWalk

MOST_BRANCHES = 22
WIDEST = 6  # children of a branch; the smallest are folded into one
NO_TOKEN = 2**62


@dataclass(frozen=True)
class NodeGroup:
    """Nodes of a trie on one level; either all are live or the machine refused all of them."""

    letters: bytes  # the bytes that lead here from the parent
    nodes: int
    live: int  # live nodes here and below
    dropped: int  # nodes refused, or below a refused one
    tokens: int  # tokens that end here or below: the legal ones of a live group, else all
    example: bytes  # the start of such a token
    folded: int = 1  # how many groups this one stands for
    parts: tuple[NodeGroup, ...] = ()

    @property
    def cut(self) -> bool:
        """Whether the machine refused these nodes; it never refuses the root."""
        return not self.live and bool(self.letters)

    def rows(self, depth: int = 0) -> Iterator[tuple[int, NodeGroup]]:
        """This group and all below it, with their depths."""
        yield depth, self
        for part in self.parts:
            yield from part.rows(depth + 1)


def grow_tree(walk: LazyWalk, most: int = MOST_BRANCHES, levels: int = 4) -> NodeGroup:
    """The tree of a walk from its root, with at most so many branches and levels.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> walk = gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v)
    >>> for depth, part in grow_tree(walk).rows():
    ...     print(depth, part.letters, part.nodes, part.live, part.dropped, part.tokens, part.example)
    0 b'' 1 3 4 3 b''
    1 b'23' 2 3 1 3 b'2'
    2 b'0' 1 1 1 1 b'20'
    3 b'2' 1 0 1 1 b'202'
    1 b'a' 1 0 3 3 b'a'
    """
    counts = _Counts(walk)
    root = _Branch(b"", walk.trie.nodes[:1], walk.state, 0)
    waiting, order, count = [(0, 0, root)], 0, 1
    while waiting and count < most:
        branch = heappop(waiting)[2]
        branch.parts = counts.split(branch)
        count += len(branch.parts)
        for part in branch.parts:
            if part.state is not None and part.depth < levels:
                order += 1
                heappush(waiting, (-int(counts.live[part.nodes].sum()), order, part))
    return counts.finish(root)


@dataclass
class _Branch:
    """A branch while the tree grows; one without a state gets no children."""

    letters: bytes
    nodes: Ints
    state: Hashable | None
    depth: int
    folded: int = 1
    parts: list[_Branch] = field(default_factory=list)


class _Counts:
    """The numbers of live, dropped and legal nodes in and below each node of the trie."""

    def __init__(self, walk: LazyWalk) -> None:
        self.walk, self.trie = walk, walk.trie
        self.alive = np.zeros(len(self.trie), dtype=np.intp)
        self.alive[walk.live[1:]] = 1  # the root is no byte of any token
        self.live, self.all = self.trie.sum_up(self.alive), self.trie.below + (self.trie.nodes > 0)
        ends = self.trie.node_of[self.trie.node_of >= 0]
        tokens = np.bincount(ends, minlength=len(self.trie))
        self.tokens, self.legal = self.trie.sum_up(tokens), self.trie.sum_up(tokens * self.alive)

    @cached_property
    def first(self) -> Ints:
        """The lowest token id in or below each node; in most vocabularies this is the most frequent token."""
        first = np.full(len(self.trie), NO_TOKEN)
        tokens = np.flatnonzero(self.trie.node_of >= 0)
        np.minimum.at(first, self.trie.node_of[tokens], tokens)
        for low, high in reversed(list(zip(self.trie.levels[1:], self.trie.levels[2:], strict=False))):
            np.minimum.at(first, self.trie.parent[low:high], first[low:high])
        return first

    def split(self, branch: _Branch) -> list[_Branch]:
        """The children of a branch: the live ones by size, then one for all that was cut."""
        children, depth = self.trie.children(branch.nodes), branch.depth + 1
        live, cut = children[self.alive[children] > 0], children[self.alive[children] == 0]
        letters = self.trie.byte[live]
        groups: dict[Hashable | None, list[int]] = {}
        for letter in np.unique(letters).tolist():
            groups.setdefault(self.walk.machine.step(branch.state, letter), []).append(letter)
        parts = [_Branch(bytes(g), live[np.isin(letters, g)], state, depth) for state, g in groups.items()]
        parts.sort(key=lambda part: -int(self.live[part.nodes].sum()))
        if len(parts) > WIDEST:
            nodes = np.concatenate([part.nodes for part in parts[WIDEST - 1 :]])
            parts[WIDEST - 1 :] = [_Branch(self._letters(nodes), nodes, None, depth, len(parts) - WIDEST + 1)]
        return [*parts, _Branch(self._letters(cut), cut, None, depth)] if cut.size else parts

    def finish(self, branch: _Branch) -> NodeGroup:
        """The branch with its numbers."""
        nodes, live = branch.nodes, int(self.live[branch.nodes].sum())
        dropped = int(self.all[nodes].sum()) - live
        tokens = int((self.legal if live or not branch.letters else self.tokens)[nodes].sum())
        parts = tuple(map(self.finish, branch.parts))
        return NodeGroup(branch.letters, len(nodes), live, dropped, tokens, self._example(nodes), branch.folded, parts)

    def _example(self, nodes: Ints) -> bytes:
        """The bytes that lead to the node with the lowest token id."""
        node, spelled = int(nodes[np.argmin(self.first[nodes])]), bytearray()
        while node:
            spelled.append(int(self.trie.byte[node]))
            node = int(self.trie.parent[node])
        return bytes(reversed(spelled))

    def _letters(self, nodes: Ints) -> bytes:
        return bytes(np.unique(self.trie.byte[nodes]).tolist())
