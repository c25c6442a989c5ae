"""The `pattern` and the `format` of a string as regexes that Python writes; JSON Schema uses those of JavaScript.

The formats are exact in their numbers (months, leap years, hours, octets):

- date, time, date-time: RFC 3339; a leap second only as 23:59:60Z, since other zones would need subtraction.
- email: the dot-atom form of RFC 5321, without quoted names and address literals.
- hostname: RFC 1123, labels of at most 63 characters · ipv4: four decimal octets, no leading zero · ipv6: RFC 4291, no
  zone · uuid: RFC 9562 · uri, uri-reference: RFC 3986 · json-pointer: RFC 6901.
- duration: RFC 3339, appendix A · byte: base64, RFC 4648.

The formats of FORMATS_NOT_ENFORCED are rare, or have no exact regular definition.
"""

import re
import unicodedata
from functools import cache

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.ranges import LAST, Ranges, merge_ranges, other_ranges
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
def category_ranges(short: str) -> Ranges:
    """The characters of a general category such as Lu or L."""
    kinds = enumerate(map(unicodedata.category, map(chr, range(LAST + 1))))
    return merge_ranges((code, code) for code, kind in kinds if short and kind.startswith(short))


DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
TIME_OF_DAY = (
    r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)|23:59:60(?:\.\d+)?[Zz])"
)

ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
EMAIL_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"

OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"{OCTET}(?:\.{OCTET}){{3}}"
GROUP = "[0-9A-Fa-f]{1,4}"
LAST_TWO = f"(?:{GROUP}:{GROUP}|{IPV4})"
# Eight groups, or fewer with one `::` that stands for one or more groups.
GROUPS_BEFORE = [f"(?:{GROUP}(?::{GROUP}){{0,{more}}})?::" for more in range(7)]
IPV6 = "|".join([
    f"(?:{GROUP}:){{6}}{LAST_TWO}",
    f"::(?:{GROUP}:){{5}}{LAST_TWO}",
    *(f"{GROUPS_BEFORE[4 - after]}(?:{GROUP}:){{{after}}}{LAST_TWO}" for after in (4, 3, 2, 1, 0)),
    f"{GROUPS_BEFORE[5]}{GROUP}",
    GROUPS_BEFORE[6],
])  # fmt: skip

PERCENT = "%[0-9A-Fa-f]{2}"
HOST_SET = r"\-A-Za-z0-9._~!$&'()*+,;="  # characters of a host name
HOST_CHAR = f"(?:[{HOST_SET}]|{PERCENT})"
PATH_CHAR = f"(?:[{HOST_SET}:@]|{PERCENT})"
NO_COLON = f"(?:[{HOST_SET}@]|{PERCENT})+"  # a first segment without a colon
AUTHORITY = rf"(?:(?:{HOST_CHAR}|:)*@)?(?:\[(?:{IPV6}|[Vv][0-9A-Fa-f]+\.[{HOST_SET}:]+)\]|{HOST_CHAR}*)(?::\d*)?"
ROOTED = f"//{AUTHORITY}(?:/{PATH_CHAR}*)*"
QUERY = rf"(?:\?(?:{PATH_CHAR}|[/?])*)?(?:#(?:{PATH_CHAR}|[/?])*)?"
URI = rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{ROOTED}|/?(?:{PATH_CHAR}+(?:/{PATH_CHAR}*)*)?){QUERY}"
RELATIVE = f"(?:{ROOTED}|/(?:{PATH_CHAR}+(?:/{PATH_CHAR}*)*)?|(?:{NO_COLON}(?:/{PATH_CHAR}*)*)?){QUERY}"

CLOCK_PARTS = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
DAYS = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
HOST_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

FORMAT_REGEXES = {
    "date": DATE,
    "time": TIME_OF_DAY,
    "date-time": f"{DATE}[Tt]{TIME_OF_DAY}",
    "duration": rf"P(?:{DAYS}(?:{CLOCK_PARTS})?|{CLOCK_PARTS}|\d+W)",
    "email": rf"{ATOM}(?:\.{ATOM})*@{EMAIL_LABEL}(?:\.{EMAIL_LABEL})*",
    "hostname": rf"{HOST_LABEL}(?:\.{HOST_LABEL})*",
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "ipv4": IPV4,
    "ipv6": IPV6,
    "uri": URI,
    "uri-reference": f"(?:{URI}|{RELATIVE})",
    "json-pointer": "(?:/(?:[^~/]|~[01])*)*",
    "byte": "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
}
FORMATS_NOT_ENFORCED = "regex idn-email idn-hostname iri iri-reference uri-template relative-json-pointer".split()
