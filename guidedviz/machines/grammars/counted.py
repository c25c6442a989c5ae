"""Large counted repeats as rules of their own: a call with a count instead of too many copies.

XGrammar-2 calls this repetition compression (arXiv 2601.04426).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from guidedviz.machines import syntax
from guidedviz.machines.grammars.grammar import Grammar, Rule, recursive_rules, rules_with
from guidedviz.machines.regular.nfa import MOST_NFA_STATES, count_states
from guidedviz.machines.syntax import Times, Tree
from guidedviz.machines.work import grouped, reach, spend

# Copies in place of counted lengths, for engines and texts that cannot count them.


MOST_PLACES = 50_000


def without_ticks(grammar: Grammar) -> Grammar:
    """The same language with copies instead of ticks; raises an error if there would be too many.

    >>> schema = {"type": "string", "pattern": "^a+(b|c)a*$", "maxLength": 700}
    >>> counted = gv.json_schema(schema).grammar
    >>> [syntax.has_ticks(made.rules[1].tree) for made in (counted, without_ticks(counted))]
    [True, False]
    """
    rules = (replace(rule, tree=_copy(rule.tree)) if syntax.has_ticks(rule.tree) else rule for rule in grammar.rules)
    return replace(grammar, rules=tuple(rules))


def _copy(tree: Tree) -> Tree:
    """The tree of a rule that counts: its net is one part of a sequence."""
    if isinstance(tree, syntax.Concat):
        return syntax.concat(*map(_copy, tree.parts))
    return copy_net(tree) if isinstance(tree, syntax.Net) else tree


def copy_net(net: syntax.Net) -> Tree:
    """A net whose places are copied for each count."""
    edges = grouped((source, (*_split(part), target)) for source, part, target in net.edges)

    def moves(at: tuple[int, int]) -> Iterator[tuple[Tree, tuple[int, int]]]:
        place, count = at
        for part, tick, target in edges[place]:
            if tick and count * net.places > MOST_PLACES:
                syntax.no_rules(tick)
            if not tick or count < tick.most - tick.rest:
                yield part, (target, count + bool(tick))

    return syntax.build_net((0, 0), moves, lambda at: at[0] == net.places - 1)


def _split(part: Tree) -> tuple[Tree, syntax.Tick | None]:
    """A part of a net and its tick; a part without one leads to the end."""
    if isinstance(part, syntax.Concat) and part.parts and isinstance(part.parts[-1], syntax.Tick):
        return syntax.concat(*part.parts[:-1]), part.parts[-1]
    return part, None


# Measured on the schemas of `bench schemas`, whose strings take 20 states per character: with 1,000 states the whole
# request takes twice as long as with 400; with 100 it takes as long. A finite machine has an index, and keeps 1,000.
MOST_COPIES = 400  # states of the copies of one repeat
MOST_FINITE_COPIES = 1_000  # of a machine that is finite without counts
MOST_STATES = 8_000  # states of a rule before smaller repeats are counted too; about one second
FEWEST_COPIES = 30


def count_repeats(grammar: Grammar, most: int = MOST_COPIES) -> tuple[Grammar, Mapping[str, Times]]:
    """The grammar with a call in place of each repeat of more than `most` states, and the bounds of these rules.

    If a rule stays too large, smaller repeats are counted too.

    >>> from guidedviz.machines.grammars.show import show_gbnf
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
        return tree if left <= states // 2 or states > MOST_NFA_STATES else large

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


def map_parts(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with every direct part changed."""
    match tree:
        case syntax.Concat(parts):
            return syntax.concat(*map(change, parts))
        case syntax.Either(options):
            return syntax.either(*map(change, options))
        case syntax.Repeat(part):
            return replace(tree, part=change(part))
        case syntax.Net(places, edges):
            spend(2 * len(edges))
            return syntax.Net(places, tuple((source, change(part), target) for source, part, target in edges))
        case _:
            return tree


# Inline the rules of a grammar. Recursive rules stay, because they need a stack.


MOST_INLINED = 10_000  # per rule's NFA after inlining: about one second
MOST_COPIED = 20_000  # of all rules together, for what is called at several places


def inline_rules(grammar: Grammar) -> Grammar:
    """The grammar with its non-recursive rules inlined, if they are small enough.

    >>> from guidedviz.machines.grammars.show import show_gbnf
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


def map_calls(tree: Tree, change: Callable[[syntax.Call], Tree]) -> Tree:
    """The tree with every call replaced."""
    return change(tree) if isinstance(tree, syntax.Call) else map_parts(tree, lambda part: map_calls(part, change))
