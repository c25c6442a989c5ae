"""Static masks: a fixed set of tokens per position, and character classes that name such sets.

This is the simplest guide: its state is the number of tokens, independent of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.errors import IllegalToken, SettingError, quoted
from guidedviz.machines.regular.pattern import CLASSES
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.explain import Explanation, illegal_token, reason_of_no_text
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary


def char_classes(vocabulary: Vocabulary) -> dict[str, frozenset[int]]:
    """The ids of single characters by class; ANY contains all of them.

    >>> classes = char_classes(Vocabulary([b"a", b"B", b"7", b"ab", b"!"]))
    >>> sorted(classes["LETTER"]), sorted(classes["ANY"]), sorted(classes["NEWLINE"])
    ([0, 1], [0, 1, 2, 4], [])
    """
    check_vocabulary(vocabulary, "char_classes")
    single = {token: ord(text) for token in vocabulary.text_ids if len(text := _text(vocabulary.pieces[token])) == 1}
    return {
        name: frozenset(token for token, code in single.items() if any(low <= code <= high for low, high in ranges))
        for name, ranges in CLASSES.items()
    }


def _text(piece: bytes) -> str:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return ""


def _common_start(pieces: list[bytes]) -> bytes:
    """The common prefix of all pieces: the common prefix of the smallest and the greatest piece."""
    low, high = min(pieces), max(pieces)
    same = 0
    while same < len(low) and low[same] == high[same]:
        same += 1
    return low[:same]


def static_masks(vocabulary: Vocabulary, sets: Iterable[Iterable[int]]) -> StaticMasks:
    """A guide that allows the n-th set of ids at the n-th position, and only EOS after the last.

    >>> v = Vocabulary([b"a", b"b", b"\\n"])
    >>> g = static_masks(v, [{0, 1}, {2}])
    >>> g.mask(0).tolist(), g.mask(1).tolist(), g.is_accepting(2)
    ([True, True, False], [False, False, True], True)
    """
    check_vocabulary(vocabulary, "static masks")
    return StaticMasks(vocabulary, tuple(_check_set(vocabulary, place, ids) for place, ids in enumerate(sets)))


def _check_set(vocabulary: Vocabulary, place: int, ids: Any) -> frozenset[int]:
    where = f"static masks, position {place}"
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise SettingError(where, seen=quoted(ids), expected="a set of ids", hint='char_classes(vocabulary)["LOWER"]')
    checked = frozenset(ids)
    if not checked:
        raise SettingError(where, seen="an empty set", expected="at least one id")
    return frozenset(_check_member(where, vocabulary, token) for token in checked)


def _check_member(where: str, vocabulary: Vocabulary, token: Any) -> int:
    try:
        checked = vocabulary.as_id(token)
    except IllegalToken as error:
        raise SettingError(where, seen=f"id {quoted(token)}", expected=error.expected, hint=error.hint) from None
    if not vocabulary.is_text(checked):
        raise SettingError(where, seen=f"id {checked} {vocabulary.display(checked)!r}", expected="an id that is text")
    return checked


@dataclass(frozen=True)
class StaticMasks:
    """A guide whose state is the position."""

    vocabulary: Vocabulary
    sets: tuple[frozenset[int], ...]

    machine = None
    initial = 0

    @cached_property
    def _masks(self) -> list[Mask]:
        masks = np.zeros((len(self.sets) + 1, len(self.vocabulary)), dtype=np.bool_)
        for position, ids in enumerate((*self.sets, self.vocabulary.eos)):
            masks[position, list(ids)] = True
        masks.flags.writeable = False
        return list(masks)

    def mask(self, state: int) -> Mask:
        """True for every id of this position's set; read-only."""
        return self._masks[self._own(state)]

    def _own(self, state: int) -> int:
        if not isinstance(state, int) or not 0 <= state <= len(self.sets):
            raise SettingError("state", seen=quoted(state), expected=f"a position from 0 to {len(self.sets)}")
        return state

    def advance(self, state: int, token: int) -> int:
        """The next position; EOS after the last position does not change it."""
        token = self.vocabulary.as_id(token)
        if not self.mask(state)[token]:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        return min(state + 1, len(self.sets))

    def is_accepting(self, state: int) -> bool:
        """Whether all positions are filled."""
        return state == len(self.sets)

    def forced(self, state: int) -> bytes:
        """The bytes that must come next: the common prefix of each set's tokens, up to the first choice."""
        forced = b""
        for ids in self.sets[self._own(state) :]:
            pieces = [self.vocabulary.pieces[token] for token in ids]
            forced += _common_start(pieces)
            if len(set(pieces)) > 1:
                break
        return forced

    def path(self, state: int, token: int) -> tuple[int, ...]:
        """The position before the token, and the one after it if the token is legal."""
        legal = self.mask(state)[self.vocabulary.as_id(token)]
        return (state, self.advance(state, token)) if legal else (state,)

    def explain(self, state: int, token: int) -> Explanation:
        """Why the token is legal or not."""
        token = self.vocabulary.as_id(token)
        legal, expected = bool(self.mask(state)[token]), self._expected(state)
        labels = tuple(map(self.label, self.path(state, token)))
        reason = f"{'in' if legal else 'not in'} the set of {labels[0]}"
        if not self.vocabulary.is_text(token):
            reason = reason_of_no_text(self.vocabulary, token, legal, f"expected {expected}")
        died_at = None if legal or not self.vocabulary.is_text(token) else 0
        return Explanation(token, self.vocabulary.pieces[token], legal, died_at, expected, labels, (), reason)

    def _expected(self, state: int) -> str:
        if self.is_accepting(state):
            return "the end"
        shown = [self.vocabulary.display(token) for token in sorted(self.sets[state])]
        return " ".join(shown[:8]) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")

    def label(self, state: int) -> str:
        """The position in words."""
        return "the end" if self.is_accepting(state) else f"position {state}"

    def stack(self, state: int) -> tuple[str, ...]:
        """Always empty."""
        return ()
