"""The patterns by which tokenizers split a text into words, for Python's `re`, which knows no kinds of characters.

Each character is replaced by one that stands for its kind, and the pattern is matched with these.
"""

import re
import unicodedata

LETTERS, NUMBERS = "a-zA-Zª", "0-9²"  # as classes of the kinds of characters
WORD, REST = r"[^\r\n\p{L}\p{N}]?\p{L}+", r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN2 = rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|{WORD}|\p{{N}}|{REST}"
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|")
CLERK, DIGIT, CHARACTER = rf"{WORD}|\p{{N}}|{REST}", r"\p{N}|[^\p{N}]+", r"[\s\S]"


class _Kinds(dict[int, str]):
    """Each character outside ASCII as one that stands for its kind: ª a letter, ² a number, ¡ anything else."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code < 0x80:
            kind = "¡" if 0x1C <= code <= 0x1F else char  # re takes these for white space, tokenizers do not
        else:
            kind = "\u00a0" if char.isspace() else {"L": "ª", "N": "²"}.get(unicodedata.category(char)[0], "¡")
        self[code] = kind
        return kind


KINDS = _Kinds()


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""A tokenizer's pattern for Python's `re`, to be matched with the kinds of a text's characters.

    >>> compile_pattern(r"\p{N}{1,3}| ?[^\s\p{L}]+").pattern
    '[0-9²]{1,3}| ?[^\\sa-zA-Zª]+'
    """
    inside = re.sub(r"\[.*?\]", lambda found: found[0].replace(r"\p{L}", LETTERS).replace(r"\p{N}", NUMBERS), pattern)
    return re.compile(inside.replace(r"\p{L}", f"[{LETTERS}]").replace(r"\p{N}", f"[{NUMBERS}]"))


# A file may name these patterns only: another one could take very long on some texts, or skip a part of them.
PATTERNS = {pattern: compile_pattern(pattern) for pattern in (GPT2, QWEN2, LLAMA3, CLERK, DIGIT, CHARACTER)}
