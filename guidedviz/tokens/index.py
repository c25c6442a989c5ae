"""The index of Outlines (Willard and Louf, arXiv 2307.09702): the legal tokens of every state, and the next states.

It is built before decoding; a mask is then a row to look up. `plain_index` is the idea in six lines: read every token
from every state. `compute_index` walks the trie once, from all states together. A test holds the two equal.

Next: `machines/pushdown/automaton.py`.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import live_machine
from guidedviz.progress import Progress
from guidedviz.tokens.arrays import Ids, Ints, Mask, read_only
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary
from guidedviz.tokens.walk import MoveTable

MOST_ENTRIES = 2**24  # kinds x states; 64 MB


@dataclass(frozen=True, eq=False)
class Index:
    """State -> legal tokens -> next state, for one machine and one vocabulary."""

    machine: DFA
    vocabulary: Vocabulary
    kind: Ids  # the kind of every token id; tokens of one kind move every state alike
    after: Ids  # after[kind, state] is the next state, -1 where the kind is illegal

    def __repr__(self) -> str:
        return f"Index({len(self.machine):,} states, {len(self.kind):,} tokens of {len(self.after):,} kinds)"

    @cached_property
    def _live(self) -> tuple[Ints | slice, Ints]:
        """The tokens that some state allows, or all tokens if these are most of them; and their kinds."""
        tokens = np.flatnonzero(self.kind)
        live = tokens if 2 * len(tokens) < len(self.kind) else slice(None)
        return live, self.kind[live].astype(np.intp)

    def mask(self, state: int) -> Mask:
        """True for every id that is legal; read-only."""
        tokens, kinds = self._live
        mask = np.zeros(len(self.kind), dtype=np.bool_)
        mask[tokens] = (self.after[:, state] >= 0).take(kinds)
        return read_only(mask)

    def next_state(self, state: int, token: int) -> int | None:
        """The state after a token; None if the token is illegal."""
        reached = int(self.after[self.kind[token], state])
        return None if reached < 0 else reached

    @cached_property
    def legal(self) -> Ints:
        """The number of legal tokens of each state."""
        sizes = np.bincount(self.kind, minlength=len(self.after))
        return sizes @ (self.after >= 0)

    def check(self, machine: Machine[Any], vocabulary: Vocabulary) -> None:
        """Refuse another machine or vocabulary: its ids and states mean something else."""
        if self.vocabulary.fingerprint != vocabulary.fingerprint:
            _refuse("vocabulary", self.vocabulary.fingerprint[:12], vocabulary.fingerprint[:12])
        if self.machine != machine:
            _refuse("machine", f"{self.machine!r}", f"another one, {shorten(repr(machine), 60)}")


def _refuse(what: str, own: str, other: str) -> None:
    hint = "gv.build_index(machine, vocabulary)"
    raise SettingError("stale index", seen=f"{what} {other}", expected=f"{what} {own}", hint=hint)


def build_index(machine: Machine[Any], vocabulary: Vocabulary) -> Index:
    """The index of a finite machine, taken from memory or built.

    >>> vocabulary = gv.Vocabulary([b"3", b".5", b".", b"42", b"</s>"], eos={4})
    >>> index = gv.build_index(gv.regex(r"[0-9]+(\\.[0-9]+)?"), vocabulary)
    >>> index, index.legal.tolist(), index.mask(1).tolist(), index.next_state(1, 2)
    (Index(4 states, 5 tokens of 5 kinds), [2, 5, 2, 3], [True, True, True, True, True], 2)
    """
    machine = live_machine(machine, "index")
    if not isinstance(machine, DFA):
        raise not_finite("index", machine)
    check_vocabulary(vocabulary, "index")
    return compute_index(machine, vocabulary)


def not_finite(where: str, machine: object) -> SettingError:
    """The error of a machine that has no index."""
    name = type(machine).__name__
    return SettingError(where, seen=name, expected="a finite machine", hint="gv.guide(machine, vocabulary)")


def plain_index(machine: DFA, vocabulary: Vocabulary) -> dict[int, dict[int, int]]:
    """State -> legal token -> next state: every token is read from every state.

    >>> plain_index(gv.regex(r"[0-9]+(\\.[0-9]+)?"), Vocabulary([b"3", b".5", b"."]))
    {0: {0: 1}, 1: {0: 1, 1: 3, 2: 2}, 2: {0: 3}, 3: {0: 3}}
    """
    reads = vocabulary.read_by(machine)
    index: dict[int, dict[int, int]] = {}
    for state in range(len(machine)):
        index[state] = {}
        for token in reads.text_ids:
            reached = read(machine, reads.pieces[token], state)
            if reached is not None:
                index[state][token] = reached
    return index


@lru_cache(maxsize=8)
def compute_index(machine: DFA, vocabulary: Vocabulary) -> Index:
    """The same by one walk of the trie, from all states together.

    A *column* lists the state reached from each state. Tokens with the same column are of one kind, since they move
    every state alike; algebra calls the kinds the transition monoid. To a date, Llama 3's 128,256 tokens are 6 kinds.

    >>> index = compute_index(gv.regex(r"[0-9]+(\\.[0-9]+)?"), Vocabulary([b"3", b".5", b".", b"42"]))
    >>> index.kind.tolist(), index.after.tolist()
    ([2, 3, 1, 2], [[-1, -1, -1, -1], [-1, 2, -1, -1], [1, 1, 3, 3], [-1, 3, -1, -1]])
    """
    size = len(machine)
    table = np.zeros((256, size + 1), dtype=np.int32)  # table[byte, state + 1] = next state + 1; 0 is dead
    table[:, 1:] = np.frombuffer(machine.table, dtype=np.int32).reshape(-1, 256).T + 1

    def step(column: bytes, byte: int) -> bytes | None:
        """The column after one more byte; None if no state can read it."""
        if len(moves.states) * size > MOST_ENTRIES:
            raise SettingError("index", seen=f"more than {MOST_ENTRIES:,} entries", expected="a smaller machine")
        work.tick()
        reached = table[byte].take(np.frombuffer(column, dtype=np.int32))
        return reached.tobytes() if reached.any() else None

    moves = MoveTable[bytes](step, machine.kinds)
    start = np.arange(1, size + 1, dtype=np.int32)  # no byte is read yet: every state is itself
    trie = vocabulary.read_by(machine).trie
    with Progress("index", "column") as work:
        nodes, labels = moves.walk(trie, start.tobytes())
    tokens, found = trie.tokens(nodes, labels)
    columns = [np.zeros(size, dtype=np.int32)]  # of the kind that is illegal everywhere
    columns += [np.frombuffer(column, np.int32) for column in moves.states if column]
    has_token = np.bincount(found, minlength=len(columns)) > 0  # the other columns are only on the way
    has_token[0] = True
    after = np.stack(columns)[has_token] - 1
    number = np.cumsum(has_token) - 1  # of each kind among those that have a token
    kind = np.zeros(len(vocabulary), dtype=np.int32)
    kind[tokens] = number[found]
    accepting = list(machine.accepting)
    for token in sorted(vocabulary.eos):  # reads no byte where a text may end; elsewhere a machine may read its name
        ends = after[kind[token]].copy()
        ends[accepting] = np.where(ends[accepting] < 0, accepting, ends[accepting])
        same = np.flatnonzero((after == ends).all(axis=1))
        kind[token] = same[0] if len(same) else len(after)
        if not len(same):
            after = np.concatenate((after, ends[np.newaxis]))
    return Index(machine, vocabulary, kind, after)
