r"""Write a grammar in llguidance's variant of the Lark syntax.

llguidance splits a text into lexemes before it parses, and lexemes match greedily: `"a" "b" "c" | "ab" "d"` requires a
`d` after `ab`. Every lexeme here is one character, so greedy matching does not change the language.
"""

from __future__ import annotations

from dataclasses import replace

from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.show_gbnf import options_by_place
from guidedviz.machines.tree import LAST, Call, Chars, Concat, Either, Net, Range, Repeat, Tick, Tree, no_ticks


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
