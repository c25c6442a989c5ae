"""Special tokens in machines: a name that no text can spell.

For a machine the special token `<think>` is the byte FF, its text, and the byte FE. Neither byte occurs in UTF-8, so a
machine over text never reads a name, and a text that spells `<think>` is never the token. Machines read names byte by
byte like everything else; `tokens/vocabulary.py` gives each special id its name.

    gv.tagged(begin=gv.special("<think>"), end=gv.special("</think>"))
    gv.grammar('root ::= <think> (!</think>)* </think> [0-9]+')
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from guidedviz.errors import PatternError, expect, quoted
from guidedviz.machines.ranges import NAME_BEGINS, NAME_ENDS
from guidedviz.machines.regular.algebra import code_machine, code_net, difference
from guidedviz.machines.syntax import ANY_CHARACTER, Chars, Repeat, Tree, concat, either, literal

BEGIN, END = b"\xff", b"\xfe"
NAME = re.compile(b"\xff([^\xff\xfe]*)\xfe")
BEGINS = Chars(((NAME_BEGINS, NAME_BEGINS),))
ENDS = Chars(((NAME_ENDS, NAME_ENDS),))
NAME_CHARACTERS = 65_536  # of one special token


@dataclass(frozen=True)
class Special:
    """The special token with this text, where a string would be the text itself."""

    name: str

    def __post_init__(self) -> None:
        expect(self.name, str, "special", "the text of a special token")
        if not self.name or any(0xD800 <= ord(char) <= 0xDFFF for char in self.name):
            raise PatternError("special", seen=quoted(self.name), expected="a text of at least one character")
        if len(self.name) > NAME_CHARACTERS:
            expected = f"at most {NAME_CHARACTERS:,}"
            raise PatternError("special", seen=f"{len(self.name):,} characters", expected=expected)

    def __str__(self) -> str:
        return self.name


def special(name: str) -> Special:
    """A special token by its text, as a begin or an end of `gv.tagged`; a string there is text.

    >>> call = gv.tagged(begin=gv.special("[TOOL_CALLS]"), machine=gv.regex("[0-9]+"), end=gv.special("</s>"))
    >>> call.accepts(name_bytes("[TOOL_CALLS]") + b"12" + name_bytes("</s>")), call.accepts_prefix(b"[TOOL_CALLS]x")
    (True, True)
    """
    return Special(name)


def name_bytes(text: str | bytes) -> bytes:
    """What a machine reads for a special token.

    >>> name_bytes("<think>")
    b'\\xff<think>\\xfe'
    """
    inside = text.encode() if isinstance(text, str) else text
    return BEGIN + inside + END


def named(name: str) -> Tree:
    """The special token with this text."""
    return concat(BEGINS, literal(name), ENDS)


def spell(text: str | Special) -> Tree:
    """A text, or a special token, as a tree."""
    return named(text.name) if isinstance(text, Special) else literal(text)


ANY_NAME = concat(BEGINS, Repeat(ANY_CHARACTER, 1, None), ENDS)


def other_names(names: Iterable[str]) -> Tree:
    """Any special token but these."""
    return code_net(difference(code_machine(ANY_NAME), code_machine(either(*map(named, names)))))


def any_but(names: Iterable[str]) -> Tree:
    """One character of a text, or any special token but these."""
    return either(ANY_CHARACTER, other_names(names))


def split_names(data: bytes) -> list[bytes]:
    """Texts and names of special tokens in turn, beginning with a text.

    >>> split_names(b"a" + name_bytes("<x>") + b"b"), split_names(b"ab")
    ([b'a', b'<x>', b'b'], [b'ab'])
    """
    return NAME.split(data)


def without_names(data: bytes) -> bytes:
    """The text without the names of special tokens.

    >>> without_names(b"a" + name_bytes("<x>") + b"b")
    b'ab'
    """
    return NAME.sub(b"", data)
