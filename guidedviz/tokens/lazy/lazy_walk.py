"""Lazy masks as in llguidance: each mask is computed when it is needed, by a walk of the trie from the current state.

The walk skips all nodes below a rejected node. The tokens of a slice that is legal as a whole need no walk.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.machines.machine import Machine, check_machine, kinds_of, read, to_bytes
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.index import live_machine
from guidedviz.tokens.lazy.slices import Slice, build_slices, find_slice, list_moves
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.trie import Trie, walk_any
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary


@dataclass(frozen=True, eq=False)
class Walk:
    """The record of one walk: its state, the slice that was legal as a whole, and the live nodes of other tokens."""

    machine: Machine
    vocabulary: Vocabulary
    state: Hashable
    part: Slice | None
    live: Ints  # nodes of `trie`, including the root
    piece: bytes = b""  # the token that comes next in a text

    def __repr__(self) -> str:
        whole = f"{len(self.part):,} tokens taken as a slice; " if self.part else ""
        return (
            f"Walk({whole}of {self.nodes:,} nodes {self.asked:,} asked about, {len(self.live) - 1:,} live, "
            f"{self.dropped:,} dropped in {self.cuts:,} cuts; {self.legal:,} tokens legal)"
        )

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
    def cuts(self) -> int:
        """The number of rejected nodes."""
        return len(self.cut)

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


class Walks:
    """The walk from any state of a machine; with `slices=False` it covers the whole trie."""

    def __init__(self, machine: Machine, vocabulary: Vocabulary, slices: bool = True) -> None:
        self.machine, self.vocabulary = machine, vocabulary
        kinds = kinds_of(machine)
        self._parts = [(part, list_moves(part.machine, kinds)) for part in build_slices(vocabulary) if slices]

    def __call__(self, state: Hashable) -> Walk:
        part = find_slice(self._parts, self.machine, state)
        live, _ = walk_any(part.rest if part else self.vocabulary.trie, self.machine, state)
        return Walk(self.machine, self.vocabulary, state, part, live)

    def mask(self, state: Hashable) -> Mask:
        """True for every legal id; read-only."""
        return self(state).mask


def lazy_walk(machine: Machine, vocabulary: Vocabulary, state: Hashable | None = None, slices: bool = True) -> Walk:
    """The record of one walk, from a state or after a text; from the initial state by default.

    >>> v = gv.Vocabulary([b"2", b"20", b"202", b"a", b"ab", b"abc", b"2a"])
    >>> lazy_walk(gv.regex("[0-9]{2}"), v)
    Walk(of 7 nodes 5 asked about, 2 live, 2 dropped in 3 cuts; 2 tokens legal)
    >>> lazy_walk(gv.regex("[0-9]{2}"), v, "2").mask.tolist()
    [True, False, False, False, False, False, False]
    """
    machine = _check(machine, vocabulary)
    if isinstance(state, bytes | str) and not isinstance(machine.initial, bytes | str):
        state = _read(machine, to_bytes(state), machine.initial)
    return Walks(machine, vocabulary, slices)(machine.initial if state is None else state)


def lazy_walks(machine: Machine, vocabulary: Vocabulary, text: bytes | str, slices: bool = True) -> tuple[Walk, ...]:
    """The walk before each token of a text, which is split greedily into its longest tokens.

    >>> walks = lazy_walks(gv.regex("[0-9]{4}"), gv.Vocabulary([b"2", b"20", b"26", b"a"]), "2026")
    >>> [(walk.piece, walk.asked, walk.legal) for walk in walks]
    [(b'20', 4, 3), (b'26', 4, 3)]
    """
    machine, found = _check(machine, vocabulary), []
    walks, state = Walks(machine, vocabulary, slices), machine.initial
    for token in longest_tokens(vocabulary, to_bytes(text)):
        piece = vocabulary.pieces[token]
        found.append(replace(walks(state), piece=piece))
        state = _read(machine, piece, state)
    return tuple(found)


def _check(machine: Machine, vocabulary: object) -> Machine:
    check_machine(machine, "lazy_walk")
    check_vocabulary(vocabulary, "lazy_walk")
    return live_machine(machine) if isinstance(machine, DFA) else machine


def _read(machine: Machine, text: bytes, state: Hashable) -> Hashable:
    after = read(machine, text, state)
    if after is None:
        raise SettingError("lazy_walk", seen=visible(text[:80]), expected="a text that the machine can read")
    return after
