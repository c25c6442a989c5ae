"""Inline the rules of a grammar: a call becomes the tree of its rule. Recursive rules stay, because they need a stack.

root ::= "(" root ")" | name        root ::= "(" root ")" | [a-z]+
name ::= char+
char ::= [a-z]
"""

from collections import Counter
from dataclasses import replace

from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, recursive_rules
from guidedviz.machines.graph import reach
from guidedviz.machines.regular.size import count_states
from guidedviz.machines.syntax import Tree, has_ticks, map_calls


def inline_rules(grammar: Grammar) -> Grammar:
    """The grammar with its non-recursive rules inlined, if they are small enough.

    >>> from guidedviz.machines.grammars.show_grammar import show_gbnf
    >>> named = gv.grammar('root ::= "(" root ")" | name\\nname ::= char+\\nchar ::= [a-z]')
    >>> print(show_gbnf(inline_rules(named.grammar)))
    root ::= "(" root ")" | [a-z]+
    """
    inliner = _Inliner(grammar)
    rules = [replace(rule, tree=inliner.tree(rule.name)) for rule in grammar.rules]
    return needed_rules(replace(grammar, rules=tuple(rules)))


class _Inliner:
    """The trees of the rules so far, with other rules inside."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        counting = [rule.name for rule in grammar.rules if has_ticks(rule.tree)]
        self.stay = {grammar.root, *counting, *recursive_rules(grammar.calls)}  # the rules that are still called
        self.trees: dict[str, Tree] = {}
        self.sizes: dict[str, int] = {}  # in states
        self.places = Counter(call for calls in grammar.calls.values() for call in calls)
        self.copied = 0  # states of rules that are called at several places, at all of them

    def tree(self, name: str) -> Tree:
        """The tree of a rule, with others inside."""
        if name not in self.trees:
            self.trees[name] = self.put_in(name)
        return self.trees[name]

    def put_in(self, name: str) -> Tree:
        """Put the trees of the called rules into a rule, unless it becomes too large."""
        tree = self.grammar.named[name].tree
        inner = {call: self.tree(call) for call in self.grammar.calls[name] if call not in self.stay}
        own = count_states(tree, copies=limits.FEWEST_COPIED_STATES)
        self.sizes[name] = own
        if not inner:
            return tree
        sizes = {call: self.sizes[call] for call in inner}
        size = count_states(tree, sizes, limits.FEWEST_COPIED_STATES)
        copied = self.copied + size - own
        for call in inner:
            if self.places[call] == 1:
                copied -= sizes[call]
        if size > limits.INLINED_STATES or copied > limits.INLINED_COPIES:
            self.stay.update(inner)  # these calls stay, here and in later rules
            return tree
        self.sizes[name] = size
        self.copied = copied
        return map_calls(tree, lambda call: inner.get(call.name, call))


def needed_rules(grammar: Grammar) -> Grammar:
    """The grammar with only the root and the rules reachable from it, in the order of their first call."""
    needed = reach([grammar.root], grammar.calls.__getitem__)
    return replace(grammar, rules=tuple([grammar.named[name] for name in needed]))
