"""Large counted repeats as rules of their own: a call with a count instead of too many copies.

XGrammar-2 calls this repetition compression (arXiv 2601.04426).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule, rules_with
from guidedviz.machines.graph import reach
from guidedviz.machines.regular.size import count_states
from guidedviz.machines.syntax import NOTHING, Call, Repeat, Times, Tree, map_parts


def count_repeats(grammar: Grammar, most: int = limits.COPIED_STATES) -> tuple[Grammar, Mapping[str, Times]]:
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
    counted, bounds = count_repeats(Grammar((Rule("root", tree),)), limits.FINITE_COPIED_STATES)
    return not bounds.keys().isdisjoint(counted.rules[0].calls)


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
        first = self.replace(rule.tree, rule, most, {})
        states = count_states(first)
        tree = first
        left = states
        while left > limits.RULE_STATES and most // 4 >= limits.FEWEST_COPIED_STATES:
            most //= 4
            tree = self.replace(rule.tree, rule, most, {})
            left = count_states(tree)
        return tree if left <= states // 2 or states > limits.NFA_STATES else first

    def replace(self, tree: Tree, rule: Rule, most: int, known: dict[int, Tree]) -> Tree:
        """The tree with calls, innermost repeats first; shared parts are looked at once."""
        if id(tree) not in known:
            new = map_parts(tree, lambda part: self.replace(part, rule, most, known))
            if isinstance(tree, Repeat) and isinstance(new, Repeat):
                is_large = (new.high or new.low) > 1 and count_states(new) > most
                if is_large and self.may_count(tree.part):
                    new = self.call(new, rule)
            known[id(tree)] = new
        return known[id(tree)]

    def call(self, repeat: Repeat, rule: Rule) -> Call:
        """A call of the rule that counts this repeat."""
        times = repeat.low, repeat.high
        key = repeat.part, times
        if key not in self.rules:
            name = f"{rule.name}{repeat}"
            same = [other for other in self.bounds if other.startswith(name)]
            if same:
                name += f"-{len(same) + 1}"
            self.rules[key] = Rule(name, repeat.part, rule.span)
            self.bounds[name] = times
        return Call(self.rules[key].name)

    def may_count(self, part: Tree) -> bool:
        """Whether a part has texts, none of them empty."""
        here = Rule("", part)
        called = reach(here.calls, self.grammar.calls.__getitem__)
        rules = [here, *map(self.grammar.named.__getitem__, called)]
        with_text = rules_with(rules, lambda chars: chars != NOTHING)
        with_empty_text = rules_with(rules, lambda chars: False)
        return "" in with_text - with_empty_text
