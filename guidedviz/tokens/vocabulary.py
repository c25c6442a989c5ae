"""A vocabulary: the bytes of every token id, the ids that end a text, and the ids that are never text.

Masks and figures need only bytes, so every tokenizer is converted to bytes once, here.

Next: `tokens/trie.py`.
"""

import hashlib
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import index
from pathlib import Path
from typing import Any, Self

import numpy as np

from guidedviz.errors import IllegalToken, VocabularyError, expect, quoted
from guidedviz.machines.visible import visible
from guidedviz.machines.work import grouped
from guidedviz.tokens.readers import LONGEST, read_llama3, read_ranks, read_tekken, read_tokenizer
from guidedviz.tokens.trie import Ids, Mask, Trie, build_trie, read_only


@dataclass(frozen=True, init=False, repr=False)
class Vocabulary:
    """An immutable list of tokens, one bytes object per id.

    A special id keeps its text in `pieces` for people to read, but it is never legal text.

    >>> v = Vocabulary([b"a", b"ab", b"</s>", b"a"], eos={2}, special={2})
    >>> len(v), v.pieces[1], v.ids(b"a"), v.display(2), v
    (4, b'ab', (0, 3), '</s>', Vocabulary(4 tokens, eos 2))
    """

    pieces: tuple[bytes, ...]
    eos: frozenset[int]
    special: frozenset[int]

    def __init__(
        self, pieces: Sequence[bytes], eos: Iterable[int] = frozenset(), special: Iterable[int] = frozenset()
    ) -> None:
        checked = _check_pieces(pieces)
        object.__setattr__(self, "pieces", checked)
        object.__setattr__(self, "eos", _check_ids("eos", eos, len(checked)))
        object.__setattr__(self, "special", _check_ids("special", special, len(checked)))

    def __len__(self) -> int:
        return len(self.pieces)

    def __hash__(self) -> int:
        return hash((len(self), self.eos, self.special))

    def __repr__(self) -> str:
        ends = ", ".join(map(str, sorted(self.eos)[:4])) or "none"
        return f"Vocabulary({len(self):,} tokens, eos {ends})"

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the content: equal vocabularies share it.

        >>> Vocabulary([b"a"]).fingerprint == Vocabulary([b"b"]).fingerprint
        False
        """
        digest = hashlib.sha256()
        for ids in (sorted(self.eos), sorted(self.special), list(map(len, self.pieces))):
            digest.update(struct.pack(f"<Q{len(ids)}Q", len(ids), *ids))
        digest.update(b"".join(self.pieces))
        return digest.hexdigest()[:32]

    @cached_property
    def _ids(self) -> dict[bytes, tuple[int, ...]]:
        found = grouped((piece, token) for token, piece in enumerate(self.pieces))
        return {piece: tuple(tokens) for piece, tokens in found.items()}

    def ids(self, piece: bytes) -> tuple[int, ...]:
        """Every id with exactly these bytes.

        >>> Vocabulary([b"a", b"b", b"a"]).ids(b"a")
        (0, 2)
        """
        return self._ids.get(piece, ())

    def is_text(self, token: int) -> bool:
        """Whether an id may stand for text: it is neither special nor EOS, and it has at least one byte."""
        return bool(self.pieces[token]) and token not in self.eos and token not in self.special

    @cached_property
    def text_ids(self) -> tuple[int, ...]:
        """The ids that may stand for text.

        >>> Vocabulary([b"a", b"", b"</s>"], eos={2}).text_ids
        (0,)
        """
        return tuple(filter(self.is_text, range(len(self))))

    @cached_property
    def order(self) -> Ids:
        """All ids: the text ids in the order of their bytes, then the others.

        >>> Vocabulary([b"b", b"</s>", b"ab", b"a"], eos={1}).order.tolist()
        [3, 2, 0, 1]
        """
        others = (token for token in range(len(self)) if not self.is_text(token))
        return read_only(np.array([*sorted(self.text_ids, key=self.pieces.__getitem__), *others], dtype=np.int32))

    @cached_property
    def rank(self) -> Ids:
        """The position of every id in `order`."""
        rank = np.empty(len(self), dtype=np.int32)
        rank[self.order] = np.arange(len(self))
        return read_only(rank)

    @cached_property
    def longest(self) -> int:
        """The number of bytes of the longest text token."""
        return max((len(self.pieces[token]) for token in self.text_ids), default=0)

    @cached_property
    def trie(self) -> Trie:
        """The pieces of the text ids as a trie."""
        return build_trie(self.pieces, self.order[: len(self.text_ids)])

    def longer(self, start: bytes) -> Ids:
        """The text ids whose bytes begin with these and go on.

        >>> Vocabulary([b"or", b"order", b"orderId", b"odd"]).longer(b"order").tolist()
        [2]
        """
        text = range(len(self.text_ids))
        low = bisect_right(text, start, key=lambda place: self.pieces[self.order[place]])
        high = bisect_right(text, start, key=lambda place: self.pieces[self.order[place]][: len(start)])
        return self.order[low:high]

    def as_id(self, token: Any) -> int:
        """The token id as a plain int; anything else is refused.

        >>> Vocabulary([b"a"]).as_id(1)
        Traceback (most recent call last):
        guidedviz.errors.IllegalToken: token 1: saw no such id, expected 0 to 0
        """
        if (checked := _read_id(token, len(self))) is not None:
            return checked
        hint = "vocabulary.ids(piece) for the ids of a piece" if isinstance(token, bytes) else ""
        raise IllegalToken(f"token {quoted(token)}", seen="no such id", expected=f"0 to {len(self) - 1}", hint=hint)

    @cached_property
    def text_mask(self) -> Mask:
        """The mask that allows all text: every text token and EOS.

        >>> Vocabulary([b"a", b"", b"</s>"], eos={2}).text_mask.tolist()
        [True, False, True]
        """
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[list(self.text_ids)] = True
        return self.with_eos(mask, accepting=True)

    def with_eos(self, mask: Mask, accepting: bool) -> Mask:
        """Allow EOS exactly where the text may end, and make the mask read-only."""
        mask[list(self.eos)] = accepting
        return read_only(mask)

    def display(self, token: int) -> str:
        r"""The token as people read it; never raises.

        >>> v = Vocabulary([b" a\n", b"\xe2", b""])
        >>> [v.display(token) for token in range(4)]
        ['␣a↵', '<0xE2>', '<empty>', '<no token 3>']
        """
        try:
            return visible(self.pieces[self.as_id(token)]) or "<empty>"
        except IllegalToken:
            return f"<no token {quoted(token)}>"

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, size: int | None = None, eos: Iterable[int] | None = None) -> Self:
        """Read a Hugging Face tokenizer; `size` is the width of the model's logits, `eos` replaces the tokenizer's EOS.

        >>> from tokenizers import Tokenizer, models
        >>> Vocabulary.from_tokenizer(Tokenizer(models.WordLevel({"a": 0, "b": 1}, "a")), size=3).pieces
        (b'a', b'b', b'')
        """
        return cls(*read_tokenizer(tokenizer, size, eos))

    @classmethod
    def from_ranks(cls, path: str | Path, special: Sequence[str] = (), eos: Iterable[str] = ()) -> Self:
        """Read a tiktoken rank file; `special` texts get the ids after the last rank, `eos` names some of them."""
        return cls(*read_ranks(Path(path), special, eos))

    @classmethod
    @cache
    def llama3(cls) -> Self:
        """Llama 3's 128,256 tokens, from the installed package `llama-models`."""
        return cls(*read_llama3())

    @classmethod
    @cache
    def tekken(cls) -> Self:
        """Mistral's Tekken, 131,072 tokens, from the installed package `mistral-common`."""
        return cls(*read_tekken())


