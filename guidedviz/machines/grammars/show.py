"""Write a grammar as GBNF text for llama.cpp and xgrammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from guidedviz.errors import SettingError
from guidedviz.machines.grammars.counted import without_ticks
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.regular.show_regex import unfold, write_class
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
    Tick,
    Tree,
    Words,
    concat,
    no_ticks,
    parts_of,
)

MOST_EDGES = 300  # of a net that is shown as one expression
ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}


def show_gbnf(grammar: Grammar) -> str:
    r"""One line per rule, with aligned ::= signs.

    >>> print(show_gbnf(gv.grammar(r'root ::= "a" ws ("b" | [^"\n])*' + '\n' + r'ws ::= | " " ws').grammar))
    root ::= "a" ws ("b" | [^\n"])*
    ws   ::= "" | " " ws
    """
    shower = _Shower({rule.name for rule in grammar.rules})
    for rule in grammar.rules:
        shower.rules.append(rule)
        while len(shower.lines) < len(shower.rules):  # show_net appends rules
            shower.show_rule(shower.rules[len(shower.lines)])
    width = max((len(name) for name, _ in shower.lines), default=0)
    return "\n".join(f"{name:{min(width, 24)}} ::= {body}" for name, body in shower.lines)


def to_gbnf(machine: object) -> str:
    """The rules of a pushdown machine as GBNF text.

    >>> print(to_gbnf(gv.json_schema({"type": "array", "items": {"$ref": "#"}})))
    root ::= "[" (root ("," " "? root)*)? "]"
    """
    grammar = getattr(machine, "grammar", machine)
    if not isinstance(grammar, Grammar):
        seen, expected = f"a {type(machine).__name__}", "a pushdown machine or a grammar"
        hint = "gv.machines.schema_gbnf(schema), or gv.machines.schema_regex(schema)"
        raise SettingError("to_gbnf", seen=seen, expected=expected, hint=hint)
    return show_gbnf(without_ticks(grammar))


class _Shower:
    """Collects the lines, and the rules created from nets."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.rules: list[Rule] = []
        self.lines: list[tuple[str, str]] = []

    def show_rule(self, rule: Rule) -> None:
        place = len(self.lines)
        self.lines.append((rule.name, ""))
        self.lines[place] = (rule.name, self.show(rule.tree, rule.name))

    def show(self, tree: Tree, rule: str) -> str:
        """The GBNF of a tree in the rule with this name."""
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
            case Tick():
                raise no_ticks(tree)

    def show_row(self, parts: tuple[Tree, ...], rule: str) -> list[str]:
        """The parts of a sequence; adjacent characters become one text."""
        row = []
        for single, run in groupby(parts, key=is_single):
            if single:
                row.append(show_text([part.ranges[0][0] for part in run if isinstance(part, Chars)]))
            else:
                row += [self.show_tight(part, rule, Either) for part in run]
        return row

    def show_tight(self, tree: Tree, rule: str, *loose: type) -> str:
        """A tree, in parentheses if it has one of the loose types and is not a single text."""
        shown = self.show(tree, rule)
        whole = isinstance(tree, Concat) and tree != EMPTY and all(map(is_single, tree.parts))
        return f"({shown})" if isinstance(tree, loose) and not whole else shown

    def show_net(self, net: Net, rule: str) -> str:
        """A net as one expression, or as one rule per place if the expression is much longer."""
        if len(net.edges) <= MOST_EDGES:
            tree = unfold(net, count_signs)
            if count_signs(tree) <= 4 * count_signs(net):
                return self.show_tight(tree, rule, Either)
        first = next(count for count in range(len(self.names) + 1) if f"{rule}-{count}-0" not in self.names)
        names = [f"{rule}-{first}-{place}" for place in range(net.places)]
        self.names.update(names)
        ways = options_by_place(net, names)
        self.rules += [Rule(name, Either(tuple(options)), (0, 0)) for name, options in zip(names, ways, strict=True)]
        return names[0]


def options_by_place(net: Net, names: Sequence[str]) -> list[list[Tree]]:
    """The body of one rule per place of a net, as options: an edge is its part followed by a call of its target.

    >>> from guidedviz.machines.tree import literal
    >>> [len(options) for options in options_by_place(Net(2, ((0, literal("a"), 1),)), ["p0", "p1"])]
    [1, 1]
    """
    options: list[list[Tree]] = [[] for _ in range(net.places)]
    for source, part, target in net.edges:
        options[source].append(concat(part, Call(names[target])))
    options[-1].append(EMPTY)
    return options


def count_signs(tree: Tree) -> int:
    """The approximate number of symbols in a tree; a quoted text counts as one.

    >>> from guidedviz.machines.tree import literal
    >>> count_signs(literal("abc")), count_signs(concat(literal("abc"), Repeat(Call("x"), 0, None)))
    (1, 3)
    """
    inner = parts_of(tree)
    if isinstance(tree, Words):
        return len(tree.edges)
    if isinstance(tree, Concat):
        return sum(single or sum(map(count_signs, run)) for single, run in groupby(inner, key=is_single))
    return sum(map(count_signs, inner)) + (not isinstance(tree, Either | Net))


def is_single(tree: Tree) -> bool:
    """Whether the tree is exactly one character."""
    return isinstance(tree, Chars) and len(tree.ranges) == 1 and tree.ranges[0][0] == tree.ranges[0][1]


def show_text(codes: list[int]) -> str:
    r"""Characters as a quoted text.

    >>> print(show_text([97, 34, 10, 0x202E]))
    "a\"\n\u202E"
    """
    return f'"{"".join(show_character(code, chr(34)) for code in codes)}"'


def show_chars(ranges: tuple[Range, ...]) -> str:
    r"""A character class for these ranges.

    >>> print(show_chars(((97, 122),)), show_chars(((97, 97),)), show_chars(((0, LAST),)), show_chars(()))
    [a-z] "a" [\u0000-\U0010FFFF] [^\u0000-\U0010FFFF]
    """
    if is_single(Chars(ranges)):
        return show_text([ranges[0][0]])
    negated = not ranges or (ranges[-1][1] == LAST and ranges != ((0, LAST),))  # xgrammar does not support "."
    return write_class(ranges, negated, lambda code: show_character(code, "[]-"))


def show_character(code: int, special: str) -> str:
    """A character in quotes or brackets; special and unprintable characters are escaped."""
    char = chr(code)
    if char in ESCAPES:
        return ESCAPES[char]
    if char in special:
        return "\\" + char
    if char.isprintable() and char != "^":  # a first ^ would negate a class, and \^ is not an escape
        return char
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"  # other parsers read \x differently


# Write a grammar in llguidance's variant of the Lark syntax.
#
# llguidance splits a text into lexemes before it parses, and lexemes match greedily: `"a" "b" "c" | "ab" "d"`
# requires a `d` after `ab`. Every lexeme here is one character, so greedy matching does not change the language.


def show_lark(grammar: Grammar) -> str:
    r"""One line per rule; rules are numbered because Lark allows fewer characters in names.

    >>> print(show_lark(gv.grammar(r'root ::= "(" root ")" | [0-9é]{2,}').grammar))
    start: r0
    r0: ((/[(]/ r0 /[)]/) | /[0-9\x{E9}]/{2,})
    """
    names = {rule.name: f"r{number}" for number, rule in enumerate(grammar.rules)}
    lines = [f"start: {names[grammar.root]}"]
    for rule in grammar.rules:
        body = _show(rule.tree, names, names[rule.name], lines)
        lines.append(f"{names[rule.name]}: {body}")
    return "\n".join(lines)


def _show(tree: Tree, names: dict[str, str], rule: str, lines: list[str]) -> str:
    match tree:
        case Chars(ranges):
            return show_lexeme(ranges)
        case Concat(()) | Repeat(_, 0, 0):
            return '""'
        case Concat(parts):
            return "(" + " ".join(_show(part, names, rule, lines) for part in parts) + ")"
        case Either(options):
            return "(" + " | ".join(_show(option, names, rule, lines) for option in options) + ")"
        case Repeat(part):
            inner = _show(part, names, rule, lines)
            return (f"({inner})" if isinstance(part, Repeat) else inner) + str(replace(tree, position=None))
        case Call(name):
            return names[name]
        case Net():
            return _show_net(tree, names, rule, lines)
        case Tick():
            raise no_ticks(tree)


def _show_net(net: Net, names: dict[str, str], rule: str, lines: list[str]) -> str:
    """One rule per place: an edge is its part followed by its target."""
    first = f"{rule}_{len(lines)}_"
    own = [f"{first}{place}" for place in range(net.places)]
    places = names | dict(zip(own, own, strict=True))
    for place, options in enumerate(options_by_place(net, own)):
        body = " | ".join(_show(option, places, rule, lines) for option in options) or show_lexeme(())
        lines.append(f"{own[place]}: {body}")
    return own[0]


def show_lexeme(ranges: tuple[Range, ...]) -> str:
    r"""A character class for these ranges, as a Rust regex.

    >>> print(show_lexeme(((10, 10), (47, 47), (97, 122))), show_lexeme(()))
    /[\x{A}\x{2F}a-z]/ /[^\x{0}-\x{10FFFF}]/
    """
    negated, shown = not ranges, ranges or ((0, LAST),)
    return f"/[{'^' * negated}{''.join(map(_show_range, shown))}]/"


def _show_range(pair: Range) -> str:
    low, high = map(_show_character, pair)
    return low if low == high else f"{low}-{high}"


def _show_character(code: int) -> str:
    char = chr(code)
    return char if char.isascii() and (char.isalnum() or char in "_(){},:;") else f"\\x{{{code:X}}}"
