"""Grammars are rewritten before they become automata; each rewriting keeps the language.

A large counted repeat becomes a rule that is called with a count. A rule that is not recursive is put in place of its
calls. A rule that counts its own characters is copied for each count, for engines and texts that cannot count.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule, free_name, recursive_rules, rules_with
from guidedviz.machines.graph import grouped, reach
from guidedviz.machines.syntax import (
    NOTHING,
    Call,
    Concat,
    Net,
    NetMoves,
    Repeat,
    Tick,
    Times,
    Tree,
    build_net,
    concat,
    direct_parts,
    map_calls,
    map_parts,
    no_rules,
)


def count_repeats(grammar: Grammar, most: int = limits.COPIED_STATES) -> tuple[Grammar, Mapping[str, Times]]:
    """The grammar with a call in place of each repeat of more than `most` states, and the bounds of these rules.

    If a rule stays too large, smaller repeats are counted too.

    >>> from guidedviz.machines.grammars.show import show_gbnf
    >>> counted, bounds = count_repeats(gv.grammar('root ::= "x"{2} [a-z]{0,5000} "y"').grammar)
    >>> print(show_gbnf(counted), dict(bounds))
    root ::= "x"{2} root{0,5000} "y"
    root{0,5000} ::= [a-z] {'root{0,5000}': (0, 5000)}
    """
    found = _Counted(grammar)
    rules = [rule.with_tree(found.shrink(rule, most)) for rule in grammar.rules]
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
        first = self.replace(rule.tree, rule, most, {})
        states = first.weight.states
        tree = first
        while tree.weight.states > limits.RULE_STATES and most // 4 >= limits.FEWEST_COPIED_STATES:
            most //= 4
            tree = self.replace(rule.tree, rule, most, {})
        return tree if tree.weight.states <= states // 2 or states > limits.NFA_STATES else first

    def replace(self, tree: Tree, rule: Rule, most: int, known: dict[int, Tree]) -> Tree:
        """The tree with calls, innermost repeats first; shared parts are looked at once."""
        if tree.weight.largest <= most:
            return tree
        if id(tree) not in known:
            new = map_parts(tree, lambda part: self.replace(part, rule, most, known))
            if isinstance(tree, Repeat) and isinstance(new, Repeat):
                is_large = new.is_counted and new.weight.states > most
                if is_large and self.may_count(tree.part):
                    new = self.call(new, rule)
            known[id(tree)] = new
        return known[id(tree)]

    def call(self, repeat: Repeat, rule: Rule) -> Call:
        """A call of the rule that counts this repeat."""
        times = repeat.low, repeat.high
        key = repeat.part, times
        if key not in self.rules:
            name = free_name(f"{rule.name}{repeat}", self.bounds)
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


def inline_rules(grammar: Grammar, most: int = limits.INLINED_STATES) -> Grammar:
    """The grammar with its non-recursive rules inlined, if no rule has more than `most` states afterwards.

    >>> from guidedviz.machines.grammars.show import show_gbnf
    >>> named = gv.grammar('root ::= "(" root ")" | name\\nname ::= char+\\nchar ::= [a-z]')
    >>> print(show_gbnf(inline_rules(named.grammar)))
    root ::= "(" root ")" | [a-z]+
    """
    inliner = _Inliner(grammar, most)
    rules = [rule.with_tree(inliner.tree(rule.name)) for rule in grammar.rules]
    return needed_rules(replace(grammar, rules=tuple(rules)))


class _Inliner:
    """The trees of the rules so far, with other rules inside."""

    def __init__(self, grammar: Grammar, most: int) -> None:
        self.grammar = grammar
        self.most = most
        counting = [rule.name for rule in grammar.rules if rule.ticks]
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
        rule = self.grammar.named[name]
        tree = rule.tree
        inner = {call: self.tree(call) for call in self.grammar.calls[name] if call not in self.stay}
        own = _Sizes({}).of(tree)
        self.sizes[name] = own
        if not inner:
            return tree
        sizes = {call: self.sizes[call] for call in inner}
        size = _Sizes(sizes).of(tree)
        copied = self.copied + size - own
        for call in inner:
            if self.places[call] == 1:
                copied -= sizes[call]
        if size > self.most or copied > self.most * limits.COPIES_OF_INLINED:
            self.stay.update(inner)  # these calls stay, here and in later rules
            return tree
        self.sizes[name] = size
        self.copied = copied
        return map_calls(tree, lambda call: inner.get(call.name, call))


@dataclass
class _Sizes:
    """The states of trees in which a call takes those of its rule, and a large repeat is counted later."""

    calls: Mapping[str, int]
    known: dict[int, int] = field(default_factory=dict)

    def of(self, tree: Tree) -> int:
        weight = tree.weight
        if not weight.letters and weight.largest <= limits.FEWEST_COPIED_STATES:
            return weight.states
        if id(tree) not in self.known:
            match tree:
                case Call(name):
                    states = self.calls.get(name, 0)
                case Repeat():
                    each = self.of(tree.part)
                    states = tree.states(each)
                    if tree.is_counted and states > limits.FEWEST_COPIED_STATES:
                        states = each + 1
                case _:
                    more = [self.of(part) - part.weight.states for part in direct_parts(tree)]
                    states = weight.states + sum(more)
            self.known[id(tree)] = states
        return self.known[id(tree)]


def needed_rules(grammar: Grammar) -> Grammar:
    """The grammar with only the root and the rules reachable from it, in the order of their first call."""
    needed = reach([grammar.root], grammar.calls.__getitem__)
    return replace(grammar, rules=tuple([grammar.named[name] for name in needed]))


CountedPlace = tuple[int, int]  # a place of a net, and how many parts were counted on the way to it


def without_ticks(grammar: Grammar) -> Grammar:
    """The same language with copies instead of ticks; raises an error if there would be too many.

    >>> schema = {"type": "string", "pattern": "^a+(b|c)a*$", "maxLength": 700}
    >>> counted = gv.json_schema(schema).grammar
    >>> [bool(made.rules[1].ticks) for made in (counted, without_ticks(counted))]
    [True, False]
    """
    rules = list(grammar.rules)
    for number, rule in enumerate(rules):
        if rule.ticks:
            rules[number] = rule.with_tree(_copy(rule.tree))
    return replace(grammar, rules=tuple(rules))


def _copy(tree: Tree) -> Tree:
    """The tree of a rule that counts: its net is one part of a sequence."""
    if isinstance(tree, Concat):
        return concat(*map(_copy, tree.parts))
    return copy_net(tree) if isinstance(tree, Net) else tree


def copy_net(net: Net) -> Tree:
    """A net whose places are copied for each count."""
    edges = grouped((source, (part, target)) for source, part, target in net.edges)

    def moves(counted: CountedPlace) -> NetMoves[CountedPlace]:
        place, count = counted
        for edge, target in edges[place]:
            part, tick = _split_tick(edge)
            if tick is None:
                yield part, (target, count)
                continue
            if count * net.places > limits.TICKED_PLACES:
                no_rules(tick)
            if count < tick.most - tick.rest:
                yield part, (target, count + 1)

    return build_net((0, 0), moves, lambda counted: counted[0] == net.places - 1)


def _split_tick(part: Tree) -> tuple[Tree, Tick | None]:
    """A part of a net and its tick; a part without one leads to the end."""
    if isinstance(part, Concat) and part.parts:
        *before, last = part.parts
        if isinstance(last, Tick):
            return concat(*before), last
    return part, None
