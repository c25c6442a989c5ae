"""Lazy masks as in llguidance: each mask is computed when it is needed, by a walk of the trie from the current state.

    pieces 2, 20, 202, a, ab        [0-9]{2} reads 2 and 20, and refuses 202 and a. Nobody asks about ab, below a.

The walk skips all nodes below a rejected node. Where nearly every token is legal, as in a JSON string, slices help. A
*slice* is the set of tokens that one small regex reads, such as those without quotes and controls. It is found once per
vocabulary. If the machine reads whatever the regex reads, the slice is legal as a whole. Of each other token only the
bytes after its longest prefix in the regex are walked.
"""

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.machine import Machine, S, kind_spans, read, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import live_machine
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.trie import Trie, build_trie
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary, longest_tokens
from guidedviz.tokens.walk import MoveTable

SLICE_PATTERNS = {  # the kinds of text, the one with the most tokens first
    "text in quotes": r'[^"\\\x00-\x1f\x7f]*',
    "words and blanks": r"[\w ]*",
    "words": r"\w*",
}
TEXT_LETTER = ord("a")
MOST_SLICE_PAIRS = 600  # with more pairs, the search takes longer than the walk
FEWEST_IN_SLICE = 100  # tokens; a smaller slice saves nothing


StepFunction = Callable[[Any, int], Hashable | None]
SpanFunction = Callable[[Any, int], tuple[int, int]]  # of a state: the bytes around one that lead to the same state


