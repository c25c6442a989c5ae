"""JSON texts of values (RFC 8259): strings with their escapes, and constants in one spelling.

An unrestricted string may use every escape, also lone surrogates. Where characters are counted, a surrogate pair is one
character and a lone surrogate is refused. Characters from a pattern or format are escaped only where JSON requires it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from functools import cache, lru_cache, reduce
from itertools import groupby, takewhile
from math import inf
from sys import maxunicode
from typing import Any

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.regular.algebra import difference, intersection
from guidedviz.machines.regular.characters import split_letters
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise, number_states
from guidedviz.machines.regular.nfa import MOST_LISTED, Edge, build_nfa, count_states
from guidedviz.machines.tree import (
    EMPTY,
    LAST,
    NOTHING,
    Call,
    Chars,
    Concat,
    Either,
    Net,
    Range,
    Repeat,
    Tick,
    Tree,
    Words,
    common_ranges,
    concat,
    either,
    literal,
    merge_ranges,
    no_rules,
    one_character,
    optional,
    other_ranges,
    walk,
)
from guidedviz.machines.work import spend

Spaced = Callable[[Tree, str], Tree]  # a piece of JSON with the whitespace allowed after it
SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
MUST = ((0, 31), (34, 34), (92, 92))  # characters that must be escaped
PLAIN = Chars(other_ranges(MUST))


def hexes(digits: str) -> Tree:
    """One of these hexadecimal digits, in upper or lower case."""
    return either(*map(literal, digits + digits.upper()))


HEX = hexes("0123456789abcdef")
SIMPLE = either(*map(literal, '"\\/bfnrt'))
ANY_CHARACTER = either(PLAIN, concat(literal("\\"), either(SIMPLE, concat(literal("u"), Repeat(HEX, 4, 4)))))
HIGH, LOW = (concat(hexes("d"), hexes(third), Repeat(HEX, 2, 2)) for third in ("89ab", "cdef"))  # a surrogate pair
BELOW = concat(hexes("d"), hexes("01234567"), Repeat(HEX, 2, 2))
CODE = either(concat(hexes("0123456789abcef"), Repeat(HEX, 3, 3)), BELOW, concat(HIGH, literal("\\u"), LOW))
ONE_CHARACTER = either(
    PLAIN, concat(literal("\\"), either(SIMPLE, concat(literal("u"), CODE)))
)  # for minLength and maxLength


def in_quotes(tree: Tree) -> Tree:
    """The tree inside quotation marks."""
    return concat(literal('"'), tree, literal('"'))


def escape(tree: Tree) -> Tree:
    r"""The same texts as JSON string contents, with escapes.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(escape(parse_regex('a["\n]')))
    'a\\\\(?:["n]|u00(?:0[Aa]|22))'
    """
    return map_chars(tree, lambda chars: escape_chars(chars.ranges))


def map_chars(tree: Tree, change: Callable[[Chars], Tree]) -> Tree:
    """The tree with every class of characters replaced."""
    match tree:
        case Chars():
            return change(tree)
        case Concat(parts):
            return concat(*(map_chars(part, change) for part in parts))
        case Either(options):
            return either(*(map_chars(option, change) for option in options))
        case Repeat(part, low, high):
            return Repeat(map_chars(part, change), low, high)
        case Net(places, edges):
            spend(4 * len(edges))
            return Net(places, tuple((source, map_chars(part, change), target) for source, part, target in edges))
        case Call():
            raise no_rules(tree)
        case Tick():
            return tree


@lru_cache(maxsize=256)
def escape_chars(ranges: tuple[Range, ...]) -> Tree:
    """One of these characters: itself, or its escape."""
    plain = Chars(common_ranges(ranges, PLAIN.ranges))
    must = [chr(code) for low, high in common_ranges(ranges, MUST) for code in range(low, high + 1)]
    if not must:
        return plain
    by_end: dict[str, str] = defaultdict(str)  # last hex digit -> possible digits before it
    for char in must:
        by_end[f"{ord(char):02x}"[1]] += f"{ord(char):02x}"[0]
    by_start: dict[str, str] = defaultdict(str)
    for end, starts in by_end.items():
        by_start[starts] += end
    codes = either(*(concat(hexes(starts), hexes(ends)) for starts, ends in by_start.items()))
    short = [literal(SHORT[char]) for char in must if char in SHORT]
    return either(plain, concat(literal("\\"), either(*short, concat(literal("u00"), codes))))


def kind_of(value: Any) -> str:
    """The kind of a JSON value; 1.0 is an integer.

    >>> kind_of(1.0), kind_of(0.5), kind_of(True), kind_of("a")
    ('integer', 'fraction', 'boolean', 'string')
    """
    if isinstance(value, float | Decimal):
        return "integer" if value == int(value) else "fraction"
    kinds = {dict: "object", list: "array", tuple: "array", str: "string", bool: "boolean", int: "integer"}
    return kinds.get(type(value), "null")


def canon(value: Any) -> Any:
    """A hashable form of a JSON value that is equal for equal values: 1 and 1.0, but not true.

    >>> canon([1, {"a": True}]) == canon([1.0, {"a": True}]), canon(1) == canon(True)
    (True, False)
    """
    if isinstance(value, dict):
        return "object", frozenset((key, canon(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return "array", tuple(map(canon, value))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return type(value).__name__, value
    return "number", Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def plain_text(value: Any) -> str:
    """A scalar in one spelling: no optional escapes, numbers without an exponent.

    >>> plain_text("é"), plain_text(1.0), plain_text(1e-7)
    ('"é"', '1', '0.0000001')
    """
    if kind_of(value) == "integer":
        return str(int(value))
    if kind_of(value) == "fraction":
        return format(Decimal(str(value)), "f")
    return json.dumps(value, ensure_ascii=False)


def json_text(value: Any, token: Callable[[Tree, str], Tree]) -> Tree:
    """A value in one spelling; `token` adds whitespace."""
    if isinstance(value, dict):
        pairs = [concat(key_text(key, token), json_text(item, token)) for key, item in value.items()]
        return bracket("{", pairs, "}", token)
    if isinstance(value, list | tuple):
        return bracket("[", [json_text(item, token) for item in value], "]", token)
    return token(literal(plain_text(value)), "")


def key_text(key: str, token: Callable[[Tree, str], Tree]) -> Tree:
    """A property name and its colon."""
    return concat(literal(json.dumps(key, ensure_ascii=False)), key_rest(token))


def key_rest(token: Callable[[Tree, str], Tree]) -> Tree:
    """What follows the quotation mark behind a key: the colon."""
    return concat(token(EMPTY, ""), token(literal(":"), ":"))


def bracket(opening: str, items: list[Tree], closing: str, token: Callable[[Tree, str], Tree]) -> Tree:
    """Items in brackets, separated by commas."""
    row = [part for item in items for part in (token(literal(","), ","), item)][1:]
    return concat(token(literal(opening), ""), *row, token(literal(closing), ""))


# --- From the regexes of JavaScript, which JSON Schema uses, to those of Python.


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
CATEGORIES = {
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
    short = CATEGORIES.get(short, short)
    if short not in CATEGORIES.values():
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


# --- The formats of JSON Schema as regexes. Numbers (months, leap years, hours, octets) are exact.


DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)|23:59:60(?:\.\d+)?[Zz])"

ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"

OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"{OCTET}(?:\.{OCTET}){{3}}"
GROUP = "[0-9A-Fa-f]{1,4}"
LAST_TWO = f"(?:{GROUP}:{GROUP}|{IPV4})"
# Eight groups, or fewer with one `::` that stands for one or more groups.
BEFORE = [f"(?:{GROUP}(?::{GROUP}){{0,{more}}})?::" for more in range(7)]
IPV6 = "|".join([
    f"(?:{GROUP}:){{6}}{LAST_TWO}",
    f"::(?:{GROUP}:){{5}}{LAST_TWO}",
    *(f"{BEFORE[4 - after]}(?:{GROUP}:){{{after}}}{LAST_TWO}" for after in (4, 3, 2, 1, 0)),
    f"{BEFORE[5]}{GROUP}",
    BEFORE[6],
])  # fmt: skip

PERCENT = "%[0-9A-Fa-f]{2}"
HOST = r"\-A-Za-z0-9._~!$&'()*+,;="  # characters of a host name
WIDE = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(  # ucschar of RFC 3987
    f"{chr(plane * 0x10000 + (0x1000 if plane == 14 else 0))}-{chr(plane * 0x10000 + 0xFFFD)}" for plane in range(1, 15)
)
PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"  # iprivate, in a query


def write_uri(more: str = "", private: str = "", relative: bool = False) -> str:
    """A URI, with more characters an IRI; also without a scheme if `relative`."""
    named, inside = (f"(?:[{HOST}{extra}{more}]|{PERCENT})" for extra in ("", ":@"))
    first = f"(?:[{HOST}@{more}]|{PERCENT})+"  # a first segment without a colon
    address = rf"\[(?:{IPV6}|[Vv][0-9A-Fa-f]+\.[{HOST}:]+)\]"
    authority = rf"(?:(?:{named}|:)*@)?(?:{address}|{named}*)(?::\d*)?"
    after = rf"(?:\?(?:{inside}|[/?{private}])*)?(?:#(?:{inside}|[/?])*)?"
    rooted = f"//{authority}(?:/{inside}*)*"
    uri = rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{rooted}|/?(?:{inside}+(?:/{inside}*)*)?){after}"
    path = f"(?:{rooted}|/(?:{inside}+(?:/{inside}*)*)?|(?:{first}(?:/{inside}*)*)?)"
    return f"(?:{uri}|{path}{after})" if relative else uri


SECONDS = r"\d+S"
MINUTES = rf"\d+M(?:{SECONDS})?"
HOURS = rf"\d+H(?:{MINUTES})?"
CLOCK = f"T(?:{HOURS}|{MINUTES}|{SECONDS})"
DAYS = r"\d+D"
MONTHS = rf"\d+M(?:{DAYS})?"
YEARS = rf"\d+Y(?:{MONTHS})?"

POINTER = "(?:/(?:[^~/]|~[01])*)*"
VARIABLE = rf"(?:[A-Za-z0-9_]|{PERCENT})(?:\.?(?:[A-Za-z0-9_]|{PERCENT}))*(?::[1-9]\d{{0,3}}|\*)?"
LITERAL = rf"[!#$&()*+,./0-9:;=?@A-Z\[\]_a-z~{WIDE}{PRIVATE}-]|{PERCENT}"
BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
HOST_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

FORMATS = {
    "date": DATE,
    "time": TIME,
    "date-time": f"{DATE}[Tt]{TIME}",
    "duration": rf"P(?:(?:{YEARS}|{MONTHS}|{DAYS})(?:{CLOCK})?|{CLOCK}|\d+W)",
    "email": rf"{ATOM}(?:\.{ATOM})*@{LABEL}(?:\.{LABEL})*",
    "hostname": rf"{HOST_LABEL}(?:\.{HOST_LABEL})*",
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "ipv4": IPV4,
    "ipv6": IPV6,
    "uri": write_uri(),
    "uri-reference": write_uri(relative=True),
    "iri": write_uri(WIDE, PRIVATE),
    "iri-reference": write_uri(WIDE, PRIVATE, relative=True),
    "uri-template": rf"(?:{LITERAL}|\{{[+#./;?&=,!@|]?{VARIABLE}(?:,{VARIABLE})*\}})*",
    "json-pointer": POINTER,
    "relative-json-pointer": rf"(?:0|[1-9]\d*)(?:#|{POINTER})",
    "byte": BASE64,
}
NOT_REGULAR = ("regex", "idn-email", "idn-hostname")


# --- The length of a pattern's texts: whether a bound says anything, and how a bound is counted that needs many copies.


def tick_net(net: Net, machine: DFA, high: int) -> Net:
    """The net of a machine over letters, with a tick after each letter.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.schema.text.intersect import find_letters, letter_machine, letter_net
    >>> tree = parse_regex("a+")
    >>> machine = letter_machine(tree, letters := find_letters([tree]))
    >>> tick_net(letter_net(machine, letters), machine, 9).edges[1][1].parts[1]
    Tick(most=9, rest=0)
    """
    rests = count_rests(machine)
    return Net(net.places, tuple((source, _tick(part, rests.get(to, 0), high), to) for source, part, to in net.edges))


def _tick(part: Tree, rest: int, high: int) -> Tree:
    return concat(part, Tick(high, rest)) if isinstance(part, Chars) else part  # an empty part leads to the end


def count_rests(machine: DFA) -> dict[int, int]:
    """The fewest letters from each state to the end.

    >>> from guidedviz.machines.pushdown.counted_regex import regex
    >>> count_rests(regex("ab+c"))
    {3: 0, 2: 1, 1: 2, 0: 3}
    """
    back: dict[int, list[int]] = defaultdict(list)
    for source, row in enumerate(machine.edges):
        for _, _, target in row:
            back[target].append(source)
    rests = dict.fromkeys(machine.accepting, 0)
    for state in (queue := list(rests)):
        for source in back[state]:
            if source not in rests:
                rests[source] = rests[state] + 1
                queue.append(source)
    return rests


def longest_text(machine: DFA) -> float:
    """The number of letters of the longest text of a minimal machine; infinite if there is no longest.

    >>> from guidedviz.machines.pushdown.counted_regex import regex
    >>> longest_text(regex("ab?(c|def)")), longest_text(regex("ab+"))
    (5, inf)
    """
    left = [0] * len(machine)  # edges from states that are not yet known
    for row in machine.edges:
        for _, _, target in row:
            left[target] += 1
    depth = {machine.initial: 0}
    queue = [machine.initial] if not left[machine.initial] else []
    for state in queue:
        for _, _, target in machine.edges[state]:
            depth[target] = max(depth.get(target, 0), depth[state] + 1)
            left[target] -= 1
            if not left[target]:
                queue.append(target)
    return max((depth[state] for state in machine.accepting), default=0) if len(queue) == len(machine) else inf


def has_ticks(tree: Tree) -> bool:
    """Whether a tree counts its characters."""
    return any(isinstance(part, Tick) for part in walk(tree))


# --- The intersection of several trees, over characters.


MOST_LETTERS = 128  # a letter is a one-byte character
# Measured on Llama 3, whose longest token has 128 bytes, compiling and all masks along an e-mail address: with at most
# 128 characters copies take 0.6 of the time of counting, with 255 six times as long.
MOST_COPIES = 2_000  # states of the copies of a pattern for its lengths; a larger product is counted
LONG, FEW_COPIES = 200, 200  # characters; states of the copies for lengths above
MOST_PRODUCT = 50_000  # states; about a second


def overlap(trees: list[Tree], banned: Iterable[Tree] = (), high: int | None = None, tick: bool = False) -> Tree:
    """A tree for the texts that all trees match and no banned one; one of the trees if it is the strictest.

    `high`: of these the texts of at most so many characters, which `tick` allows to count instead of copies.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(overlap([parse_regex("[a-z]+"), parse_regex("(?s:.{2,4})")]))
    '[a-z]{2,4}'
    >>> show_regex(overlap([parse_regex("(ab)*"), parse_regex("(?s:.{2,4})")]))
    'ab(?:ab)?'
    """
    without = list(banned)
    if len(trees) == 1 and not without and high is None:
        return trees[0]
    every = Repeat(Chars(((0, LAST),)), 0, high)
    if not without and (run := common_run([*trees, every])) is not None:
        return run
    letters = find_letters([*trees, *without])
    machines = [letter_machine(tree, letters) for tree in trees]
    common = reduce(difference, [letter_machine(tree, letters) for tree in without], reduce(intersection, machines))
    if high is not None and longest_text(common) > high:
        return at_most(common, letters, high, tick)
    return trees[machines.index(common)] if common in machines else letter_net(common, letters)


def at_most(machine: DFA, letters: list[Chars], high: int, tick: bool) -> Tree:
    """The texts of a machine over letters with at most so many characters."""
    net = letter_net(machine, letters)
    most = MOST_COPIES if high < LONG else min(FEW_COPIES, MOST_COPIES)
    if tick and isinstance(net, Net) and count_states(escape(net)) * high > most:
        return tick_net(net, machine, high) if count_rests(machine)[0] <= high else NOTHING
    if len(machine) * high > MOST_PRODUCT:
        seen = f"a length of at most {high:,} beside a pattern with {len(machine):,} states"
        expected = f"at most {MOST_PRODUCT:,} copies of states"
        raise PatternError("pattern", seen=seen, expected=expected, hint="a smaller length")
    every = letter_machine(Repeat(Chars(((0, LAST),)), 0, high), letters)
    return letter_net(intersection(machine, every), letters)


def split_texts(trees: list[Tree]) -> list[tuple[Tree, frozenset[int]]]:
    r"""All texts, grouped by which of the trees they match.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> [(show_regex(tree), sorted(of)) for tree, of in split_texts([parse_regex("a?"), parse_regex("a+")])]
    [('a', [0, 1]), ('aaa*', [1]), ('', [0]), ('a*[^a][\\s\\S]*', [])]
    """
    every = Repeat(Chars(((0, LAST),)), 0, None)
    letters = find_letters([*trees, every])
    found = [(letter_machine(every, letters), frozenset[int]())]
    for place, tree in enumerate(trees):
        if len(found) > MOST_LETTERS:
            raise PatternError("pattern", seen=f"more than {MOST_LETTERS} kinds of keys", expected="fewer patterns")
        machine = letter_machine(tree, letters)
        inside = [(intersection(known, machine), of | {place}) for known, of in found]
        outside = [(difference(known, machine), of) for known, of in found]
        found = [(known, of) for known, of in (*inside, *outside) if known.accepting]
    return [(letter_net(known, letters), of) for known, of in found]


def find_letters(trees: list[Tree]) -> list[Chars]:
    """The classes of characters that all trees treat alike."""
    found = dict.fromkeys(chars.ranges for tree in trees for chars in classes(tree))
    letters = list(map(Chars, split_letters(found)))
    if len(letters) > MOST_LETTERS:
        raise PatternError("pattern", seen=f"{len(letters)} kinds of characters", expected=f"at most {MOST_LETTERS}")
    return letters


def common_run(trees: list[Tree]) -> Tree | None:
    """The intersection if each tree repeats one class of characters: the common class, the common counts."""
    runs = [Repeat(tree, 1, 1) if isinstance(tree, Chars) else tree for tree in trees]
    ranges: tuple[Range, ...] = ((0, LAST),)
    low, high = 0, None
    for run in runs:
        if not (isinstance(run, Repeat) and isinstance(run.part, Chars)):
            return None
        ranges, low = common_ranges(ranges, run.part.ranges), max(low, run.low)
        high = run.high if high is None else high if run.high is None else min(high, run.high)
    return Repeat(Chars(ranges), low, high) if high is None or low <= high else NOTHING


def classes(tree: Tree) -> list[Chars]:
    """Every class of characters in a tree."""
    found: list[Chars] = []

    def keep(chars: Chars) -> Tree:
        found.append(chars)
        return chars

    map_chars(tree, keep)
    return found


def letter_machine(tree: Tree, letters: list[Chars]) -> DFA:
    """The DFA over class numbers."""

    @cache
    def change(chars: Chars) -> Tree:
        spend(5 * len(letters))
        firsts = enumerate(letter.ranges[0][0] for letter in letters)  # a letter is in a class, or no part of it is
        numbers = [n for n, first in firsts if any(low <= first <= high for low, high in chars.ranges)]
        return Chars(merge_ranges((number, number) for number in numbers))

    return minimise(build_dfa(build_nfa(map_chars(tree, change))))


def letter_net(dfa: DFA, letters: list[Chars]) -> Tree:
    """A DFA over class numbers as a net: states joined by classes of characters."""
    if not dfa.accepting:
        return NOTHING
    edges: list[tuple[int, Tree, int]] = [(state, EMPTY, len(dfa)) for state in sorted(dfa.accepting)]
    for state, row in enumerate(dfa.edges):
        for low, high, target in row:
            ranges = merge_ranges(pair for letter in letters[low : high + 1] for pair in letter.ranges)
            edges.append((state, Chars(ranges), target))
    return Net(len(dfa) + 1, tuple(edges))


# --- Many constants as a net with shared beginnings and shared ends (Daciuk et al., 2000), so that they stay small.


LAST_ASCII = 127
FEW_WORDS = 1_000  # so many words are written as a choice, which is readable as GBNF
Node = dict[str, int]  # a character -> the number of the next node; "" -> 0 where a word ends and another goes on


def words_tree(words: Iterable[str], few: int = FEW_WORDS) -> Tree:
    """Any of these texts.

    >>> words_tree(["tap", "top"], few=1).places, words_tree(["tap", "top", "to"], few=1).places
    (4, 5)
    """
    texts = list(dict.fromkeys(words))
    return either(*map(literal, texts)) if len(texts) <= few else words_net(sorted(texts))


def words_net(texts: list[str]) -> Words:
    """The smallest net for sorted texts."""
    nodes: list[Node] = [{}]  # the first node is the end of all words
    known: dict[tuple[tuple[str, int], ...], int] = {(("", 0),): 0}
    way: list[Node] = [{}]  # the nodes of the last text; their last characters are still open
    last = ""
    for text in [*texts, ""]:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(last, text, strict=False)))
        for place in range(len(last), shared, -1):
            node = way.pop()
            key = tuple(node.items())
            if key not in known:
                known[key] = len(nodes)
                spend(10)
                nodes.append(node)
            way[-1][last[place - 1]] = known[key]
        way += [{} for _ in text[shared:]]
        if text or texts[:1] == [""]:
            way[-1][""] = 0
        last = text
    nodes.append(way[0])
    return net_of(nodes)


def words_machine(words: Words) -> DFA | None:
    """The minimal machine of a net that is minimal over characters; None if some characters have several bytes.

    >>> words_machine(words_net(["tap", "top"]))
    DFA(4 states, 1 accepting)
    """
    rows: list[list[Edge]] = [[] for _ in range(words.places)]
    accepting = {words.places - 1}
    for source, part, target in words.edges:
        if not isinstance(part, Chars):
            accepting.add(source)
        elif part.ranges[-1][1] > LAST_ASCII:
            return None
        else:
            rows[source] += [(low, high, target) for low, high in part.ranges]
    if words.places > MOST_LISTED:
        return None
    return number_states(DFA(tuple(tuple(sorted(row)) for row in rows), frozenset(accepting)))


def net_of(nodes: list[Node]) -> Words:
    """Nodes, each listed after those that follow it, as a net that begins at the last and ends at the first."""
    end = len(nodes) - 1
    edges: list[tuple[int, Tree, int]] = []
    for number in range(end, 0, -1):
        if len(nodes[number]) == 1:
            [(char, target)] = nodes[number].items()
            edges.append((end - number, one_character(char), end - target))
            continue
        ranges: dict[int, list[Range]] = defaultdict(list)
        for char, target in nodes[number].items():
            if char:
                ranges[target].append((ord(char), ord(char)))
            else:
                edges.append((end - number, EMPTY, end))
        edges += [(end - number, Chars(merge_ranges(chars)), end - target) for target, chars in ranges.items()]
    return Words(end + 1, tuple(edges))


# --- The keys that differ from all named keys, built along the trie of the names.


CHAR = Call("char")
OTHER_CODE = either(  # four hexadecimal digits of a character that is not printable ASCII, or of a quote or a backslash
    concat(literal("00"), either(concat(hexes("0189abcdef"), HEX), literal("22"), concat(literal("5"), hexes("c")))),
    concat(literal("0"), hexes("123456789abcdef"), Repeat(HEX, 2, 2)),
    concat(hexes("123456789abcdef"), Repeat(HEX, 3, 3)),
)
NOT_ASCII = concat(literal("\\"), either(*map(literal, '"\\bfnrt'), concat(literal("u"), OTHER_CODE)))


def other_keys(names: Collection[str]) -> Tree:
    r"""Any string except these names.

    >>> from guidedviz.machines.grammars.grammar import Grammar, Rule
    >>> print(gv.machines.to_gbnf(Grammar((Rule("k", other_keys(["id"]), (0, 0)),))))
    k ::= "\"" ("i" ("d" char+ | ([^\u0000-\u001F"\\d] | escape) char*)? | ([^\u0000-\u001F"\\i] | escape) char*)? "\""
    """
    if not names:
        return Call("string")
    plain = all(name.isascii() and name.isprintable() and not {*'"\\'} & {*name} for name in names)
    return in_quotes(beyond(sorted(names), Call("escape") if plain else NOTHING))


def beyond(names: list[str], escape: Tree) -> Tree:
    """Any text except these sorted ones."""
    spend(sum(map(len, names)))
    branches: dict[str, list[str]] = {}
    for name in filter(None, names):
        branches.setdefault(name[0], []).append(name[1:])
    if not branches:
        return Repeat(CHAR, 1, None)
    others = other_ranges((ord(char), ord(char)) for char in branches)
    ways = [concat(escape_chars(((ord(char), ord(char)),)), beyond(tails, escape)) for char, tails in branches.items()]
    other = escape_chars(others) if escape == NOTHING else Chars(common_ranges(others, PLAIN.ranges))
    ways.append(concat(either(other, escape), Repeat(CHAR, 0, None)))
    return either(*ways) if "" in names else optional(either(*ways))
