"""The `pattern` of a string, as a regex that Python writes: JSON Schema uses the regexes of JavaScript."""

import re
import unicodedata
from functools import cache

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.syntax import LAST, Range, merge_ranges, other_ranges
from guidedviz.machines.work import spend

# what the two write differently, inside and outside of a class such as [a-z]
PIECES = re.compile(
    r"\\u\{(?P<point>[0-9a-fA-F]{1,6})\}"
    r"|\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?P<sign>[pP])\{(?P<property>[^{}]*)\}"
    r"|(?P<group>\(\?<(?![=!]))"
    r"|(?P<any>\[\^\])|(?P<none>\[\])"
    r"|(?P<brace>\{(?=,\d*\}))"
    r"|(?P<open>\[\^?)|(?P<close>\])|\\?.",
    re.DOTALL,
)
CATEGORIES = {"Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Number": "N", "Decimal_Number": "Nd"}
CATEGORIES |= {"digit": "Nd", "Mark": "M", "Punctuation": "P", "Symbol": "S", "Separator": "Z", "Other": "C"}


def to_python(pattern: str) -> str:
    r"""The same regex as Python writes it.

    >>> to_python(r"^(?<year>\d+)\u{1F600}[^]$")
    '^(?P<year>\\d+)\\U0001f600(?s:.)$'
    >>> re.search(to_python(r"^\p{Lu}[\p{Ll}_]+$"), "Ärger") is not None
    True
    """
    written, inside = [], False
    for found in PIECES.finditer(pattern):
        written.append(_piece(found, inside))
        spend(len(written[-1]))
        inside = found.lastgroup == "open" or (inside and found.lastgroup != "close")
    return "".join(written)


def _piece(found: re.Match[str], inside: bool) -> str:
    match found.lastgroup:
        case "point":
            return f"\\U{int(found['point'], 16):08x}"
        case "low":
            high, low = int(found["high"], 16) - 0xD800, int(found["low"], 16) - 0xDC00
            return f"\\U{0x10000 + (high << 10) + low:08x}"
        case "property":
            ranges = _category(found["property"], found["sign"] == "P", found.start())
            return ranges if inside else f"[{ranges}]"
        case "group" if not inside:
            return "(?P<"
        case "any" if not inside:
            return "(?s:.)"
        case "none" if not inside:
            return "(?!)"
        case "brace" if not inside:
            return "\\{"  # in JavaScript a text: only {0,3} is a repeat
    return "\\[" if inside and found[0] == "[" else found[0]


def _category(name: str, other: bool, place: int) -> str:
    """The characters of a general category as the inside of a class; with `other`, all other characters."""
    ranges = category_ranges(CATEGORIES.get(name, name))
    if not ranges:
        where, expected = f"regex, position {place}", r"a general category, such as \p{L} or \p{Lu}"
        raise PatternError(where, seen=quoted(f"\\p{{{name}}}"), expected=expected)
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in (other_ranges(ranges) if other else ranges))


@cache
def category_ranges(short: str) -> tuple[Range, ...]:
    """The characters of a general category such as Lu or L."""
    kinds = enumerate(map(unicodedata.category, map(chr, range(LAST + 1))))
    return merge_ranges((code, code) for code, kind in kinds if short and kind.startswith(short))
