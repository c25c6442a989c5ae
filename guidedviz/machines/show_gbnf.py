"""From a grammar back to its text: GBNF as llama.cpp and xgrammar read it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from guidedviz.errors import SettingError
from guidedviz.machines.grammar import Grammar, Rule
from guidedviz.machines.settle import parts_of
from guidedviz.machines.show_regex import unfold, write_class
from guidedviz.machines.tree import (
    EMPTY,
    LAST,
    Call,
    Chars,
    Concat,
    Either,
    Net,
    Range,
    Repeat,
    Tree,
    concat,
)

if TYPE_CHECKING:
    from guidedviz.machines.pda import PDA

MOST_EDGES = 300  # of a net that is written out
ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}


def show_gbnf(grammar: Grammar) -> str:
    r"""A line a rule, their signs below each other.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> print(show_gbnf(parse_grammar(r'root ::= "a" ws ("b" | [^"\n])*' + '\n' + r'ws ::= | " " ws')))
    root ::= "a" ws ("b" | [^\n"])*
    ws   ::= "" | " " ws
    """
    shower = _Shower({rule.name for rule in grammar.rules})
    for rule in grammar.rules:
        shower.rules.append(rule)
        while len(shower.lines) < len(shower.rules):  # a net adds rules of its own
            shower.show_rule(shower.rules[len(shower.lines)])
    width = max((len(name) for name, _ in shower.lines), default=0)
    return "\n".join(f"{name:{min(width, 24)}} ::= {body}" for name, body in shower.lines)


def to_gbnf(machine: PDA | Grammar) -> str:
    """The rules of a pushdown machine as text.

    >>> from guidedviz.machines.schema import json_schema
    >>> print(to_gbnf(json_schema({"type": "array", "items": {"$ref": "#"}})))
    root ::= "[" (root ("," " "? root)*)? "]"
    """
    grammar = getattr(machine, "grammar", machine)
    if not isinstance(grammar, Grammar):
        seen, hint = f"a {type(machine).__name__}", "gv.schema_gbnf(schema), or gv.schema_regex(schema)"
        raise SettingError("to_gbnf", seen=seen, expected="a pushdown machine or a grammar", hint=hint)
    return show_gbnf(grammar)


class _Shower:
    """Holds the lines so far, and the rules that nets turned into."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.rules: list[Rule] = []
        self.lines: list[tuple[str, str]] = []

    def show_rule(self, rule: Rule) -> None:
        place = len(self.lines)
        self.lines.append((rule.name, ""))
        self.lines[place] = (rule.name, self.show(rule.tree, rule.name))

    def show(self, tree: Tree, rule: str) -> str:
        """A tree as it stands in a rule of this name."""
        match tree:
            case Chars(ranges):
                return show_chars(ranges)
            case Concat(()):
                return '""'
            case Concat(parts):
                return " ".join(self.show_row(parts, rule))
            case Either(options):
                return " | ".join(self.show_tight(option, rule, Either) for option in options)
            case Repeat(part):
                sign = str(Repeat(part, tree.low, tree.high))
                return self.show_tight(part, rule, Either, Repeat, Concat) + sign
            case Call(name):
                return name
            case Net():
                return self.show_net(tree, rule)

    def show_row(self, parts: tuple[Tree, ...], rule: str) -> list[str]:
        """Parts in a row; characters that stand side by side are one text."""
        row = []
        for single, run in groupby(parts, key=is_single):
            if single:
                row.append(show_text([part.ranges[0][0] for part in run if isinstance(part, Chars)]))
            else:
                row += [self.show_tight(part, rule, Either) for part in run]
        return row

    def show_tight(self, tree: Tree, rule: str, *loose: type) -> str:
        """A tree, in parentheses if it is of a loose kind and more than one text."""
        shown = self.show(tree, rule)
        whole = isinstance(tree, Concat) and tree != EMPTY and all(map(is_single, tree.parts))
        return f"({shown})" if isinstance(tree, loose) and not whole else shown

    def show_net(self, net: Net, rule: str) -> str:
        """Written out; or a rule a place, if that is much longer: each edge is its part and then the place after it."""
        if len(net.edges) <= MOST_EDGES:
            tree = unfold(net, count_signs)
            if count_signs(tree) <= 4 * count_signs(net):
                return self.show_tight(tree, rule, Either)
        first = next(count for count in range(len(self.names) + 1) if f"{rule}-{count}-0" not in self.names)
        names = [f"{rule}-{first}-{place}" for place in range(net.places)]
        self.names.update(names)
        ways: list[list[Tree]] = [[] for _ in names]
        for source, part, target in net.edges:
            ways[source].append(concat(part, Call(names[target])))
        ways[-1].append(EMPTY)
        self.rules += [Rule(name, Either(tuple(options)), (0, 0)) for name, options in zip(names, ways, strict=True)]
        return names[0]


def count_signs(tree: Tree) -> int:
    """About how many signs a reader meets in a tree; a text in quotes is one.

    >>> from guidedviz.machines.tree import literal
    >>> count_signs(literal("abc")), count_signs(concat(literal("abc"), Repeat(Call("x"), 0, None)))
    (1, 3)
    """
    inner = parts_of(tree)
    if isinstance(tree, Concat):
        return sum(single or sum(map(count_signs, run)) for single, run in groupby(inner, key=is_single))
    return sum(map(count_signs, inner)) + (not isinstance(tree, Either | Net))


def is_single(tree: Tree) -> bool:
    """Exactly one character."""
    return isinstance(tree, Chars) and len(tree.ranges) == 1 and tree.ranges[0][0] == tree.ranges[0][1]


def show_text(codes: list[int]) -> str:
    r"""Characters as a text in quotes.

    >>> print(show_text([97, 34, 10, 0x202E]))
    "a\"\n\u202E"
    """
    return f'"{"".join(show_character(code, chr(34)) for code in codes)}"'


def show_chars(ranges: tuple[Range, ...]) -> str:
    r"""One character out of these ranges.

    >>> print(show_chars(((97, 122),)), show_chars(((97, 97),)), show_chars(((0, LAST),)), show_chars(()))
    [a-z] "a" [\u0000-\U0010FFFF] [^\u0000-\U0010FFFF]
    """
    if is_single(Chars(ranges)):
        return show_text([ranges[0][0]])
    negated = not ranges or (ranges[-1][1] == LAST and ranges != ((0, LAST),))  # not ".", which xgrammar does not read
    return write_class(ranges, negated, lambda code: show_character(code, "[]-"))


def show_character(code: int, special: str) -> str:
    """A character in quotes or brackets: what means something there and what cannot be seen is escaped."""
    char = chr(code)
    if char in ESCAPES:
        return ESCAPES[char]
    if char in special:
        return "\\" + char
    if char.isprintable() and char != "^":  # a first ^ would turn a class around, and has no escape of its own
        return char
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"  # \x is read in more than one way elsewhere
