"""A vocabulary: which bytes every token id stands for, which ids end a text, and which are no text at all.

Everything downstream (trie, mask, figure) asks only for bytes, so each tokenizer is turned into bytes here and once.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Any

from guidedviz.errors import VocabularyError
from guidedviz.machines.visible import byte_name, visible


@dataclass(frozen=True, init=False, repr=False)
class Vocabulary:
    """One bytes object a token id: a frozen value.

    A special id keeps its text in `pieces` for people to read, but it is never legal text.

    >>> v = Vocabulary([b"a", b"ab", b"</s>", b"a"], eos={2}, special={2})
    >>> len(v), v.pieces[1], v.ids(b"a"), v.display(2), v
    (4, b'ab', (0, 3), '</s>', Vocabulary(4 tokens, eos 2))
    """

    pieces: tuple[bytes, ...]
    eos: frozenset[int]
    special: frozenset[int]
    tokenizer_size: int  # ids from here on are padding of the model's output, unknown to its tokenizer

    def __init__(
        self,
        pieces: Sequence[bytes],
        eos: Iterable[int] = frozenset(),
        special: Iterable[int] = frozenset(),
        *,
        tokenizer_size: int | None = None,
    ) -> None:
        checked = _check_pieces(pieces)
        object.__setattr__(self, "pieces", checked)
        object.__setattr__(self, "eos", _check_ids("eos", eos, len(checked)))
        object.__setattr__(self, "special", _check_ids("special", special, len(checked)))
        object.__setattr__(self, "tokenizer_size", len(checked) if tokenizer_size is None else tokenizer_size)

    def __len__(self) -> int:
        return len(self.pieces)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        ends = ", ".join(map(str, sorted(self.eos)[:4])) or "none"
        return f"Vocabulary({len(self):,} tokens, eos {ends})"

    @cached_property
    def fingerprint(self) -> str:
        """A name for the content: equal vocabularies share it, any other byte changes it.

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
        found: dict[bytes, list[int]] = {}
        for token, piece in enumerate(self.pieces):
            found.setdefault(piece, []).append(token)
        return {piece: tuple(tokens) for piece, tokens in found.items()}

    def ids(self, piece: bytes) -> tuple[int, ...]:
        """Every id with exactly these bytes.

        >>> Vocabulary([b"a", b"b", b"a"]).ids(b"a")
        (0, 2)
        """
        return self._ids.get(piece, ())

    @cached_property
    def text_ids(self) -> tuple[int, ...]:
        """The ids that may stand for text: not special, not EOS, and with at least one byte.

        >>> Vocabulary([b"a", b"", b"</s>"], eos={2}).text_ids
        (0,)
        """
        never = self.eos | self.special
        return tuple(token for token, piece in enumerate(self.pieces) if piece and token not in never)

    def display(self, token: int) -> str:
        r"""The token as people read it; never raises.

        >>> v = Vocabulary([b" a\n", b"\xe2", b""])
        >>> [v.display(token) for token in range(4)]
        ['␣a↵', '<0xE2>', '<empty>', '<no token 3>']
        """
        if not 0 <= token < len(self):
            return f"<no token {token}>"
        return visible(self.pieces[token]) or "<empty>"

    def audit(self) -> Audit:
        """What is odd about this vocabulary, so that a mask does not surprise.

        >>> print(Vocabulary([b"a", b"a", b""], eos={2}).audit())
        3 tokens
        missing bytes: 255 (<0x00> to <0xFF>), so some text cannot be written
        same bytes as another id: 2 tokens, first 0
        no bytes: 1 token, first 2
        """
        return _audit(self)

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, size: int | None = None, eos: Iterable[int] | None = None) -> Vocabulary:
        """Out of a Hugging Face tokenizer; `size` is the width of the model's logits, `eos` replaces its own EOS.

        >>> from tokenizers import Tokenizer, models
        >>> Vocabulary.from_tokenizer(Tokenizer(models.WordLevel({"a": 0, "b": 1}, "a")), size=3).pieces
        (b'a', b'b', b'')
        """
        from guidedviz.tokens.tokenizers import read_tokenizer

        return read_tokenizer(tokenizer, size, eos)

    @classmethod
    def from_ranks(cls, path: str | Path, special: Sequence[str] = (), eos: Iterable[str] = ()) -> Vocabulary:
        """Out of a tiktoken rank file; `special` texts get the ids after the last rank, `eos` names some of them."""
        from guidedviz.tokens.ranks import read_ranks

        return read_ranks(Path(path), special, eos)

    @classmethod
    def llama3(cls) -> Vocabulary:
        """Llama 3's 128,256 tokens, out of the installed package `llama-models`."""
        from guidedviz.tokens.ranks import read_llama3

        return read_llama3()

    @classmethod
    def tekken(cls) -> Vocabulary:
        """Mistral's Tekken, 131,072 tokens, out of the installed package `mistral-common`."""
        from guidedviz.tokens.ranks import read_tekken

        return read_tekken()


