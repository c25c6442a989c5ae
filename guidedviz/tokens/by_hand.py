"""Guides made by hand: no constraint, a fixed set of tokens per position, and a machine over tokens.

- `Unguided`: every token that is text is legal, and EOS. So the decoding loop needs no second case.
- `StaticMasks`: the state is the number of tokens so far, whatever they are.
- `GuidedFSM`: the tokens with a transition from a state are legal there; `machine()` gives the machine over bytes.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from guidedviz.errors import IllegalToken, SettingError, expect, quoted
from guidedviz.machines.regular.algebra import code_machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.pattern import CLASSES
from guidedviz.machines.syntax import Tree, build_net, literal
from guidedviz.tokens.arrays import Mask, read_only
from guidedviz.tokens.guide import Guide, legal_id
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary


class Unguided(Guide):
    """A guide under which every token that is text, and EOS, is always legal."""

    initial = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def mask(self, state: None) -> Mask:
        """Text and EOS."""
        return self.vocabulary.text_mask

    def advance(self, state: None, token: int) -> None:
        """The same state after any token that the mask allows."""
        legal_id(self, state, token)

    def is_accepting(self, state: None) -> bool:
        """Any text may end."""
        return True

    def label(self, state: None) -> str:
        """Its one state has no name."""
        return ""


def char_classes(vocabulary: Vocabulary) -> dict[str, frozenset[int]]:
    """The ids of single characters by class; ANY contains all of them.

    >>> classes = gv.char_classes(gv.Vocabulary([b"a", b"B", b"7", b"ab", b"!"]))
    >>> sorted(classes["LETTER"]), sorted(classes["ANY"]), sorted(classes["NEWLINE"])
    ([0, 1], [0, 1, 2, 4], [])
    """
    check_vocabulary(vocabulary, "char_classes")
    single = dict[int, int]()  # the character of each id that is one
    for token in vocabulary.text_ids:
        text = vocabulary.pieces[token].decode(errors="ignore")
        if len(text) == 1 and text.encode() == vocabulary.pieces[token]:
            single[token] = ord(text)
    classes = {}
    for name, ranges in CLASSES.items():
        found = set[int]()
        for low, high in ranges:
            found.update(token for token, code in single.items() if low <= code <= high)
        classes[name] = frozenset(found)
    return classes


def _check_tokens(where: str, vocabulary: Vocabulary, ids: Iterable[int]) -> frozenset[int]:
    """One or more token ids that are text."""
    expect(ids, Iterable, where, "a set of ids", 'char_classes(vocabulary)["LOWER"]')
    checked = set[int]()
    for given in ids:
        try:
            token = vocabulary.as_id(given)
        except IllegalToken as error:
            expected = f"an id, {error.expected}"
            raise SettingError(where, seen=quoted(given), expected=expected, hint=error.hint) from None
        if not vocabulary.is_text(token):
            seen = f"id {token} {vocabulary.display(token)!r}"
            raise SettingError(where, seen=seen, expected="an id that is text")
        checked.add(token)
    if not checked:
        raise SettingError(where, seen="an empty set", expected="at least one id")
    return frozenset(checked)


class StaticMasks(Guide):
    """A guide whose state is the position."""

    initial = 0

    def __init__(self, vocabulary: Vocabulary, sets: tuple[frozenset[int], ...]) -> None:
        self.vocabulary = vocabulary
        self.sets = sets
        rows = (*sets, vocabulary.eos)
        masks = np.zeros((len(rows), len(vocabulary)), dtype=np.bool_)
        for position, ids in enumerate(rows):
            masks[position, list(ids)] = True
        self._masks = read_only(masks)

    def mask(self, state: int) -> Mask:
        """True for every id of this position's set; read-only."""
        if not isinstance(state, int) or not 0 <= state <= len(self.sets):
            expected = f"a position from 0 to {len(self.sets)}"
            raise SettingError("state", seen=quoted(state), expected=expected)
        mask: Mask = self._masks[state]
        return mask

    def advance(self, state: int, token: int) -> int:
        """The next position; EOS after the last position does not change it."""
        legal_id(self, state, token)
        return min(state + 1, len(self.sets))

    def is_accepting(self, state: int) -> bool:
        """Whether all positions are filled."""
        return state == len(self.sets)

    def label(self, state: int) -> str:
        """The position in words."""
        return "the end" if self.is_accepting(state) else f"position {state}"


