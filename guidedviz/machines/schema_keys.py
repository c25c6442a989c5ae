"""The keys that differ from all named ones, letter by letter along the tree of the names.

Letters, digits and signs of ASCII stand there as they are; other characters may be escaped, as json.dumps does it, if
no name has such a character.
"""

from __future__ import annotations

from collections.abc import Collection

from guidedviz.machines.json_text import HEX, PLAIN, escape_chars, hexes, quoted
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

CHAR = Call("char")
NOT_ASCII = concat(  # the escapes of all but the letters, digits and signs of ASCII
    literal("\\"),
    either(
        *map(literal, '"\\bfnrt'),
        concat(
            literal("u"),
            either(
                concat(
                    literal("00"),
                    either(concat(hexes("0189abcdef"), HEX), literal("22"), concat(literal("5"), hexes("c"))),
                ),
                concat(literal("0"), hexes("123456789abcdef"), Repeat(HEX, 2, 2)),
                concat(hexes("123456789abcdef"), Repeat(HEX, 3, 3)),
            ),
        ),
    ),
)


def other_keys(names: Collection[str]) -> Tree:
    r"""Any string but these.

    >>> from guidedviz.machines.grammar import Grammar, Rule
    >>> from guidedviz.machines.show_gbnf import show_gbnf
    >>> print(show_gbnf(Grammar((Rule("k", other_keys(["id"]), (0, 0)),))))
    k ::= "\"" ("i" ("d" char+ | ([^\u0000-\u001F"\\d] | escape) char*)? | ([^\u0000-\u001F"\\i] | escape) char*)? "\""
    """
    if not names:
        return Call("string")
    plain = all(name.isascii() and name.isprintable() and not {*'"\\'} & {*name} for name in names)
    return quoted(beyond(sorted(names), Call("escape") if plain else NOTHING))


def beyond(names: list[str], escape: Tree) -> Tree:
    """Any text but these, which are sorted."""
    branches: dict[str, list[str]] = {}
    for name in filter(None, names):
        branches.setdefault(name[0], []).append(name[1:])
    if not branches:
        return Repeat(CHAR, 1, None)
    others = Chars(other_ranges((ord(char), ord(char)) for char in branches))
    ways = [concat(escape_chars(((ord(char), ord(char)),)), beyond(tails, escape)) for char, tails in branches.items()]
    ways.append(
        concat(
            either(
                escape_chars(others.ranges) if escape == NOTHING else Chars(common_ranges(others.ranges, PLAIN.ranges)),
                escape,
            ),
            Repeat(CHAR, 0, None),
        )
    )
    return either(*ways) if "" in names else optional(either(*ways))
