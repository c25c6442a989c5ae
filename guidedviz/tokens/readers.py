"""Read the pieces of a vocabulary: from rank files, and from tokenizers by the rules of their own decoders.

A rank file (Tiktoken, Llama 3, Tekken) has one line per token, its bytes in base64 and its id. A `tokenizer.json` names
its decoder. Three kinds of decoder produce the concatenated bytes of the pieces: byte-level (each character stands for
one byte, GPT-2's alphabet), sentencepiece (`▁` for a space, `<0x41>` for a byte if the decoder has ByteFallback) and
plain (the piece is the text). `Vocabulary` validates what is read and adds the methods.
"""

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from guidedviz.errors import VocabularyError
from guidedviz.extras import Extra, how_to_install
from guidedviz.files import IN_TAB, shipped

Decode = Callable[[str], bytes]
Part = dict[str, Any]  # one JSON object of tokenizer.json
LONGEST = 2**16  # bytes of a token; each byte of the longest one is a level of the trie


class Contents(NamedTuple):
    """The arguments of a `Vocabulary`."""

    pieces: Sequence[bytes]
    eos: Iterable[int]
    special: Iterable[int]


LARGEST = 4_000_000  # ids; real vocabularies are much smaller, so a larger id means a damaged file

LLAMA3_NAMED = (
    "<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>",
    "<|eot_id|>", "<|python_tag|>", "<|image|>",
)  # fmt: skip
LLAMA3_SPECIAL = LLAMA3_NAMED + tuple(f"<|reserved_special_token_{2 + i}|>" for i in range(256 - len(LLAMA3_NAMED)))
LLAMA3_EOS = ("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>")
TEKKEN_NAMED = ("<unk>", "<s>", "</s>", "[INST]", "[/INST]")


def read_ranks(path: Path, special: Sequence[str] = (), eos: Iterable[str] = ()) -> Contents:
    """Read a rank file; the special texts get the ids after the last rank.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "three.tiktoken"
    >>> _ = file.write_text("YQ== 0\\nYg== 1\\nYWI= 2\\n")
    >>> found = read_ranks(file, special=["<end>"], eos=["<end>"])
    >>> found.pieces, found.eos
    ([b'a', b'b', b'ab', b'<end>'], {3})
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        seen = error.strerror or str(error)
        raise VocabularyError(f"rank file {path}", seen=seen, expected="a readable file") from error
    ranks: dict[int, bytes] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            text, rank = line.split()
            piece, value = b64decode(text, validate=True), int(rank)
        except (ValueError, binascii.Error):
            piece, value = b"", -1
        if not 0 <= value < LARGEST or value in ranks:
            seen = repr(line[:40].decode("utf-8", "replace"))
            expected = f"base64, a blank and a new rank below {LARGEST:,}, such as 'YQ== 0'"
            raise VocabularyError(f"rank file {path.name}, line {number}", seen=seen, expected=expected)
        ranks[value] = piece
    if not ranks:
        raise VocabularyError(f"rank file {path.name}", seen="no ranks", expected="lines such as 'YQ== 0'")
    pieces = [ranks.get(rank, b"") for rank in range(1 + max(ranks))]
    ids = {text: len(pieces) + place for place, text in enumerate(special)}
    ends = list(eos)
    if unknown := [text for text in ends if text not in ids]:
        raise VocabularyError("rank file", seen=f"EOS {unknown[0]!r}", expected="one of the special texts")
    return Contents(pieces + [text.encode() for text in special], {ids[text] for text in ends}, set(ids.values()))


def _package_file(package: str, pattern: str, extra: Extra) -> Path:
    """A data file of an installed package, found without importing the package; in a tab, a file of the site."""
    spec = find_spec(package)
    if IN_TAB and not spec:
        return shipped(f"{package}/{pattern}")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if found := sorted(Path(folder).glob(pattern)):
            return found[-1]
    seen = f"no {pattern} in package {package}" if spec else f"no package {package}"
    raise VocabularyError("vocabulary", seen=seen, expected="it installed", hint=how_to_install(extra))


def read_llama3() -> Contents:
    """128,000 ranks and 256 special tokens."""
    return read_ranks(_package_file("llama_models", "llama3/tokenizer.model", "lab"), LLAMA3_SPECIAL, LLAMA3_EOS)


def read_tekken() -> Contents:
    """1,000 special tokens, then the ranks up to 131,072 tokens."""
    path = _package_file("mistral_common", "data/tekken_*.json", "engines")
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        size, first = content["config"]["default_vocab_size"], content["config"]["default_num_special_tokens"]
        text = [b64decode(entry["token_bytes"]) for entry in content["vocab"][: size - first]]
    except (ValueError, KeyError, TypeError) as error:
        raise VocabularyError(f"tekken file {path.name}", seen=str(error), expected="Mistral's tekken JSON") from error
    names = [*TEKKEN_NAMED, *(f"<SPECIAL_{token}>" for token in range(len(TEKKEN_NAMED), first))]
    return Contents([name.encode() for name in names] + text, {2}, range(first))


KNOWN = "byte-level BPE, sentencepiece (Metaspace, or Replace with ByteFallback), or single characters"
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# These split a text at spaces and drop the spaces, so the concatenated pieces are not the text.
DROPS_BLANKS = frozenset({"Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit"})


def read_tokenizer(tokenizer: Any, size: int | None = None, eos: Iterable[int] | None = None) -> Contents:
    """A vocabulary of `size` ids from a tokenizer of transformers or of tokenizers.

    >>> from tokenizers import Tokenizer, decoders, models
    >>> letters = Tokenizer(models.WordLevel({"▁": 0, "a": 1}, "a"))
    >>> letters.decoder = decoders.Metaspace()
    >>> read_tokenizer(letters).pieces
    [b' ', b'a']
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str"):
        expected, hint = "one with a tokenizer.json inside", "transformers.AutoTokenizer.from_pretrained(name)"
        raise VocabularyError("tokenizer", seen=type(tokenizer).__name__, expected=expected, hint=hint)
    pieces, special = _read_json(json.loads(backend.to_str()))
    special |= set(getattr(tokenizer, "all_special_ids", ()))
    if eos is None:
        own = getattr(tokenizer, "eos_token_id", None)
        eos = own if isinstance(own, list) else [own] if own is not None else []
    ends, width = frozenset(eos), 1 + max(pieces, default=-1) if size is None else size
    if width < 1 or (lost := sorted(token for token in ends if token >= width)):
        seen = f"{width} ids" + (f", EOS {lost[0]}" if width > 0 else "")
        raise VocabularyError("tokenizer", seen=seen, expected="a size that holds at least one id and every EOS")
    return Contents([pieces.get(token, b"") for token in range(width)], ends, {one for one in special if one < width})


