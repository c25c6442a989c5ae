"""A vocabulary: the bytes of every token id, the ids that end a text, and the ids that are never text.

Masks and figures need only bytes, so every tokenizer is converted to bytes once (`tokens/token_bytes.py`). The
functions at the end cut a text into tokens.

Next: `tokens/trie.py`.
"""

import hashlib
import json
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import index
from pathlib import Path
from typing import Any, Self, cast
from weakref import WeakKeyDictionary

import numpy as np

from guidedviz import lazy
from guidedviz.errors import IllegalToken, PatternError, SpelledTokenWarning, VocabularyError, expect, nearest, quoted
from guidedviz.machines.graph import grouped
from guidedviz.machines.machine import Machine
from guidedviz.machines.names import is_free, is_name, is_text, name_bytes
from guidedviz.machines.special import names_in
from guidedviz.machines.visible import visible
from guidedviz.tokens.arrays import Ids, Mask, read_only
from guidedviz.tokens.token_bytes import (
    LLAMA3_EOS,
    LLAMA3_SPECIAL,
    LONGEST_TOKEN,
    package_file,
    read_rank_file,
    read_tekken,
    read_tokenizer_json,
)
from guidedviz.tokens.trie import Trie, build_trie


@dataclass(frozen=True, init=False, repr=False)
class Vocabulary:
    """An immutable list of tokens, one bytes object per id.

    A special id keeps its text in `pieces` for people to read, but it is never legal text: a machine reads its name.

    >>> v = gv.Vocabulary([b"a", b"ab", b"</s>", b"a"], eos={2}, special={2})
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

    _repr_html_ = lazy.show_html

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the content: equal vocabularies share it.

        >>> Vocabulary([b"a"]).fingerprint == Vocabulary([b"b"]).fingerprint
        False
        """
        digest = hashlib.sha256()
        lengths = list(map(len, self.pieces))
        for ids in (sorted(self.eos), sorted(self.special), lengths):
            numbers = np.array([len(ids), *ids], "<u8")
            digest.update(numbers.tobytes())
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
        """Whether an id may stand for text: it has at least one byte, and it is neither special nor EOS.

        An EOS counts as text where the machine reads its name (`read_by`).
        """
        piece = self.pieces[token]
        return bool(piece) and token not in self.special and (token not in self.eos or is_name(piece))

    @cached_property
    def special_ids(self) -> dict[str, tuple[int, ...]]:
        """The ids of each special token, EOS too, by its text.

        >>> Vocabulary([b"a", b"</s>", b"<x>", b"<x>"], eos={1}, special={2, 3}).special_ids
        {'</s>': (1,), '<x>': (2, 3)}
        """
        named = ((self.pieces[token], token) for token in sorted(self.special | self.eos))
        found = grouped((piece.decode(), token) for piece, token in named if piece and is_text(piece))
        return {name: tuple(ids) for name, ids in found.items()}

    def special_names(self, first: int, last: int) -> list[str]:
        """The texts of the special ids from one to another; an id of a text, or of nothing, is refused."""
        name_of = {token: name for name, ids in self.special_ids.items() for token in ids}
        names = []
        for token in range(first, last + 1):
            if token not in name_of:
                seen = f"id {token}, which is {quoted(self.display(token))}"
                raise PatternError("ids", seen=seen, expected="special tokens", hint="write the text of a text token")
            names.append(name_of[token])
        return names

    @cached_property
    def named(self) -> "Vocabulary":
        """The same ids for a machine that reads special tokens: each of these has its name for its bytes.

        Bytes that stand around names are in no text, so a text piece with one of them is left out.

        >>> Vocabulary([b"a", b"</s>", b"\\xff"], eos={1}).named.pieces
        (b'a', b'\\xff</s>\\xfe', b'')
        """
        pieces = [piece if is_free(piece) else b"" for piece in self.pieces]
        for token in self.special | self.eos:
            pieces[token] = b""
        for name, ids in self.special_ids.items():
            for token in ids:
                pieces[token] = name_bytes(name)
        return Vocabulary(pieces, self.eos)

    def read_by(self, machine: Machine[Any]) -> "Vocabulary":
        """The vocabulary as a machine reads it: with the names of special tokens, if it can read one."""
        return self.named if machine.reads_names else self

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
        text = sorted(self.text_ids, key=self.pieces.__getitem__)
        others = (token for token in range(len(self)) if not self.is_text(token))
        return read_only(np.array([*text, *others], dtype=np.int32))

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

        def piece(place: int) -> bytes:
            token = int(self.order[place])
            return self.pieces[token]

        text = range(len(self.text_ids))
        low = bisect_right(text, start, key=piece)
        high = bisect_right(text, start, key=lambda place: piece(place)[: len(start)])
        return self.order[low:high]

    def as_id(self, token: Any) -> int:
        """The token id as a plain int; anything else is refused.

        >>> Vocabulary([b"a"]).as_id(1)
        Traceback (most recent call last):
        guidedviz.errors.IllegalToken: token 1: saw no such id, expected 0 to 0
        """
        checked = read_id(token, len(self))
        if checked is not None:
            return checked
        where = f"token {quoted(token)}"
        expected = f"0 to {len(self) - 1}"
        hint = "vocabulary.ids(piece) for the ids of a piece" if isinstance(token, bytes) else ""
        raise IllegalToken(where, seen="no such id", expected=expected, hint=hint)

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
        if accepting:
            mask[list(self.eos)] = True
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

        >>> from tokenizers import Tokenizer, decoders, models
        >>> letters = Tokenizer(models.WordLevel({"▁": 0, "a": 1}, "a"))
        >>> letters.decoder = decoders.Metaspace()
        >>> Vocabulary.from_tokenizer(letters, size=3).pieces
        (b' ', b'a', b'')
        """
        backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
        if not hasattr(backend, "to_str"):
            seen = type(tokenizer).__name__
            hint = "transformers.AutoTokenizer.from_pretrained(name)"
            raise VocabularyError("tokenizer", seen=seen, expected="one with a tokenizer.json inside", hint=hint)
        pieces, special = read_tokenizer_json(json.loads(backend.to_str()))
        special |= set(getattr(tokenizer, "all_special_ids", ()))
        if eos is None:
            own: Any = getattr(tokenizer, "eos_token_id", None)
            eos = own if isinstance(own, list) else [own]
        ends = frozenset(eos) - {None}  # a tokenizer may name none
        width = size
        if width is None:
            width = 1 + max(pieces, default=-1)
        _check_width(width, ends)
        special = {token for token in special if token < width}
        return cls([pieces.get(token, b"") for token in range(width)], ends, special)

    @classmethod
    def from_ranks(cls, path: str | Path, special: Sequence[str] = (), eos: Iterable[str] = ()) -> Self:
        """Read a tiktoken rank file; `special` texts get the ids after the last rank, `eos` names some of them.

        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "three.tiktoken"
        >>> _ = file.write_text("YQ== 0\\nYg== 1\\nYWI= 2\\n")
        >>> Vocabulary.from_ranks(file, special=["<end>"], eos=["<end>"]).pieces
        (b'a', b'b', b'ab', b'<end>')
        """
        pieces = read_rank_file(Path(path))
        ids = {text: token for token, text in enumerate(special, len(pieces))}
        ends = list(eos)
        unknown = [text for text in ends if text not in ids]
        if unknown:
            raise VocabularyError("rank file", seen=f"EOS {unknown[0]!r}", expected="one of the special texts")
        pieces += [text.encode() for text in special]
        return cls(pieces, {ids[text] for text in ends}, ids.values())

    @classmethod
    @cache
    def llama3(cls) -> Self:
        """Llama 3's 128,000 ranks and 256 special tokens, from the installed package `llama-models`."""
        path = package_file("llama_models", "llama3/tokenizer.model", "lab")
        return cls.from_ranks(path, LLAMA3_SPECIAL, LLAMA3_EOS)

    @classmethod
    @cache
    def tekken(cls) -> Self:
        """Mistral's Tekken from the package `mistral-common`: 1,000 special tokens, then the ranks up to 131,072."""
        path = package_file("mistral_common", "data/tekken_*.json", "engines")
        pieces, specials = read_tekken(path)
        return cls(pieces, {2}, range(specials))


