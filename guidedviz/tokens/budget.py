"""A guide for at most n tokens: a token is legal only if the remaining tokens suffice to complete the text.

The tokens needed are counted as tokens of one byte each. This is an upper bound, because longer tokens need fewer.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.distance import bytes_to_end
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.explain import Explanation, foreign_state, illegal_token
from guidedviz.tokens.guide import Guide, MachineGuide


class Spent(NamedTuple):
    """A state of the machine, and the number of remaining tokens."""

    state: Hashable
    left: int


def within(guide: Guide, tokens: int) -> BudgetGuide:
    """The same guide for a text of at most this many tokens, including EOS.

    >>> v = gv.Vocabulary([b"(", b")", b"</s>"], eos={2})
    >>> short = within(gv.guide(gv.grammar('root ::= ("(" root ")")*'), v), 6)
    >>> state = short.advance(short.advance(short.initial, 0), 0)
    >>> short.mask(state).tolist(), short.explain(state, 0).reason
    ([False, True, False], 'to end the text after it takes 4 tokens of a byte each, and 3 are left')
    """
    return BudgetGuide(guide, tokens)


def keep_budget(old: Guide | None, new: Guide) -> Guide:
    """The new guide, with the token budget of the old one."""
    return within(new, old.initial.left) if isinstance(old, BudgetGuide) else new


def say_many(tokens: float) -> str:
    """Format a count; large counts are shortened, because a grammar of thirty lines can need over 10^100 tokens.

    >>> say_many(12_000), say_many(2**2000)
    ('12,000', 'over 10^12')
    """
    return f"{tokens:,}" if tokens < 10**12 else "over 10^12"


class BudgetGuide(Guide):
    """A guide whose states contain the number of remaining tokens."""

    def __init__(self, guide: Guide, tokens: int) -> None:
        if not isinstance(guide, MachineGuide):
            raise SettingError("within", seen=type(guide).__name__, expected="a guide of a machine", hint="gv.guide")
        self.guide, self.vocabulary = guide, guide.vocabulary
        self.machine: Machine[Any] = guide.machine
        pieces = (self.vocabulary.pieces[token] for token in self.vocabulary.text_ids)
        self.alphabet = frozenset(piece[0] for piece in pieces if len(piece) == 1)
        self._known: dict[Hashable, float] = {}
        self.initial = Spent(guide.initial, self._afforded(tokens))

    def _afforded(self, tokens: Any) -> int:
        """Validate the number of tokens: at least one text must fit."""
        least = self.needed(self.guide.initial)
        if least == inf:
            seen = "a vocabulary in which no text can be written byte by byte"
            raise SettingError("within, guide", seen=seen, expected="tokens of one byte", hint="the guide itself")
        if not isinstance(tokens, int | np.integer) or tokens < least:
            hint = "a token for each byte of the shortest text, and EOS"  # an upper bound: longer tokens need fewer
            raise SettingError("within, tokens", seen=quoted(tokens), expected=f"at least {say_many(least)}", hint=hint)
        return int(tokens)

    def needed(self, state: Hashable) -> float:
        """A number of tokens that suffices to complete the text: one per byte, and EOS."""
        if state not in self._known:
            found = bytes_to_end(self.machine, state, self.alphabet)
            self._known[state] = inf if found is None else found + bool(self.vocabulary.eos)
        return self._known[state]

    def __repr__(self) -> str:
        return f"within({self.guide!r}, {self.initial.left})"

    def at(self, state: Any) -> Any:
        """The machine's state."""
        if not isinstance(state, Spent):
            raise foreign_state(self, state)
        return self.guide.at(state.state)

    def mask(self, spent: Spent) -> Mask:
        """True for every legal id after which enough tokens remain."""
        mask = self.guide.mask(self.at(spent)).copy()
        for token in np.flatnonzero(mask):
            mask[token] = self._affords(spent, int(token))
        mask.flags.writeable = False
        return mask

    def _affords(self, spent: Spent, token: int) -> bool:
        if token in self.vocabulary.eos:
            return spent.left > 0
        return self.needed(self.guide.advance(spent.state, token)) < spent.left

    def advance(self, spent: Spent, token: int) -> Spent:
        """The state after a legal token, with one remaining token less."""
        after = self.guide.advance(self.at(spent), token)
        if not self._affords(spent, token):
            raise illegal_token(self.vocabulary, self.explain(spent, token))
        return Spent(after, spent.left - 1)

    def is_accepting(self, spent: Spent) -> bool:
        """Whether the text may end here."""
        return self.guide.is_accepting(self.at(spent))

    def explain(self, spent: Spent, token: int) -> Explanation:
        """Why the token is legal or not, or leaves too few tokens."""
        why = self.guide.explain(self.at(spent), token)
        if not why.legal or self._affords(spent, token):
            return why
        least, left = self.needed(self.guide.advance(spent.state, token)), spent.left - 1
        takes = "cannot be done byte by byte" if least == inf else f"takes {say_many(least)} tokens of a byte each"
        said = f"to end the text after it {takes}, and {left} {'is' if left == 1 else 'are'} left"
        return replace(why, legal=False, reason=said)
