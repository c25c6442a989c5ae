r"""Strings, numbers and blanks as JSON text (RFC 8259), and the escapes of a string.

    é  may be written  é or \u00e9         "  must be escaped: \" or \u0022

An unrestricted string may use every escape, also lone surrogates. Where characters are counted, a surrogate pair is one
character and a lone surrogate is refused. Characters from a pattern or format are escaped only where JSON requires it.
"""

from collections import defaultdict
from functools import lru_cache

from guidedviz.machines.ranges import Range, common_ranges, other_ranges
from guidedviz.machines.syntax import Call, Chars, Concat, Repeat, Tree, concat, either, literal, map_parts, optional

SHORT_ESCAPES = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
MUST_ESCAPE = ((0, 31), (34, 34), (92, 92))
UNESCAPED = Chars(other_ranges(MUST_ESCAPE))


def hexes(digits: str) -> Tree:
    """One of these hexadecimal digits, in upper or lower case."""
    return either(*map(literal, digits + digits.upper()))


def backslash(short: str, code: Tree) -> Tree:
    """A backslash with one of these letters, or with `u` and a code."""
    return concat(literal("\\"), either(*map(literal, short), concat(literal("u"), code)))


def in_quotes(tree: Tree) -> Tree:
    """The tree inside quotation marks."""
    return concat(literal('"'), tree, literal('"'))


def escape_tree(tree: Tree) -> Tree:
    r"""The same texts as JSON string contents, with escapes.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.grammars.show import show_regex
    >>> show_regex(escape_tree(parse_regex('a["\n]')))
    'a\\\\(?:["n]|u00(?:0[Aa]|22))'
    """
    if isinstance(tree, Chars):
        return escape_chars(tree.ranges)
    if isinstance(tree, Repeat):
        return Repeat(escape_tree(tree.part), tree.low, tree.high)  # its position is one in the pattern's own text
    changed = map_parts(tree, escape_tree)
    return concat(*changed.parts) if isinstance(changed, Concat) else changed


@lru_cache(maxsize=256)
def escape_chars(ranges: tuple[Range, ...]) -> Tree:
    """One of these characters: itself, or its escape."""
    plain = Chars(common_ranges(ranges, UNESCAPED.ranges))
    escaped = [chr(code) for low, high in common_ranges(ranges, MUST_ESCAPE) for code in range(low, high + 1)]
    if not escaped:
        return plain
    second_digits: dict[str, str] = defaultdict(str)  # of the codes, by their first digit
    for char in escaped:
        code = f"{ord(char):02x}"
        second_digits[code[0]] += code[1]
    codes = either(*(concat(literal(first), hexes(seconds)) for first, seconds in second_digits.items()))
    short = "".join(SHORT_ESCAPES.get(char, "") for char in escaped)
    return either(plain, backslash(short, concat(literal("00"), codes)))


HEX = hexes("0123456789abcdef")
HIGH_SURROGATE = concat(hexes("d"), hexes("89ab"), Repeat(HEX, 2, 2))
LOW_SURROGATE = concat(hexes("d"), hexes("cdef"), Repeat(HEX, 2, 2))
NO_SURROGATE = either(
    concat(hexes("0123456789abcef"), Repeat(HEX, 3, 3)),
    concat(hexes("d"), hexes("01234567"), Repeat(HEX, 2, 2)),
)
# for minLength and maxLength
ONE_CHARACTER = either(
    UNESCAPED,
    backslash('"\\/bfnrt', either(NO_SURROGATE, concat(HIGH_SURROGATE, literal("\\u"), LOW_SURROGATE))),
)

ANY_DIGITS = Repeat(Chars(((48, 57),)), 0, None)
SOME_DIGITS = Repeat(Chars(((48, 57),)), 1, None)
INTEGER = concat(optional(literal("-")), either(literal("0"), concat(Chars(((49, 57),)), ANY_DIGITS)))
EXPONENT = concat(either(literal("e"), literal("E")), optional(either(literal("+"), literal("-"))), SOME_DIGITS)
SCALAR_RULES: dict[str, Tree] = {  # the rules of strings, numbers and blanks in unrestricted JSON
    "string": in_quotes(Repeat(Call("char"), 0, None)),
    "char": either(UNESCAPED, backslash('"\\/bfnrt', Repeat(HEX, 4, 4))),
    "number": concat(INTEGER, optional(concat(literal("."), SOME_DIGITS)), optional(EXPONENT)),
    "integer": INTEGER,
    "ws": Repeat(Chars(((9, 10), (13, 13), (32, 32))), 0, None),
}
