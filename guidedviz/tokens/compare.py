"""Two guides over the same tokens: where the new one first says no, and what may come next that could not before."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from guidedviz.errors import IllegalToken, SettingError
from guidedviz.tokens.guide import Explanation, Guide, Mask
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Difference:
    """What a new guide changes, seen where it first rejects a token, or after the last one if it takes them all."""

    position: int  # tokens that both guides take
    rejected: Explanation | None  # why the new one rejects the token there; None if it takes them all
    became_legal: tuple[int, ...]  # ids that may come there now and could not before
    became_illegal: tuple[int, ...]


def compare_guides(old: Guide | None, new: Guide, tokens: Sequence[int]) -> Difference:
    """What changes if `new` takes the place of `old` after these tokens; no old guide is one that allows all text.

    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.engines import guide
    >>> v = Vocabulary([b"a", b"b", b"c"])
    >>> found = compare_guides(guide(regex("a*b"), v), guide(regex("a(a|c)*"), v), [0, 0, 1])
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
    before = mask_after(old, tokens[:position]) if old else text_mask(new.vocabulary)
    after = new.mask(states[-1])
    gained, lost = np.flatnonzero(after & ~before), np.flatnonzero(before & ~after)
    return Difference(position, rejected, tuple(gained.tolist()), tuple(lost.tolist()))


def read_tokens(guide: Guide, tokens: Sequence[int]) -> list[Hashable]:
    """The state before each token and after the last, up to the first that is illegal.

    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.engines import guide
    >>> read_tokens(guide(regex("ab"), Vocabulary([b"a", b"b"])), [0, 0, 1])
    [0, 1]
    """
    states = [guide.initial]
    for token in tokens:
        try:
            states.append(guide.advance(states[-1], token))
        except IllegalToken:
            break
    return states


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens, or bytes, two sequences have in common at their start.

    >>> shared_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def mask_after(guide: Guide, tokens: Sequence[int]) -> Mask:
    """What is legal after these tokens; nothing, where one of them is illegal."""
    states = read_tokens(guide, tokens)
    return guide.mask(states[-1]) if len(states) > len(tokens) else np.zeros(len(guide.vocabulary), dtype=np.bool_)


def text_mask(vocabulary: Vocabulary) -> Mask:
    """All that is text, and the ends of it."""
    mask = np.zeros(len(vocabulary), dtype=np.bool_)
    mask[[*vocabulary.text_ids, *vocabulary.eos]] = True
    return mask
