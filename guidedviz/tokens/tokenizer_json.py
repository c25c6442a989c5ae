"""The bytes of the tokens in a `tokenizer.json`, which names its decoder.

Three kinds of decoder produce the concatenated bytes of the pieces: byte-level (each character stands for one byte,
GPT-2's alphabet), sentencepiece (`▁` for a space, `<0x41>` for a byte if the decoder has ByteFallback) and plain (the
piece is the text).
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from guidedviz.errors import VocabularyError

LONGEST_TOKEN = 2**16  # bytes of a token; each byte of the longest one is a level of the trie
KNOWN_DECODERS = "byte-level BPE, sentencepiece (Metaspace, or Replace with ByteFallback), or single characters"
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# These split a text at spaces and drop the spaces, so the concatenated pieces are not the text.
DROPS_BLANKS = frozenset({"Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit"})
JsonPart = dict[str, Any]  # one JSON object of tokenizer.json


def read_tokenizer_json(config: JsonPart) -> tuple[dict[int, bytes], set[int]]:
    decode, model = _decode_of(config), config["model"]
    texts: dict[str, int] | list[tuple[str, float]] | None = model.get("vocab")
    if isinstance(texts, list):  # Unigram: the id is the index
        texts = {text: token for token, (text, _) in enumerate(texts)}
    if not isinstance(texts, dict):
        raise VocabularyError("tokenizer model", seen=str(model.get("type")), expected=KNOWN_DECODERS)
    added: list[JsonPart] = config.get("added_tokens") or []
    special = {int(token["id"]) for token in added if token["special"]}
    special |= {token for token in (model.get("unk_id"), texts.get(model.get("unk_token"))) if token is not None}
    pieces = {token: text.encode() if token in special else decode(text) for text, token in texts.items()}
    for token in added:  # an added token that is not in the model's vocabulary is literal text
        pieces.setdefault(int(token["id"]), token["content"].encode())
    return pieces, special


def flat_parts(part: JsonPart | None, children: str) -> Iterator[JsonPart]:
    """A decoder or pre-tokenizer as a flat list: a Sequence is replaced by its items."""
    if part is not None and part["type"] == "Sequence":
        for child in part[children]:
            yield from flat_parts(child, children)
    elif part is not None:
        yield part


def _decode_of(config: JsonPart) -> Callable[[str], bytes]:
    decoders = list(flat_parts(config.get("decoder"), "decoders"))
    before = {part["type"] for part in flat_parts(config.get("pre_tokenizer"), "pretokenizers")}
    if "ByteLevel" in before or any(part["type"] == "ByteLevel" for part in decoders):
        return decode_byte_level
    if dropping := sorted(before & DROPS_BLANKS):
        raise VocabularyError("tokenizer", seen=f"{dropping[0]}, which drops blanks", expected=KNOWN_DECODERS)
    replaced: list[tuple[str, str]] = []  # in each piece
    kinds = [part["type"] for part in decoders]
    for place, part in enumerate(decoders):
        kind = part["type"]
        if kind == "Metaspace":
            replaced.append((part["replacement"], " "))
        elif kind == "Replace" and "String" in part["pattern"]:
            replaced.append((part["pattern"]["String"], part["content"]))
        elif kind not in ("ByteFallback", "Fuse") and not (kind == "Strip" and "Fuse" in kinds[:place]):
            raise VocabularyError(
                "tokenizer decoder", seen=kind, expected=KNOWN_DECODERS
            )  # after Fuse it strips the whole text
    return partial(_decode_plain, replaced, "ByteFallback" in kinds)


def _decode_plain(replaced: list[tuple[str, str]], fallback: bool, text: str) -> bytes:
    if fallback and (byte := BYTE_TOKEN.fullmatch(text)):
        return bytes([int(byte[1], 16)])
    for old, new in replaced:
        if len(text) + text.count(old) * len(new) > LONGEST_TOKEN:
            raise VocabularyError(
                "tokenizer decoder", seen="a Replace that makes a token very long", expected=KNOWN_DECODERS
            )
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
