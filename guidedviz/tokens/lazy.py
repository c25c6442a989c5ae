"""Lazy masks as in llguidance: each mask is computed when it is needed, by a walk of the trie from the current state.

The walk skips all nodes below a rejected node. Tokens of a slice (tokens/slices.py) are not walked.
"""

from collections.abc import Hashable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.machines.machine import Machine, S, read, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.visible import visible
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.index import live_machine
from guidedviz.tokens.slices import Slice, find_slice
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary
from guidedviz.tokens.walk import MoveTable

MOST_WALK_MOVES = 10_000_000  # moves of a machine for one walk; a few seconds


@dataclass(frozen=True, eq=False)
class LazyWalk:
    """The record of one walk: its state, the slice that was legal as a whole, and the live nodes of other tokens."""

    machine: Machine[Any]
    vocabulary: Vocabulary
    state: Hashable
    part: Slice | None
    live: Ints  # nodes of `trie`, including the root
    piece: bytes = b""  # the token that comes next in a text

    def __repr__(self) -> str:
        whole = f"{len(self.part):,} tokens taken as a slice; " if self.part else ""
        seen = f"of {self.nodes:,} nodes {self.asked:,} asked about, {len(self.live) - 1:,} live"
        rest = f"{self.dropped:,} dropped in {len(self.cut):,} cuts; {self.legal:,} tokens legal"
        return f"LazyWalk({whole}{seen}, {rest})"

    @property
    def nodes(self) -> int:
        """The number of nodes below the root in the trie of the whole vocabulary."""
        return len(self.vocabulary.trie) - 1

    @property
    def trie(self) -> Trie:
        """The trie that was walked: the whole trie, or the trie of the tokens outside the slice."""
        return self.part.rest if self.part else self.vocabulary.trie

    @cached_property
    def asked(self) -> int:
        """The number of nodes at which the machine took a step: the children of live nodes."""
        return int((self.trie.first[self.live + 1] - self.trie.first[self.live]).sum())

    @cached_property
    def cut(self) -> Ints:
        """The nodes that the machine rejected."""
        return np.setdiff1d(self.trie.children(self.live), self.live, assume_unique=True)

    @property
    def dropped(self) -> int:
        """The number of nodes below rejected nodes, which were not visited."""
        return int(self.trie.below[self.cut].sum())

    @cached_property
    def mask(self) -> Mask:
        """True for every legal id; read-only."""
        legal = self.trie.mask(self.live)
        if self.part:
            legal |= self.part.mask
        return self.vocabulary.with_eos(legal, self.machine.is_accepting(self.state))

    @property
    def legal(self) -> int:
        """The number of legal tokens."""
        return int(np.count_nonzero(self.mask))


class Lazy:
    """A source of masks that are walked when they are asked for; with `slices=False` each walk is of the whole trie."""

    def __init__(self, machine: Machine[Any], vocabulary: Vocabulary, slices: bool = True) -> None:
        self.machine, self.vocabulary, self.slices = machine, vocabulary, slices
        self._table = MoveTable[Any](machine.step, machine.kinds)

    def walk(self, state: Any, piece: bytes = b"") -> LazyWalk:
        """The record of the walk from a state; `piece` is the next token of a text."""
        machine = self.machine
        part = None
        with machine.steps.limited(MOST_WALK_MOVES) if isinstance(machine, PDA) else nullcontext():
            if self.slices:
                part = find_slice(machine.step, machine.kinds, self.vocabulary, state)
            trie = part.rest if part else self.vocabulary.trie
            live, _ = self._table.walk(trie, state)
        return LazyWalk(machine, self.vocabulary, state, part, live, piece)

    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""
        return self.walk(state).mask


def lazy_walk(
    machine: Machine[Any], vocabulary: Vocabulary, state: Hashable | None = None, slices: bool = True
) -> LazyWalk:
    """The record of one walk, from a state or after a text; from the initial state by default.

    >>> v = gv.Vocabulary([b"2", b"20", b"202", b"a", b"ab", b"abc", b"2a"])
    >>> lazy_walk(gv.regex("[0-9]{2}"), v)
    LazyWalk(of 7 nodes 5 asked about, 2 live, 2 dropped in 3 cuts; 2 tokens legal)
    >>> lazy_walk(gv.regex("[0-9]{2}"), v, "2").mask.tolist()
    [True, False, False, False, False, False, False]
    """
    source = _build_lazy(machine, vocabulary, slices)
    start = source.machine.initial
    if isinstance(state, bytes | str) and not isinstance(start, bytes | str):
        state = _read(source.machine, to_bytes(state), start)
    return source.walk(start if state is None else state)


def lazy_walks(
    machine: Machine[Any], vocabulary: Vocabulary, text: bytes | str, slices: bool = True
) -> tuple[LazyWalk, ...]:
    """The walk before each token of a text, which is split greedily into its longest tokens.

    >>> walks = lazy_walks(gv.regex("[0-9]{4}"), gv.Vocabulary([b"2", b"20", b"26", b"a"]), "2026")
    >>> [(walk.piece, walk.asked, walk.legal) for walk in walks]
    [(b'20', 4, 3), (b'26', 4, 3)]
    """
    source = _build_lazy(machine, vocabulary, slices)
    state = source.machine.initial
    found = []
    for token in longest_tokens(vocabulary, to_bytes(text)):
        piece = vocabulary.pieces[token]
        found.append(source.walk(state, piece))
        state = _read(source.machine, piece, state)
    return tuple(found)


def _build_lazy(machine: Machine[Any], vocabulary: Vocabulary, slices: bool) -> Lazy:
    check_vocabulary(vocabulary, "lazy_walk")
    return Lazy(live_machine(machine, "lazy_walk"), vocabulary, slices)


def _read(machine: Machine[S], text: bytes, state: S) -> S:
    after = read(machine, text, state)
    if after is None:
        raise SettingError("lazy_walk", seen=visible(text[:80]), expected="a text that the machine can read")
    return after
