"""A walk as a tree that a person can take in: what moves the machine alike shares a branch, and each cut is one stub.

Of the nodes that are live after some bytes, those whose next bytes lead to one state of the machine stay together:
0 to 9 is one branch of a date, not ten. The tree grows where most is alive, until it is as large as one can read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

import numpy as np

from guidedviz.machines.sketch import Arrow, Sketch
from guidedviz.machines.visible import byte_ranges, counted
from guidedviz.tokens.lazy import Walk
from guidedviz.tokens.trie import Ints

MOST_BRANCHES = 22
WIDEST = 6  # branches side by side, the smallest folded into one
NO_TOKEN = 2**62


@dataclass(frozen=True)
class Branch:
    """Nodes of a trie that are reached side by side; none of them live where the machine refused them."""

    letters: bytes  # the bytes that lead here from the branch above
    nodes: int
    live: int  # how many nodes are live, these and all below
    dropped: int  # how many are not: refused, or below one that was
    tokens: int  # that end here or below: the legal ones where this is live, else all
    example: bytes  # how such a token begins
    folded: int = 1  # how many branches this one stands for
    parts: tuple[Branch, ...] = ()

    @property
    def cut(self) -> bool:
        """Whether the machine refused; it never refuses the root."""
        return not self.live and bool(self.letters)

    def rows(self, depth: int = 0) -> Iterator[tuple[int, Branch]]:
        """This branch and all that grow from it, and how deep each lies."""
        yield depth, self
        for part in self.parts:
            yield from part.rows(depth + 1)


def grow(walk: Walk, most: int = MOST_BRANCHES, levels: int = 4) -> Branch:
    """The tree of a walk from its root, with so many branches and levels at most.

    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.lazy import lazy_walk
    >>> from guidedviz.tokens.vocabulary import Vocabulary
    >>> walk = lazy_walk(regex("[0-9]{2}"), Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"]))
    >>> for depth, branch in grow(walk).rows():
    ...     print(depth, branch.letters, branch.nodes, branch.live, branch.dropped, branch.tokens, branch.example)
    0 b'' 1 3 4 3 b''
    1 b'23' 2 3 1 3 b'2'
    2 b'0' 1 1 1 1 b'20'
    3 b'2' 1 0 1 1 b'202'
    1 b'a' 1 0 3 3 b'a'
    """
    counts = _Counts(walk)
    root = _Bud(b"", walk.trie.nodes[:1], walk.state, 0)
    waiting, order, count = [(0, 0, root)], 0, 1
    while waiting and count < most:
        bud = heappop(waiting)[2]
        bud.parts = counts.split(bud)
        count += len(bud.parts)
        for part in bud.parts:
            if part.state is not None and part.depth < levels:
                order += 1
                heappush(waiting, (-int(counts.live[part.nodes].sum()), order, part))
    return counts.finish(root)


@dataclass
class _Bud:
    """A branch that may still grow; without a state it cannot."""

    letters: bytes
    nodes: Ints
    state: Hashable | None
    depth: int
    folded: int = 1
    parts: list[_Bud] = field(default_factory=list)


def walk_frames(walk: Walk, most: int = MOST_BRANCHES, levels: int = 4) -> list[Sketch]:
    """The tree level by level, for `gv.film`: what is alive grows, and each cut takes all below it along.

    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.lazy import lazy_walk
    >>> from guidedviz.tokens.vocabulary import Vocabulary
    >>> walk = lazy_walk(regex("[0-9]{2}"), Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"]))
    >>> for frame in walk_frames(walk):
    ...     print(frame.words)
    7 nodes, none asked about yet. A number counts the nodes of a branch, side by side; after a minus, all that ...
    Level 1: asked about 3 nodes, 2 live; 1 refused, with 2 below that nobody asks about.
    Level 2: asked about 1 node, 1 live.
    Level 3: asked about 1 node, none live; 1 refused.
    """
    rows = list(grow(walk, most, levels).rows())
    shown = [depth for depth, _ in rows]
    names = tuple(_name(branch) if depth else "root" for depth, branch in rows)
    arrows = _arrows(rows)
    frames = []
    for level in range(max(shown) + 1):
        there = [number for number, depth in enumerate(shown) if depth <= level]
        cut = frozenset(number for number in there if rows[number][1].cut)
        drawn = tuple(arrow for arrow in arrows if arrow.target in there)
        lit = frozenset(number for number in there if shown[number] == level) - cut
        words, groups = say_level(walk, level), (("cut", cut),) if cut else ()
        frames.append(Sketch(names, drawn, 0, frozenset(), groups, words, lit))
    return frames


def _name(branch: Branch) -> str:
    return f"−{branch.dropped:,}" if branch.cut else f"{branch.nodes:,}"


def _arrows(rows: list[tuple[int, Branch]]) -> list[Arrow]:
    """From each branch to those that grow from it."""
    above, arrows = [0] * (max(depth for depth, _ in rows) + 1), []
    for number, (depth, branch) in enumerate(rows):
        above[depth] = number
        if depth:
            arrows.append(Arrow(above[depth - 1], number, tuple(byte_ranges(branch.letters))))
    return arrows


def say_level(walk: Walk, level: int) -> str:
    """What happened on one level of the trie, the root's own being 0."""
    trie, low, high = walk.trie, *walk.trie.levels[level : level + 2]
    if not level:
        told = "A number counts the nodes of a branch, side by side; after a minus, all that a cut drops."
        return f"{counted(len(trie) - 1, 'node')}, none asked about yet. {told}"
    live = walk.live[(walk.live >= trie.levels[level - 1]) & (walk.live < high)]
    asked, alive = trie.children(live[live < low]).size, int((live >= low).sum())
    said = f"Level {level}: asked about {counted(asked, 'node')}, {f'{alive:,}' if alive else 'none'} live"
    fell = walk.cut[(walk.cut >= low) & (walk.cut < high)]
    below = int(trie.below[fell].sum())
    also = f", with {below:,} below that nobody asks about" if below else ""
    return f"{said}; {fell.size:,} refused{also}." if fell.size else f"{said}."


class _Counts:
    """What lies in and below each node of the trie that was walked."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.trie = walk, walk.trie
        self.alive = np.zeros(len(self.trie), dtype=np.intp)
        self.alive[walk.live[1:]] = 1  # the root is no byte of any token
        self.live, self.all = self.trie.sum_up(self.alive), self.trie.below + (self.trie.nodes > 0)
        ends = self.trie.node_of[self.trie.node_of >= 0]
        tokens = np.bincount(ends, minlength=len(self.trie))
        self.tokens, self.legal = self.trie.sum_up(tokens), self.trie.sum_up(tokens * self.alive)

    @cached_property
    def first(self) -> Ints:
        """The lowest id of a token in or below each node: in most vocabularies that of the commonest."""
        first = np.full(len(self.trie), NO_TOKEN)
        tokens = np.flatnonzero(self.trie.node_of >= 0)
        np.minimum.at(first, self.trie.node_of[tokens], tokens)
        for low, high in reversed(list(zip(self.trie.levels[1:], self.trie.levels[2:], strict=False))):
            np.minimum.at(first, self.trie.parent[low:high], first[low:high])
        return first

    def split(self, bud: _Bud) -> list[_Bud]:
        """The live branches that grow from one, the largest first, and after them all that was cut."""
        children = self.trie.children(bud.nodes)
        live = children[self.alive[children] > 0]
        letters = self.trie.byte[live]
        groups: dict[Hashable | None, list[int]] = {}
        for letter in np.unique(letters).tolist():
            groups.setdefault(self.walk.machine.step(bud.state, letter), []).append(letter)
        buds = [_Bud(bytes(g), live[np.isin(letters, g)], state, bud.depth + 1) for state, g in groups.items()]
        buds.sort(key=lambda part: -int(self.live[part.nodes].sum()))
        if len(buds) > WIDEST:
            buds[WIDEST - 1 :] = [self._fold(buds[WIDEST - 1 :])]
        cut = children[self.alive[children] == 0]
        return [*buds, _Bud(_letters(self.trie.byte[cut]), cut, None, bud.depth + 1)] if cut.size else buds

    def _fold(self, buds: list[_Bud]) -> _Bud:
        nodes = np.concatenate([bud.nodes for bud in buds])
        return _Bud(_letters(self.trie.byte[nodes]), nodes, None, buds[0].depth, len(buds))

    def finish(self, bud: _Bud) -> Branch:
        live = int(self.live[bud.nodes].sum())
        dropped = int(self.all[bud.nodes].sum()) - live
        tokens = int((self.legal if live or not bud.letters else self.tokens)[bud.nodes].sum())
        parts = tuple(map(self.finish, bud.parts))
        return Branch(bud.letters, len(bud.nodes), live, dropped, tokens, self._example(bud), bud.folded, parts)

    def _example(self, bud: _Bud) -> bytes:
        """The bytes on the way to the node with the commonest token."""
        node, spelled = int(bud.nodes[np.argmin(self.first[bud.nodes])]), bytearray()
        while node:
            spelled.append(int(self.trie.byte[node]))
            node = int(self.trie.parent[node])
        return bytes(reversed(spelled))


def _letters(letters: Ints | np.ndarray) -> bytes:
    return bytes(np.unique(letters).tolist())
