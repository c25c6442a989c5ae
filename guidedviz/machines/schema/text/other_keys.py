"""The keys that differ from all named keys, built along the trie of the names.

Printable ASCII characters are not escaped. Other characters may be escaped, as json.dumps does, if no name contains
such a character.
"""

from __future__ import annotations

from collections.abc import Collection

from guidedviz.machines.schema.text.json_text import HEX, PLAIN, escape_chars, hexes, quoted
from guidedviz.machines.tree import (
    NOTHING,
    Call,
    Chars,
    Repeat,
    Tree,
    common_ranges,
    concat,
    either,
    literal,
    optional,
    other_ranges,
)
from guidedviz.machines.work import spend

CHAR = Call("char")
CODE = either(  # four hexadecimal digits of a character that is not printable ASCII, or of a quote or a backslash
    concat(literal("00"), either(concat(hexes("0189abcdef"), HEX), literal("22"), concat(literal("5"), hexes("c")))),
    concat(literal("0"), hexes("123456789abcdef"), Repeat(HEX, 2, 2)),
    concat(hexes("123456789abcdef"), Repeat(HEX, 3, 3)),
)
NOT_ASCII = concat(literal("\\"), either(*map(literal, '"\\bfnrt'), concat(literal("u"), CODE)))


def other_keys(names: Collection[str]) -> Tree:
    r"""Any string except these names.

    >>> from guidedviz.machines.grammars.grammar import Grammar, Rule
    >>> print(gv.machines.to_gbnf(Grammar((Rule("k", other_keys(["id"]), (0, 0)),))))
    k ::= "\"" ("i" ("d" char+ | ([^\u0000-\u001F"\\d] | escape) char*)? | ([^\u0000-\u001F"\\i] | escape) char*)? "\""
    """
    if not names:
        return Call("string")
    plain = all(name.isascii() and name.isprintable() and not {*'"\\'} & {*name} for name in names)
    return quoted(beyond(sorted(names), Call("escape") if plain else NOTHING))


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
