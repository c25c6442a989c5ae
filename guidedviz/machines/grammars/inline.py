"""Inline the rules of a grammar. Recursive rules stay, because they need a stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from guidedviz.machines.fixpoint import reach
from guidedviz.machines.grammars.analysis import find_loops
from guidedviz.machines.grammars.counted import FEWEST_COPIES
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.regular.nfa import count_states
from guidedviz.machines.tree import Call, Concat, Either, Net, Repeat, Tick, Tree, Words, concat, either, walk

MOST_STATES = 10_000  # per rule's NFA after inlining: about one second
MOST_COPIED = 20_000  # of all rules together, for what is called at several places


def inline_rules(grammar: Grammar) -> Grammar:
    """The grammar with its non-recursive rules inlined, if they are small enough.

    >>> named = gv.grammar('root ::= "(" root ")" | name\\nname ::= char+\\nchar ::= [a-z]')
    >>> print(gv.machines.to_gbnf(inline_rules(named.grammar)))
    root ::= "(" root ")" | [a-z]+
    """
    kept = {grammar.root}
    bodies = inline_all(grammar, kept)
    rules = tuple(replace(rule, tree=bodies[rule.name]) for rule in grammar.rules)
    return needed_rules(replace(grammar, rules=rules))


def inline_all(grammar: Grammar, kept: Iterable[str] = ()) -> dict[str, Tree]:
    """The trees of all rules with the calls of non-recursive rules inlined."""
    graph = grammar.calls
    counting = (rule.name for rule in grammar.rules if any(isinstance(part, Tick) for part in walk(rule.tree)))
    stay = {*kept, *counting}.union(*find_loops(graph))
    bodies: dict[str, Tree] = {}
    sizes: dict[str, int] = {}
    places = Counter(call for calls in graph.values() for call in calls)
    copied = 0  # states of rules that are called at several places, at all of them

    def put_in(name: str) -> Tree:
        nonlocal copied
        if name not in bodies:
            tree = grammar.rule(name).tree
            inner = {call: put_in(call) for call in graph[name] if call not in stay}
            own = count_states(tree, copies=FEWEST_COPIES)
            sizes[name] = count_states(tree, {call: sizes[call] for call in inner}, FEWEST_COPIES) if inner else own
            more = sizes[name] - own - sum(sizes[call] for call in inner if places[call] == 1)
            if inner and (sizes[name] > MOST_STATES or copied + more > MOST_COPIED):
                stay.update(inner)  # too large: keep these calls, here and in later rules
                inner, sizes[name], more = {}, own, 0
            copied += more
            bodies[name] = map_calls(tree, lambda call: inner.get(call.name, call)) if inner else tree
        return bodies[name]

    for rule in grammar.rules:
        put_in(rule.name)
    return bodies


def needed_rules(grammar: Grammar) -> Grammar:
    """The grammar with only the root and the rules reachable from it, in the order of their first call."""
    needed = reach([grammar.root], grammar.calls.__getitem__)
    return replace(grammar, rules=tuple(map(grammar.rule, needed)))


def map_calls(tree: Tree, change: Callable[[Call], Tree]) -> Tree:
    """The tree with every call replaced."""
    match tree:
        case Call():
            return change(tree)
        case Concat(parts):
            return concat(*(map_calls(part, change) for part in parts))
        case Either(options):
            return either(*(map_calls(option, change) for option in options))
        case Repeat(part):
            return replace(tree, part=map_calls(part, change))
        case Words():
            return tree
        case Net(places, edges):
            return Net(places, tuple((source, map_calls(part, change), target) for source, part, target in edges))
        case _:
            return tree
