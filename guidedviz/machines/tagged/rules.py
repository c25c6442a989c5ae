"""Several machines as the rules of one grammar: a finite machine becomes a tree, a pushdown machine its rules."""

from __future__ import annotations

import re
from dataclasses import replace

from guidedviz.errors import PatternError
from guidedviz.machines.decompile import machine_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.inline import inline_rules, map_calls, needed_rules
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.tree import Call, Tree


class Rules:
    """Collects rules under names of their own, and the notes of the machines.

    >>> rules = Rules()
    >>> rules.content(gv.regex("a|b"), "x"), rules.content(gv.grammar('root ::= "(" root ")" | "x"'), "call")
    (Net(places=3, edges=((1, Concat(parts=()), 2), (0, Chars(ranges=((97, 98),)), 1))), Call(name='call', span=None))
    """

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {"root": Call("root")}
        self.notes: dict[str, None] = {}
        self.known: dict[int, tuple[object, Tree]] = {}  # the machine, so that its id stays its own

    def content(self, machine: DFA | PDA, name: str) -> Tree:
        """A machine as a tree; `name` is the name of its root rule, if it has rules."""
        if id(machine) not in self.known:
            self.notes.update(dict.fromkeys(machine.notes))
            grammar = machine_grammar(machine)
            self.known[id(machine)] = (
                machine,
                self._put(grammar, name) if isinstance(machine, PDA) else grammar.rules[0].tree,
            )
        return self.known[id(machine)][1]

    def _put(self, grammar: Grammar, name: str) -> Tree:
        names = {rule.name: self.free_name(name if rule.name == grammar.root else rule.name) for rule in grammar.rules}
        for rule in grammar.rules:
            self.trees[names[rule.name]] = map_calls(rule.tree, lambda call: Call(names[call.name]))
        return Call(names[grammar.root])

    def rule(self, name: str, tree: Tree) -> Call:
        """A call of a new rule; its name has the letters and digits of `name`."""
        name = self.free_name("-".join(re.findall("[A-Za-z0-9]+", name)) or "tag")
        self.trees[name] = tree
        return Call(name)

    def free_name(self, name: str) -> str:
        """This name, with a number if it is taken; it is reserved."""
        numbered = (f"{name}-{number}" for number in range(2, len(self.trees) + 3))
        free = name if name not in self.trees else next(one for one in numbered if one not in self.trees)
        self.trees[free] = Call(free)
        return free

    def grammar(self, root: Tree) -> Grammar:
        """The grammar with this tree as its root."""
        trees = {**self.trees, "root": root}
        return needed_rules(Grammar(tuple(Rule(name, tree, (0, 0)) for name, tree in trees.items())))

    def machine(self, root: Tree) -> DFA | PDA:
        """The machine with this tree as its root: a DFA if it is small and nothing nests."""
        grammar, notes = self.grammar(root), tuple(self.notes)
        flat = inline_rules(grammar)
        if not any(flat.calls.values()):
            try:
                return replace(minimise(build_dfa(build_nfa(flat.rules[0].tree))), notes=notes)
            except PatternError:
                pass  # too large for a DFA: one automaton per rule
        return PDA(grammar, notes=notes)
