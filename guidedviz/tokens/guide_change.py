"""Compare two guides over the same tokens: where the new one first rejects a token, and which tokens it adds there."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from guidedviz.errors import IllegalToken, SettingError
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Explanation, Guide


@dataclass(frozen=True)
class Difference:
    """What a new guide changes at the first token that it rejects, or after the last token if it accepts all."""

    position: int  # number of tokens that both guides accept
    rejected: Explanation | None  # why the new guide rejects the next token; None if it accepts all
    became_legal: tuple[int, ...]  # ids that only the new guide allows at this position
    became_illegal: tuple[int, ...]


def compare_guides(old: Guide | None, new: Guide, tokens: Sequence[int]) -> Difference:
    """What changes if `new` replaces `old` after these tokens; `old=None` stands for a guide that allows all text.

    >>> v = gv.Vocabulary([b"a", b"b", b"c"])
    >>> found = compare_guides(gv.guide(gv.regex("a*b"), v), gv.guide(gv.regex("a(a|c)*"), v), [0, 0, 1])
    >>> found.position, found.rejected.reason
    (2, 'b cannot come: expected a c or the end')
    >>> found.became_legal, found.became_illegal
    ((2,), (1,))
    """
    if old is not None and old.vocabulary != new.vocabulary:
        seen = f"{old.vocabulary} and {new.vocabulary}"
        raise SettingError("compare_guides", seen=seen, expected="two guides over the same vocabulary")
    states = read_tokens(new, tokens)
    position = len(states) - 1
    rejected = new.explain(states[-1], tokens[position]) if position < len(tokens) else None
    before = mask_after(old, tokens[:position]) if old else new.vocabulary.text_mask
    after = new.mask(states[-1])
    gained, lost = np.flatnonzero(after & ~before), np.flatnonzero(before & ~after)
    return Difference(position, rejected, tuple(gained.tolist()), tuple(lost.tolist()))


def read_tokens(guide: Guide, tokens: Sequence[int]) -> list[Hashable]:
    """The state before each token and after the last one, up to the first illegal token.

    >>> read_tokens(gv.guide(gv.regex("ab"), gv.Vocabulary([b"a", b"b"])), [0, 0, 1])
    [0, 1]
    """
    states = [guide.initial]
    for token in tokens:
        try:
            states.append(guide.advance(states[-1], token))
        except IllegalToken:
            break
    return states


def mask_after(guide: Guide, tokens: Sequence[int]) -> Mask:
    """The mask after these tokens; all False if one of them is illegal."""
    states = read_tokens(guide, tokens)
    return guide.mask(states[-1]) if len(states) > len(tokens) else np.zeros(len(guide.vocabulary), dtype=np.bool_)