@dataclass(frozen=True, eq=False)
class Slice:
    """The tokens of a vocabulary that are prefixes of one kind of text.

    >>> letters = Slice("letters", regex("[a-z]*"), Vocabulary([b"ab", b"a:", b"b", b":"]))
    >>> letters, letters.mask.tolist(), letters.rest, letters.rest.node_of.tolist()
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
    def _by_length(self) -> tuple[Ints, Ints]:
        """The ids of its tokens, those with fewer characters first, and the number of characters of each."""
        tokens = np.flatnonzero(self.mask)
        characters = self.vocabulary.trie.characters[tokens]
        order = np.argsort(characters, kind="stable")
        return tokens[order], characters[order]

    def short(self, most: float) -> Mask:
        """A new mask of its tokens with at most so many characters.

        >>> Slice("letters", regex("[a-z]*"), Vocabulary([b"ab", b"a:", b"b", b":"])).short(1).tolist()
        [False, False, True, False]
        """
        tokens, characters = self._by_length
        mask = self.mask.copy()
        mask[tokens[np.searchsorted(characters, most, side="right") :]] = False
        return mask

    @cached_property
    def rest(self) -> Trie:
        """The trie of the other tokens, each without its longest prefix that is a complete text of this kind.

        Where the slice loops (`reads_all`), such a prefix leads the guide's machine back to the same state, so only the
        rest of the token is walked.
        """
        trie = self.vocabulary.trie
        live, labels = self._walk
        whole = np.zeros(len(trie), dtype=np.bool_)
        whole[live[labels == labels[0]]] = True  # back in the start state
        others = np.flatnonzero(~self.mask & (trie.node_of >= 0))
        begin = trie.node_of[others]  # of each token its last node, then the last one that is whole
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


def find_slice(step: StepFunction, span: SpanFunction, vocabulary: Vocabulary, state: Hashable) -> Slice | None:
    """The first slice whose tokens are all legal in a state, and that loops there (`reads_all`).

    >>> text, v = regex('"[^"]*"'), Vocabulary([bytes([letter]) for letter in range(256)])
    >>> spans = kind_spans(text.kinds)
    >>> [find_slice(text.step, lambda state, byte: spans[byte], v, state) for state in (0, 1)]
    [None, Slice(text in quotes: 144 tokens)]
    """
    if step(state, TEXT_LETTER) is None:  # which all slices have
        return None
    for one in build_slices(vocabulary):
        if reads_all(step, span, state, one.machine) and len(one) >= FEWEST_IN_SLICE:
            return one
    return None


def reads_all(step: StepFunction, span: SpanFunction, state: Hashable, other: DFA) -> bool:
    """Whether a machine in a state reads every text that another machine reads, and comes back to it as the other does.

    It must be back in this state whenever the other machine is back in its start. With too many pairs of states, or if
    a text has too many parses, the answer is False.

    >>> def ask(text, other):
    ...     return reads_all(regex(text).step, lambda state, byte: (byte, byte), 0, regex(other))
    >>> ask("[a-z]*:", "[a-f]*"), ask("[a-z]*:", "[a-f:]*")
    (True, False)
    >>> ask("[a-z]{3}", "[a-f]*"), ask("[a-z]{3}", "[a-f]{0,2}"), ask("x|[a-z]+1", "[a-f]*")
    (False, True, False)
    """
    pairs: list[tuple[int, Hashable]] = [(0, state)]
    met = set(pairs)
    try:
        for inner, held in pairs:
            for byte, high, target in other.edges[inner]:
                while byte <= high:
                    after = step(held, byte)
                    if after is None or len(pairs) > MOST_SLICE_PAIRS:
                        return False
                    if target == 0 and after != state:
                        return False
                    if (target, after) not in met:
                        met.add((target, after))
                        pairs.append((target, after))
                    _, last = span(held, byte)
                    byte = last + 1
    except PatternError:
        return False
    return True


MOST_WALK_MOVES = 10_000_000  # moves of a machine for one walk; a few seconds


@dataclass(frozen=True, eq=False)
class LazyWalk:
    """The record of one walk: its state, the slice that was legal as a whole, and the live nodes of other tokens."""

    machine: Machine[Any]
    vocabulary: Vocabulary
    state: Hashable
    whole_slice: Slice | None
    trie: Trie  # that was walked: the vocabulary's, or the rest of the tokens outside the slice
    live: Ints  # nodes of `trie`, including the root
    piece: bytes = b""  # the token that comes next in a text

    def __repr__(self) -> str:
        whole = ""
        if self.whole_slice:
            whole = f"{len(self.whole_slice):,} tokens taken as a slice; "
        asked = f"of {self.nodes:,} nodes {self.asked:,} asked about"
        live = f"{len(self.live) - 1:,} live"
        dropped = f"{self.dropped:,} dropped in {len(self.cut):,} cuts"
        return f"LazyWalk({whole}{asked}, {live}, {dropped}; {self.legal:,} tokens legal)"

    @property
    def nodes(self) -> int:
        """The number of nodes below the root in the trie of the whole vocabulary."""
        return len(self.vocabulary.trie) - 1

    @cached_property
    def asked(self) -> int:
        """The number of nodes at which the machine took a step: the children of live nodes."""
        return len(self.trie.children(self.live))

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
        if self.whole_slice:
            legal |= self.whole_slice.mask
        return self.vocabulary.with_eos(legal, self.machine.is_accepting(self.state))

    @property
    def legal(self) -> int:
        """The number of legal tokens."""
        return int(np.count_nonzero(self.mask))


class Lazy:
    """A source of masks that are walked when they are asked for; with `slices=False` each walk is of the whole trie."""

    def __init__(self, machine: Machine[Any], vocabulary: Vocabulary, slices: bool = True) -> None:
        self.machine = machine
        self.vocabulary = vocabulary.read_by(machine)
        self.slices = slices
        self._table = MoveTable[Any](machine.step, machine.kinds)

    def walk(self, state: Any, piece: bytes = b"") -> LazyWalk:
        """The record of the walk from a state; `piece` is the next token of a text."""
        machine = self.machine
        whole_slice = None
        with machine.steps.limited(MOST_WALK_MOVES) if isinstance(machine, PDA) else nullcontext():
            if self.slices:
                spans = kind_spans(machine.kinds)
                whole_slice = find_slice(machine.step, lambda _, byte: spans[byte], self.vocabulary, state)
            trie = whole_slice.rest if whole_slice else self.vocabulary.trie
            live, _ = self._table.walk(trie, state)
        return LazyWalk(machine, self.vocabulary, state, whole_slice, trie, live, piece)

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
