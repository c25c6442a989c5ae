r"""From the regexes of JavaScript, which JSON Schema uses, to those of Python."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby
from sys import maxunicode

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.work import spend

# what the two write differently, inside and outside of a class such as [a-z]
PIECES = re.compile(
    r"\\u\{(?P<point>[0-9a-fA-F]{1,6})\}"
    r"|\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?P<sign>[pP])\{(?P<property>[^{}]*)\}"
    r"|\\c(?P<control>[A-Za-z])"
    r"|(?P<group>\(\?<(?![=!]))"
    r"|\\k<(?P<reference>\w+)>"
    r"|(?P<any>\[\^\])|(?P<none>\[\])"
    r"|(?P<brace>\{(?=,\d*\}))"
    r"|(?P<open>\[\^?)|(?P<close>\])|\\?.",
    re.DOTALL,
)
LONG = {
    "Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "Letter_Number": "Nl",
    "Other_Number": "No", "Punctuation": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z",
    "Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Other": "C",
    "Control": "Cc", "Format": "Cf", "Unassigned": "Cn", "Private_Use": "Co", "digit": "Nd", "punct": "P",
}  # fmt: skip


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
        case "control":
            return f"\\x{ord(found['control']) % 32:02x}"
        case "property":
            ranges = _category(found["property"], found["sign"] == "P", found.start())
            return ranges if inside else f"[{ranges}]"
        case "group" if not inside:
            return "(?P<"
        case "reference" if not inside:
            return f"(?P={found['reference']})"
        case "any" if not inside:
            return "(?s:.)"
        case "none" if not inside:
            return "(?!)"
        case "brace" if not inside:
            return "\\{"  # in JavaScript a text: only {0,3} is a repeat
    return "\\[" if inside and found[0] == "[" else found[0]


def _category(name: str, other: bool, place: int) -> str:
    """The characters of a general category as the inside of a class; with `other`, all other characters."""
    short = name.removeprefix("General_Category=").removeprefix("gc=")
    short = LONG.get(short, short)
    if short not in LONG.values():
        where, expected = f"regex, position {place}", r"a general category, such as \p{L} or \p{Lu}"
        raise PatternError(where, seen=quoted(f"\\p{{{name}}}"), expected=expected)
    return _ranges(short, other)


@cache
def _ranges(category: str, other: bool) -> str:
    joined = groupby(_runs(), lambda run: run[0].startswith(category) != other)
    kept = (list(runs) for wanted, runs in joined if wanted)
    return "".join(f"\\U{runs[0][1]:08x}-\\U{runs[-1][2]:08x}" for runs in kept)


@cache
def _runs() -> tuple[tuple[str, int, int], ...]:
    """All characters in runs of one category: category, first, last."""
    found, first = [], 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(maxunicode + 1)))):
        after = first + sum(1 for _ in run)
        found.append((category, first, after - 1))
        first = after
    return tuple(found)
