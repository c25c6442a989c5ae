"""Rank files (Tiktoken, Llama 3, Tekken) have one line per token: its bytes in base64, and its id.

YQ== 0
Yg== 1
"""

import json
from base64 import b64decode
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
LLAMA3_SPECIAL = LLAMA3_NAMED + tuple(f"<|reserved_special_token_{2 + i}|>" for i in range(256 - len(LLAMA3_NAMED)))
LLAMA3_EOS = ("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>")
TEKKEN_NAMED = ("<unk>", "<s>", "</s>", "[INST]", "[/INST]")


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
        text = [b64decode(entry["token_bytes"]) for entry in content["vocab"][: size - specials]]
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
        found = [path for folder in spec.submodule_search_locations or () for path in Path(folder).glob(pattern)]
        if found:
            return max(found)
    raise VocabularyError("vocabulary", seen=seen, expected="it installed", hint=how_to_install(extra))
