"""A grammar: named rules, each a tree that may call the others."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from guidedviz.errors import GrammarError, quoted
from guidedviz.machines import syntax
from guidedviz.machines.syntax import Tree
from guidedviz.machines.visible import visible
from guidedviz.machines.work import derive, grouped

Span = tuple[int, int]  # start and end in the grammar's text, the end not included
LINE_END = re.compile(r"\r\n?|\n")
WIDEST = 80  # characters of a line in an error


@dataclass(frozen=True)
class Rule:
    """A rule: its name and its tree."""

    name: str
    tree: Tree
    span: Span  # of the name where it is defined

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The rules that this rule calls, in the order of its tree."""
        return tuple(dict.fromkeys(part.name for part in syntax.walk(self.tree) if isinstance(part, syntax.Call)))


@dataclass(frozen=True)
class Grammar:
    """The rules in the order of the text, and the name of the root."""

    rules: tuple[Rule, ...]
    root: str = "root"
    text: str = ""

    @cached_property
    def named(self) -> Mapping[str, Rule]:
        """The rules by name.

        >>> Grammar((Rule("root", syntax.literal("a"), (0, 4)),)).named["root"].tree
        Chars(ranges=((97, 97),))
        """
        return {rule.name: rule for rule in self.rules}

    @cached_property
    def calls(self) -> Mapping[str, tuple[str, ...]]:
        """The rules that each rule calls."""
        return {rule.name: rule.calls for rule in self.rules}


def line_and_column(text: str, place: int) -> tuple[int, int]:
    r"""The line and column of an offset, both counted from 1.

    >>> line_and_column("ab\ncd", 4)
    (2, 2)
    """
    starts = [0, *(found.end() for found in LINE_END.finditer(text, 0, place))]
    return len(starts), place - starts[-1] + 1


def grammar_error(text: str, place: int, seen: str, expected: str = "", hint: str = "") -> GrammarError:
    r"""The error at an offset of a grammar's text, with a caret under it.

    >>> print(grammar_error("root ::= vlaue", 9, 'unknown rule "vlaue"', hint='did you mean "value"?'))
    GBNF line 1, column 10: unknown rule "vlaue"
      root ::= vlaue
               ^ did you mean "value"?
    """
    line, column = line_and_column(text, place)
    where, picture = f"GBNF line {line}, column {column}", draw_caret(text, place)
    return GrammarError(where, seen=seen, expected=expected, hint=hint, picture=picture, position=place)


def draw_caret(text: str, place: int) -> str:
    """The line of an offset with a caret below it; of a long line the part around the offset."""
    start = place - line_and_column(text, place)[1] + 1
    end = found.start() if (found := LINE_END.search(text, place)) else len(text)
    left, right = max(start, place - WIDEST // 2), min(end, place + WIDEST // 2)
    before = "…" * (left > start) + show_line(text[left:place])
    return f"  {before}{show_line(text[place:right])}{'…' * (right < end)}\n  {' ' * len(before)}^"


def show_line(text: str) -> str:
    r"""Readable text of a grammar: blanks stay blank, invisible characters get a sign.

    >>> show_line('a ::= "\u202e"\t#')
    'a ::= "<U+202E>"⇥#'
    """
    return " ".join(visible(part.encode(errors="surrogatepass")) for part in text.split(" "))


# Properties of the rules of a grammar (can it finish, can it be empty), and the graph of their calls.


Graph = Mapping[str, Collection[str]]  # the rules that each rule leads to


def rules_with(rules: Iterable[Rule], holds: Callable[[syntax.Chars], bool]) -> frozenset[str]:
    """The rules with a property that sequences inherit from all parts and choices from any part.

    >>> grammar = gv.grammar('root ::= a | "x"\\na ::= root? a\\nb ::= "y"{0}').grammar
    >>> sorted(rules_with(grammar.rules, lambda chars: True)), rules_with(grammar.rules, lambda chars: False)
    (['b', 'root'], frozenset({'b'}))
    """
    rules = tuple(rules)
    fresh = count()
    derived = derive(clause for rule in rules for clause in _clauses(rule.tree, rule.name, holds, fresh))
    return frozenset(rule.name for rule in rules if rule.name in derived)


Fact = str | int  # a rule by its name, or a part of one by a number of its own
Clause = tuple[Fact, tuple[Fact, ...]]


def _clauses(tree: Tree, fact: Fact, holds: Callable[[syntax.Chars], bool], fresh: Iterator[int]) -> Iterator[Clause]:
    """The clauses from which the fact follows for this tree; parts get `fresh` numbers."""
    parts: list[tuple[Tree, Fact]] = []
    match tree:
        case syntax.Chars():
            yield from [(fact, ())] * holds(tree)
        case syntax.Call(name):
            yield fact, (name,)
        case syntax.Concat(inner):
            parts = [(part, next(fresh)) for part in inner]
            yield fact, tuple(number for _, number in parts)
        case syntax.Either(options):
            parts = [(option, fact) for option in options]
        case syntax.Repeat(_, 0) | syntax.Tick():
            yield fact, ()
        case syntax.Repeat(part):
            parts = [(part, fact)]
        case syntax.Net(places, edges):
            reached = [next(fresh) for _ in range(places)]
            parts = [(part, next(fresh)) for _, part, _ in edges]
            ways = zip(edges, parts, strict=True)
            yield from [(reached[0], ()), (fact, (reached[-1],))]
            yield from ((reached[target], (reached[source], number)) for (source, _, target), (_, number) in ways)
    for part, number in parts:
        yield from _clauses(part, number, holds, fresh)


def recursive_rules(graph: Graph) -> frozenset[str]:
    """The rules that lead to themselves, and those between two of them.

    >>> sorted(recursive_rules({"a": "b", "b": "ac", "c": "d", "d": "", "e": "e"}))
    ['a', 'b', 'e']
    """
    back = grouped((other, name) for name, leads_to in graph.items() for other in leads_to)
    return frozenset(graph) - derive(graph.items()) - derive((name, back[name]) for name in graph)


def check_grammar(grammar: Grammar) -> None:
    """Raise an error for a grammar without any complete text."""
    finished = rules_with(grammar.rules, lambda chars: bool(syntax.common_ranges(chars.ranges, syntax.WITH_BYTES)))
    if grammar.root not in finished:
        seen, hint = f"the rule {quoted(grammar.root)} can never finish", "an option without rule calls"
        raise grammar_error(grammar.text, grammar.named[grammar.root].span[0], seen, hint=hint)
