"""A guide that ends in time: a token is legal only if the text can still be completed with the tokens that are left.

What is left to write is counted in bytes that are tokens of their own: n of them take n tokens, longer pieces fewer.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.machines.ending import bytes_to_end
from guidedviz.tokens.engines import MachineGuide
from guidedviz.tokens.explain import illegal_token
from guidedviz.tokens.guide import Explanation, Guide, Mask


class Spent(NamedTuple):
    """A state of the machine, and how many tokens may still be written."""

    state: Hashable
    left: int


def within(guide: Guide, tokens: int) -> BudgetGuide:
    """The same guide for a text of at most so many tokens, the one that ends it among them.

    >>> from guidedviz.machines.pda import grammar
    >>> from guidedviz.tokens.engines import guide
    >>> from guidedviz.tokens.vocabulary import Vocabulary
    >>> short = within(guide(grammar('root ::= ("(" root ")")*'), Vocabulary([b"(", b")", b"</s>"], eos={2})), 6)
    >>> state = short.advance(short.advance(short.initial, 0), 0)
    >>> short.mask(state).tolist(), short.explain(state, 0).reason
    ([False, True, False], 'to end the text after it takes 4 tokens of a byte each, and 3 are left')
    """
    return BudgetGuide(guide, tokens)


def say_many(tokens: float) -> str:
    """A number for people; a grammar of thirty lines can ask for more tokens than can be counted.

    >>> say_many(12_000), say_many(2**2000)
    ('12,000', 'over 10^12')
    """
    return f"{tokens:,}" if tokens < 10**12 else "over 10^12"


class BudgetGuide:
    """A guide whose states know how many tokens are left."""

    def __init__(self, guide: Guide, tokens: int) -> None:
        if not isinstance(guide, MachineGuide):
            raise SettingError("within", seen=type(guide).__name__, expected="a guide of a machine", hint="gv.guide")
        self.guide, self.machine, self.vocabulary = guide, guide.machine, guide.vocabulary
        pieces = (self.vocabulary.pieces[token] for token in self.vocabulary.text_ids)
        self.alphabet = frozenset(piece[0] for piece in pieces if len(piece) == 1)
        self._known: dict[Hashable, float] = {}
        self.initial = Spent(guide.initial, self._afforded(tokens))

    def _afforded(self, tokens: Any) -> int:
        """A number of tokens in which some text can end."""
        least = self.needed(self.guide.initial)
        if least == inf:
            seen = "a vocabulary in which no text can be written byte by byte"
            raise SettingError("within, guide", seen=seen, expected="tokens of one byte", hint="the guide itself")
        if not isinstance(tokens, int | np.integer) or tokens < least:
            raise SettingError("within, tokens", seen=repr(tokens), expected=f"at least {say_many(least)}")
        return int(tokens)

    def needed(self, state: Hashable) -> float:
        """The tokens that certainly suffice to end the text: one a byte, and EOS."""
        if state not in self._known:
            found = bytes_to_end(self.machine, state, self.alphabet)
            self._known[state] = inf if found is None else found + bool(self.vocabulary.eos)
        return self._known[state]

    def mask(self, spent: Spent) -> Mask:
        """True for every legal id after which there is enough left."""
        mask = self.guide.mask(spent.state).copy()
        for token in np.flatnonzero(mask):
            mask[token] = self._affords(spent, int(token))
        mask.flags.writeable = False
        return mask

    def _affords(self, spent: Spent, token: int) -> bool:
        if token in self.vocabulary.eos:
            return spent.left > 0
        return self.needed(self.guide.advance(spent.state, token)) < spent.left

    def advance(self, spent: Spent, token: int) -> Spent:
        """The state after a legal token, and one token less."""
        after = self.guide.advance(spent.state, token)
        if not self._affords(spent, token):
            raise illegal_token(self.vocabulary, self.explain(spent, token))
        return Spent(after, spent.left - 1)

    def is_accepting(self, spent: Spent) -> bool:
        """May the text end here?"""
        return self.guide.is_accepting(spent.state)

    def forced(self, spent: Spent) -> bytes:
        """The bytes that must come next."""
        return self.guide.forced(spent.state)

    def path(self, spent: Spent, token: int) -> tuple[Hashable, ...]:
        """The machine's states inside a token."""
        return self.guide.path(spent.state, token)

    def explain(self, spent: Spent, token: int) -> Explanation:
        """Why the token is legal or not, or too dear."""
        why = self.guide.explain(spent.state, token)
        if not why.legal or self._affords(spent, token):
            return why
        least, left = self.needed(self.guide.advance(spent.state, token)), spent.left - 1
        takes = "cannot be done byte by byte" if least == inf else f"takes {say_many(least)} tokens of a byte each"
        said = f"to end the text after it {takes}, and {left} {'is' if left == 1 else 'are'} left"
        return replace(why, legal=False, reason=said)

    def label(self, spent: Spent) -> str:
        """The state's name for people."""
        return self.guide.label(spent.state)

    def stack(self, spent: Spent) -> tuple[str, ...]:
        """What is open, innermost first."""
        return self.guide.stack(spent.state)
