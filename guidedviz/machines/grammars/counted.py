"""Large counted repeats as rules of their own: a call with a count instead of too many copies.

XGrammar-2 calls this repetition compression (arXiv 2601.04426).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from guidedviz.machines import limits, syntax
from guidedviz.machines.grammars.grammar import Grammar, Rule, rules_with
from guidedviz.machines.graph import reach
from guidedviz.machines.regular.size import count_states
from guidedviz.machines.syntax import Times, Tree, map_parts

# Measured on the schemas of `bench schemas`, whose strings take 20 states per character: with 1,000 states the whole
# request takes twice as long as with 400; with 100 it takes as long. A finite machine has an index, and keeps 1,000.
MOST_COPIES = 400  # states of the copies of one repeat
MOST_FINITE_COPIES = 1_000  # of a machine that is finite without counts
MOST_STATES = 8_000  # states of a rule before smaller repeats are counted too; about one second
FEWEST_COPIES = 30


def count_repeats(grammar: Grammar, most: int = MOST_COPIES) -> tuple[Grammar, Mapping[str, Times]]:
    """The grammar with a call in place of each repeat of more than `most` states, and the bounds of these rules.

    If a rule stays too large, smaller repeats are counted too.

    >>> from guidedviz.machines.grammars.show_grammar import show_gbnf
    >>> counted, bounds = count_repeats(gv.grammar('root ::= "x"{2} [a-z]{0,5000} "y"').grammar)
    >>> print(show_gbnf(counted), dict(bounds))
    root ::= "x"{2} root{0,5000} "y"
    root{0,5000} ::= [a-z] {'root{0,5000}': (0, 5000)}
    """
    found = _Counted(grammar)
    rules = [replace(rule, tree=found.shrink(rule, most)) for rule in grammar.rules]
    return replace(grammar, rules=(*rules, *found.rules.values())), found.bounds


def is_counted(tree: Tree) -> bool:
    """Whether a tree has a repeat that is counted although the machine would be finite without."""
    counted, bounds = count_repeats(Grammar((Rule("root", tree),)), MOST_FINITE_COPIES)
    return any(isinstance(part, syntax.Call) and part.name in bounds for part in syntax.walk(counted.rules[0].tree))


@dataclass
class _Counted:
    """The rules of the counted repeats so far; equal repeats share one."""

    grammar: Grammar
    rules: dict[tuple[Tree, Times], Rule] = field(default_factory=dict)
    bounds: dict[str, Times] = field(default_factory=dict)

    def shrink(self, rule: Rule, most: int) -> Tree:
        """The rule's tree with calls in place of large repeats; of small ones too if that halves a very large rule."""
        if count_states(rule.tree) <= most:
            return rule.tree
        large = tree = self.replace(rule.tree, rule, most, {})
        states = left = count_states(large)
        while left > MOST_STATES and (most := most // 4) >= FEWEST_COPIES:
            tree = self.replace(rule.tree, rule, most, {})
            left = count_states(tree)
        return tree if left <= states // 2 or states > limits.NFA_STATES else large

    def replace(self, tree: Tree, rule: Rule, most: int, known: dict[int, Tree]) -> Tree:
        """The tree with calls, innermost repeats first; shared parts are looked at once."""
        if id(tree) not in known:
            new = map_parts(tree, lambda part: self.replace(part, rule, most, known))
            if isinstance(new, syntax.Repeat) and isinstance(tree, syntax.Repeat) and (new.high or new.low) > 1:
                new = self.call(new, rule) if count_states(new) > most and self.may_count(tree.part) else new
            known[id(tree)] = new
        return known[id(tree)]

    def call(self, repeat: syntax.Repeat, rule: Rule) -> syntax.Call:
        """A call of the rule that counts this repeat."""
        key = repeat.part, (repeat.low, repeat.high)
        if key not in self.rules:
            plain = f"{rule.name}{repeat}"
            same = sum(name.startswith(plain) for name in self.bounds)
            name = f"{plain}-{same + 1}" if same else plain
            self.rules[key], self.bounds[name] = Rule(name, repeat.part, rule.span), key[1]
        return syntax.Call(self.rules[key].name)

    def may_count(self, part: Tree) -> bool:
        """Whether a part has texts, none of them empty."""
        here = Rule("", part)
        rules = [here, *map(self.grammar.named.__getitem__, reach(here.calls, self.grammar.calls.__getitem__))]
        return "" in rules_with(rules, lambda chars: chars != syntax.NOTHING) - rules_with(rules, lambda chars: False)
