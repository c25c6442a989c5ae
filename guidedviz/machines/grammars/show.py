"""Write syntax trees and grammars as text: for Python's re, for GBNF (llama.cpp, xgrammar) and for Lark (llguidance).

A notation says how a tree is written. A net becomes an expression, or one rule per place if that is much shorter.
"""

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import NamedTuple

from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.unfold import count_signs, too_long_to_show, unfold_net
from guidedviz.machines.names import BYTE_SIGNS
from guidedviz.machines.ranges import LAST, NAME_BEGINS, NAME_ENDS, Ranges, other_ranges
from guidedviz.machines.syntax import (
    ANY_CHARACTER,
    EMPTY,
    Call,
    Chars,
    Concat,
    Either,
    Net,
    Repeat,
    Tick,
    Tree,
    concat,
    is_one_character,
    no_rules,
)

ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


class Notation(NamedTuple):
    """How a tree is written. `flat` gives a tree for a net; `text` writes adjacent characters, if they are one part."""

    chars: Callable[[Ranges], str]
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
        if len(shown) > limits.TREE_CHARACTERS:
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
        row = []
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


def show_class(ranges: Ranges) -> str:
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


def write_class(ranges: Ranges, negated: bool, show: Callable[[int], str]) -> str:
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


NAME_SIGNS = {NAME_BEGINS: BYTE_SIGNS[0xFF], NAME_ENDS: BYTE_SIGNS[0xFE]}  # around the name of a special token


def show_char(code: int, special: str) -> str:
    """One character in a pattern: special and unprintable characters are escaped."""
    if code in NAME_SIGNS:
        return NAME_SIGNS[code]
    char = chr(code)
    if char in ESCAPES:
        return ESCAPES[char]
    if char in special:
        return "\\" + char
    if char.isprintable():
        return char
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _unfold(net: Net) -> Tree:
    return unfold_net(net, lambda tree: len(show_regex(tree)))  # what copies the shortest text goes first


REGEX_NOTATION = Notation(show_class, _unfold, no_rules, None, "", "|", "(?:{})", "")


WriteChars = Callable[[Ranges], str]
WriteText = Callable[[list[int]], str]
EDGES_OF_EXPRESSION = 300  # of a net that is shown as one expression


def show_gbnf(grammar: Grammar) -> str:
    r"""One line per rule, with aligned ::= signs.

    >>> print(show_gbnf(gv.grammar(r'root ::= "a" ws ("b" | [^"\n])*' + '\n' + r'ws ::= | " " ws').grammar))
    root ::= "a" ws ("b" | [^\n"])*
    ws   ::= "" | " " ws
    """
    names = {name: name for name in grammar.named}
    lines = _RuleWriter(names, "-", show_chars, quote_text).write(grammar)
    longest = max([len(name) for name, _ in lines], default=0)
    width = min(24, longest)
    return "\n".join([f"{name:{width}} ::= {body}" for name, body in lines])


def show_lark(grammar: Grammar) -> str:
    r"""One line per rule; rules are numbered because Lark allows fewer characters in names.

    llguidance splits a text into lexemes before it parses, and lexemes match greedily: `"a" "b" "c" | "ab" "d"`
    requires a `d` after `ab`. Every lexeme here is one character, so greedy matching does not change the language.
    As in GBNF, signs show the bytes around the name of a special token; an engine gets it by its ids (`token_calls`).

    >>> print(show_lark(gv.grammar(r'root ::= "(" root ")" | [0-9é]{2,}').grammar))
    start: r0
    r0: /[(]/ r0 /[)]/ | /[0-9\x{E9}]/{2,}
    """
    names = {rule.name: f"r{number}" for number, rule in enumerate(grammar.rules)}
    lines = _RuleWriter(names, "_", show_lexeme, None).write(grammar)
    return "\n".join([f"{name}: {body}" for name, body in [("start", names[grammar.root]), *lines]])


class _RuleWriter:
    """The rules of a grammar as lines; those of the places of a net follow the rule that has it."""

    def __init__(self, names: Mapping[str, str], joint: str, chars: WriteChars, text: WriteText | None) -> None:
        self.names = names
        self.joint = joint
        self.taken = set(names.values())
        self.notation = Notation(chars, self.flat, lambda call: names.get(call.name, call.name), text)
        self.waiting: list[tuple[str, Tree]] = []  # the rule that is written, and those of its nets

    def write(self, grammar: Grammar) -> list[tuple[str, str]]:
        """The names and bodies of all rules."""
        lines = []
        for rule in grammar.rules:
            self.waiting = [(self.names[rule.name], rule.tree)]
            for name, tree in self.waiting:  # it grows
                lines.append((name, self.notation.show(tree)))
        return lines

    def flat(self, net: Net) -> Tree:
        """A net as an expression, or a call of its first place, whose rules are written later."""
        if len(net.edges) <= EDGES_OF_EXPRESSION:
            tree = unfold_net(net, count_signs)
            if count_signs(tree) <= 4 * count_signs(net):
                return tree
        own = self.names_of_places(net)
        options: list[list[Tree]] = [[] for _ in own]
        for source, part, target in net.edges:  # an edge is its part, followed by a call of its target
            options[source].append(concat(part, Call(own[target])))
        options[-1].append(EMPTY)
        for name, found in zip(own, options, strict=True):
            self.waiting.append((name, Either(tuple(found))))
        return Call(own[0])

    def names_of_places(self, net: Net) -> list[str]:
        """Names for the places of a net, which no rule has."""
        rule, _ = self.waiting[0]
        number = 0
        while f"{rule}{self.joint}{number}{self.joint}0" in self.taken:
            number += 1
        prefix = f"{rule}{self.joint}{number}{self.joint}"
        names = [f"{prefix}{place}" for place in range(net.places)]
        self.taken.update(names)
        return names


def quote_text(codes: list[int]) -> str:
    r"""Characters as a quoted text.

    >>> print(quote_text([97, 34, 10, 0x202E]))
    "a\"\n\u202E"
    """
    inside = "".join([show_char(code, '"\\') for code in codes])
    return f'"{inside}"'


def show_chars(ranges: Ranges) -> str:
    r"""A character class for these ranges.

    >>> print(show_chars(((97, 122),)), show_chars(((97, 97),)), show_chars(((0, LAST),)), show_chars(()))
    [a-z] "a" [\u0000-\U0010FFFF] [^\u0000-\U0010FFFF]
    """
    if is_one_character(Chars(ranges)):
        return quote_text([ranges[0][0]])
    everything = ranges == ANY_CHARACTER.ranges  # xgrammar does not support "."
    negated = not ranges or (ranges[-1][1] == LAST and not everything)
    return write_class(ranges, negated, _show_in_class)


def _show_in_class(code: int) -> str:
    """A first ^ would negate a class, and \\^ is not an escape."""
    return r"\u005E" if code == ord("^") else show_char(code, "[]-\\")


def show_lexeme(ranges: Ranges) -> str:
    r"""A character class for these ranges, as a Rust regex.

    >>> print(show_lexeme(((10, 10), (47, 47), (97, 122))), show_lexeme(()))
    /[\x{A}\x{2F}a-z]/ /[^\x{0}-\x{10FFFF}]/
    """
    return f"/{write_class(ranges, not ranges, _show_in_rust)}/"


def _show_in_rust(code: int) -> str:
    if code in NAME_SIGNS:
        return NAME_SIGNS[code]
    char = chr(code)
    is_plain = char.isascii() and char.isalnum()
    return char if is_plain or char in "_(){},:;" else f"\\x{{{code:X}}}"