def _check_pieces(pieces: Sequence[Any]) -> tuple[bytes, ...]:
    if not isinstance(pieces, Sequence) or isinstance(pieces, str | bytes | bytearray):
        expected, hint = "a list of bytes, one per token id", "list(pieces), in the order of the ids"
        raise VocabularyError("vocabulary", seen=quoted(pieces), expected=expected, hint=hint)
    for token, piece in enumerate(pieces):
        if not isinstance(piece, bytes):
            hint = "piece.encode()" if isinstance(piece, str) else ""
            raise VocabularyError(f"vocabulary, token {token}", seen=quoted(piece), expected="bytes", hint=hint)
        if len(piece) > LONGEST:
            where, expected = f"vocabulary, token {token}", f"at most {LONGEST:,}"
            raise VocabularyError(where, seen=f"{len(piece):,} bytes", expected=expected)
    if not pieces:
        raise VocabularyError("vocabulary", seen="no tokens", expected="at least one")
    return tuple(pieces)


def _check_ids(name: str, ids: Iterable[Any], size: int) -> frozenset[int]:
    where = f"vocabulary, {name}"
    if not isinstance(ids, Iterable) or isinstance(ids, str | bytes):
        raise VocabularyError(where, seen=quoted(ids), expected="a set of ids", hint=f"{name}={{{quoted(ids)}}}")
    given = list(ids)
    checked = [_read_id(token, size) for token in given]
    if None in checked:
        seen = quoted(given[checked.index(None)])
        raise VocabularyError(where, seen=seen, expected=f"an id from 0 to {size - 1}")
    return frozenset(token for token in checked if token is not None)


def _read_id(token: Any, size: int) -> int | None:
    """An id as an int; None if it is no id."""
    try:
        return index(token) if token is not True and token is not False and 0 <= index(token) < size else None
    except TypeError:
        return None


def check_vocabulary(vocabulary: object, where: str) -> None:
    """Refuse anything but a Vocabulary."""
    hint = "gv.Vocabulary.from_tokenizer(tokenizer), or model.vocabulary"
    expect(vocabulary, Vocabulary, where, "a Vocabulary", hint)


def fitting_tokens(vocabulary: Vocabulary, text: bytes, start: int) -> list[int]:
    """The text ids whose bytes the text has from this position on, the shortest first.

    >>> fitting_tokens(Vocabulary([b"a", b"ab", b"b", b"ab"]), b"xabc", 1)
    [0, 1, 3]
    """
    ends = range(start + 1, min(start + vocabulary.longest, len(text)) + 1)
    return [token for end in ends for token in vocabulary.ids(text[start:end]) if vocabulary.is_text(token)]


def longest_tokens(vocabulary: Vocabulary, text: bytes) -> Iterator[int]:
    """Cut a text into its longest tokens; the tokenizer itself often chooses other ids.

    >>> list(longest_tokens(Vocabulary([b"a", b"ab", b"b", b"<s>"], special={3}), b"abba"))
    [1, 2, 0]
    """
    start = 0
    while start < len(text):
        found = fitting_tokens(vocabulary, text, start)
        if not found:
            seen = quoted(text[start : start + 1])
            raise VocabularyError("a text in tokens", seen=seen, expected="a byte that some token has")
        token = max(found, key=lambda token: len(vocabulary.pieces[token]))
        yield token
        start += len(vocabulary.pieces[token])


def spell_longest(vocabulary: Vocabulary, text: bytes) -> list[int]:
    """The same as a list; no tokens at all if some byte has none.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> spell_longest(v, b"aba"), spell_longest(v, b"abc")
    ([1, 0], [])
    """
    try:
        return list(longest_tokens(vocabulary, text))
    except VocabularyError:
        return []
