"""JSON texts of values (RFC 8259): strings with their escapes, and constants in one spelling.

An unrestricted string may use every escape, also lone surrogates. Where characters are counted, a surrogate pair is one
character and a lone surrogate is refused. Characters from a pattern or format are escaped only where JSON requires it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

from guidedviz.machines.tree import (
    EMPTY,
    Call,
    Chars,
    Concat,
    Either,
    Net,
    Range,
    Repeat,
    Tick,
    Tree,
    common_ranges,
    concat,
    either,
    literal,
    no_rules,
    other_ranges,
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


def quoted(tree: Tree) -> Tree:
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
