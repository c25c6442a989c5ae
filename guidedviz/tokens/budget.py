"""A guide for at most n tokens: a token is legal only if the remaining tokens suffice to complete the text.

    ("(" root ")")*, 6 tokens with EOS      After "((" four are left. A third "(" is illegal: then ")))" and EOS are
                                            needed, and only three are left.

The tokens needed are counted as tokens of one byte each. This is an upper bound: fewer longer tokens may do.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.machines.names import BEGIN, END
from guidedviz.machines.pushdown.distance import bytes_to_end
from guidedviz.tokens.arrays import Mask, read_only
from guidedviz.tokens.guide import Explanation, Guide, MachineGuide, illegal_token
from guidedviz.tokens.thinking import CountingGuide, ThinkingGuide


class Spent(NamedTuple):
    """A state of the inner guide, and the number of remaining tokens."""

    state: Any
    left: int


def within(guide: Guide, tokens: int) -> BudgetGuide:
    """The same guide for a text of at most this many tokens, including EOS.

    >>> v = gv.Vocabulary([b"(", b")", b"</s>"], eos={2})
    >>> short = gv.within(gv.guide(gv.grammar('root ::= ("(" root ")")*'), v), 6)
    >>> state = short.advance(short.advance(short.initial, 0), 0)
    >>> short.mask(state).tolist(), short.explain(state, 0).reason
    ([False, True, False], 'to end the text after it takes 4 tokens of a byte each, and 3 are left')
    """
    inner = guide.guide if isinstance(guide, ThinkingGuide) else guide
    expect(inner, MachineGuide, "within", "a guide of a machine", "gv.guide")
    short = BudgetGuide(guide)
    least = short.needed(guide.at(guide.initial))
    if least == inf:
        seen = "a vocabulary in which no text can be written byte by byte"
        raise SettingError("within, guide", seen=seen, expected="tokens of one byte", hint="the guide itself")
    if not isinstance(tokens, int | np.integer) or tokens < least:
        expected = f"at least {say_many(least)}"
        hint = "a token for each byte of the shortest text, and EOS"  # an upper bound: longer tokens need fewer
        raise SettingError("within, tokens", seen=quoted(tokens), expected=expected, hint=hint)
    short.initial = Spent(guide.initial, int(tokens))
    return short


def keep_budget(old: Guide | None, new: Guide) -> Guide:
    """The new guide, with the token budget of the old one."""
    return within(new, old.initial.left) if isinstance(old, BudgetGuide) else new


def say_many(tokens: float) -> str:
    """A count; a large one is shortened, because a grammar of thirty lines can need over 10^100 tokens."""
    return f"{tokens:,}" if tokens < 10**12 else "over 10^12"


class BudgetGuide(CountingGuide):
    """A guide whose states contain the number of remaining tokens."""

    kind = Spent

    def __init__(self, guide: Guide) -> None:
        super().__init__(guide, "within")
        pieces = [self.reads.pieces[token] for token in self.reads.text_ids]
        single = [piece for piece in pieces if len(piece) == 1]
        self.alphabet = frozenset().union(*single, BEGIN, END)  # a name counts as one token per byte
        self._known: dict[Hashable, float] = {}

    def __repr__(self) -> str:
        return f"within({self.guide!r}, {self.initial.left})"

    def needed(self, state: Hashable) -> float:
        """A number of tokens that suffices to complete the text: one per byte, and EOS."""
        if state not in self._known:
            found = bytes_to_end(self.machine, state, self.alphabet)
            self._known[state] = inf if found is None else found + bool(self.vocabulary.eos)
        return self._known[state]

    def mask(self, spent: Spent) -> Mask:
        """True for every legal id after which enough tokens remain."""
        mask = self.guide.mask(self.inner(spent)).copy()
        for token in np.flatnonzero(mask):
            mask[token] = not self._shortage(spent, int(token))
        return read_only(mask)

    def _shortage(self, spent: Spent, token: int) -> str:
        """Why too few tokens remain after a token that the machine allows; "" if they suffice."""
        least: float = 0
        if token not in self.vocabulary.eos:
            least = self.needed(self.guide.at(self.guide.advance(spent.state, token)))
        left = spent.left - 1
        if least <= left:
            return ""
        takes = "cannot be done byte by byte"
        if least < inf:
            takes = f"takes {say_many(least)} tokens of a byte each"
        verb = "is" if left == 1 else "are"
        return f"to end the text after it {takes}, and {left} {verb} left"

    def advance(self, spent: Spent, token: int) -> Spent:
        """The state after a legal token, with one remaining token less."""
        after = self.guide.advance(self.inner(spent), token)
        if self._shortage(spent, token):
            raise illegal_token(self.vocabulary, self.explain(spent, token))
        return Spent(after, spent.left - 1)

    def forced(self, spent: Spent) -> bytes:
        """The bytes that must come next, whatever the budget."""
        return self.guide.forced(self.inner(spent))

    def explain(self, spent: Spent, token: int) -> Explanation:
        """Why the token is legal or not, or leaves too few tokens."""
        why = self.guide.explain(self.inner(spent), token)
        short = self._shortage(spent, why.token) if why.legal else ""
        return replace(why, legal=False, reason=short) if short else why
