"""Read a grammar in GBNF, the dialect of llama.cpp: tokens, then recursive descent.

`name ::= ...` defines a rule, `|` is a choice, `( )` groups, `"text"`, `[a-z]`, `[^a-z]` and `.` match characters,
`* + ? {m} {m,} {m,n}` repeat the part before them, `#` begins a comment. A line ends a rule, except inside parentheses,
after `|` and after `::=`.

`<think>` is the special token with this text, `<[128010]>` the one with this id, `<[128000-128255]>` one of these ids,
and `!<think>` any character, or any other special token.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from guidedviz.errors import GrammarError, PatternError, check_length, did_you_mean, expect, nearest, quoted, shorten
from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.ranges import LAST, Ranges, merge_ranges, other_ranges
from guidedviz.machines.special import NamesOf, no_names, read_special
from guidedviz.machines.syntax import (
    ANY_CHARACTER,
    Call,
    Chars,
    Either,
    Repeat,
    Tree,
    concat,
    one_character,
    read_count,
)
from guidedviz.machines.visible import grammar_error, line_and_column, show_line
from guidedviz.machines.work import spend

TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\#[^\r\n]*)
      | (?P<line>\r\n?|\n)
      | (?P<define>::=)
      | (?P<name>[A-Za-z0-9_-]+)
      | (?P<special>!?<(?:\[[0-9]{1,9}(?:[-,][0-9]{1,9})*\]|[^<>\[\]\r\n][^<>\r\n]*)>)
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<chars>\[[^\]\\]*(?:\\.[^\]\\]*)*\])
      | (?P<count>[*+?]|\{[^{}\r\n]*\})
      | (?P<sign>[|().])
      | (?P<unknown>.)""",
    re.VERBOSE | re.DOTALL,
)
WRITTEN_CHARACTER = re.compile(
    r'\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\([trn\\"\[\]-])|([^\\])', re.DOTALL
)
NESTING = {"(": 1, ")": -1}
ESCAPED = {"t": "\t", "r": "\r", "n": "\n"}
A_SPECIAL_TOKEN = ("an unclosed special token", "a > after it", "<think>, <[128010]>, <[5-9]> or !<think>")
UNKNOWN_TOKENS = {  # the first character of an invalid token: its description, what is expected, a correction
    '"': ("an unclosed text", 'a " after it', 'close it with "'),
    "[": ("an unclosed class", "a ] after it", "close it with ]"),
    "{": ("an unclosed count", "a } after it", "{2}, {2,} or {2,5}"),
    "'": ("a single quote", "a text in double quotes", 'write texts in double quotes: "a"'),
    ":": ("a colon", '"::="', "a rule is written name ::= ..."),
    "=": ("an equals sign", '"::="', "a rule is written name ::= ..."),
    "<": A_SPECIAL_TOKEN,
    "!": A_SPECIAL_TOKEN,
}


class Token(NamedTuple):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def __str__(self) -> str:
        known = {"line": "the end of the line", "end": "the end of the grammar"}
        return known.get(self.kind) or brief(self.text)


def brief(text: str) -> str:
    return show_line(shorten(text, 40))


def parse_grammar(text: str, root: str = "root", names_of: NamesOf = no_names) -> Grammar:
    r"""The rules of a grammar.

    >>> grammar = parse_grammar('''
    ... root  ::= "(" root ")" | digit+   # nested to any depth
    ... digit ::= [0-9]
    ... ''')
    >>> [rule.name for rule in grammar.rules], grammar.named["digit"].tree
    (['root', 'digit'], Chars(ranges=((48, 57),)))
    """
    expect(text, str, "grammar", "a str")
    expect(root, str, "grammar, root", "the name of a rule")
    check_length("grammar", text, limits.GBNF_CHARACTERS)
    grammar = Grammar(_Parser(text, names_of).rules(), root, text)
    if root not in grammar.named:
        near = nearest(root, grammar.named)
        if not near and grammar.rules:
            near = f'"{brief(grammar.rules[0].name)}"'
        raise PatternError("grammar", seen=f"no rule {quoted(root)}", expected="a rule to start from", hint=near)
    return grammar


