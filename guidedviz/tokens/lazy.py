"""The lazy walk, as in llguidance: no table, each mask is a walk from the state one is in, on record.

A node that the machine refuses takes all below it along, unasked; the tokens of a slice that is legal need no walk.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import Machine, check_machine, read, to_bytes
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.index import live_machine
from guidedviz.tokens.longest import longest_tokens
from guidedviz.tokens.slices import Slice, build_slices, find_slice, kinds_of, list_moves
from guidedviz.tokens.trie import Ints, Trie, build_trie, walk_any
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Walk:
    """One walk: from which state, the slice that was legal as a whole, and the live nodes of what was walked."""

    machine: Machine
    vocabulary: Vocabulary
    state: Hashable
    part: Slice | None
    live: Ints  # nodes of `trie`, the root among them
    piece: bytes = b""  # the token that a text goes on with

    def __repr__(self) -> str:
        whole = f"{len(self.part):,} tokens taken as a slice; " if self.part else ""
        return (
            f"Walk({whole}of {self.nodes:,} nodes {self.asked:,} asked about, {len(self.live) - 1:,} live, "
            f"{self.dropped:,} dropped in {self.cuts:,} cuts; {self.legal:,} tokens legal)"
        )

    @property
    def nodes(self) -> int:
        """How many nodes the trie of the whole vocabulary has below its root."""
        return len(build_trie(self.vocabulary)) - 1

    @property
    def trie(self) -> Trie:
        """The trie that was walked: that of the vocabulary, or of what lies behind the texts of the slice."""
        return self.part.rest if self.part else build_trie(self.vocabulary)

    @cached_property
    def asked(self) -> int:
        """How many nodes the machine was asked about: the children of those that are live."""
        return int((self.trie.first[self.live + 1] - self.trie.first[self.live]).sum())

    @cached_property
    def cut(self) -> Ints:
        """The nodes that were refused."""
        return np.setdiff1d(self.trie.children(self.live), self.live, assume_unique=True)

    @property
    def cuts(self) -> int:
        """How many nodes were refused."""
        return len(self.cut)

    @property
    def dropped(self) -> int:
        """How many nodes lie below those: they were never asked about."""
        return int(self.trie.below[self.cut].sum())

    @cached_property
    def mask(self) -> Mask:
        """True for every id that is legal; read-only."""
        legal = self.part.mask.copy() if self.part else np.zeros(len(self.vocabulary), dtype=np.bool_)
        tokens, live = self.trie.spell(self.live, np.ones_like(self.live))
        if isinstance(tokens, slice):
            legal |= live > 0
        else:
            legal[tokens] = True
        return add_eos(legal, self.machine, self.vocabulary, self.state)

    @property
    def legal(self) -> int:
        """How many tokens are legal."""
        return int(np.count_nonzero(self.mask))


def add_eos(mask: Mask, machine: Machine, vocabulary: Vocabulary, state: Hashable) -> Mask:
    """EOS is legal exactly where the text may end; afterwards the mask is never written again."""
    mask[list(vocabulary.eos)] = machine.is_accepting(state)
    mask.flags.writeable = False
    return mask


def walked_mask(
    machine: Machine, vocabulary: Vocabulary, walk: Callable[[Any], tuple[Ints, Ints]], state: Hashable
) -> Mask:
    """The mask of a state by a walk of the whole trie from it."""
    tokens, labels = build_trie(vocabulary).spell(*walk(state))
    legal = np.zeros(len(vocabulary), dtype=np.bool_)
    legal[tokens] = labels > 0
    return add_eos(legal, machine, vocabulary, state)


def walks_of(machine: Machine, vocabulary: Vocabulary, slices: bool = True) -> Callable[[Hashable], Walk]:
    """The walk from any state, by which engine "trie" makes its masks."""
    trie, kinds = build_trie(vocabulary), kinds_of(machine)
    parts = [(part, list_moves(part.machine, kinds)) for part in build_slices(vocabulary) if slices]

    def walk(state: Hashable) -> Walk:
        part = find_slice(parts, machine, state)
        live, _ = walk_any(part.rest if part else trie, machine, state)
        return Walk(machine, vocabulary, state, part, live)

    return walk


def lazy_walk(machine: Machine, vocabulary: Vocabulary, state: Hashable | None = None, slices: bool = True) -> Walk:
    """The record of one walk, from a state or after a text; from the initial state by default.

    >>> from guidedviz.machines.regex import regex
    >>> v = Vocabulary([b"2", b"20", b"202", b"a", b"ab", b"abc", b"2a"])
    >>> lazy_walk(regex("[0-9]{2}"), v)
    Walk(of 7 nodes 5 asked about, 2 live, 2 dropped in 3 cuts; 2 tokens legal)
    >>> lazy_walk(regex("[0-9]{2}"), v, "2").mask.tolist()
    [True, False, False, False, False, False, False]
    """
    machine = _check(machine, vocabulary)
    return walks_of(machine, vocabulary, slices)(_state_of(machine, state))


def lazy_walks(machine: Machine, vocabulary: Vocabulary, text: bytes | str, slices: bool = True) -> tuple[Walk, ...]:
    """The walk before each token of a text, cut into its longest tokens.

    >>> from guidedviz.machines.regex import regex
    >>> walks = lazy_walks(regex("[0-9]{4}"), Vocabulary([b"2", b"20", b"26", b"a"]), "2026")
    >>> [(walk.piece, walk.asked, walk.legal) for walk in walks]
    [(b'20', 4, 3), (b'26', 4, 3)]
    """
    machine, walks = _check(machine, vocabulary), []
    walk, state = walks_of(machine, vocabulary, slices), machine.initial
    for token in longest_tokens(vocabulary, to_bytes(text)):
        piece = vocabulary.pieces[token]
        walks.append(replace(walk(state), piece=piece))
        state = _read(machine, piece, state)
    return tuple(walks)


def _check(machine: Machine, vocabulary: object) -> Machine:
    check_machine(machine, "lazy_walk")
    if not isinstance(vocabulary, Vocabulary):
        hint = "gv.Vocabulary.llama3()"
        raise SettingError("lazy_walk", seen=type(vocabulary).__name__, expected="a Vocabulary", hint=hint)
    return live_machine(machine) if isinstance(machine, DFA) else machine


def _state_of(machine: Machine, given: Hashable | None) -> Hashable:
    """A text leads to its state, unless the states of the machine are texts themselves."""
    if not isinstance(given, bytes | str) or isinstance(machine.initial, bytes | str):
        return machine.initial if given is None else given
    return _read(machine, to_bytes(given), machine.initial)


def _read(machine: Machine, text: bytes, state: Hashable) -> Hashable:
    after = read(machine, text, state)
    if after is None:
        raise SettingError("lazy_walk", seen=visible(text), expected="a text that the machine can read")
    return after
