"""The index of Outlines (Willard and Louf, arXiv 2307.09702): the legal tokens of every state, and the next states.

It is built before decoding, from all states at once; a mask is then a row to look up.

Next: `machines/pushdown/pda.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import trim
from guidedviz.tokens.arrays import Bits, Ids, Ints, Mask, pack, unpack
from guidedviz.tokens.move_table import Kinds, find_kinds
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

MOST_BYTES = 2**26  # of packed masks


@dataclass(frozen=True, eq=False)
class Index:
    """State -> legal tokens -> next state, for one machine and one vocabulary."""

    machine: DFA
    vocabulary: Vocabulary
    kind: Ids  # the kind of every token id; tokens of one kind move every state alike
    after: Ids  # after[kind, state] is the next state, -1 where the kind is illegal
    row: Ids  # the row of every state; states with the same legal tokens share it
    bits: Bits  # the rows, packed masks

    def __post_init__(self) -> None:
        for array in self.arrays:
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"Index({len(self.row):,} states, {len(self.kind):,} tokens of {len(self.after):,} kinds)"

    @property
    def arrays(self) -> tuple[Ids, Ids, Ids, Bits]:
        """The four arrays."""
        return self.kind, self.after, self.row, self.bits

    @property
    def nbytes(self) -> int:
        """The memory of its arrays."""
        return sum(array.nbytes for array in self.arrays)

    def packed(self, state: int) -> Bits:
        """The legal tokens as bits."""
        bits: Bits = self.bits[self.row[state]]
        return bits

    def mask(self, state: int) -> Mask:
        """True for every id that is legal; read-only."""
        return unpack(self.packed(state), len(self.kind))

    def next_state(self, state: int, token: int) -> int | None:
        """The state after a token; None if the token is illegal."""
        reached = int(self.after[self.kind[token], state])
        return None if reached < 0 else reached

    @cached_property
    def legal(self) -> Ints:
        """The number of legal tokens of each state."""
        sizes = np.bincount(self.kind, minlength=len(self.after))
        return sizes @ (self.after >= 0)

    def check(self, machine: Machine, vocabulary: Vocabulary) -> None:
        """Refuse another machine or vocabulary: its ids and states mean something else."""
        if self.vocabulary.fingerprint != vocabulary.fingerprint:
            _refuse("vocabulary", self.vocabulary.fingerprint[:12], vocabulary.fingerprint[:12])
        if self.machine != machine:
            _refuse("machine", f"{self.machine!r}", f"another one, {shorten(repr(machine), 60)}")


def _refuse(what: str, own: str, other: str) -> None:
    hint = "gv.build_index(machine, vocabulary)"
    raise SettingError("stale index", seen=f"{what} {other}", expected=f"{what} {own}", hint=hint)


def build_index(machine: Machine, vocabulary: Vocabulary) -> Index:
    """The index of a finite machine, taken from memory or built.

    >>> index = build_index(gv.regex(r"[0-9]+(\\.[0-9]+)?"), Vocabulary([b"3", b".5", b".", b"42", b"</s>"], eos={4}))
    >>> index, index.legal.tolist(), index.mask(1).tolist(), index.next_state(1, 2)
    (Index(4 states, 5 tokens of 5 kinds), [2, 5, 2, 3], [True, True, True, True, True], 2)
    """
    if not isinstance(machine, DFA):
        raise not_finite("index", machine)
    check_vocabulary(vocabulary, "index")
    if len(machine) * len(vocabulary) > 8 * MOST_BYTES:
        seen = f"{len(machine):,} states and {len(vocabulary):,} tokens"
        raise SettingError("index", seen=seen, expected=f"at most {8 * MOST_BYTES:,} pairs", hint="gv.guide walks them")
    return _build_index(live_machine(machine), vocabulary)


def not_finite(where: str, machine: object) -> SettingError:
    """The error of a machine that has no index."""
    counts = isinstance(machine, PDA) and machine.finite
    hint = "gv.guide(machine, vocabulary)"
    if counts:
        hint = "gv.guide(machine, vocabulary, engine='index'), one mask for all counts that behave alike"
    return SettingError(where, seen=type(machine).__name__, expected="a finite machine", hint=hint)


def live_machine(machine: DFA) -> DFA:
    """The machine without edges after which no complete text is reachable; a machine without such edges itself."""
    trimmed = trim(machine)
    return machine if trimmed == machine else trimmed


def compute_index(machine: DFA, vocabulary: Vocabulary) -> Index:
    """Walk the trie once, then pack the mask of every state."""
    kinds = find_kinds(vocabulary.trie, machine)
    eos = np.array(sorted(vocabulary.eos), dtype=np.intp)
    states = np.arange(len(machine), dtype=np.int32)
    stays = np.where(np.isin(states, list(machine.accepting)), states, np.int32(-1))  # EOS reads no byte
    kind = np.zeros(len(vocabulary), dtype=np.int32)
    kind[kinds.tokens] = kinds.kind
    kind[eos] = len(kinds.after)
    after = np.concatenate((kinds.after, stays[None]))
    return Index(machine, vocabulary, kind, after, *_rows(kinds, eos, after >= 0, len(vocabulary)))


def _rows(kinds: Kinds, eos: Ints, legal: Mask, size: int) -> tuple[Ids, Bits]:
    """The legal tokens of every state, packed."""
    mask = np.zeros(size, dtype=np.bool_)
    legal = legal if eos.size else legal[:-1]
    known: dict[bytes, int] = {}
    row: list[int] = []
    bits: list[Bits] = []
    for column in np.ascontiguousarray(legal.T):  # the legal kinds of one state
        row.append(known.setdefault(column.tobytes(), len(bits)))
        if len(known) > len(bits):
            mask[kinds.tokens] = column.take(kinds.kind)
            mask[eos] = column[-1]
            bits.append(pack(mask))
    return np.array(row, dtype=np.int32), np.stack(bits)


_build_index = lru_cache(maxsize=8)(compute_index)


def forget() -> None:
    """Drop the indexes in memory."""
    _build_index.cache_clear()
