"""What is possible at a node of a grammar, whatever lies below it: all calls are followed until a byte is read."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from guidedviz.machines.rule_nodes import RuleNodes

Place = tuple[int, int | None]  # a node, and the rule of the call that it stands in; None: no call opened here


class Ways(NamedTuple):
    """The places a byte leads to, where a call that is opened here goes on, how many calls each stands in."""

    reads: dict[int, tuple[Place, ...]]
    returns: dict[int, tuple[Place, ...]]
    depth: dict[int, int]  # of a rule: the calls from it down to the node, along the first way of each


def find_ways(nodes: RuleNodes, node: int) -> Ways:
    """Follow all calls from a node; a rule that is called twice, by itself or by others, is followed once."""
    reads: dict[int, dict[Place, None]] = defaultdict(dict)
    returns: dict[int, dict[Place, None]] = defaultdict(dict)
    found: dict[Place, None] = {(node, None): None}
    waiting = list(found)
    for at, opened in waiting:
        for low, high, target in nodes.edges[at]:
            for byte in range(low, high + 1):
                reads[byte][target, opened] = None
        for rule, after in nodes.calls[at]:
            start = nodes.starts[rule]
            following = [(after, opened)] if start in nodes.ends else []  # the called rule may be empty
            if after in nodes.last:
                following.append((start, opened))
            else:
                returns[rule][after, opened] = None
                following.append((start, rule))
            for place in following:
                if place not in found:
                    found[place] = None
                    waiting.append(place)
    opens = {rule: tuple(places) for rule, places in returns.items()}
    return Ways({byte: tuple(places) for byte, places in reads.items()}, opens, _depths(opens))


def _depths(returns: dict[int, tuple[Place, ...]]) -> dict[int, int]:
    """A rule's first return is into a call that was found before it, so that each number is there when it is asked."""
    depth: dict[int | None, int] = {None: 0}
    for rule, places in returns.items():
        depth[rule] = 1 + depth[places[0][1]]
    return {rule: number for rule, number in depth.items() if rule is not None}
