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
    """The bytes of every token, and the special tokens."""
    decode = _decode_of(config)
    model = config["model"]
    texts = _texts_of(model)
    added: list[JsonPart] = config.get("added_tokens") or []
    special = {int(token["id"]) for token in added if token["special"]}
    special |= {model.get("unk_id"), texts.get(model.get("unk_token"))} - {None}
    pieces = {}
    for text, token in texts.items():
        pieces[token] = text.encode() if token in special else decode(text)
    for part in added:  # an added token that is not in the model's vocabulary is literal text
        pieces.setdefault(int(part["id"]), part["content"].encode())
    return pieces, special


def _texts_of(model: JsonPart) -> dict[str, int]:
    """The id of every text."""
    texts = model.get("vocab")
    if isinstance(texts, list):  # Unigram: the id is the index
        return {text: token for token, (text, _) in enumerate(texts)}
    if not isinstance(texts, dict):
        raise VocabularyError("tokenizer model", seen=str(model.get("type")), expected=KNOWN_DECODERS)
    return texts


def flat_parts(part: JsonPart | None, children: str) -> Iterator[JsonPart]:
    """A decoder or pre-tokenizer as a flat list: a Sequence is replaced by its items."""
    if part is not None and part["type"] == "Sequence":
        for child in part[children]:
            yield from flat_parts(child, children)
    elif part is not None:
        yield part


def _decode_of(config: JsonPart) -> Callable[[str], bytes]:
    """What turns the text of a token into its bytes."""
    decoders = list(flat_parts(config.get("decoder"), "decoders"))
    kinds = [part["type"] for part in decoders]
    before = {part["type"] for part in flat_parts(config.get("pre_tokenizer"), "pretokenizers")}
    if "ByteLevel" in before or "ByteLevel" in kinds:
        return decode_byte_level
    dropping = sorted(before & DROPS_BLANKS)
    if dropping:
        raise VocabularyError("tokenizer", seen=f"{dropping[0]}, which drops blanks", expected=KNOWN_DECODERS)
    return partial(_decode_plain, _replaced_by(decoders), "ByteFallback" in kinds)


def _replaced_by(decoders: list[JsonPart]) -> list[tuple[str, str]]:
    """What the decoders replace in each piece."""
    replaced = []
    fused = False  # a later decoder sees the whole text
    for part in decoders:
        kind = part["type"]
        if kind == "Metaspace":
            replaced.append((part["replacement"], " "))
        elif kind == "Replace" and "String" in part["pattern"]:
            replaced.append((part["pattern"]["String"], part["content"]))
        elif kind == "Fuse":
            fused = True
        elif kind != "ByteFallback" and not (kind == "Strip" and fused):
            raise VocabularyError("tokenizer decoder", seen=kind, expected=KNOWN_DECODERS)
    return replaced


def _decode_plain(replaced: list[tuple[str, str]], fallback: bool, text: str) -> bytes:
    byte = BYTE_TOKEN.fullmatch(text)
    if byte and fallback:
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
