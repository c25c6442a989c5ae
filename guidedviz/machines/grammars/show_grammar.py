"""The rules of a grammar as text for other engines: GBNF for llama.cpp and xgrammar, Lark for llguidance.

A net becomes an expression, or one rule per place if the expression would be much longer.
"""

from collections.abc import Callable, Mapping
from functools import partial

from guidedviz.machines import syntax
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.show import Notation, count_signs, is_single, show_char, unfold, write_class
from guidedviz.machines.ranges import LAST, Range
from guidedviz.machines.syntax import Tree

MOST_EDGES = 300  # of a net that is shown as one expression


def show_gbnf(grammar: Grammar) -> str:
    r"""One line per rule, with aligned ::= signs.

    >>> print(show_gbnf(gv.grammar(r'root ::= "a" ws ("b" | [^"\n])*' + '\n' + r'ws ::= | " " ws').grammar))
    root ::= "a" ws ("b" | [^\n"])*
    ws   ::= "" | " " ws
    """
    notation = partial(Notation, show_chars, text=show_text)
    lines = _write_rules(grammar, {rule.name: rule.name for rule in grammar.rules}, "-", notation)
    width = min(24, max((len(name) for name, _ in lines), default=0))
    return "\n".join(f"{name:{width}} ::= {body}" for name, body in lines)


def show_lark(grammar: Grammar) -> str:
    r"""One line per rule; rules are numbered because Lark allows fewer characters in names.

    llguidance splits a text into lexemes before it parses, and lexemes match greedily: `"a" "b" "c" | "ab" "d"`
    requires a `d` after `ab`. Every lexeme here is one character, so greedy matching does not change the language.

    >>> print(show_lark(gv.grammar(r'root ::= "(" root ")" | [0-9é]{2,}').grammar))
    start: r0
    r0: /[(]/ r0 /[)]/ | /[0-9\x{E9}]/{2,}
    """
    names = {rule.name: f"r{number}" for number, rule in enumerate(grammar.rules)}
    lines = _write_rules(grammar, names, "_", partial(Notation, show_lexeme))
    return "\n".join([f"start: {names[grammar.root]}", *(f"{name}: {body}" for name, body in lines)])


def _write_rules(
    grammar: Grammar, names: Mapping[str, str], joint: str, notation: Callable[..., Notation]
) -> list[tuple[str, str]]:
    """The names and bodies of all rules; those of the places of a net follow the rule that has it."""
    taken, lines = set(names.values()), list[tuple[str, str]]()
    for rule in grammar.rules:
        waiting: list[tuple[str, Tree]] = [(names[rule.name], rule.tree)]

        def flat(net: syntax.Net, waiting: list[tuple[str, Tree]] = waiting) -> Tree:
            if len(net.edges) <= MOST_EDGES:
                tree = unfold(net, count_signs)
                if count_signs(tree) <= 4 * count_signs(net):
                    return tree
            rule = waiting[0][0]
            first = next(count for count in range(len(taken) + 1) if f"{rule}{joint}{count}{joint}0" not in taken)
            own = [f"{rule}{joint}{first}{joint}{place}" for place in range(net.places)]
            taken.update(own)
            options: list[list[Tree]] = [[] for _ in own]
            for source, part, target in net.edges:  # an edge is its part, followed by a call of its target
                options[source].append(syntax.concat(part, syntax.Call(own[target])))
            options[-1].append(syntax.EMPTY)
            waiting.extend((name, syntax.Either(tuple(some))) for name, some in zip(own, options, strict=True))
            return syntax.Call(own[0])

        write = notation(flat, lambda call: names.get(call.name, call.name))
        lines += [(name, write.show(tree)) for name, tree in waiting]  # it grows
    return lines


def show_text(codes: list[int]) -> str:
    r"""Characters as a quoted text.

    >>> print(show_text([97, 34, 10, 0x202E]))
    "a\"\n\u202E"
    """
    return '"' + "".join(show_char(code, '"\\') for code in codes) + '"'


def show_chars(ranges: tuple[Range, ...]) -> str:
    r"""A character class for these ranges.

    >>> print(show_chars(((97, 122),)), show_chars(((97, 97),)), show_chars(((0, LAST),)), show_chars(()))
    [a-z] "a" [\u0000-\U0010FFFF] [^\u0000-\U0010FFFF]
    """
    if is_single(syntax.Chars(ranges)):
        return show_text([ranges[0][0]])
    everything = ranges == syntax.ANY_CHARACTER.ranges  # xgrammar does not support "."
    negated = not ranges or (ranges[-1][1] == LAST and not everything)
    # a first ^ would negate a class, and \^ is not an escape
    return write_class(ranges, negated, lambda code: r"\u005E" if code == 94 else show_char(code, "[]-\\"))


def show_lexeme(ranges: tuple[Range, ...]) -> str:
    r"""A character class for these ranges, as a Rust regex.

    >>> print(show_lexeme(((10, 10), (47, 47), (97, 122))), show_lexeme(()))
    /[\x{A}\x{2F}a-z]/ /[^\x{0}-\x{10FFFF}]/
    """

    def show(code: int) -> str:
        char = chr(code)
        return char if char.isascii() and (char.isalnum() or char in "_(){},:;") else f"\\x{{{code:X}}}"

    return f"/{write_class(ranges, not ranges, show)}/"
