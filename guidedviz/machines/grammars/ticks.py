"""Copies in place of counted lengths, for engines and texts that cannot count them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.tree import Concat, Net, Tick, Tree, concat, no_ticks, walk

MOST_PLACES = 50_000


def without_ticks(grammar: Grammar) -> Grammar:
    """The same language with copies instead of ticks; raises an error if there would be too many.

    >>> schema = {"type": "string", "pattern": "^a+(b|c)a*$", "maxLength": 700}
    >>> counted = gv.json_schema(schema).grammar
    >>> [any(isinstance(part, Tick) for part in walk(made.rules[1].tree)) for made in (counted, without_ticks(counted))]
    [True, False]
    """
    ticking = [rule for rule in grammar.rules if any(isinstance(part, Tick) for part in walk(rule.tree))]
    copied = {rule.name: replace(rule, tree=_copy(rule.tree)) for rule in ticking}
    return replace(grammar, rules=tuple(copied.get(rule.name, rule) for rule in grammar.rules)) if copied else grammar


def _copy(tree: Tree) -> Tree:
    """The tree of a rule that counts: its net is one part of a sequence."""
    if isinstance(tree, Concat):
        return concat(*map(_copy, tree.parts))
    return copy_net(tree) if isinstance(tree, Net) else tree


def copy_net(net: Net) -> Net:
    """A net whose places are copied for each count."""
    ways: dict[int, list[tuple[Tree, Tick | None, int]]] = defaultdict(list)
    for source, part, target in net.edges:
        ways[source].append((*_split(part), target))
    end = net.places - 1, 0
    numbers: dict[tuple[int, int], int] = {(0, 0): 0}
    edges: list[tuple[tuple[int, int], Tree, tuple[int, int]]] = []
    for place, count in (queue := [(0, 0)]):
        for part, tick, target in ways[place]:
            after = (target, count + 1) if tick else (target, 0)
            if tick and after[1] > tick.most - tick.rest:
                continue
            edges.append(((place, count), part, after))
            if after not in numbers:
                numbers[after] = len(numbers)
                queue.append(after)
            if tick and len(numbers) > MOST_PLACES:
                raise no_ticks(tick)
    numbers[end] = len(numbers)  # the end is the last place
    return Net(len(numbers) + 1, tuple((numbers[source], part, numbers[target]) for source, part, target in edges))


def _split(part: Tree) -> tuple[Tree, Tick | None]:
    """A part of a net and its tick; a part without one leads to the end."""
    if isinstance(part, Concat) and part.parts and isinstance(part.parts[-1], Tick):
        return concat(*part.parts[:-1]), part.parts[-1]
    return part, None
