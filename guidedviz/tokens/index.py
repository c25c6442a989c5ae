"""The index of Outlines (Willard and Louf, arXiv 2307.09702): for every state its legal tokens, and where each leads.

It is built before the first token, from all states at once, and afterwards a mask is a row to look up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import Machine
from guidedviz.machines.minimal import trim
from guidedviz.tokens.cache import Arrays, load_arrays, machine_fingerprint, save_arrays
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.kinds import Kinds, Table, find_kinds
from guidedviz.tokens.trie import Ints, build_trie
from guidedviz.tokens.vocabulary import Vocabulary

Row = npt.NDArray[np.int32]
Bits = npt.NDArray[np.uint8]
MOST_BYTES = 2**26  # of packed bits
WORTH_KEEPING = 2**20  # bytes; a smaller one is built about as quickly as its file is read


@dataclass(frozen=True, eq=False)
class Index:
    """State -> legal tokens -> next state, for one machine and one vocabulary."""

    machine: DFA
    vocabulary: Vocabulary
    kind: Row  # the kind of every token id; tokens of one kind move every state alike
    after: Table  # after[kind, state] is the next state, -1 where the kind is illegal
    row: Row  # the row of every state; states with the same legal tokens share it
    bits: Bits  # the rows: token t is bit t % 8 of byte t // 8, as in the engines' bitmasks

    def __post_init__(self) -> None:
        for array in self.arrays:
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"Index({len(self.row):,} states, {len(self.kind):,} tokens of {len(self.after):,} kinds)"

    @property
    def arrays(self) -> Arrays:
        """All that it holds beside the machine and the vocabulary."""
        return self.kind, self.after, self.row, self.bits

    @property
    def nbytes(self) -> int:
        """The memory of its arrays."""
        return sum(array.nbytes for array in self.arrays)

    def packed(self, state: int) -> Bits:
        """The legal tokens as bits."""
        row: Bits = self.bits[self.row[state]]
        return row

    def mask(self, state: int) -> Mask:
        """True for every id that is legal; read-only."""
        return unpack(self.packed(state), len(self.kind))

    def next_state(self, state: int, token: int) -> int | None:
        """Where a token leads; None if it is illegal."""
        reached = int(self.after[self.kind[token], state])
        return None if reached < 0 else reached

    @cached_property
    def legal(self) -> npt.NDArray[np.int64]:
        """How many tokens are legal in each state."""
        sizes = np.bincount(self.kind, minlength=len(self.after))
        return sizes @ (self.after >= 0)

    def check(self, machine: Machine, vocabulary: Vocabulary) -> None:
        """Refuse to serve another machine or vocabulary: ids and states would mean other things."""
        if self.vocabulary.fingerprint != vocabulary.fingerprint:
            _refuse("vocabulary", self.vocabulary.fingerprint, vocabulary.fingerprint)
        if self.machine != machine:
            other = machine_fingerprint(machine) if isinstance(machine, DFA) else type(machine).__name__
            _refuse("machine", machine_fingerprint(self.machine), other)


def _refuse(what: str, own: str, other: str) -> None:
    hint = "gv.build_index(machine, vocabulary)"
    raise SettingError("stale index", seen=f"{what} {other[:12]}", expected=f"{what} {own[:12]}", hint=hint)


def unpack(bits: Bits, size: int) -> Mask:
    """Packed rows as a bool for each id.

    >>> unpack(np.array([[6]], dtype=np.uint8), 3).tolist()
    [[False, True, True]]
    """
    mask = np.unpackbits(bits, axis=-1, count=size, bitorder="little").view(np.bool_)
    mask.flags.writeable = False
    return mask


def build_index(machine: Machine, vocabulary: Vocabulary) -> Index:
    """The index of a finite machine: out of memory, off the disk, or built.

    >>> from guidedviz.machines.regex import regex
    >>> index = build_index(regex(r"[0-9]+(\\.[0-9]+)?"), Vocabulary([b"3", b".5", b".", b"42", b"</s>"], eos={4}))
    >>> index, index.legal.tolist(), index.mask(1).tolist(), index.next_state(1, 2)
    (Index(4 states, 5 tokens of 5 kinds), [2, 5, 2, 3], [True, True, True, True, True], 2)
    """
    if not isinstance(machine, DFA):
        kind = type(machine).__name__
        raise SettingError("index", seen=kind, expected="a finite machine", hint="engine='auto'")
    if len(machine) * len(vocabulary) > 8 * MOST_BYTES:
        seen = f"{len(machine):,} states and {len(vocabulary):,} tokens"
        raise SettingError("index", seen=seen, expected=f"at most {8 * MOST_BYTES:,} pairs", hint="gv.guide walks them")
    return _build_index(live_machine(machine), vocabulary)


def live_machine(machine: DFA) -> DFA:
    """The machine without ways from which no complete text is reachable; a machine that has none stays the same."""
    trimmed = trim(machine)
    return machine if trimmed == machine else trimmed


@lru_cache(maxsize=8)
def _build_index(machine: DFA, vocabulary: Vocabulary) -> Index:
    if (arrays := load_arrays(machine, vocabulary)) is not None:
        return Index(machine, vocabulary, *arrays)
    index = compute_index(machine, vocabulary)
    if index.nbytes > WORTH_KEEPING:
        save_arrays(machine, vocabulary, index.arrays)
    return index


def compute_index(machine: DFA, vocabulary: Vocabulary) -> Index:
    """Walk once, then give every state its row."""
    kinds = find_kinds(build_trie(vocabulary), machine)
    eos = np.array(sorted(vocabulary.eos), dtype=np.intp)
    states = np.arange(len(machine), dtype=np.int32)
    stays = np.where(np.isin(states, list(machine.accepting)), states, np.int32(-1))  # EOS reads no byte
    kind = np.zeros(len(vocabulary), dtype=np.int32)
    kind[kinds.tokens] = kinds.kind
    kind[eos] = len(kinds.after)
    after = np.concatenate((kinds.after, stays[None]))
    return Index(machine, vocabulary, kind, after, *_rows(kinds, eos, after >= 0, len(vocabulary)))


def _rows(kinds: Kinds, eos: Ints, legal: Mask, size: int) -> tuple[Row, Bits]:
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
            bits.append(np.packbits(mask, bitorder="little"))
    return np.array(row, dtype=np.int32), np.stack(bits)


def forget() -> None:
    """Drop the indexes in memory; those on disk stay."""
    _build_index.cache_clear()