def split_tokens(text: str) -> Iterator[Token]:
    """The tokens without blanks, comments, and line ends inside a rule.

    >>> [token.text for token in split_tokens('a ::= ( "b"\\n) # c')]
    ['a', '::=', '(', '"b"', ')', '']
    """
    opened = 0  # parentheses
    before = "line"
    for match in TOKEN.finditer(text):
        token = Token(str(match.lastgroup), match[0], match.start())
        goes_on = opened > 0 or before in ("line", "define", "|")
        if token.kind == "blank" or (token.kind == "line" and goes_on):
            continue
        yield token
        if token.kind == "unknown":  # the rest may be split wrongly
            return
        opened = max(0, opened + NESTING.get(token.text, 0))
        before = token.text if token.kind == "sign" else token.kind
    yield Token("end", "", len(text))


class _Parser:
    """A recursive-descent parser; `self.next` is the lookahead token."""

    def __init__(self, text: str, names_of: NamesOf) -> None:
        self.text = text
        self.names_of = names_of
        self.tokens = split_tokens(text)
        self.next = next(self.tokens)
        self.calls: list[Token] = []

    def take(self) -> Token:
        token = self.next
        self.next = next(self.tokens, token)
        spend(5 + 2 * len(token.text))
        return token

    def error(self, place: int, seen: str, expected: str, hint: str = "") -> GrammarError:
        return grammar_error(self.text, place, seen, expected, hint)

    def unexpected(self, expected: str, hint: str = "") -> GrammarError:
        if self.next.kind == "unknown":
            not_allowed = f"{self.next} is not allowed here", expected, ""
            return self.error(self.next.start, *UNKNOWN_TOKENS.get(self.next.text, not_allowed))
        return self.error(self.next.start, f"saw {self.next}", expected, hint)

    def rules(self) -> tuple[Rule, ...]:
        rules: dict[str, Rule] = {}
        while self.next.kind != "end":
            rule = self.rule()
            if first := rules.get(rule.name):
                line, _ = line_and_column(self.text, first.span[0])
                seen = f'duplicate rule "{brief(rule.name)}"'
                raise self.error(rule.span[0], seen, "another name", f"line {line} defines it")
            rules[rule.name] = rule
        for call in self.calls:
            if call.text not in rules:
                hint = did_you_mean(call.text, rules)
                raise self.error(call.start, f'unknown rule "{brief(call.text)}"', "the name of a rule", hint)
        return tuple(rules.values())

    def rule(self) -> Rule:
        """name ::= choice, then the end of the line."""
        if self.next.kind != "name":
            hint = 'a line ends a rule: end the line above with the "|"' if self.next.text == "|" else ""
            raise self.unexpected("a rule: name ::= ...", hint)
        name = self.take()
        if self.next.kind != "define":
            raise self.unexpected('"::="')
        self.take()
        tree = self.choice(0)
        if self.next.kind not in ("line", "end"):
            raise self.misplaced()
        self.take()
        return Rule(name.text, tree, (name.start, name.end))

    def misplaced(self) -> GrammarError:
        """The error for a token that neither continues a rule nor ends it."""
        if self.next.text == ")":
            return self.error(self.next.start, 'an unmatched ")"', 'a "(" before it')
        if self.next.kind == "define":
            return self.unexpected("the end of the line before a rule", 'an empty option is written ""')
        return self.unexpected('a text, a class, a rule\'s name, "(", "|" or the end of the line')

    def choice(self, depth: int) -> Tree:
        """row | row | ..."""
        options = [self.row(depth)]
        while self.next.text == "|":
            self.take()
            options.append(self.row(depth))
        return options[0] if len(options) == 1 else Either(tuple(options))

    def row(self, depth: int) -> Tree:
        """item item ..., each with its count; zero items match the empty text."""
        items = []
        while self.next.kind in ("string", "chars", "name", "special") or self.next.text in ("(", "."):
            item = self.item(depth)
            items.append(self.repeat(item) if self.next.kind == "count" else item)
        if self.next.kind == "count":
            hint = 'put the repeated part in parentheses: ("a"+)?' if items else ""
            raise self.unexpected("something to repeat before it", hint)
        return concat(*items)

    def item(self, depth: int) -> Tree:
        token = self.take()
        if token.kind == "string":
            codes = [code for code, _, _ in self.characters(token)]
            return concat(*[one_character(chr(code)) for code in codes])
        if token.kind == "chars":
            return Chars(self.ranges(token))
        if token.kind == "name":
            self.calls.append(token)
            return Call(token.text, (token.start, token.end))
        if token.kind == "special":
            return self.special(token)
        return ANY_CHARACTER if token.text == "." else self.group(token, depth + 1)

    def group(self, opening: Token, depth: int) -> Tree:
        """A choice and its closing ")"; the "(" is already read."""
        if depth > limits.NESTED_PARENTHESES:
            seen = f"more than {limits.NESTED_PARENTHESES} nested parentheses"
            raise self.error(opening.start, seen, "fewer", "give the inner part a rule of its own")
        tree = self.choice(depth)
        if self.next.text != ")":
            line, column = line_and_column(self.text, opening.start)
            raise self.unexpected('")"', f'the "(" of line {line}, column {column} is not closed')
        self.take()
        return tree

    def special(self, token: Token) -> Tree:
        """One of the special tokens that are named, or anything but these."""
        try:
            return read_special(token.text, self.names_of)
        except PatternError as error:
            raise self.error(token.start, f"saw {token}, {error.seen}", error.expected, error.hint) from None

    def repeat(self, part: Tree) -> Tree:
        token = self.take()
        counts = read_count(token.text)
        if counts is None:
            raise self.error(token.start, f"saw {token}", "{m}, {m,} or {m,n}", "for at most n: {0,n}")
        low, high = counts
        if max(low, high or 0) > limits.REPEATS:
            raise self.error(token.start, f"saw {token}", f"counts up to {limits.REPEATS:,}", "no upper count: {m,}")
        if high is not None and high < low:
            raise self.error(token.start, f"saw {token}", "the lower count first")
        return Repeat(part, low, high, token.start)

    def ranges(self, token: Token) -> Ranges:
        """The characters of a class; a minus between two characters makes a range."""
        row = list(self.characters(token))
        negated = row[:1] == [(ord("^"), "^", token.start + 1)]
        if negated:
            row = row[1:]
        if not row:
            raise self.error(token.start, f"saw {token}", "a class with a character in it", '"" is the empty text')
        ranges = []
        place = 0
        while place < len(row):
            low, _, start = row[place]
            high = low
            if place + 2 < len(row) and row[place + 1][1] == "-":
                place += 2
                high, _, _ = row[place]
            if high < low:
                raise self.error(start, "a range in descending order", "the lower character first")
            ranges.append((low, high))
            place += 1
        return other_ranges(ranges) if negated else merge_ranges(ranges)

    def characters(self, token: Token) -> Iterator[tuple[int, str, int]]:
        """The characters between the quotes or brackets: code point, spelling, position."""
        spend(4 * len(token.text))
        place = token.start + 1
        while place < token.end - 1:
            found = WRITTEN_CHARACTER.match(self.text, place, token.end - 1)
            if not found:
                seen = show_line(self.text[place : place + 2])
                expected = r"\t \r \n \\ \" \[ \] \- \xHH \uHHHH or \UHHHHHHHH"
                raise self.error(place, f"saw {seen}", expected)
            *numbers, escaped, plain = found.groups()
            number = next(filter(None, numbers), "")
            code = int(number, 16) if number else ord(plain or ESCAPED.get(escaped, escaped))
            if code > LAST:
                raise self.error(place, f"saw {found[0]}", f"a character up to U+{LAST:X}")
            yield code, found[0], place
            place = found.end()
