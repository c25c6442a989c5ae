"""The rules of a grammar as text for other engines: GBNF for llama.cpp and xgrammar, Lark for llguidance.

A net becomes an expression, or one rule per place if the expression would be much longer.
"""

from collections.abc import Callable, Mapping

from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.show import Notation, show_char, write_class
from guidedviz.machines.grammars.unfold import count_signs, unfold_net
from guidedviz.machines.ranges import LAST, Range
from guidedviz.machines.syntax import ANY_CHARACTER, EMPTY, Call, Chars, Either, Net, Tree, concat, is_one_character

WriteChars = Callable[[tuple[Range, ...]], str]
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
        lines: list[tuple[str, str]] = []
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


def show_chars(ranges: tuple[Range, ...]) -> str:
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


def show_lexeme(ranges: tuple[Range, ...]) -> str:
    r"""A character class for these ranges, as a Rust regex.

    >>> print(show_lexeme(((10, 10), (47, 47), (97, 122))), show_lexeme(()))
    /[\x{A}\x{2F}a-z]/ /[^\x{0}-\x{10FFFF}]/
    """
    return f"/{write_class(ranges, not ranges, _show_in_rust)}/"


def _show_in_rust(code: int) -> str:
    char = chr(code)
    is_plain = char.isascii() and char.isalnum()
    return char if is_plain or char in "_(){},:;" else f"\\x{{{code:X}}}"
