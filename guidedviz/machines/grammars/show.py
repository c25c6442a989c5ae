"""Write syntax trees as text. A notation says how: for Python's re (below), for GBNF and Lark (`show_grammar.py`)."""

from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

from guidedviz.machines import limits
from guidedviz.machines.grammars.unfold import too_long_to_show, unfold_net
from guidedviz.machines.ranges import LAST, Range, other_ranges
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree, is_one_character, no_rules

ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


class Notation(NamedTuple):
    """How a tree is written. `flat` gives a tree for a net; `text` writes adjacent characters, if they are one part."""

    chars: Callable[[tuple[Range, ...]], str]
    flat: Callable[[Net], Tree]
    call: Callable[[Call], str]
    text: Callable[[list[int]], str] | None = None
    between: str = " "
    bar: str = " | "
    group: str = "({})"
    empty: str = '""'

    def show(self, tree: Tree) -> str:
        """The tree in this notation."""
        shown = self.show_any(tree)
        if len(shown) > limits.SHOWN_CHARACTERS:
            raise too_long_to_show()
        return shown

    def show_any(self, tree: Tree) -> str:
        """The same for a tree of any length."""
        match tree:
            case Chars(ranges):
                return self.chars(ranges)
            case Concat(()) | Repeat(_, _, 0):
                return self.empty
            case Concat(parts):
                return self.between.join(self.row(parts))
            case Either(options):
                return self.bar.join([self.part(option, Either) for option in options])
            case Repeat(part):
                return self.part(part, Either, Repeat, Concat) + str(tree)
            case Net():
                return self.show(self.flat(tree))
            case Call():
                return self.call(tree)
            case Tick():
                no_rules(tree)

    def row(self, parts: tuple[Tree, ...]) -> list[str]:
        """The parts of a sequence."""
        row: list[str] = []
        for is_text, run in groupby(parts, key=is_one_character):
            if is_text and self.text:
                row.append(self.text([part.ranges[0][0] for part in run if isinstance(part, Chars)]))
            else:
                row.extend([self.part(part, Either) for part in run])
        return row

    def part(self, tree: Tree, *loose: type) -> str:
        """A part of a larger tree, as a group if it has one of the loose types and is not a single text."""
        if isinstance(tree, Net):
            tree = self.flat(tree)
        shown = self.show(tree)
        if not isinstance(tree, loose) or self.is_text(tree):
            return shown
        return self.group.format(shown)

    def is_text(self, tree: Tree) -> bool:
        """Whether the tree is written as one text in quotes."""
        if not self.text or not isinstance(tree, Concat) or not tree.parts:
            return False
        return all(map(is_one_character, tree.parts))


def show_regex(tree: Tree) -> str:
    r"""The regex of a tree.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> show_regex(parse_regex(r"(a|bc)*[^\n]{2,}\."))
    '(?:a|bc)*[^\\n]{2,}\\.'
    """
    return REGEX_NOTATION.show(tree)


def show_class(ranges: tuple[Range, ...]) -> str:
    r"""A character class for these ranges.

    >>> show_class(((65, 90),)), show_class(((46, 46),)), show_class(()), show_class(((0, LAST),))
    ('[A-Z]', '\\.', '[^\\s\\S]', '[\\s\\S]')
    """
    if not ranges:
        return r"[^\s\S]"
    if ranges == ((0, LAST),):
        return r"[\s\S]"
    if is_one_character(Chars(ranges)):
        return show_char(ranges[0][0], r"\.^$*+?{}[]|()")
    negated = ranges[-1][1] == LAST
    return write_class(ranges, negated, lambda code: show_char(code, r"\]^-[&~|"))


def write_class(ranges: tuple[Range, ...], negated: bool, show: Callable[[int], str]) -> str:
    """A class in brackets, written as its complement if `negated`; `show` writes a character.

    >>> write_class(((97, 122), (48, 49)), False, chr)
    '[a-z01]'
    """
    shown = "[^" if negated else "["
    for low, high in other_ranges(ranges) if negated else ranges:
        shown += show(low)
        if high > low + 1:
            shown += "-"
        if high > low:
            shown += show(high)
    return shown + "]"


def show_char(code: int, special: str) -> str:
    """One character in a pattern: special and unprintable characters are escaped."""
    char = chr(code)
    if char in ESCAPES:
        return ESCAPES[char]
    if char in special:
        return "\\" + char
    if char.isprintable():
        return char
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _shortest_regex(net: Net) -> Tree:
    """A net as an expression; the places whose removal copies the shortest text go first."""
    return unfold_net(net, lambda tree: len(show_regex(tree)))


REGEX_NOTATION = Notation(show_class, _shortest_regex, no_rules, None, "", "|", "(?:{})", "")
