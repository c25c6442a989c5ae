"""Strings, numbers and blanks as JSON text (RFC 8259), and the escapes of a string.

An unrestricted string may use every escape, also lone surrogates. Where characters are counted, a surrogate pair is one
character and a lone surrogate is refused. Characters from a pattern or format are escaped only where JSON requires it.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache

from guidedviz.machines import syntax
from guidedviz.machines.grammars.counted import map_parts
from guidedviz.machines.schema.values import plain_text
from guidedviz.machines.syntax import Chars, Range, Repeat, Tree, concat, either, literal, optional

Spaced = Callable[[Tree, str], Tree]  # a piece of JSON with the whitespace allowed after it
SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
MUST = ((0, 31), (34, 34), (92, 92))  # characters that must be escaped
PLAIN = Chars(syntax.other_ranges(MUST))

DIGIT, NONZERO = Chars(((48, 57),)), Chars(((49, 57),))


def hexes(digits: str) -> Tree:
    """One of these hexadecimal digits, in upper or lower case."""
    return either(*map(literal, digits + digits.upper()))


def escaped(short: str, code: Tree) -> Tree:
    """A backslash with one of these letters, or with `u` and a code."""
    return concat(literal("\\"), either(*map(literal, short), concat(literal("u"), code)))


HEX = hexes("0123456789abcdef")
HIGH, LOW = (concat(hexes("d"), hexes(third), Repeat(HEX, 2, 2)) for third in ("89ab", "cdef"))  # a surrogate pair
BELOW = concat(hexes("d"), hexes("01234567"), Repeat(HEX, 2, 2))
CODE = either(concat(hexes("0123456789abcef"), Repeat(HEX, 3, 3)), BELOW, concat(HIGH, literal("\\u"), LOW))
ONE_CHARACTER = either(PLAIN, escaped('"\\/bfnrt', CODE))  # for minLength and maxLength


def in_quotes(tree: Tree) -> Tree:
    """The tree inside quotation marks."""
    return concat(literal('"'), tree, literal('"'))


def escape(tree: Tree) -> Tree:
    r"""The same texts as JSON string contents, with escapes.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.grammars.show import show_regex
    >>> show_regex(escape(parse_regex('a["\n]')))
    'a\\\\(?:["n]|u00(?:0[Aa]|22))'
    """
    if isinstance(tree, Chars):
        return escape_chars(tree.ranges)
    if isinstance(tree, Repeat):
        return Repeat(escape(tree.part), tree.low, tree.high)  # its position is one in the pattern's own text
    changed = map_parts(tree, escape)
    return concat(*changed.parts) if isinstance(changed, syntax.Concat) else changed


@lru_cache(maxsize=256)
def escape_chars(ranges: tuple[Range, ...]) -> Tree:
    """One of these characters: itself, or its escape."""
    plain = Chars(syntax.common_ranges(ranges, PLAIN.ranges))
    must = [chr(code) for low, high in syntax.common_ranges(ranges, MUST) for code in range(low, high + 1)]
    if not must:
        return plain
    codes: dict[str, str] = defaultdict(str)  # first hex digit -> possible digits behind it
    for code in (f"{ord(char):02x}" for char in must):
        codes[code[0]] += code[1]
    short = [literal(SHORT[char]) for char in must if char in SHORT]
    ends = either(*(concat(literal(first), hexes(second)) for first, second in codes.items()))
    return either(plain, concat(literal("\\"), either(*short, concat(literal("u00"), ends))))


def key_text(key: str, token: Spaced) -> Tree:
    """A property name and its colon."""
    return concat(token(literal(plain_text(key)), ""), token(literal(":"), ":"))


def bracket(signs: str, inside: Tree, token: Spaced) -> Tree:
    """A tree in brackets or braces."""
    return concat(token(literal(signs[0]), ""), inside, token(literal(signs[1]), ""))


SOME = Repeat(DIGIT, 1, None)
INTEGER = concat(optional(literal("-")), either(literal("0"), concat(NONZERO, Repeat(DIGIT, 0, None))))
EXPONENT = concat(either(literal("e"), literal("E")), optional(either(literal("+"), literal("-"))), SOME)
SCALARS: dict[str, Tree] = {  # the rules of strings, numbers and blanks in unrestricted JSON
    "string": in_quotes(Repeat(syntax.Call("char"), 0, None)),
    "char": either(PLAIN, escaped('"\\/bfnrt', Repeat(HEX, 4, 4))),
    "number": concat(INTEGER, optional(concat(literal("."), SOME)), optional(EXPONENT)),
    "integer": INTEGER,
    "ws": Repeat(Chars(((9, 10), (13, 13), (32, 32))), 0, None),
}
