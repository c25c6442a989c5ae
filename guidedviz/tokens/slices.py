"""Slices: tokens that one small regex can read, found once per vocabulary and shared by all states and grammars.

Where nearly all is legal, as in a JSON string, a slice helps: if the machine reads whatever the regex reads, the slice
is legal as a whole, and only the rest of the other tokens is walked.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.trie import Trie, build_trie
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import MoveTable

SLICE_PATTERNS = {  # the kinds of text, the one with the most tokens first
    "text in quotes": r'[^"\\\x00-\x1f\x7f]*',
    "words and blanks": r"[\w ]*",
    "words": r"\w*",
}
MOST_SLICE_PAIRS = 600  # with more pairs, the search takes longer than the walk
FEWEST = 100  # tokens of a slice


StepFunction = Callable[[Any, int], Hashable | None]


@dataclass(frozen=True, eq=False)
class Slice:
    """The tokens of a vocabulary that are prefixes of one kind of text.

    >>> part = Slice("letters", regex("[a-z]*"), Vocabulary([b"ab", b"a:", b"b", b":"]))
    >>> part, part.mask.tolist(), part.rest, part.rest.node_of.tolist()
    (Slice(letters: 2 tokens), [True, False, True, False], Trie(2 nodes, 1 levels), [-1, 1, -1, 1])
    """

    name: str
    machine: DFA
    vocabulary: Vocabulary

    def __repr__(self) -> str:
        return f"Slice({self.name}: {len(self):,} tokens)"

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))

    @cached_property
    def _walk(self) -> tuple[Ints, Ints]:
        return MoveTable(self.machine.step, self.machine.kinds).walk(self.vocabulary.trie, self.machine.initial)

    @cached_property
    def mask(self) -> Mask:
        """Its tokens."""
        return self.vocabulary.trie.mask(self._walk[0])

    @cached_property
    def tokens(self) -> Ints:
        """The ids of its tokens."""
        return np.flatnonzero(self.mask)

    @cached_property
    def rest(self) -> Trie:
        """The trie of the other tokens, each without the prefix that is a complete text of this kind.

        Such a prefix leads the guide's machine back to the same state, so only the rest of the token is walked.
        """
        trie = self.vocabulary.trie
        live, labels = self._walk
        whole = np.zeros(len(trie), dtype=np.bool_)
        whole[live[labels == labels[0]]] = True  # back in the start state
        others = np.flatnonzero(~self.mask & (trie.node_of >= 0))
        begin = trie.node_of[others]  # of each token: the last of its nodes that is whole
        while not whole[begin].all():
            begin = np.where(whole[begin], begin, trie.parent[begin])
        depths = np.searchsorted(trie.levels, begin, side="right") - 1
        pieces = [b"" for _ in self.vocabulary.pieces]
        for token, depth in zip(others.tolist(), depths.tolist(), strict=True):
            pieces[token] = self.vocabulary.pieces[token][depth:]
        order = sorted(others.tolist(), key=pieces.__getitem__)
        return build_trie(pieces, np.array(order, dtype=np.int32))


@lru_cache(maxsize=8)
def build_slices(vocabulary: Vocabulary) -> tuple[Slice, ...]:
    """The slices of a vocabulary; the tokens of each are found when it is first taken.

    >>> build_slices(Vocabulary([b"a", b"\\n", b"=", b"12"]))
    (Slice(text in quotes: 3 tokens), Slice(words and blanks: 2 tokens), Slice(words: 2 tokens))
    """
    return tuple(Slice(name, regex(text), vocabulary) for name, text in SLICE_PATTERNS.items())


def find_slice(step: StepFunction, kinds: bytes, vocabulary: Vocabulary, state: Hashable) -> Slice | None:
    """The first slice whose tokens are all legal in a state.

    >>> text, v = regex('"[^"]*"'), Vocabulary([bytes([letter]) for letter in range(256)])
    >>> find_slice(text.step, text.kinds, v, 0), find_slice(text.step, text.kinds, v, 1)
    (None, Slice(text in quotes: 144 tokens))
    """
    for part in build_slices(vocabulary):
        if reads_all(step, kinds, state, part.machine) and len(part) >= FEWEST:
            return part
    return None


def reads_all(step: StepFunction, kinds: bytes, state: Hashable, part: DFA) -> bool:
    """Whether a machine reads all texts of a part, and returns to its state whenever the part returns to its start.

    With too many pairs of states, or if a text has too many parses, the answer is False.

    >>> def ask(text, part):
    ...     return reads_all(regex(text).step, regex(text).kinds, 0, regex(part))
    >>> ask("[a-z]*:", "[a-f]*"), ask("[a-z]*:", "[a-f:]*")
    (True, False)
    >>> ask("[a-z]{3}", "[a-f]*"), ask("[a-z]{3}", "[a-f]{0,2}")
    (False, True)
    """
    moves = list_moves(part, kinds)
    pairs: list[tuple[int, Hashable]] = [(0, state)]
    met = set(pairs)
    try:
        for place, held in pairs:
            for byte, target in moves[place]:
                after = step(held, byte)
                if after is None or len(pairs) > MOST_SLICE_PAIRS or (target == 0 and after != state):
                    return False
                if (target, after) not in met:
                    met.add((target, after))
                    pairs.append((target, after))
    except PatternError:
        return False
    return True


@lru_cache(maxsize=64)
def list_moves(part: DFA, kinds: bytes) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The moves from each state of a part: one byte per class of bytes equivalent in both machines, and the next state.

    >>> list_moves(regex("[a-f]x"), regex("[b-z]").kinds)
    (((97, 1), (102, 1)), ((120, 2),), ())
    """
    found = []
    for row in part.edges:
        moves = {}
        for low, high, target in row:
            for byte in range(low, high + 1):
                moves[kinds[byte], target] = (byte, target)
        found.append(tuple(moves.values()))
    return tuple(found)
