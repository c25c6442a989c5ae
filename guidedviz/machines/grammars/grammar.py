"""A grammar: named rules, each a tree that may call the others.

Below: properties of the rules (can one finish, can it be empty), and the graph of their calls.
"""

from collections.abc import Callable, Collection, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from guidedviz.errors import quoted
from guidedviz.machines.graph import derive, grouped, reach
from guidedviz.machines.ranges import has_bytes
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree, all_parts, direct_parts
from guidedviz.machines.visible import grammar_error


@dataclass(frozen=True)
class Rule:
    """A rule: its name and its tree."""

    name: str
    tree: Tree
    span: tuple[int, int] = (0, 0)  # of the name where it is defined in the text, the end not included

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The rules that this rule calls, in the order of its tree."""
        return tuple(dict.fromkeys([part.name for part in self.tree.weight.letters if isinstance(part, Call)]))

    @cached_property
    def ticks(self) -> tuple[Tick, ...]:
        """The ticks of a rule that counts its own parts."""
        return tuple([part for part in self.tree.weight.letters if isinstance(part, Tick)])

    def with_tree(self, tree: Tree) -> Self:
        """The rule with another tree; itself, with the calls that are known, if the tree is its own."""
        return self if tree is self.tree else replace(self, tree=tree)


@dataclass(frozen=True)
class Grammar:
    """The rules in the order of the text, and the name of the root."""

    rules: tuple[Rule, ...]
    root: str = "root"
    text: str = ""

    @cached_property
    def named(self) -> Mapping[str, Rule]:
        """The rules by name.

        >>> Grammar((Rule("root", Chars(((97, 97),)), (0, 4)),)).named["root"].tree
        Chars(ranges=((97, 97),))
        """
        return {rule.name: rule for rule in self.rules}

    @cached_property
    def calls(self) -> Mapping[str, tuple[str, ...]]:
        """The rules that each rule calls."""
        return {rule.name: rule.calls for rule in self.rules}


def free_name(name: str, taken: Container[str], also: Container[str] = (), given: int = 0) -> str:
    """The name, with a number if something has it; so many that begin with this name were `given` out before.

    >>> free_name("a", "b"), free_name("a", "abc"), free_name("a", "b", ["a", "a-2"], given=2)
    ('a', 'a-2', 'a-3')
    """
    number = given + 1
    free = f"{name}-{number}" if given else name
    while free in taken or free in also:
        number += 1
        free = f"{name}-{number}"
    return free


def rules_with(rules: Collection[Rule], holds: Callable[[Chars], bool]) -> frozenset[str]:
    """The rules with a property that sequences inherit from all parts and choices from any part.

    >>> grammar = gv.grammar('root ::= a | "x"\\na ::= root? a\\nb ::= "y"{0}').grammar
    >>> sorted(rules_with(grammar.rules, lambda chars: True)), rules_with(grammar.rules, lambda chars: False)
    (['b', 'root'], frozenset({'b'}))
    """
    clauses: list[Implied] = []
    for rule in rules:
        clauses.append((rule.name, (id(rule.tree),)))
        for part in all_parts(rule.tree):
            clauses.extend(_implied(part, holds))
    return frozenset(fact for fact in derive(clauses) if isinstance(fact, str))


Fact = str | int | tuple[int, int]  # a rule by its name, a part by its identity, or a place of a net
Implied = tuple[Fact, tuple[Fact, ...]]


def _implied(part: Tree, holds: Callable[[Chars], bool]) -> Iterator[Implied]:
    """From what the property of a part follows."""
    whole = id(part)
    match part:
        case Chars():
            if holds(part):
                yield whole, ()
        case Call(name):
            yield whole, (name,)
        case Repeat(_, 0) | Tick():
            yield whole, ()
        case Repeat() | Either():
            for inner in direct_parts(part):
                yield whole, (id(inner),)
        case Concat(parts):
            yield whole, tuple(map(id, parts))
        case Net(places, edges):
            yield (whole, 0), ()
            yield whole, ((whole, places - 1),)
            for source, inner, target in edges:
                yield (whole, target), ((whole, source), id(inner))


def recursive_rules(graph: Mapping[str, Collection[str]]) -> frozenset[str]:
    """The rules that lead to themselves, and those between two of them; the graph is what each rule leads to.

    >>> sorted(recursive_rules({"a": "b", "b": "ac", "c": "d", "d": "", "e": "e"}))
    ['a', 'b', 'e']
    """
    back = grouped((other, name) for name, leads_to in graph.items() for other in leads_to)
    that_end = derive(graph.items())  # all that they lead to ends, too
    that_begin = derive((name, back[name]) for name in graph)  # the same backwards
    return frozenset(graph) - that_end - that_begin


def check_grammar(grammar: Grammar) -> None:
    """Raise an error for a grammar without any complete text; it names the rule that can never finish."""
    finished = rules_with(grammar.rules, lambda chars: has_bytes(chars.ranges))
    if grammar.root in finished:
        return
    stuck = {}
    for name, calls in grammar.calls.items():
        stuck[name] = [call for call in calls if call not in finished]
    endless = recursive_rules(stuck)
    reached = reach([grammar.root], stuck.__getitem__)
    reason = next(name for name in reached if name in endless or not stuck[name])
    hint = "an option without rule calls" if stuck[reason] else "a class with a character that UTF-8 can encode"
    place, _ = grammar.named[reason].span
    seen = f"the rule {quoted(reason)} can never finish"
    raise grammar_error(grammar.text, place, seen, "a rule with a complete text", hint)
