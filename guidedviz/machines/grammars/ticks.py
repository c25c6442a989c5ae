"""Copies in place of counted lengths, for engines and texts that cannot count them."""

from collections.abc import Iterator
from dataclasses import replace

from guidedviz.machines import syntax
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.graph import grouped
from guidedviz.machines.syntax import Tree

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
