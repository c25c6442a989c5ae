"""Jump-forward: forced bytes become tokens without the model. The machine gives the bytes, not how they are cut.

    name[ab]        After "n" the bytes "ame" are forced. They can become the tokens "a" and "me" after the "n", or all
                    can become the one token "name".

SGLang cuts the whole output again with the tokenizer ("canonical", retokenisation). llguidance and xgrammar (pull
request 776) leave the last bytes to the model if a longer token could begin with them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from guidedviz.errors import GuidedVizError
from guidedviz.machines.names import name_bytes, split_names
from guidedviz.tokens.guide import Guide, guide_states
from guidedviz.tokens.vocabulary import Vocabulary, join_pieces, shared_length, spell_longest

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

    `states` are the guide's states before each token and after the last. The `way` says how forced bytes become tokens:
    "canonical" spells the whole output again with `encode`, "longest" takes the longest tokens after those that stand,
    "raw" does so even if a longer token could begin with the last bytes, and "minimal" only takes a single legal token.

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
    state = states[-1]
    run = b"" if way == "minimal" else guide.forced(state)
    heal = way != "raw"
    if not run or (heal and may_go_beyond(guide, state, run)):
        return only_token(guide, state)
    spelled = None
    if way == "canonical":
        spelled = spell_output(guide.reads, encode, tokens, run)
    if spelled is None:
        spelled = [*tokens, *spell_longest(guide.reads, run)]
    return put_spelling(guide, tokens, states, spelled, heal) or only_token(guide, state)


def only_token(guide: Guide, state: Any) -> Jump | None:
    """The only legal token, which may be EOS; None if there are several or none."""
    legal = guide.mask(state).nonzero()[0]
    if len(legal) == 1:
        return Jump(0, (int(legal[0]),))
    return None


def spell_output(vocabulary: Vocabulary, encode: Encode, tokens: Sequence[int], run: bytes) -> list[int] | None:
    """The output and the forced bytes as the tokenizer cuts them; None if its tokens have other bytes."""
    data = join_pieces(vocabulary, tokens) + run
    texts_and_names = split_names(data)
    spelled = []
    try:
        for number, part in enumerate(texts_and_names):
            if number % 2:
                spelled.append(vocabulary.ids(name_bytes(part))[0])
            elif part:
                spelled += encode_text(vocabulary, encode, part.decode())
    except (IndexError, UnicodeDecodeError, GuidedVizError):  # half a character, or one that no token has
        return None
    return spelled if join_pieces(vocabulary, spelled) == data else None


def encode_text(vocabulary: Vocabulary, encode: Encode, text: str) -> list[int]:
    """The tokens of a text, without the special tokens that a tokenizer puts before every prompt."""
    return list(dropwhile(vocabulary.special.__contains__, encode(text)))


def put_spelling(
    guide: Guide, tokens: Sequence[int], states: Sequence[Any], spelled: list[int], heal: bool
) -> Jump | None:
    """The jump to a spelling of the output; None if one of its tokens is illegal, or if it adds no bytes.

    With `heal` the last tokens are left to the model where a legal token begins with all their bytes and goes on.
    """
    same = shared_length(tokens, spelled)
    new = spelled[same:]
    after = guide_states(guide, states[same], new)
    if len(after) <= len(new):
        return None
    vocabulary = guide.reads
    if heal:
        for place in range(len(new)):
            if may_go_beyond(guide, after[place], join_pieces(vocabulary, new[place:])):
                new = new[:place]
                break
    if len(join_pieces(vocabulary, new)) <= len(join_pieces(vocabulary, tokens[same:])):
        return None
    return Jump(len(tokens) - same, tuple(new))


def may_go_beyond(guide: Guide, state: Any, left: bytes) -> bool:
    """Whether a legal token begins with the forced bytes that are left and goes on."""
    longer = guide.reads.longer(left)
    return len(longer) > 0 and bool(guide.mask(state)[longer].any())
