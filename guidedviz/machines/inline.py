"""Rules put in the place of their calls: all but those that come back to themselves, which is what needs a stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from guidedviz.machines.grammar import Grammar
from guidedviz.machines.nfa import count_states
from guidedviz.machines.settle import find_loops, walk
from guidedviz.machines.tree import Call, Concat, Either, Net, Repeat, Tree, concat, either

MOST_STATES = 10_000  # of a rule's NFA, the rules it calls put in: about a second


def inline_rules(grammar: Grammar) -> Grammar:
    """The rules that call themselves again, and the root; the others stand where they were called, if there is room.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> from guidedviz.machines.show_gbnf import show_gbnf
    >>> print(show_gbnf(inline_rules(parse_grammar('root ::= "(" root ")" | name\\nname ::= char+\\nchar ::= [a-z]'))))
    root ::= "(" root ")" | [a-z]+
    """
    kept = {grammar.root}
    bodies = inline_all(grammar, kept)
    rules = tuple(replace(rule, tree=bodies[rule.name]) for rule in grammar.rules)
    return needed_rules(replace(grammar, rules=rules))


def inline_all(grammar: Grammar, kept: Iterable[str] = ()) -> dict[str, Tree]:
    """The trees of all rules, with the calls followed of those that do not come back to themselves."""
    graph = call_graph(grammar)
    stay = {*kept}.union(*find_loops(graph))
    bodies: dict[str, Tree] = {}
    sizes: dict[str, int] = {}

    def put_in(name: str) -> Tree:
        if name not in bodies:
            tree = grammar.rule(name).tree
            inner = {call: put_in(call) for call in graph[name] if call not in stay}
            if count_states(tree, {call: sizes[call] for call in inner}) > MOST_STATES:
                stay.update(inner)  # no room: these calls stay here and in what comes after
                inner = {}
            bodies[name] = map_calls(tree, lambda call: inner.get(call.name, call))
            sizes[name] = count_states(bodies[name])
        return bodies[name]

    for rule in grammar.rules:
        put_in(rule.name)
    return bodies


def needed_rules(grammar: Grammar) -> Grammar:
    """The root and the rules that it comes to call, in the order in which they are first called."""
    graph, order = call_graph(grammar), {grammar.root: None}
    for name in (waiting := list(order)):
        waiting += [call for call in graph[name] if call not in order]
        order.update(dict.fromkeys(graph[name]))
    return replace(grammar, rules=tuple(map(grammar.rule, order)))


def call_graph(grammar: Grammar) -> Mapping[str, list[str]]:
    """The rules that each rule calls, in the order of its tree."""
    calls = {rule.name: (part.name for part in walk(rule.tree) if isinstance(part, Call)) for rule in grammar.rules}
    return {name: list(dict.fromkeys(called)) for name, called in calls.items()}


def map_calls(tree: Tree, change: Callable[[Call], Tree]) -> Tree:
    """The tree with another part in the place of every call."""
    match tree:
        case Call():
            return change(tree)
        case Concat(parts):
            return concat(*(map_calls(part, change) for part in parts))
        case Either(options):
            return either(*(map_calls(option, change) for option in options))
        case Repeat(part):
            return replace(tree, part=map_calls(part, change))
        case Net(places, edges):
            return Net(places, tuple((source, map_calls(part, change), target) for source, part, target in edges))
        case _:
            return tree
