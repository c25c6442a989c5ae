"""Tokenize with the rules of a tokenizer.json: split the text by a pattern, then merge pairs of pieces by their rank.

It reads byte-level BPE, as Llama 3 and GPT-2 have it, and single characters. Other kinds need the package tokenizers.
Python's `re` knows no kinds of characters, so each character is replaced by one that stands for its kind, and a pattern
is matched with these.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain
from pathlib import Path
from typing import Any

from guidedviz.errors import quoted
from guidedviz.models.chat import any_of, encode_parts
from guidedviz.models.weights import damaged, read_json
from guidedviz.tokens.token_bytes import byte_alphabet, flat_parts

LETTER_CLASS = "a-zA-Zª"  # as classes of the kinds of characters
NUMBER_CLASS = "0-9²"
WORD_PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+"
REST_PATTERN = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN2 = rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|{WORD_PATTERN}|\p{{N}}|{REST_PATTERN}"
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|")
CLERK = rf"{WORD_PATTERN}|\p{{N}}|{REST_PATTERN}"
SINGLE_DIGIT = r"\p{N}|[^\p{N}]+"
EVERY_CHARACTER = r"[\s\S]"


class _Kinds(dict[int, str]):
    """Each character outside ASCII as one that stands for its kind: ª a letter, ² a number, ¡ anything else."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if 0x1C <= code <= 0x1F:
            kind = "¡"  # re takes these for white space, tokenizers do not
        elif code < 0x80:
            kind = char
        elif char.isspace():
            kind = "\u00a0"
        else:
            first = unicodedata.category(char)[0]
            kind = {"L": "ª", "N": "²"}.get(first, "¡")
        self[code] = kind
        return kind


CHARACTER_KINDS = _Kinds()


def compile_split(pattern: str) -> re.Pattern[str]:
    r"""A tokenizer's pattern for Python's `re`, to be matched with the kinds of a text's characters.

    >>> compile_split(r"\p{N}{1,3}| ?[^\s\p{L}]+").pattern
    '[0-9²]{1,3}| ?[^\\sa-zA-Zª]+'
    """

    def inside_brackets(found: re.Match[str]) -> str:
        return found[0].replace(r"\p{L}", LETTER_CLASS).replace(r"\p{N}", NUMBER_CLASS)

    inside = re.sub(r"\[.*?\]", inside_brackets, pattern)
    return re.compile(inside.replace(r"\p{L}", f"[{LETTER_CLASS}]").replace(r"\p{N}", f"[{NUMBER_CLASS}]"))


# A file may name these patterns only: another one could take very long on some texts, or skip a part of them.
KNOWN_PATTERNS = {
    pattern: compile_split(pattern) for pattern in (GPT2, QWEN2, LLAMA3, CLERK, SINGLE_DIGIT, EVERY_CHARACTER)
}


def split_word(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """The parts of a text by a pattern, which is matched with the kinds of its characters."""
    for match in pattern.finditer(text.translate(CHARACTER_KINDS)):
        yield text[match.start() : match.end()]


KNOWN_TOKENIZERS = "byte-level BPE or single characters"
MOST_ID = 1 << 22
MOST_ADDED = 4_096  # tokens that are text, of which one regex is made
MOST_AROUND = 64  # special tokens around a text
MOST_SPLITS = 16  # parts of a pre-tokenizer


class Tokenizer:
    """The tokenizer of a model folder.

    >>> from guidedviz.files import shipped
    >>> Tokenizer(shipped("models/bard")).encode("ROMEO")
    [30, 27, 25, 17, 27]
    """

    def __init__(self, folder: Path) -> None:
        file = folder / "tokenizer.json"
        self._config = read_json(file)
        try:
            self._read(self._config, self._config["model"])
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError, re.error) as error:
            seen = f"{type(error).__name__} {quoted(str(error))}"
            raise damaged(file, seen, KNOWN_TOKENIZERS) from None
        about = folder / "tokenizer_config.json"
        self.names = dict[str, str]()
        if about.exists():
            for key, text in read_json(about).items():
                text = text.get("content") if isinstance(text, dict) else text
                if key.endswith("_token") and isinstance(text, str):
                    self.names[key] = text
        self.eos_token_id = self._ids.get(self.names.get("eos_token", ""))

    def _read(self, config: dict[str, Any], model: dict[str, Any]) -> None:
        self.special = dict[str, int]()
        self._added = dict[str, int]()
        for part in config["added_tokens"]:
            piece, token = _check_token(part["content"], part["id"])
            if not piece:
                raise ValueError("an added token without text")
            kind = self.special if part["special"] else self._added
            kind[piece] = token
        self._splitter = any_of(self.special)
        if len(self._added) > MOST_ADDED:
            raise ValueError(f"{len(self._added):,} added tokens")
        self._literal = any_of(self._added)
        for piece, token in model["vocab"].items():
            _check_token(piece, token)
        self._ids: dict[str, int] = self.special | self._added | model["vocab"]
        self._normal = config["normalizer"] is not None
        if self._normal and config["normalizer"]["type"] != "NFC":
            raise ValueError(f"the normalizer {config['normalizer']['type']}")
        self._read_pre_tokenizer(config, model)
        self._whole = bool(model.get("ignore_merges"))
        self._around = _around(config.get("post_processor"))

    def _read_pre_tokenizer(self, config: dict[str, Any], model: dict[str, Any]) -> None:
        """How a text is split, whether its bytes or its characters are looked up, and how they are merged."""
        before = list(flat_parts(config["pre_tokenizer"], "pretokenizers"))
        if len(before) > MOST_SPLITS:
            raise ValueError(f"{len(before):,} parts of the pre-tokenizer")
        patterns = map(_pattern, before)
        self._patterns = [KNOWN_PATTERNS[pattern] for pattern in patterns if pattern]
        bytes_too = any(part["type"] == "ByteLevel" for part in before)
        self._letters = {byte: char for char, byte in byte_alphabet().items()} if bytes_too else None
        self._ranks = _ranks(model)
        if (model["type"] == "BPE") != bytes_too:
            raise ValueError(f"{model['type']} with {', '.join(part['type'] for part in before)}")
        _check_decoder(config.get("decoder"), bytes_too)

    def to_str(self) -> str:
        """The text of tokenizer.json, from which a `Vocabulary` is read."""
        return json.dumps(self._config)

    def encode(self, text: str) -> list[int]:
        """A text as tokens; the text of a special token is plain text."""
        return [*self._around[0], *self.encode_plain(text), *self._around[1]]

    def encode_plain(self, text: str) -> list[int]:
        """A text as tokens, without those that stand around every text."""
        if self._normal:
            text = unicodedata.normalize("NFC", text)
        tokens = list[int]()
        for part in self._literal.split(text):
            tokens += self._encode_part(part)
        return tokens

    def encode_special(self, text: str) -> list[int]:
        """A text in which the texts of special tokens stand for them."""
        return encode_parts(self, self._splitter.split(text))

    def _encode_part(self, text: str) -> list[int]:
        if text in self._added:
            return [self._added[text]]
        words = [text]
        for pattern in self._patterns:
            words = [part for word in words for part in split_word(pattern, word)]
        pieces = chain.from_iterable(map(self._pieces, words))
        return [self._ids[piece] for piece in pieces]

    def _pieces(self, word: str) -> list[str]:
        if self._letters is None:
            return [word]
        symbols = [self._letters[byte] for byte in word.encode()]
        whole = "".join(symbols)
        if self._whole and whole in self._ids:
            return [whole]
        return merge(symbols, self._ranks)


