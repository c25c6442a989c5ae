r"""JSON as text (RFC 8259): the rules of unrestricted JSON, the escapes of a string, and the rules that a schema adds.

    {"type": "array", "items": {"type": "integer"}}     root ::= "[" (integer (", " integer)*)? "]"
    é  may be written  é or \u00e9         "  must be escaped: \" or \u0022

An unrestricted string may use every escape, also lone surrogates. Where characters are counted, a surrogate pair is one
character and a lone surrogate is refused. Characters from a pattern or format are escaped only where JSON requires it.
Inside brackets whitespace stands behind every token, as the setting allows.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Protocol

from guidedviz.machines.grammars.grammar import free_name
from guidedviz.machines.grammars.unfold import list_signs
from guidedviz.machines.ranges import Ranges, common_ranges, other_ranges
from guidedviz.machines.regular.algebra import code_machine, code_net, difference
from guidedviz.machines.schema.settings import SchemaSettings
from guidedviz.machines.schema.subschema import Goal
from guidedviz.machines.schema.values import plain_text
from guidedviz.machines.syntax import (
    ANYTHING,
    EMPTY,
    Call,
    Chars,
    Concat,
    Less,
    Net,
    Repeat,
    Tree,
    concat,
    either,
    literal,
    map_parts,
    optional,
)

SHORT_ESCAPES = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
MUST_ESCAPE = ((0, 31), (34, 34), (92, 92))
NOT_PLAIN = frozenset(map(chr, (*range(32), 34, 92, *range(0xD800, 0xE000))))  # escaped, or a part of a character
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
    if isinstance(tree, Net):
        edges = [(source, escape_tree(part), target) for source, part, target in tree.edges]
        return Net(tree.places, tuple(edges), escape_less(tree.less))
    changed = map_parts(tree, escape_tree)
    return concat(*changed.parts) if isinstance(changed, Concat) else changed


def escape_less(less: Less | None) -> Less | None:
    """The same difference with escapes, if the texts that are left out need none."""
    if less is None or not NOT_PLAIN.isdisjoint("".join(less.texts)):
        return None
    return Less(escape_tree(less.tree), less.texts)


@lru_cache(maxsize=256)
def escape_chars(ranges: Ranges) -> Tree:
    """One of these characters: itself, or its escape."""
    plain = Chars(common_ranges(ranges, UNESCAPED.ranges))
    escaped = common_ranges(ranges, MUST_ESCAPE)
    return either(plain, escapes(escaped)) if escaped else plain


@lru_cache(maxsize=256)
def escapes(ranges: Ranges) -> Tree:
    """The escapes of these characters; one object, so that an automaton has them once."""
    escaped = [chr(code) for low, high in ranges for code in range(low, high + 1)]
    second_digits: dict[str, str] = defaultdict(str)  # of the codes, by their first digit
    for char in escaped:
        code = f"{ord(char):02x}"
        second_digits[code[0]] += code[1]
    codes = either(*(concat(literal(first), hexes(seconds)) for first, seconds in second_digits.items()))
    short = "".join(SHORT_ESCAPES.get(char, "") for char in escaped)
    return backslash(short, concat(literal("00"), codes))


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

CHARACTER = either(UNESCAPED, backslash('"\\/bfnrt', Repeat(HEX, 4, 4)))
BLANK = Chars(((9, 10), (13, 13), (32, 32)))
ANY_DIGITS = Repeat(Chars(((48, 57),)), 0, None)
SOME_DIGITS = Repeat(Chars(((48, 57),)), 1, None)
INTEGER = concat(optional(literal("-")), either(literal("0"), concat(Chars(((49, 57),)), ANY_DIGITS)))
EXPONENT = concat(either(literal("e"), literal("E")), optional(either(literal("+"), literal("-"))), SOME_DIGITS)
SCALAR_RULES: dict[str, Tree] = {  # the rules of strings and numbers in unrestricted JSON
    "string": in_quotes(Repeat(Call("char"), 0, None)),
    "char": CHARACTER,
    "number": concat(INTEGER, optional(concat(literal("."), SOME_DIGITS)), optional(EXPONENT)),
    "integer": INTEGER,
}


ReadGoal = Callable[[Goal, str, int], Tree]  # a goal, its path, and the most signs of a tree that is no rule
GAPS: dict[str, Tree] = {"compact": EMPTY, "space": optional(literal(" ")), "one": literal(" ")}
NAME_OF_STEP = {"items": "item", "additionalProperties": "more"} | dict.fromkeys(
    "# $defs definitions properties patternProperties prefixItems anyOf oneOf allOf".split(), ""
)
LONGEST_RULE_NAME = 40  # characters
MOST_INLINE_SIGNS = 12  # a nested value with more is a rule of its own
MOST_SHARED_SIGNS = 4  # the same for a part that stands at several places


def rule_name(path: str) -> str:
    """A rule name for the part at this path: letters, digits and minus signs, as llama.cpp requires.

    >>> rule_name("#/$defs/node"), rule_name("#/properties/home town/items"), rule_name("#/$defs/2é"), rule_name("#")
    ('node', 'home-town-item', 'part-2', 'document')
    """
    if path == "#":
        return "document"
    words = "-".join(filter(None, (NAME_OF_STEP.get(step, step) for step in path.split("/"))))
    name = re.sub("(~[01]|[^A-Za-z0-9])+", "-", words).strip("-")[-LONGEST_RULE_NAME:].strip("-")
    return name if name[:1].isalpha() else f"part-{name}".strip("-")


class JsonNotation(Protocol):
    """How members and items are written: as JSON (`SchemaRules`), or as XML (`XmlArguments`)."""

    any_order: bool
    comma: Tree

    def constant(self, value: str) -> Tree: ...
    def other_key(self, texts: Tree | None = None, matched: bool = False) -> Tree: ...
    def member(self, key: Tree, value: Tree) -> Tree: ...
    def bracket(self, signs: str, inside: Tree) -> Tree: ...
    def settle(self, tree: Tree, path: str, most: int = MOST_INLINE_SIGNS) -> Tree: ...


class SchemaRules:
    """The rules so far, and where in the schema each comes from."""

    def __init__(self, settings: SchemaSettings) -> None:
        self.any_order = settings.any_order
        self.excludes = settings.excludes
        blanks = settings.whitespace in ("any", "inside")
        self.around = Call("ws") if settings.whitespace == "any" else EMPTY  # the whole value
        self.blank = Call("ws") if blanks else EMPTY
        gap = self.blank if blanks else GAPS[settings.whitespace]
        self.comma = concat(literal(","), gap)
        self.colon = concat(self.blank, literal(":"), gap)
        self.paths = {"root": "#"}
        scalars = map(literal, ("true", "false", "null"))
        self.trees = {
            "value": either(Call("object"), Call("array"), Call("string"), Call("number"), *scalars),
            "object": self.bracket("{}", self.any_number_of(Call("member"))),
            "member": self.member(Call("string"), Call("value")),
            "array": self.bracket("[]", self.any_number_of(self.item(Call("value")))),
            **SCALAR_RULES,
            "ws": Repeat(BLANK, 0, settings.most_blanks),
        }
        if self.excludes:
            self.trees["string"] = in_quotes(self.without_excluded(Repeat(CHARACTER, 0, None)))

    def without_excluded(self, tree: Tree) -> Tree:
        """The texts of a tree in which no excluded text occurs."""
        if not self.excludes:
            return tree
        excluded = concat(ANYTHING, either(*map(literal, self.excludes)), ANYTHING)
        return code_net(difference(code_machine(tree), code_machine(excluded)))

    def constant(self, value: str) -> Tree:
        """The string with this value, or the key of a member."""
        return in_quotes(self.without_excluded(literal(plain_text(value)[1:-1])))

    def other_key(self, texts: Tree | None = None, matched: bool = False) -> Tree:
        """A key of a member with one of these texts, or with any text; `matched`: they match a pattern."""
        return Call("string") if texts is None else in_quotes(self.without_excluded(escape_tree(texts)))

    def bracket(self, signs: str, inside: Tree) -> Tree:
        """A tree in brackets or braces."""
        return concat(literal(signs[0]), self.blank, inside, literal(signs[1]))

    def member(self, key: Tree, value: Tree) -> Tree:
        """A key, a colon and a value."""
        return concat(key, self.colon, value, self.blank)

    def item(self, value: Tree) -> Tree:
        """An item of an array."""
        return concat(value, self.blank)

    def any_number_of(self, part: Tree) -> Tree:
        """Members or items, with commas between them."""
        return optional(concat(part, Repeat(concat(self.comma, part), 0, None)))

    def name(self, path: str) -> str:
        """A new name for the part at this path."""
        name = free_name(rule_name(path), self.paths, self.trees)
        self.paths[name] = path
        return name

    def add(self, name: str, tree: Tree) -> Tree:
        """A call of a new rule."""
        self.trees[name] = tree
        return Call(name)

    def free(self, kind: str, path: str) -> Tree:
        """Any JSON of this kind; keeps the path of its first use for error messages."""
        self.paths.setdefault(kind, path)
        return Call(kind)

    def settle(self, tree: Tree, path: str, most: int = MOST_INLINE_SIGNS) -> Tree:
        """The tree itself, or a call of a new rule if the tree is long."""
        is_long = any(islice(list_signs(tree), most, None))
        return self.add(self.name(path), tree) if is_long else tree
