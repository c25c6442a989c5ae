"""The `pattern` of a string, as a regex that Python writes: JSON Schema uses the regexes of JavaScript."""

import re
import unicodedata
from functools import cache

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.ranges import LAST, Range, merge_ranges, other_ranges
from guidedviz.machines.work import spend

# what the two write differently, inside and outside of a class such as [a-z]
SYNTAX_PIECES = re.compile(
    r"\\u\{(?P<point>[0-9a-fA-F]{1,6})\}"
    r"|\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?P<sign>[pP])\{(?P<property>[^{}]*)\}"
    r"|(?P<group>\(\?<(?![=!]))"
    r"|(?P<any>\[\^\])|(?P<none>\[\])"
    r"|(?P<brace>\{(?=,\d*\}))"
    r"|(?P<open>\[\^?)|(?P<close>\])|\\?.",
    re.DOTALL,
)
OUTSIDE_CLASS = {
    "group": "(?P<",
    "any": "(?s:.)",
    "none": "(?!)",
    "brace": "\\{",  # in JavaScript a text: only {0,3} is a repeat
}
CATEGORY_NAMES = {
    "Letter": "L",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Punctuation": "P",
    "Symbol": "S",
    "Separator": "Z",
    "Other": "C",
}


def to_python(pattern: str) -> str:
    r"""The same regex as Python writes it.

    >>> to_python(r"^(?<year>\d+)\u{1F600}[^]$")
    '^(?P<year>\\d+)\\U0001f600(?s:.)$'
    >>> re.search(to_python(r"^\p{Lu}[\p{Ll}_]+$"), "Ärger") is not None
    True
    """
    written = []
    is_inside = False
    for found in SYNTAX_PIECES.finditer(pattern):
        written.append(rewrite_piece(found, is_inside))
        spend(len(written[-1]))
        if found.lastgroup == "open":
            is_inside = True
        elif found.lastgroup == "close":
            is_inside = False
    return "".join(written)


def rewrite_piece(found: re.Match[str], is_inside: bool) -> str:
    """One piece as Python writes it, inside or outside of a class."""
    kind = found.lastgroup
    if kind == "point":
        return f"\\U{int(found['point'], 16):08x}"
    if kind == "low":
        pair = bytes.fromhex(found["high"] + found["low"])
        return f"\\U{ord(pair.decode('utf-16-be')):08x}"
    if kind == "property":
        ranges = category_class(found["property"], found["sign"] == "P", found.start())
        return ranges if is_inside else f"[{ranges}]"
    if kind in OUTSIDE_CLASS and not is_inside:
        return OUTSIDE_CLASS[kind]
    return "\\[" if is_inside and found[0] == "[" else found[0]


def category_class(name: str, is_negated: bool, place: int) -> str:
    """The characters of a general category as the inside of a class; negated, all other characters."""
    ranges = category_ranges(CATEGORY_NAMES.get(name, name))
    if not ranges:
        seen = quoted(f"\\p{{{name}}}")
        expected = r"a general category, such as \p{L} or \p{Lu}"
        raise PatternError(f"regex, position {place}", seen=seen, expected=expected)
    if is_negated:
        ranges = other_ranges(ranges)
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


@cache
def category_ranges(short: str) -> tuple[Range, ...]:
    """The characters of a general category such as Lu or L."""
    kinds = enumerate(map(unicodedata.category, map(chr, range(LAST + 1))))
    return merge_ranges((code, code) for code, kind in kinds if short and kind.startswith(short))
