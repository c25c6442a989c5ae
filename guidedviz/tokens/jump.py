"""Jump-forward: forced bytes become tokens without the model. The machine gives the bytes, not how they are cut.

SGLang cuts the whole output again with the tokenizer ("canonical", retokenisation). llguidance and xgrammar (pull
request 776) leave the last bytes to the model if a longer token could begin with them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from guidedviz.errors import GuidedVizError
from guidedviz.tokens.guide import Guide, guide_states
from guidedviz.tokens.spelling import spell_longest
from guidedviz.tokens.vocabulary import Vocabulary

SPELLING_WAYS = ("canonical", "longest", "minimal", "raw")
Encode = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Jump:
    """Take back this many of the last tokens, and put these tokens in their place."""

    back: int
    tokens: tuple[int, ...]


def find_jump(
    guide: Guide, encode: Encode, tokens: Sequence[int], states: Sequence[Any], way: str = SPELLING_WAYS[0]
) -> Jump | None:
    """The tokens that can be put after these without a forward pass; None if the model must choose.

    `states` are the guide's states before each token and after the last.

    >>> v = gv.Vocabulary([b"n", b"a", b"m", b"e", b"na", b"me", b"name", b"ab", b"b"])
    >>> g = gv.guide(gv.regex("name[ab]"), v)
    >>> encode = lambda text: spell_longest(v, text.encode())
    >>> find_jump(g, encode, [], [g.initial], "canonical")
    Jump(back=0, tokens=(6,))
    >>> find_jump(g, encode, [0], [g.initial, g.advance(g.initial, 0)], "canonical")
    Jump(back=1, tokens=(6,))
    >>> find_jump(g, encode, [0], [g.initial, g.advance(g.initial, 0)], "longest")
    Jump(back=0, tokens=(1, 5))
    """
    run = b"" if way == "minimal" else guide.forced(states[-1])
    if not run or (way != "raw" and may_go_beyond(guide, states[-1], run)):
        return only_token(guide, states[-1])
    spelled = spell_output(guide.vocabulary, encode, tokens, run) if way == "canonical" else None
    if spelled is None:
        spelled = [*tokens, *spell_longest(guide.vocabulary, run)]
    return _cut(guide, tokens, states, spelled, heal=way != "raw") or only_token(guide, states[-1])


def only_token(guide: Guide, state: Any) -> Jump | None:
    """The only legal token, which may be EOS; None if there are several or none."""
    legal = guide.mask(state).nonzero()[0]
    return Jump(0, (int(legal[0]),)) if len(legal) == 1 else None


def spell_output(vocabulary: Vocabulary, encode: Encode, tokens: Sequence[int], run: bytes) -> list[int] | None:
    """The output and the run as the tokenizer cuts them; None if its tokens have other bytes."""
    data = b"".join(vocabulary.pieces[token] for token in tokens) + run
    try:
        spelled = encode_text(vocabulary, encode, data.decode())
    except (UnicodeDecodeError, GuidedVizError):  # half a character, or one that the tokenizer does not know
        return None
    return spelled if b"".join(vocabulary.pieces[token] for token in spelled) == data else None


def encode_text(vocabulary: Vocabulary, encode: Encode, text: str) -> list[int]:
    """The tokens of a text, without the special tokens that a tokenizer puts before every prompt."""
    return list(dropwhile(vocabulary.special.__contains__, encode(text)))


def _cut(guide: Guide, tokens: Sequence[int], states: Sequence[Any], spelled: list[int], heal: bool) -> Jump | None:
    """The tokens of a spelling to put; None if one of them is illegal, or if they add no bytes."""
    same = shared_length(tokens, spelled)
    new = spelled[same:]
    ways = guide_states(guide, states[same], new)
    if len(ways) <= len(new):
        return None
    pieces, left, keep = guide.vocabulary.pieces, b"", len(new)
    for place in reversed(range(len(new) * heal)):  # a position from which one legal token goes beyond the run
        left = pieces[new[place]] + left
        keep = place if may_go_beyond(guide, ways[place], left) else keep
    gained = sum(len(pieces[token]) for token in new[:keep]) - sum(len(pieces[token]) for token in tokens[same:])
    return Jump(len(tokens) - same, tuple(new[:keep])) if gained > 0 else None


def may_go_beyond(guide: Guide, state: Any, left: bytes) -> bool:
    """Whether a legal token begins with the rest of a run and goes on."""
    longer = guide.vocabulary.longer(left)
    return len(longer) > 0 and bool(guide.mask(state)[longer].any())


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """The number of elements two sequences have in common at their start.

    >>> shared_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
