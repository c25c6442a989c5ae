"""Slices, an idea of llguidance: common kinds of text whose tokens a walk takes all at once, or not at all.

A slice is a small machine, such as the text inside a JSON string, with all tokens that it can read from its start:
122,892 of Llama 3's 128,000. Side by side with a guide's machine it meets a handful of pairs of states. If the guide's
machine can follow it through all of them, each of its tokens is legal without a walk. Every other token begins with
some text of the slice, perhaps none, that leads back to where one is: what comes behind it is all that must be walked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from guidedviz.errors import PatternError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.earley import Earley
from guidedviz.machines.machine import Steps
from guidedviz.machines.pda import PDA
from guidedviz.machines.regex import regex
from guidedviz.machines.rule_nodes import byte_kinds
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.kinds import build_table
from guidedviz.tokens.trie import Trie, build_trie, make_trie, walk_levels
from guidedviz.tokens.vocabulary import Vocabulary

SLICES = {
    "text in quotes": r'[^"\\\x00-\x1f\x7f]*',
    "text in quotes, up to 30": r'[^"\\\x00-\x1f\x7f]{0,30}',  # characters: for strings whose length is counted
    "text in quotes, up to 10": r'[^"\\\x00-\x1f\x7f]{0,10}',
    "words and blanks": r"[\w ]*",
    "words": r"\w*",
}
MOST_PAIRS = 600  # then to go on takes longer than the walk that it saves
FEWEST = 100  # tokens; fewer are not worth a slice
Moves = Callable[[int], tuple[tuple[int, int], ...]]  # from a state of a slice, 0 its start: bytes and states after


@dataclass(frozen=True, eq=False)
class Slice:
    """The tokens of a vocabulary that are beginnings of one kind of text."""

    name: str
    machine: DFA
    vocabulary: Vocabulary
    mask: Mask  # its tokens

    def __repr__(self) -> str:
        return f"Slice({self.name}: {len(self):,} tokens)"

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))

    @cached_property
    def rest(self) -> Trie:
        """The trie of what all other tokens have behind their text of this kind."""
        pieces = [b""] * len(self.vocabulary)
        for token in self.vocabulary.text_ids:
            if not self.mask[token]:
                pieces[token] = behind(self.machine, self.vocabulary.pieces[token])
        return make_trie(Vocabulary(pieces))


@lru_cache(maxsize=8)
def build_slices(vocabulary: Vocabulary) -> tuple[Slice, ...]:
    """The slices that are worth it with this vocabulary, the largest first.

    >>> letters = [bytes([one, other]) for one in b"abcdefghijk" for other in b"abcdefghijk"]
    >>> build_slices(Vocabulary([*letters, b'"', b'":']))  # doctest: +ELLIPSIS
    (Slice(text in quotes: 121 tokens), ...)
    """
    slices = [make_slice(vocabulary, name, text) for name, text in SLICES.items()]
    return tuple(sorted((one for one in slices if len(one) >= FEWEST), key=len, reverse=True))


def make_slice(vocabulary: Vocabulary, name: str, text: str) -> Slice:
    """The tokens that a text of this kind can begin with.

    >>> made = make_slice(Vocabulary([b"ab", b"a:", b"b", b":"]), "letters", "[a-z]*")
    >>> made.mask.tolist(), made.rest, made.rest.node_of.tolist()
    ([True, False, True, False], Trie(2 nodes, 1 levels), [-1, 1, -1, 1])
    """
    trie, machine = build_trie(vocabulary), regex(text)
    table = build_table(machine).ravel()
    nodes, _ = walk_levels(trie, machine.initial + 1, lambda states, letters: table[states * 256 + letters])
    live = np.zeros(len(trie) + 1, dtype=np.bool_)
    live[nodes] = True
    return Slice(name, machine, vocabulary, trie.tokens(live))


def behind(machine: DFA, piece: bytes) -> bytes:
    """What is left of a piece after the last return to the start, before the byte that the machine refuses.

    >>> text = regex(r'[^"]*')
    >>> behind(text, b'one":'), behind(text, b'":'), behind(text, 'é"'.encode()), behind(text, b'a\\xc3"')
    (b'":', b'":', b'"', b'\\xc3"')
    """
    state, start = machine.initial, 0
    for place, byte in enumerate(piece):
        start = place if state == machine.initial else start
        following = machine.step(state, byte)
        if following is None:
            break
        state = following
    return piece[start:]


def find_slice(slices: Iterable[tuple[Slice, Moves]], machine: Steps, state: Hashable) -> Slice | None:
    """The first slice that is legal from a state as a whole.

    >>> made, text = make_slice(Vocabulary([b"ab", b"a:"]), "letters", "[a-z]*"), regex("[a-z]*:")
    >>> find_slice([(made, list_moves(made.machine, kinds_of(text)))], text, 0)
    Slice(letters: 1 tokens)
    """
    return next((part for part, moves in slices if follows(machine, state, moves)), None)


def follows(machine: Steps, state: Hashable, moves: Moves, most: int = MOST_PAIRS) -> bool:
    """Whether a machine can read all that a part reads, and is back in its state whenever the part is at its start.

    It gives up where too many pairs of states are met.

    >>> def ask(text, part):
    ...     return follows(regex(text), 0, list_moves(regex(part), kinds_of(regex(text))))
    >>> ask("[a-z]*:", "[a-f]*"), ask("[a-z]*:", "[a-f:]*")
    (True, False)
    >>> ask("[a-z]{3}", "[a-f]*"), ask("[a-z]{3}", "[a-f]{0,2}")
    (False, True)
    """
    pairs: list[tuple[int, Hashable]] = [(0, state)]
    met = set(pairs)
    for place, held in pairs:
        for byte, target in moves(place):
            pair = target, _step(machine, held, byte)
            if pair[1] is None or len(pairs) > most or (target == 0 and pair[1] != state):
                return False
            if pair not in met:
                met.add(pair)
                pairs.append(pair)
    return True


def _step(machine: Steps, state: Hashable, byte: int) -> Hashable | None:
    """A step into a text that no token may hold: where there are too many ways to read it, the slice is not taken."""
    try:
        return machine.step(state, byte)
    except PatternError:
        return None


def kinds_of(machine: Steps) -> bytes:
    """The kind of every byte: bytes of one kind move every state alike; of a machine of another make, each its own.

    >>> sorted(set(kinds_of(regex("[0-9]")))), len(kinds_of(regex("[0-9]")))
    ([0, 1], 256)
    """
    if isinstance(machine, DFA):
        return byte_kinds(machine.edges)
    return machine.kinds if isinstance(machine, PDA | Earley) else bytes(range(256))


def list_moves(part: DFA, kinds: bytes) -> Moves:
    """From a state of a part a byte and the state after it: one of all bytes that do the same in both machines.

    >>> moves = list_moves(regex("[a-f]x"), kinds_of(regex("[b-z]")))
    >>> moves(0), moves(1)
    (((97, 1), (102, 1)), ((120, 2),))
    """

    @cache
    def moves(state: int) -> tuple[tuple[int, int], ...]:
        every = ((byte, target) for low, high, target in part.edges[state] for byte in range(low, high + 1))
        return tuple({(kinds[byte], target): (byte, target) for byte, target in every}.values())

    return moves