def _read_json(config: Part) -> tuple[dict[int, bytes], set[int]]:
    decode, model = _decode_of(config), config["model"]
    texts: dict[str, int] | list[tuple[str, float]] | None = model.get("vocab")
    if isinstance(texts, list):  # Unigram: the id is the index
        texts = {text: token for token, (text, _) in enumerate(texts)}
    if not isinstance(texts, dict):
        raise VocabularyError("tokenizer model", seen=str(model.get("type")), expected=KNOWN)
    added: list[Part] = config.get("added_tokens") or []
    special = {int(token["id"]) for token in added if token["special"]}
    special |= {token for token in (model.get("unk_id"), texts.get(model.get("unk_token"))) if token is not None}
    pieces = {token: text.encode() if token in special else decode(text) for text, token in texts.items()}
    for token in added:  # an added token that is not in the model's vocabulary is literal text
        pieces.setdefault(int(token["id"]), token["content"].encode())
    return pieces, special


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
    replaced: list[tuple[str, str]] = []  # in each piece
    kinds = [part["type"] for part in decoders]
    for place, part in enumerate(decoders):
        kind = part["type"]
        if kind == "Metaspace":
            replaced.append((part["replacement"], " "))
        elif kind == "Replace" and "String" in part["pattern"]:
            replaced.append((part["pattern"]["String"], part["content"]))
        elif kind not in ("ByteFallback", "Fuse") and not (kind == "Strip" and "Fuse" in kinds[:place]):
            raise VocabularyError("tokenizer decoder", seen=kind, expected=KNOWN)  # after Fuse it strips the whole text
    return partial(_decode_plain, replaced, "ByteFallback" in kinds)


def _decode_plain(replaced: list[tuple[str, str]], fallback: bool, text: str) -> bytes:
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
