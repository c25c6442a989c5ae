"""A grammar: named rules, each a tree that may call the others.

Below: properties of the rules (can one finish, can it be empty), and the graph of their calls.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from guidedviz.errors import quoted
from guidedviz.machines import syntax
from guidedviz.machines.grammars.caret import grammar_error
from guidedviz.machines.graph import derive, grouped, reach
from guidedviz.machines.ranges import WITH_BYTES, common_ranges
from guidedviz.machines.syntax import Tree


@dataclass(frozen=True)
class Rule:
    """A rule: its name and its tree."""

    name: str
    tree: Tree
    span: tuple[int, int] = (0, 0)  # of the name where it is defined in the text, the end not included

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


def recursive_rules(graph: Mapping[str, Collection[str]]) -> frozenset[str]:
    """The rules that lead to themselves, and those between two of them; the graph is what each rule leads to.

    >>> sorted(recursive_rules({"a": "b", "b": "ac", "c": "d", "d": "", "e": "e"}))
    ['a', 'b', 'e']
    """
    back = grouped((other, name) for name, leads_to in graph.items() for other in leads_to)
    return frozenset(graph) - derive(graph.items()) - derive((name, back[name]) for name in graph)


def check_grammar(grammar: Grammar) -> None:
    """Raise an error for a grammar without any complete text; it names the rule that can never finish."""
    finished = rules_with(grammar.rules, lambda chars: bool(common_ranges(chars.ranges, WITH_BYTES)))
    if grammar.root not in finished:
        stuck = {name: [call for call in calls if call not in finished] for name, calls in grammar.calls.items()}
        endless = recursive_rules(stuck)
        reached = reach([grammar.root], stuck.__getitem__)
        reason = next(name for name in reached if name in endless or not stuck[name])
        seen = f"the rule {quoted(reason)} can never finish"
        hint = "an option without rule calls" if stuck[reason] else "a class with a character that UTF-8 can encode"
        raise grammar_error(grammar.text, grammar.named[reason].span[0], seen, "a rule with a complete text", hint)