def static_masks(vocabulary: Vocabulary, sets: Iterable[Iterable[int]]) -> StaticMasks:
    """A guide that allows the n-th set of ids at the n-th position, and only EOS after the last.

    >>> v = gv.Vocabulary([b"a", b"b", b"\\n"])
    >>> g = gv.static_masks(v, [{0, 1}, {2}])
    >>> g.mask(0).tolist(), g.mask(1).tolist(), g.is_accepting(2)
    ([True, True, False], [False, False, True], True)
    """
    check_vocabulary(vocabulary, "static masks")
    checked = []
    for place, ids in enumerate(sets):
        where = f"static masks, position {place}"
        checked.append(_check_tokens(where, vocabulary, ids))
    return StaticMasks(vocabulary, tuple(checked))


class GuidedFSM:
    """A finite-state machine over tokens. States are hashable; by default, states without transitions are accepting.

    >>> fsm = gv.GuidedFSM(gv.Vocabulary([b"a", b"b", b":"]))
    >>> fsm.add_transition(0, {0, 1}, 1)
    >>> fsm.add_transition(1, {0, 1}, 1)
    >>> fsm.add_transition(1, {2}, 2)
    >>> fsm.machine().accepts(b"abba:"), fsm.machine().accepts(b"abba")
    (True, False)
    """

    def __init__(self, vocabulary: Vocabulary, start: Hashable = 0, accepting: Any = None) -> None:
        check_vocabulary(vocabulary, "GuidedFSM")
        self.vocabulary = vocabulary
        self.start = start
        if isinstance(accepting, str) or not isinstance(accepting, Iterable):
            accepting = (accepting,)
        self.accepting = None if accepting == (None,) else frozenset(accepting)
        self.transitions: dict[Hashable, dict[int, Hashable]] = {start: {}}  # state -> token -> next state

    def __repr__(self) -> str:
        arrows = [len(set(moves.values())) for moves in self.transitions.values()]
        return f"GuidedFSM({len(self.transitions)} states, {sum(arrows)} transitions)"

    def add_transition(self, source: Hashable, ids: Iterable[int], target: Hashable) -> None:
        """Add a transition on these tokens."""
        where = f"transition from {quoted(source)} to {quoted(target)}"
        tokens = _check_tokens(where, self.vocabulary, ids)
        known = self.transitions.get(source, {})
        for token in sorted(tokens):
            if known.get(token, target) != target:
                seen = f"{self.vocabulary.display(token)!r} leads to {known[token]!r} already"
                raise SettingError(where, seen=seen, expected="one next state per token", hint="a class without it")
        self.transitions.setdefault(source, {}).update(dict.fromkeys(tokens, target))
        self.transitions.setdefault(target, {})

    def is_accepting(self, state: Hashable) -> bool:
        """Whether the text may end in a state."""
        if self.accepting is None:
            return not self.transitions.get(state)
        return state in self.accepting

    def machine(self) -> DFA:
        """The smallest machine over bytes that accepts the same texts; it works with any vocabulary.

        >>> fsm = gv.GuidedFSM(gv.Vocabulary(["é".encode(), b"ab"]), accepting=1)
        >>> fsm.add_transition(0, {0, 1}, 1)
        >>> fsm.machine() == gv.regex("é|ab")
        True
        """
        moves = []
        for source, targets in self.transitions.items():
            moves += [(source, self.vocabulary.pieces[token], target) for token, target in targets.items()]
        return wire(moves, filter(self.is_accepting, self.transitions), self.start)


def wire(moves: Iterable[tuple[Hashable, bytes, Hashable]], ends: Iterable[Hashable], start: Hashable = 0) -> DFA:
    """The smallest machine of moves, each a state, bytes, and a next state; bytes may fit several moves of a state.

    >>> wire([(0, b"ab", 1), (0, b"a", 2)], {1, 2}) == gv.regex("ab?")
    True
    """
    after = defaultdict[Hashable, list[tuple[Tree, Hashable]]](list)
    for source, piece, target in dict.fromkeys(moves):
        after[source].append((literal(piece.decode("latin-1")), target))
    return code_machine(build_net(start, after.__getitem__, {*ends}.__contains__))
