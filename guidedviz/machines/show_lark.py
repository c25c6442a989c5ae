r"""From a grammar to Lark's syntax as llguidance reads it.

llguidance cuts a text into lexemes before it parses, and each takes as much as it can: `"a" "b" "c" | "ab" "d"` wants a
`d` after `ab`. So every lexeme here is one character: then there is no more to take, and the texts are the grammar's.
"""

from __future__ import annotations

from dataclasses import replace

from guidedviz.machines.grammar import Grammar
from guidedviz.machines.tree import EMPTY, LAST, Call, Chars, Concat, Either, Net, Range, Repeat, Tree, concat


def show_lark(grammar: Grammar) -> str:
    r"""A line a rule; names are numbers, as Lark takes fewer signs in a name.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> print(show_lark(parse_grammar(r'root ::= "(" root ")" | [0-9é]{2,}')))
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


def _show_net(net: Net, names: dict[str, str], rule: str, lines: list[str]) -> str:
    """A rule a place: each edge is its part and then the place after it."""
    first = f"{rule}_{len(lines)}_"
    places = dict(names) | {f"{first}{place}": f"{first}{place}" for place in range(net.places)}
    ways: list[list[Tree]] = [[] for _ in range(net.places)]
    for source, part, target in net.edges:
        ways[source].append(concat(part, Call(f"{first}{target}")))
    ways[-1].append(EMPTY)
    for place, options in enumerate(ways):
        body = " | ".join(_show(option, places, rule, lines) for option in options) or show_lexeme(())
        lines.append(f"{first}{place}: {body}")
    return f"{first}0"


def show_lexeme(ranges: tuple[Range, ...]) -> str:
    r"""One character out of these ranges, as a regex of Rust.

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