@dataclass(frozen=True)
class Audit:
    """What is odd about a vocabulary. `str()` of it is for people."""

    size: int
    missing_bytes: tuple[int, ...]  # no token is just this byte, so some text cannot be written
    duplicates: tuple[tuple[int, ...], ...]  # ids with the same bytes, legal or forbidden together
    special: tuple[int, ...]
    eos: tuple[int, ...]
    empty: tuple[int, ...]  # known to the tokenizer, but without bytes
    beyond: tuple[int, ...]  # padding of the model's output
    not_utf8: tuple[int, ...]  # pieces that start or end inside a character

    def __str__(self) -> str:
        twins = tuple(token for group in self.duplicates for token in group)
        lines = [_count(self.size), self._missing_line(), _line("same bytes as another id", twins)]
        lines += [_line("special, never legal text", self.special), _line("no bytes", self.empty)]
        lines += [_line("beyond the tokenizer", self.beyond), _line("not UTF-8 alone", self.not_utf8)]
        lines += ["" if self.eos else "no EOS: a text ends when nothing more is legal"]
        return "\n".join(line for line in lines if line)

    def _missing_line(self) -> str:
        if not self.missing_bytes:
            return ""
        low, high = (byte_name(byte) for byte in (self.missing_bytes[0], self.missing_bytes[-1]))
        return f"missing bytes: {len(self.missing_bytes)} ({low} to {high}), so some text cannot be written"


def _count(number: int) -> str:
    return f"{number:,} token" + ("" if number == 1 else "s")


def _line(what: str, tokens: tuple[int, ...]) -> str:
    return f"{what}: {_count(len(tokens))}, first {tokens[0]}" if tokens else ""


def _audit(vocabulary: Vocabulary) -> Audit:
    known = range(min(vocabulary.tokenizer_size, len(vocabulary)))
    text = vocabulary.text_ids
    single = {vocabulary.pieces[token] for token in text}
    legal = frozenset(text)
    groups = (tuple(t for t in ids if t in legal) for ids in vocabulary._ids.values() if len(ids) > 1)
    return Audit(
        size=len(vocabulary),
        missing_bytes=tuple(byte for byte in range(256) if bytes([byte]) not in single),
        duplicates=tuple(group for group in groups if len(group) > 1),
        special=tuple(sorted(vocabulary.special)),
        eos=tuple(sorted(vocabulary.eos)),
        empty=tuple(token for token in known if not vocabulary.pieces[token]),
        beyond=tuple(range(len(known), len(vocabulary))),
        not_utf8=tuple(token for token in text if not _is_utf8(vocabulary.pieces[token])),
    )


def _is_utf8(piece: bytes) -> bool:
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _check_pieces(pieces: Sequence[Any]) -> tuple[bytes, ...]:
    if isinstance(pieces, bytes | str):
        raise VocabularyError("vocabulary", seen=repr(pieces)[:40], expected="a list of bytes, one a token id")
    for token, piece in enumerate(pieces):
        if not isinstance(piece, bytes):
            hint = "piece.encode()" if isinstance(piece, str) else ""
            raise VocabularyError(f"vocabulary, token {token}", seen=repr(piece)[:40], expected="bytes", hint=hint)
    if not pieces:
        raise VocabularyError("vocabulary", seen="no tokens", expected="at least one")
    return tuple(pieces)


def _check_ids(name: str, ids: Iterable[Any], size: int) -> frozenset[int]:
    where = f"vocabulary, {name}"
    if not isinstance(ids, Iterable) or isinstance(ids, str | bytes):
        raise VocabularyError(where, seen=repr(ids), expected="a set of ids", hint=f"{name}={{{ids!r}}}")
    return frozenset(_check_id(where, token, size) for token in ids)


def _check_id(where: str, token: Any, size: int) -> int:
    try:
        if not isinstance(token, bool) and 0 <= index(token) < size:
            return index(token)
    except TypeError:
        pass
    raise VocabularyError(where, seen=repr(token), expected=f"an id from 0 to {size - 1}")
