"""Convert a tokenizer's pieces to bytes by the rules of its own decoder, without guessing from single tokens.

A `tokenizer.json` names its decoder. Three kinds of decoder produce the concatenated bytes of the pieces:
byte-level (each character stands for one byte, GPT-2's alphabet), sentencepiece (`▁` for a space, `<0x41>` for a
byte if the decoder has ByteFallback) and plain (the piece is the text).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from guidedviz.errors import VocabularyError
from guidedviz.tokens.readers.contents import LONGEST, Contents

Decode = Callable[[str], bytes]
Part = dict[str, Any]  # one JSON object of tokenizer.json

KNOWN = "byte-level BPE, sentencepiece (Metaspace, or Replace with ByteFallback), or single characters"
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# These split a text at spaces and drop the spaces, so the concatenated pieces are not the text.
DROPS_BLANKS = frozenset({"Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit"})


def read_tokenizer(tokenizer: Any, size: int | None = None, eos: Iterable[int] | None = None) -> Contents:
    """A vocabulary of `size` ids from a Hugging Face, `tokenizers`, sentencepiece or tiktoken tokenizer.

    >>> from tokenizers import Tokenizer, decoders, models
    >>> letters = Tokenizer(models.WordLevel({"▁": 0, "a": 1}, "a"))
    >>> letters.decoder = decoders.Metaspace()
    >>> read_tokenizer(letters).pieces
    [b' ', b'a']
    """
    pieces, special = _read_pieces(tokenizer)
    ends = _own_eos(tokenizer) if eos is None else frozenset(eos)
    known = 1 + max(pieces, default=-1)
    width = known if size is None else size
    _check_size(width, ends)
    contents = [pieces.get(token, b"") for token in range(width)]
    return Contents(contents, ends, {token for token in special if token < width}, min(known, width))


def _check_size(width: int, eos: frozenset[int]) -> None:
    lost = sorted(token for token in eos if token >= width)
    if width < 1 or lost:
        seen = f"{width} ids" + (f", EOS {lost[0]}" if lost else "")
        raise VocabularyError("tokenizer", seen=seen, expected="a size that holds at least one id and every EOS")


def _read_pieces(tokenizer: Any) -> tuple[dict[int, bytes], set[int]]:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "to_str"):
        pieces, special = _read_json(json.loads(backend.to_str()))
        return pieces, special | set(getattr(tokenizer, "all_special_ids", ()))
    processor = getattr(tokenizer, "sp_model", tokenizer)
    if hasattr(processor, "id_to_piece"):
        return _read_sentencepiece(processor)
    if hasattr(tokenizer, "token_byte_values"):
        return _read_tiktoken(tokenizer)
    expected, hint = "one with a tokenizer.json inside", "transformers.AutoTokenizer.from_pretrained(name)"
    raise VocabularyError("tokenizer", seen=type(tokenizer).__name__, expected=expected, hint=hint)


def _own_eos(tokenizer: Any) -> frozenset[int]:
    if hasattr(tokenizer, "special_tokens_set"):  # tiktoken; its property `eot_token` raises if there is no such token
        ends = tokenizer.special_tokens_set & {"<|endoftext|>"}
        return frozenset(map(tokenizer.encode_single_token, ends))
    found = tokenizer.eos_token_id if hasattr(tokenizer, "eos_token_id") else _eos_method(tokenizer)
    return frozenset(token for token in (found if isinstance(found, list) else [found]) if token is not None)


def _eos_method(tokenizer: Any) -> int | None:
    """The EOS id of sentencepiece; None if it is -1, which means no such token."""
    token = tokenizer.eos_id() if callable(getattr(tokenizer, "eos_id", None)) else -1
    return None if token < 0 else token


def _read_json(config: Part) -> tuple[dict[int, bytes], set[int]]:
    decode = _decode_of(config)
    model: dict[str, int] = _model_vocabulary(config["model"])
    added: list[Part] = config.get("added_tokens") or []
    special = {int(token["id"]) for token in added if token["special"]}
    special |= _unknown_ids(config["model"], model)
    pieces = {token: text.encode() if token in special else decode(text) for text, token in model.items()}
    for token in added:  # an added token that is not in the model's vocabulary is literal text
        pieces.setdefault(int(token["id"]), token["content"].encode())
    return pieces, special


def _unknown_ids(model: Part, ids: dict[str, int]) -> set[int]:
    """The id of the unknown token, which has no text."""
    if model.get("unk_id") is not None:  # Unigram
        return {int(model["unk_id"])}
    return {ids[model["unk_token"]]} if model.get("unk_token") in ids else set()


def _model_vocabulary(model: Part) -> dict[str, int]:
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, dict):
        return vocabulary
    if isinstance(vocabulary, list):  # Unigram: [text, score]; the id is the index
        return {text: token for token, (text, _) in enumerate(vocabulary)}
    raise VocabularyError("tokenizer model", seen=str(model.get("type")), expected=KNOWN)


def flat_parts(part: Part | None, children: str) -> Iterator[Part]:
    """A decoder or pre-tokenizer as a flat list: a Sequence is replaced by its items."""
    if part is not None and part["type"] == "Sequence":
        for child in part[children]:
            yield from flat_parts(child, children)
    elif part is not None:
        yield part


def _decode_of(config: Part) -> Decode:
    decoders = list(flat_parts(config.get("decoder"), "decoders"))
    before = {part["type"] for part in flat_parts(config.get("pre_tokenizer"), "pretokenizers")}
    if "ByteLevel" in before or any(part["type"] == "ByteLevel" for part in decoders):
        return decode_byte_level
    if dropping := sorted(before & DROPS_BLANKS):
        raise VocabularyError("tokenizer", seen=f"{dropping[0]}, which drops blanks", expected=KNOWN)
    replaced, fallback = _read_decoders(decoders)
    return lambda text: _decode_plain(text, replaced, fallback)


def _read_decoders(decoders: list[Part]) -> tuple[list[tuple[str, str]], bool]:
    """The strings that the decoder replaces in each piece, and whether `<0x41>` is a byte."""
    replaced: list[tuple[str, str]] = []
    fallback = fused = False
    for part in decoders:
        kind = part["type"]
        if kind == "Metaspace":
            replaced.append((part["replacement"], " "))
        elif kind == "Replace" and "String" in part["pattern"]:
            replaced.append((part["pattern"]["String"], part["content"]))
        elif kind == "ByteFallback":
            fallback = True
        elif kind == "Fuse":
            fused = True
        elif not (kind == "Strip" and fused):  # after Fuse it strips the whole text, not a piece
            raise VocabularyError("tokenizer decoder", seen=kind, expected=KNOWN)
    return replaced, fallback


def _decode_plain(text: str, replaced: list[tuple[str, str]], fallback: bool) -> bytes:
    if fallback and (byte := BYTE_TOKEN.fullmatch(text)):
        return bytes([int(byte[1], 16)])
    for old, new in replaced:
        if len(text) + text.count(old) * len(new) > LONGEST:
            raise VocabularyError("tokenizer decoder", seen="a Replace that makes a token very long", expected=KNOWN)
        text = text.replace(old, new)
    return text.encode()


def byte_alphabet() -> dict[str, int]:
    """GPT-2's alphabet: every byte as a printable character.

    >>> alphabet = byte_alphabet()
    >>> len(alphabet), alphabet["A"], alphabet["Ġ"], alphabet["Ċ"]
    (256, 65, 32, 10)
    """
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printing]
    return {chr(byte): byte for byte in printing} | {chr(256 + i): byte for i, byte in enumerate(others)}


_ALPHABET = byte_alphabet()


def decode_byte_level(text: str) -> bytes:
    """The bytes of a byte-level piece; a text with other characters is encoded as UTF-8.

    >>> decode_byte_level("Ġhi"), decode_byte_level("two blanks")
    (b' hi', b'two blanks')
    """
    try:
        return bytes([_ALPHABET[character] for character in text])
    except KeyError:
        return text.encode()


def _read_sentencepiece(processor: Any) -> tuple[dict[int, bytes], set[int]]:
    size = processor.get_piece_size()
    special = {token for token in range(size) if processor.is_control(token) or processor.is_unknown(token)}
    pieces = {}
    for token in range(size):
        text = processor.id_to_piece(token)
        plain = token in special
        pieces[token] = text.encode() if plain else _decode_plain(text, [("▁", " ")], processor.is_byte(token))
    return pieces, special


def _read_tiktoken(encoding: Any) -> tuple[dict[int, bytes], set[int]]:
    special = {encoding.encode_single_token(text) for text in encoding.special_tokens_set}
    pieces = {}
    for token in range(encoding.n_vocab):
        try:
            pieces[token] = encoding.decode_single_token_bytes(token)
        except KeyError:
            pieces[token] = b""  # an unused id between the ranks and the special tokens
    return pieces, special
