"""Copies in place of counted lengths, for engines and texts that cannot count them.

A rule that counts is a net with a tick behind each of its characters; every place is copied for each count.
"""

from collections.abc import Iterator
from dataclasses import replace

from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.graph import grouped
from guidedviz.machines.syntax import Concat, Net, Tick, Tree, build_net, concat, has_ticks, no_rules

CountedPlace = tuple[int, int]  # a place of a net, and how many parts were counted on the way to it


def without_ticks(grammar: Grammar) -> Grammar:
    """The same language with copies instead of ticks; raises an error if there would be too many.

    >>> schema = {"type": "string", "pattern": "^a+(b|c)a*$", "maxLength": 700}
    >>> counted = gv.json_schema(schema).grammar
    >>> [has_ticks(made.rules[1].tree) for made in (counted, without_ticks(counted))]
    [True, False]
    """
    rules = list(grammar.rules)
    for number, rule in enumerate(rules):
        if has_ticks(rule.tree):
            rules[number] = replace(rule, tree=_copy(rule.tree))
    return replace(grammar, rules=tuple(rules))


def _copy(tree: Tree) -> Tree:
    """The tree of a rule that counts: its net is one part of a sequence."""
    if isinstance(tree, Concat):
        return concat(*map(_copy, tree.parts))
    return copy_net(tree) if isinstance(tree, Net) else tree


def copy_net(net: Net) -> Tree:
    """A net whose places are copied for each count."""
    edges = grouped((source, (part, target)) for source, part, target in net.edges)

    def moves(counted: CountedPlace) -> Iterator[tuple[Tree, CountedPlace]]:
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
