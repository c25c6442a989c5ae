"""The rules of several machines and grammars together, and the machine of the whole."""

import re
from contextlib import suppress
from dataclasses import replace
from itertools import starmap

from guidedviz.errors import PatternError
from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import inline_rules, needed_rules
from guidedviz.machines.graph import reach
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.algebra import build_machine, character_net
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.syntax import Call, Tree, map_calls
from guidedviz.machines.work import trying


class JoinedRules:
    """Rules under names of their own, and what the machines among them do not enforce."""

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {"root": Call("root")}
        self.numbers: dict[str, int] = {}
        self.known: dict[tuple[tuple[str, Tree], ...], Call] = {}  # rules of grammars, each with all that it calls
        self.notes: dict[str, None] = {}

    def add(self, name: str, tree: Tree) -> Call:
        """A call of a new rule; its name has the letters and digits of `name`, with a number if it is taken.

        >>> rules = JoinedRules()
        >>> [rules.add("<tool>", Call("")).name for _ in range(2)]
        ['tool', 'tool-2']
        """
        plain = "-".join(re.findall("[A-Za-z0-9]+", name)) or "tag"
        free = plain
        while free in self.trees:  # many have one name, so the number used last is kept
            self.numbers[plain] = self.numbers.get(plain, 1) + 1
            free = f"{plain}-{self.numbers[plain]}"
        self.trees[free] = tree
        return Call(free)

    def note(self, *texts: str) -> None:
        """Keep notes, each once."""
        self.notes.update(dict.fromkeys(texts))

    def of_grammar(self, grammar: Grammar, name: str) -> Call:
        """A call of the root of a grammar, whose rules get new names; equal rules of all grammars are one rule."""
        calls = {}
        new = []
        for rule in grammar.rules:
            same = _with_called(grammar, rule)
            if same not in self.known:
                own = name if rule.name == grammar.root else rule.name
                self.known[same] = self.add(own, Call(""))
                new.append(rule)
            calls[rule.name] = self.known[same]
        for rule in new:
            new_name = calls[rule.name].name
            self.trees[new_name] = map_calls(rule.tree, lambda call: calls[call.name])
        return calls[grammar.root]

    def of_machine(self, machine: DFA | PDA, name: str) -> Tree:
        """What a machine accepts."""
        self.note(*machine.notes)
        if isinstance(machine, DFA):
            return character_net(machine)
        return self.of_grammar(machine.grammar, name)

    def grammar(self, root: Tree) -> Grammar:
        """The rules that this tree needs as the root."""
        self.trees["root"] = root
        return needed_rules(Grammar(tuple(starmap(Rule, self.trees.items()))))

    def machine(self, root: Tree) -> DFA | PDA:
        """The machine with this tree as its root: a DFA if it is small and nothing nests."""
        grammar = self.grammar(root)
        notes = tuple(self.notes)
        flat = inline_rules(grammar)
        if not any(flat.calls.values()):
            with suppress(PatternError), trying(limits.FINITE_TRIAL):  # too large for a DFA: one automaton per rule
                return replace(build_machine(flat.rules[0].tree), notes=notes)
        return PDA(grammar, notes=notes)


def _with_called(grammar: Grammar, rule: Rule) -> tuple[tuple[str, Tree], ...]:
    """A rule and all that it calls, as names and trees."""
    below = reach([rule.name], grammar.calls.__getitem__)
    return tuple((name, grammar.named[name].tree) for name in below)
