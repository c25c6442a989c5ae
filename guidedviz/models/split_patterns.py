"""The patterns by which tokenizers split a text into words, for Python's `re`, which knows no kinds of characters.

Each character is replaced by one that stands for its kind, and the pattern is matched with these.
"""

import re
import unicodedata
from collections.abc import Iterator

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