def _check_width(width: int, ends: frozenset[int]) -> None:
    lost = [token for token in ends if token >= width]
    seen = f"{width} ids"
    if width > 0 and lost:
        seen += f", EOS {min(lost)}"
    if width < 1 or lost:
        raise VocabularyError("tokenizer", seen=seen, expected="a size that holds at least one id and every EOS")


def _check_pieces(pieces: Sequence[Any]) -> tuple[bytes, ...]:
    if not isinstance(pieces, Sequence) or isinstance(pieces, str | bytes | bytearray):
        hint = "list(pieces), in the order of the ids"
        expected = "a list of bytes, one per token id"
        raise VocabularyError("vocabulary", seen=quoted(pieces), expected=expected, hint=hint)
    for token, piece in enumerate(pieces):
        if not isinstance(piece, bytes):
            hint = "piece.encode()" if isinstance(piece, str) else ""
            where = f"vocabulary, token {token}"
            raise VocabularyError(where, seen=quoted(piece), expected="bytes", hint=hint)
        if len(piece) > LONGEST_TOKEN:
            where = f"vocabulary, token {token}"
            seen = f"{len(piece):,} bytes"
            raise VocabularyError(where, seen=seen, expected=f"at most {LONGEST_TOKEN:,}")
    if not pieces:
        raise VocabularyError("vocabulary", seen="no tokens", expected="at least one")
    return tuple(pieces)


