"""From forced bytes to tokens: the machine says which bytes come next, but not how they are cut.

Three ways to cut them. "canonical": all of the output goes through the tokenizer again, and what it cuts otherwise is
taken back (SGLang's way). "longest": the longest token that fits, each time. "minimal": only where one token is legal,
so nothing is decided for the model. Bytes at the end that the next ones could join in one token are left to the model
(llguidance's way; xgrammar pull request 776). "raw" is "longest" without that, to see what goes wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile
from typing import Any

import numpy as np

from guidedviz.errors import GuidedVizError, IllegalToken, SettingError
from guidedviz.tokens.compare import shared_length
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.longest import spell_longest
from guidedviz.tokens.trie import Ints
from guidedviz.tokens.vocabulary import Vocabulary

WAYS = ("canonical", "longest", "minimal", "raw")
Encode = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Jump:
    """So many of the last tokens are taken back, and these put in their place; none of them is left to the model."""

    back: int
    tokens: tuple[int, ...]


def find_jump(
    guide: Guide, encode: Encode, tokens: Sequence[int], states: Sequence[Any], way: str = WAYS[0]
) -> Jump | None:
    """What may be put without asking the model, after these tokens of the output; None if it has to be asked.

    `states` are those of the guide before each token and after the last.

    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.engines import guide
    >>> v = Vocabulary([b"n", b"a", b"m", b"e", b"na", b"me", b"name", b"ab", b"b"])
    >>> g = guide(regex("name[ab]"), v)
    >>> encode = lambda text: spell_longest(v, text.encode())
    >>> find_jump(g, encode, [], [g.initial], "canonical")
    Jump(back=0, tokens=(6,))
    >>> find_jump(g, encode, [0], [g.initial, g.advance(g.initial, 0)], "canonical")
    Jump(back=1, tokens=(6,))
    >>> find_jump(g, encode, [0], [g.initial, g.advance(g.initial, 0)], "longest")
    Jump(back=0, tokens=(1, 5))
    """
    if way not in WAYS:
        raise SettingError("find_jump, way", seen=repr(way), expected=" or ".join(map(repr, WAYS)))
    run = b"" if way == "minimal" else guide.forced(states[-1])
    if not run or (way != "raw" and may_go_beyond(guide, states[-1], run)):
        return only_token(guide, states[-1])
    spelled = spell_output(guide.vocabulary, encode, tokens, run) if way == "canonical" else None
    if spelled is None:
        spelled = [*tokens, *spell_longest(guide.vocabulary, run)]
    return _cut(guide, tokens, states, spelled, heal=way != "raw") or only_token(guide, states[-1])


def only_token(guide: Guide, state: Any) -> Jump | None:
    """The one token that is legal here, be it an end."""
    legal = guide.mask(state).nonzero()[0]
    return Jump(0, (int(legal[0]),)) if len(legal) == 1 else None


def spell_output(vocabulary: Vocabulary, encode: Encode, tokens: Sequence[int], run: bytes) -> list[int] | None:
    """The output so far and the run, as the tokenizer cuts them; None where it does not give the same bytes."""
    data = b"".join(vocabulary.pieces[token] for token in tokens) + run
    try:
        spelled = encode_text(vocabulary, encode, data.decode())
    except (UnicodeDecodeError, GuidedVizError):  # half a character, or one that the tokenizer does not know
        return None
    return spelled if b"".join(vocabulary.pieces[token] for token in spelled) == data else None


def encode_text(vocabulary: Vocabulary, encode: Encode, text: str) -> list[int]:
    """The tokens of a text, without those that a tokenizer puts in front of every prompt."""
    return list(dropwhile(vocabulary.special.__contains__, encode(text)))


def _cut(guide: Guide, tokens: Sequence[int], states: Sequence[Any], spelled: list[int], heal: bool) -> Jump | None:
    """What of a spelling may be put; None where a token of it is illegal, or where that is no more than is there."""
    same = shared_length(tokens, spelled)
    new, ways = spelled[same:], [states[same]]
    try:
        for token in new:
            ways.append(guide.advance(ways[-1], token))
    except IllegalToken:
        return None
    keep = _healed(guide, new, ways) if heal else len(new)
    pieces = guide.vocabulary.pieces
    gained = sum(len(pieces[token]) for token in new[:keep]) - sum(len(pieces[token]) for token in tokens[same:])
    return Jump(len(tokens) - same, tuple(new[:keep])) if gained > 0 else None


def _healed(guide: Guide, tokens: Sequence[int], states: Sequence[Hashable]) -> int:
    """How many of these tokens end before the first place from which one legal token goes beyond them all."""
    pieces, left, keep = guide.vocabulary.pieces, b"", len(tokens)
    for place in reversed(range(len(tokens))):
        left = pieces[tokens[place]] + left
        if may_go_beyond(guide, states[place], left):
            keep = place
    return keep


def may_go_beyond(guide: Guide, state: Any, left: bytes) -> bool:
    """Whether a legal token begins with all that is left of a run, and goes on."""
    longer = longer_tokens(guide.vocabulary, left)
    return len(longer) > 0 and bool(guide.mask(state)[longer].any())


@lru_cache(maxsize=4096)
def longer_tokens(vocabulary: Vocabulary, start: bytes) -> Ints:
    """The tokens that begin with these bytes and go on.

    >>> longer_tokens(Vocabulary([b"or", b"order", b"orderId", b"odd"]), b"order")
    array([2])
    """
    pieces, ids = _in_order(vocabulary)
    place = bisect_left(pieces, start)
    found = []
    while place < len(pieces) and pieces[place].startswith(start):
        found += [ids[place]] * (len(pieces[place]) > len(start))
        place += 1
    longer = np.array(found, dtype=np.intp)
    longer.flags.writeable = False  # it is kept
    return longer


@lru_cache(maxsize=8)
def _in_order(vocabulary: Vocabulary) -> tuple[list[bytes], list[int]]:
    ids = sorted(vocabulary.text_ids, key=vocabulary.pieces.__getitem__)
    return [vocabulary.pieces[token] for token in ids], ids
