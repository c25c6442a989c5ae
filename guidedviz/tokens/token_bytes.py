"""The bytes of every token, read from the files that tokenizers come in.

A rank file (Tiktoken, Llama 3, Tekken) has one line per token: its bytes in base64, and its id, such as `YQ== 0`. A
`tokenizer.json` names its decoder. Three kinds of decoder produce the concatenated bytes of the pieces: byte-level
(each character stands for one byte, GPT-2's alphabet), sentencepiece (`▁` for a space, `<0x41>` for a byte if the
decoder has ByteFallback) and plain (the piece is the text).
"""

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from guidedviz.errors import VocabularyError
from guidedviz.extras import Extra, how_to_install
from guidedviz.files import IN_TAB, shipped

LARGEST_ID = 4_000_000  # real vocabularies are much smaller, so a larger id means a damaged file
LLAMA3_NAMED = (
    "<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>",
    "<|eot_id|>", "<|python_tag|>", "<|image|>",
)  # fmt: skip
LLAMA3_RESERVED = range(2, 2 + 256 - len(LLAMA3_NAMED))
LLAMA3_SPECIAL = LLAMA3_NAMED + tuple(f"<|reserved_special_token_{number}|>" for number in LLAMA3_RESERVED)
LLAMA3_EOS = ("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>")
TEKKEN_NAMED = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip


def read_rank_file(path: Path) -> list[bytes]:
    """The bytes of every id of a rank file."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        seen = error.strerror or str(error)
        raise VocabularyError(f"rank file {path}", seen=seen, expected="a readable file") from error
    pieces: dict[int, bytes] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        rank, piece = read_rank_line(line)
        if not 0 <= rank < LARGEST_ID or rank in pieces:
            seen = repr(line[:40].decode("utf-8", "replace"))
            expected = f"base64, a blank and a new rank below {LARGEST_ID:,}, such as 'YQ== 0'"
            raise VocabularyError(f"rank file {path.name}, line {number}", seen=seen, expected=expected)
        pieces[rank] = piece
    if not pieces:
        raise VocabularyError(f"rank file {path.name}", seen="no ranks", expected="lines such as 'YQ== 0'")
    return [pieces.get(rank, b"") for rank in range(1 + max(pieces))]


def read_rank_line(line: bytes) -> tuple[int, bytes]:
    """The rank and the bytes in a line; rank -1 if there are none.

    >>> read_rank_line(b"YQ== 7"), read_rank_line(b"a")
    ((7, b'a'), (-1, b''))
    """
    try:
        text, rank = line.split()
        return int(rank), b64decode(text, validate=True)
    except ValueError:  # binascii.Error, too
        return -1, b""


def read_tekken(path: Path) -> tuple[list[bytes], int]:
    """The bytes of every id of Mistral's Tekken, and how many first ids are special."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        size = content["config"]["default_vocab_size"]
        specials = content["config"]["default_num_special_tokens"]
        entries = content["vocab"][: size - specials]
        text = [b64decode(entry["token_bytes"]) for entry in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise VocabularyError(f"tekken file {path.name}", seen=str(error), expected="Mistral's tekken JSON") from error
    unnamed = (f"<SPECIAL_{token}>" for token in range(len(TEKKEN_NAMED), specials))
    names = [*TEKKEN_NAMED, *unnamed]
    return [name.encode() for name in names] + text, specials


def package_file(package: str, pattern: str, extra: Extra) -> Path:
    """A data file of an installed package, found without importing the package; in a tab, a file of the site."""
    spec = find_spec(package)
    if IN_TAB and not spec:
        return shipped(f"{package}/{pattern}")
    seen = f"no package {package}"
    if spec:
        seen = f"no {pattern} in package {package}"
        found = list[Path]()
        for folder in spec.submodule_search_locations or ():
            found += Path(folder).glob(pattern)
        if found:
            return max(found)
    raise VocabularyError("vocabulary", seen=seen, expected="it installed", hint=how_to_install(extra))


LONGEST_TOKEN = 2**16  # bytes of a token; each byte of the longest one is a level of the trie
KNOWN_DECODERS = "byte-level BPE, sentencepiece (Metaspace, or Replace with ByteFallback), or single characters"
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# These split a text at spaces and drop the spaces, so the concatenated pieces are not the text.
DROPS_BLANKS = frozenset({"Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit"})
JsonPart = dict[str, Any]  # one JSON object of tokenizer.json


# An added token of this form is special, whatever the file says: Qwen's file says that <think> is not.
MARK = re.compile(r"<\|?/?[a-z_]+\|?>|\[/?[A-Z_]+\]")


def read_tokenizer_json(config: JsonPart) -> tuple[dict[int, bytes], set[int]]:
    """The bytes of every token, and the special tokens."""
    decode = _decode_of(config)
    model = config["model"]
    texts = _texts_of(model)
    added: list[JsonPart] = config.get("added_tokens") or []
    unknown = texts.get(model.get("unk_token"))
    special = {model.get("unk_id"), unknown} - {None}
    for part in added:
        if part["special"] or MARK.fullmatch(part["content"]):
            special.add(int(part["id"]))
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