def merge(symbols: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    """Byte-pair encoding: merge the neighbours with the lowest rank until no pair has a rank (arXiv 1508.07909).

    >>> merge(list("lower"), {("e", "r"): 0, ("l", "o"): 1, ("lo", "w"): 2})
    ['low', 'er']
    """
    pieces: list[str] = [*symbols]
    before = [*range(-1, len(pieces) - 1)]  # the place of the neighbour on the left
    after = [*range(1, len(pieces)), -1]  # on the right
    pairs: list[tuple[int, int, str, str]] = []  # a heap: rank, place, and the two pieces when they were found

    def find(place: int) -> None:
        if place >= 0 and after[place] >= 0:
            pair = pieces[place], pieces[after[place]]
            if pair in ranks:
                heappush(pairs, (ranks[pair], place, *pair))

    for place in range(len(pieces)):
        find(place)
    while pairs:
        _, place, one, other = heappop(pairs)
        gone = after[place]
        if gone < 0 or (pieces[place], pieces[gone]) != (one, other):
            continue  # one of the two was merged meanwhile
        pieces[place] = one + other
        pieces[gone] = ""
        after[place] = after[gone]
        if after[place] >= 0:
            before[after[place]] = place
        find(before[place])
        find(place)
    return [piece for piece in pieces if piece]


def _check_decoder(part: dict[str, Any] | None, bytes_too: bool) -> None:
    """Refuse a decoder that changes the characters of a piece; those of bytes are known."""
    kinds = {decoder["type"] for decoder in flat_parts(part, "decoders")}
    if not bytes_too and kinds - {"Fuse"}:
        raise ValueError(f"the decoder {', '.join(sorted(kinds))}")


def _pattern(part: dict[str, Any]) -> str:
    """The pattern by which a part of the pre-tokenizer splits a text; "" if it does not split."""
    match part:
        case {"type": "ByteLevel", "add_prefix_space": False, "use_regex": regex}:
            return GPT2 if regex else ""
        case {"type": "Digits", "individual_digits": True}:
            return SINGLE_DIGIT
        case {"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Isolated", "invert": False}:
            if pattern in KNOWN_PATTERNS:
                return pattern
    raise ValueError(f"the pre-tokenizer {part}")


def _check_token(piece: Any, token: Any) -> tuple[str, int]:
    """Refuse what is not a text and an id."""
    if type(token) is not int or not 0 <= token < MOST_ID:
        raise ValueError(f"the id {quoted(token)}")
    piece.encode()  # refuses lone surrogates
    return piece, token


def _ranks(model: dict[str, Any]) -> dict[tuple[str, str], int]:
    """The rank of every pair that is merged."""
    unknown = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback")
    strange = [key for key in unknown if model.get(key)]
    if strange:
        raise ValueError(f"{model['type']} with {strange[0]}")
    ranks = {}
    for rank, pair in enumerate(model.get("merges", ())):
        one, other = pair.split(" ") if isinstance(pair, str) else pair
        if one + other not in model["vocab"]:
            raise ValueError(f"a merge into {one + other}, which is no token")
        ranks[one, other] = rank
    return ranks


def _around(part: dict[str, Any] | None) -> tuple[list[int], list[int]]:
    """The special tokens that the tokenizer puts before and after a text."""
    around: tuple[list[int], list[int]] = ([], [])
    for template in flat_parts(part, "processors"):
        if template["type"] == "TemplateProcessing":
            side = around[0]
            for item in template["single"]:
                if "Sequence" in item:
                    side = around[1]
                if "SpecialToken" in item:
                    ids = template["special_tokens"][item["SpecialToken"]["id"]]["ids"]
                    side += (_check_token("", token)[1] for token in ids)
                    if len(side) > MOST_AROUND:
                        raise ValueError(f"more than {MOST_AROUND} tokens around a text")
        elif template["type"] != "ByteLevel":
            raise ValueError(f"the post-processor {template['type']}")
    return around
