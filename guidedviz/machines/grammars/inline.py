"""Inline the rules of a grammar. Recursive rules stay, because they need a stack."""

from collections import Counter
from dataclasses import replace

from guidedviz.machines import syntax
from guidedviz.machines.grammars.counted import FEWEST_COPIES
from guidedviz.machines.grammars.grammar import Grammar, recursive_rules
from guidedviz.machines.graph import reach
from guidedviz.machines.regular.size import count_states
from guidedviz.machines.syntax import Tree, map_calls

MOST_INLINED = 10_000  # per rule's NFA after inlining: about one second
MOST_COPIED = 20_000  # of all rules together, for what is called at several places


def inline_rules(grammar: Grammar) -> Grammar:
    """The grammar with its non-recursive rules inlined, if they are small enough.

    >>> from guidedviz.machines.grammars.show_grammar import show_gbnf
    >>> named = gv.grammar('root ::= "(" root ")" | name\\nname ::= char+\\nchar ::= [a-z]')
    >>> print(show_gbnf(inline_rules(named.grammar)))
    root ::= "(" root ")" | [a-z]+
    """
    graph = grammar.calls
    counting = (rule.name for rule in grammar.rules if syntax.has_ticks(rule.tree))
    stay = {grammar.root, *counting, *recursive_rules(graph)}
    bodies: dict[str, Tree] = {}
    sizes: dict[str, int] = {}
    places = Counter(call for calls in graph.values() for call in calls)
    copied = 0  # states of rules that are called at several places, at all of them

    def put_in(name: str) -> Tree:
        nonlocal copied
        if name not in bodies:
            tree = grammar.named[name].tree
            inner = {call: put_in(call) for call in graph[name] if call not in stay}
            own = count_states(tree, copies=FEWEST_COPIES)
            sizes[name] = count_states(tree, {call: sizes[call] for call in inner}, FEWEST_COPIES) if inner else own
            more = sizes[name] - own - sum(sizes[call] for call in inner if places[call] == 1)
            if inner and (sizes[name] > MOST_INLINED or copied + more > MOST_COPIED):
                stay.update(inner)  # too large: keep these calls, here and in later rules
                inner, sizes[name], more = {}, own, 0
            copied += more
            bodies[name] = map_calls(tree, lambda call: inner.get(call.name, call)) if inner else tree
        return bodies[name]

    rules = tuple(replace(rule, tree=put_in(rule.name)) for rule in grammar.rules)
    return needed_rules(replace(grammar, rules=rules))


def needed_rules(grammar: Grammar) -> Grammar:
    """The grammar with only the root and the rules reachable from it, in the order of their first call."""
    needed = reach([grammar.root], grammar.calls.__getitem__)
    return replace(grammar, rules=tuple(grammar.named[name] for name in needed))
