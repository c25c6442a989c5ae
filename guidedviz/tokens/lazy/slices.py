"""Slices, an idea of llguidance: a set of tokens of one kind of text, which a walk accepts as a whole if it can.

A slice is a small machine, such as one for the text in a JSON string, with the tokens it can read (122,892 of Llama 3's
128,000). If a search of all pairs of states shows that the guide's machine reads all its texts, these tokens are legal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from guidedviz.errors import PatternError
from guidedviz.machines.machine import Steps
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.move_table import table_walk
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary

SLICES = {
    "text in quotes": r'[^"\\\x00-\x1f\x7f]*',
    "text in quotes, up to 30": r'[^"\\\x00-\x1f\x7f]{0,30}',  # characters, for strings with a maximum length
    "text in quotes, up to 10": r'[^"\\\x00-\x1f\x7f]{0,10}',
    "words and blanks": r"[\w ]*",
    "words": r"\w*",
}
MOST_PAIRS = 600  # with more pairs, the search takes longer than the walk
FEWEST = 100  # tokens of a slice
Moves = Callable[[int], tuple[tuple[int, int], ...]]  # per state of a slice (0: start): bytes and next states


@dataclass(frozen=True, eq=False)
class Slice:
    """The tokens of a vocabulary that are prefixes of one kind of text."""

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
        """The trie of the other tokens, each without the prefix that is a complete text of this kind.

        Such a prefix leads the guide's machine back to the same state, so only the rest of the token is walked.
        """
        pieces = [b""] * len(self.vocabulary)
        for token in self.vocabulary.text_ids:
            if not self.mask[token]:
                pieces[token] = behind(self.machine, self.vocabulary.pieces[token])
        return Vocabulary(pieces).trie


@lru_cache(maxsize=8)
def build_slices(vocabulary: Vocabulary) -> tuple[Slice, ...]:
    """The slices of this vocabulary that have enough tokens, the largest first.

    >>> letters = [bytes([one, other]) for one in b"abcdefghijk" for other in b"abcdefghijk"]
    >>> build_slices(Vocabulary([*letters, b'"', b'":']))  # doctest: +ELLIPSIS
    (Slice(text in quotes: 121 tokens), ...)
    """
    slices = [make_slice(vocabulary, name, text) for name, text in SLICES.items()]
    return tuple(sorted((one for one in slices if len(one) >= FEWEST), key=len, reverse=True))


def make_slice(vocabulary: Vocabulary, name: str, text: str) -> Slice:
    """The tokens that are prefixes of texts of this kind.

    >>> made = make_slice(Vocabulary([b"ab", b"a:", b"b", b":"]), "letters", "[a-z]*")
    >>> made.mask.tolist(), made.rest, made.rest.node_of.tolist()
    ([True, False, True, False], Trie(2 nodes, 1 levels), [-1, 1, -1, 1])
    """
    machine = regex(text)
    nodes = table_walk(vocabulary.trie, machine)(machine.initial)
    return Slice(name, machine, vocabulary, vocabulary.trie.mask(nodes))


def behind(machine: DFA, piece: bytes) -> bytes:
    """The rest of a piece after the last return to the start state, before the byte that the machine rejects.

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
    """The first slice whose tokens are all legal in a state.

    >>> made, text = make_slice(Vocabulary([b"ab", b"a:"]), "letters", "[a-z]*"), regex("[a-z]*:")
    >>> find_slice([(made, list_moves(made.machine, text.kinds))], text, 0)
    Slice(letters: 1 tokens)
    """
    return next((part for part, moves in slices if follows(machine, state, moves)), None)


def follows(machine: Steps, state: Hashable, moves: Moves, most: int = MOST_PAIRS) -> bool:
    """Whether a machine reads all texts of a part, and returns to its state whenever the part returns to its start.

    With too many pairs of states the answer is False.

    >>> def ask(text, part):
    ...     return follows(regex(text), 0, list_moves(regex(part), regex(text).kinds))
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
    """The next state, or None. It is also None if the text has too many parses; then the slice is not used."""
    try:
        return machine.step(state, byte)
    except PatternError:
        return None


def list_moves(part: DFA, kinds: bytes) -> Moves:
    """The moves from each state of a part: one byte per class of bytes equivalent in both machines, and the next state.

    >>> moves = list_moves(regex("[a-f]x"), regex("[b-z]").kinds)
    >>> moves(0), moves(1)
    (((97, 1), (102, 1)), ((120, 2),))
    """

    @cache
    def moves(state: int) -> tuple[tuple[int, int], ...]:
        every = ((byte, target) for low, high, target in part.edges[state] for byte in range(low, high + 1))
        return tuple({(kinds[byte], target): (byte, target) for byte, target in every}.values())

    return moves