def _check_ids(name: str, ids: Iterable[Any], size: int) -> frozenset[int]:
    where = f"vocabulary, {name}"
    if not isinstance(ids, Iterable) or isinstance(ids, str | bytes):
        hint = f"{name}={{{quoted(ids)}}}"
        raise VocabularyError(where, seen=quoted(ids), expected="a set of ids", hint=hint)
    checked = set[int]()
    for token in ids:
        number = read_id(token, size)
        if number is None:
            raise VocabularyError(where, seen=quoted(token), expected=f"an id from 0 to {size - 1}")
        checked.add(number)
    return frozenset(checked)


def read_id(token: Any, size: int) -> int | None:
    """An id as an int; None if it is no id."""
    if isinstance(token, bool):
        return None
    try:
        number = index(token)
    except TypeError:
        return None
    return number if 0 <= number < size else None


def check_names(machine: Machine[Any], vocabulary: Vocabulary) -> None:
    """Refuse a machine that names a special token which the vocabulary lacks; warn of a text that looks like one."""
    for text in machine.marks:
        if text in vocabulary.special_ids:
            said = f"guide: {quoted(text)} is a text here, and the special token with this text is not allowed"
            warnings.warn(f"{said}; try: gv.special({text!r})", SpelledTokenWarning, stacklevel=3)
    if not machine.reads_names:
        return
    missing = names_in(machine) - vocabulary.special_ids.keys()
    if missing:
        name = min(missing)
        seen = f"the special token {visible(name.encode())}"
        near = nearest(name, vocabulary.special_ids)
        raise VocabularyError("guide", seen=seen, expected="a special token of the vocabulary", hint=near)


READ_TOKENIZERS: WeakKeyDictionary[Any, tuple[int, Vocabulary]] = WeakKeyDictionary()  # with their sizes then


def as_vocabulary(given: Any, where: str) -> Vocabulary:
    """The vocabulary, or that of a tokenizer of transformers, which is read once."""
    if not hasattr(given, "backend_tokenizer"):
        check_vocabulary(given, where)
        return cast(Vocabulary, given)
    size, known = READ_TOKENIZERS.get(given, (0, None))
    if known is None or size != len(given):  # tokens may have been added
        known = Vocabulary.from_tokenizer(given)
        READ_TOKENIZERS[given] = (len(given), known)
    return known


def check_vocabulary(vocabulary: object, where: str) -> None:
    """Refuse anything but a Vocabulary."""
    hint = "gv.Vocabulary.from_tokenizer(tokenizer), or model.vocabulary"
    expect(vocabulary, Vocabulary, where, "a Vocabulary", hint)


def fitting_tokens(vocabulary: Vocabulary, text: bytes, start: int) -> list[int]:
    """The text ids whose bytes the text has from this position on, the shortest first.

    >>> fitting_tokens(Vocabulary([b"a", b"ab", b"b", b"ab"]), b"xabc", 1)
    [0, 1, 3]
    """
    last = min(start + vocabulary.longest, len(text))
    found: list[int] = []
    for end in range(start + 1, last + 1):
        found += filter(vocabulary.is_text, vocabulary.ids(text[start:end]))
    return found


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


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """The number of elements that two sequences have in common at their start.

    >>> shared_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    for place, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return place
    return min(len(one), len(other))


def join_pieces(vocabulary: Vocabulary, tokens: Iterable[int]) -> bytes:
    """The bytes of some tokens, one after the other."""
    return b"".join(vocabulary.pieces[token] for token in tokens)
