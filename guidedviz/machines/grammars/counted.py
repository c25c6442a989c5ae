"""Large counted repeats as rules of their own: a call with a count instead of too many copies.

XGrammar-2 calls this repetition compression (arXiv 2601.04426).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from guidedviz.machines.grammars.analysis import rules_with
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.regular.nfa import MOST_NFA_STATES, count_states
from guidedviz.machines.tree import EMPTY, NOTHING, Call, Concat, Either, Net, Repeat, Tree, Words, parts_of, walk
from guidedviz.machines.work import spend

# Measured on the schemas of `bench schemas`, whose strings take 20 states per character: with 1,000 states the whole
# request takes twice as long as with 400; with 100 it takes as long. A finite machine has an index, and keeps 1,000.
MOST_COPIES = 400  # states of the copies of one repeat
MOST_FINITE_COPIES = 1_000  # of a machine that is finite without counts
MOST_STATES = 8_000  # states of a rule before smaller repeats are counted too; about one second
FEWEST_COPIES = 30

Bounds = tuple[int, int | None]  # lowest and highest count


def count_repeats(grammar: Grammar, most: int = MOST_COPIES) -> tuple[Grammar, Mapping[str, Bounds]]:
    """The grammar with a call in place of each repeat of more than `most` states, and the bounds of these rules.

    If a rule stays too large, smaller repeats are counted too.

    >>> counted, bounds = count_repeats(gv.grammar('root ::= "x"{2} [a-z]{0,5000} "y"').grammar)
    >>> print(gv.machines.to_gbnf(counted), dict(bounds))
    root ::= "x"{2} root{0,5000} "y"
    root{0,5000} ::= [a-z] {'root{0,5000}': (0, 5000)}
    """
    found = _Counted(grammar)
    rules = [replace(rule, tree=found.shrink(rule, most)) for rule in grammar.rules]
    return replace(grammar, rules=(*rules, *found.rules.values())), found.bounds


def is_counted(tree: Tree) -> bool:
    """Whether a tree has a repeat that is counted although the machine would be finite without."""
    counted, bounds = count_repeats(Grammar((Rule("root", tree, (0, 0)),)), MOST_FINITE_COPIES)
    return any(isinstance(part, Call) and part.name in bounds for part in walk(counted.rules[0].tree))


@dataclass
class _Counted:
    """The rules of the counted repeats so far; equal repeats share one."""

    grammar: Grammar
    rules: dict[tuple[Tree, Bounds], Rule] = field(default_factory=dict)
    bounds: dict[str, Bounds] = field(default_factory=dict)

    @cached_property
    def empty(self) -> frozenset[str]:
        """The rules with an empty text."""
        return rules_with(self.grammar.rules, lambda chars: False)

    @cached_property
    def finished(self) -> frozenset[str]:
        """The rules with a text."""
        return rules_with(self.grammar.rules, lambda chars: chars != NOTHING)

    def shrink(self, rule: Rule, most: int) -> Tree:
        """The rule's tree with calls in place of large repeats; of small ones too if that halves a very large rule."""
        if count_states(rule.tree) <= most:
            return rule.tree
        large = tree = self.replace(rule.tree, rule, most, {})
        states = left = count_states(large)
        while left > MOST_STATES and (most := most // 4) >= FEWEST_COPIES:
            tree = self.replace(rule.tree, rule, most, {})
            left = count_states(tree)
        return tree if left <= states // 2 or states > MOST_NFA_STATES else large

    def replace(self, tree: Tree, rule: Rule, most: int, known: dict[int, Tree]) -> Tree:
        """The tree with calls, innermost repeats first; shared parts are looked at once."""
        if id(tree) not in known:
            known[id(tree)] = self.call(
                map_parts(tree, lambda part: self.replace(part, rule, most, known)), tree, rule, most
            )
        return known[id(tree)]

    def call(self, new: Tree, old: Tree, rule: Rule, most: int) -> Tree:
        """A call, if this is a repeat with too many copies of a part that is never empty."""
        if not isinstance(new, Repeat) or not isinstance(old, Repeat) or (new.high or new.low) < 2:
            return new
        if count_states(new) <= most or not self.may_count(old.part):
            return new
        bounds: Bounds = new.low, new.high
        key = new.part, bounds
        if key not in self.rules:
            plain = f"{rule.name}{replace(new, position=None)}"
            same = sum(name.startswith(plain) for name in self.bounds)
            name = f"{plain}-{same + 1}" if same else plain
            self.rules[key] = Rule(name, new.part, rule.span)
            self.bounds[name] = bounds
        return Call(self.rules[key].name)

    def may_count(self, part: Tree) -> bool:
        """Whether a part has texts, none of them empty."""
        here = Rule("", part, (0, 0))
        empty = [Rule(name, EMPTY, (0, 0)) for name in here.calls if name in self.empty]
        finished = [Rule(name, EMPTY, (0, 0)) for name in here.calls if name in self.finished]
        return "" not in rules_with([here, *empty], lambda chars: False) and "" in rules_with(
            [here, *finished], lambda chars: chars != NOTHING
        )


def map_parts(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with every direct part changed."""
    spend(2 * len(parts_of(tree)))
    match tree:
        case Concat(parts):
            return Concat(tuple(map(change, parts)))
        case Either(options):
            return Either(tuple(map(change, options)))
        case Repeat(part):
            return replace(tree, part=change(part))
        case Words():
            return tree
        case Net(places, edges):
            return Net(places, tuple((source, change(part), target) for source, part, target in edges))
        case _:
            return tree
