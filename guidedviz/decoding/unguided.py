"""Decoding without a constraint, as a guide: the loop needs no second case for it."""

from __future__ import annotations

from functools import lru_cache

from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Explanation
from guidedviz.tokens.vocabulary import Vocabulary


class Unguided:
    """A guide under which every token that is text, and EOS, is always legal. It has one state."""

    initial = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def mask(self, state: None) -> Mask:
        """Text and EOS."""
        return self.vocabulary.text_mask

    def advance(self, state: None, token: int) -> None:
        """The same state after any token."""

    def is_accepting(self, state: None) -> bool:
        """Any text may end."""
        return True

    def forced(self, state: None) -> bytes:
        """Nothing is forced."""
        return b""

    def path(self, state: None, token: int) -> tuple[None, ...]:
        """The one state, before each byte and after the last."""
        return (None,) * (len(self.vocabulary.pieces[token]) + 1)

    def explain(self, state: None, token: int) -> Explanation:
        """Only special tokens are illegal."""
        piece, legal = self.vocabulary.pieces[token], bool(self.vocabulary.text_mask[token])
        return Explanation(token, piece, legal, None, "", (), (), "" if legal else "special tokens are not text")

    def label(self, state: None) -> str:
        """There is no machine, so its state has no name."""
        return ""

    def stack(self, state: None) -> tuple[str, ...]:
        """There is no stack."""
        return ()


unguided = lru_cache(maxsize=8)(Unguided)  # one per vocabulary
