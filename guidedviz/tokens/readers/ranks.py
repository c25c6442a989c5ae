"""Rank files, the format of Tiktoken, Llama 3 and Tekken: one line per token, its bytes in base64 and its id."""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from guidedviz.errors import VocabularyError
from guidedviz.extras import Extra, how_to_install
from guidedviz.tokens.readers.contents import Contents

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
        if line.strip():
            rank, piece = _read_line(path, number, line)
            if rank in ranks:
                raise _damaged(path, number, f"rank {rank} again", "each rank once")
            ranks[rank] = piece
    if not ranks:
        raise VocabularyError(f"rank file {path.name}", seen="no ranks", expected="lines such as 'YQ== 0'")
    return _with_special([ranks.get(rank, b"") for rank in range(1 + max(ranks))], special, eos)


def _damaged(path: Path, number: int, seen: str, expected: str) -> VocabularyError:
    return VocabularyError(f"rank file {path.name}, line {number}", seen=seen, expected=expected)


def _read_line(path: Path, number: int, line: bytes) -> tuple[int, bytes]:
    expected = "base64, a blank and a rank, such as 'YQ== 0'"
    try:
        text, rank = line.split()
        piece, value = b64decode(text, validate=True), int(rank)
    except (ValueError, binascii.Error) as error:
        raise _damaged(path, number, repr(line[:40].decode("utf-8", "replace")), expected) from error
    if not 0 <= value < LARGEST:
        raise _damaged(path, number, f"rank {value}", f"0 to {LARGEST - 1}")
    return value, piece


def _with_special(pieces: list[bytes], special: Sequence[str], eos: Iterable[str]) -> Contents:
    ids = {text: len(pieces) + place for place, text in enumerate(special)}
    for text in (ends := list(eos)):
        if text not in ids:
            raise VocabularyError("rank file", seen=f"EOS {text!r}", expected="one of the special texts")
    return Contents(pieces + [text.encode() for text in special], {ids[text] for text in ends}, set(ids.values()))


def _package_file(package: str, pattern: str, extra: Extra) -> Path:
    """A data file of an installed package, found without importing the package."""
    spec = find_spec(package)
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
