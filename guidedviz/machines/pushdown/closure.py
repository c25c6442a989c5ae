"""What is possible at a node, whatever lies below it: all calls are followed until a byte is read.

    root ::= "(" root ")" | "x"         node 1 calls root, so there "(" leads to 1 and "x" to 2, both in a root that
                                        was opened here, and this root returns to node 3

A call with nothing after it is not pushed, so a list that ends in itself stays flat.

Next: `machines/pushdown/stack.py`.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from guidedviz.machines.pushdown.automaton import RuleNodes

Position = tuple[int, int | None]  # a node, and the rule of the call opened here that it is in; None: no such call
Positions = tuple[Position, ...]


class Closure(NamedTuple):
    """The positions that each byte leads to, where each call that is opened here returns, and how deep each is."""

    reads: dict[int, Positions]
    returns: dict[int, Positions]
    depth: dict[int | None, int]  # per rule: the number of calls it stands in, along the first path


def close_node(nodes: RuleNodes, node: int) -> Closure:
    """Follow all calls from a node; a rule that is called several times is followed once.

    >>> found = close_node(gv.grammar('root ::= "(" root ")" | "x"').nodes, 1)
    >>> found.reads, found.returns
    ({40: ((1, 0),), 120: ((2, 0),)}, {0: ((3, None),)})
    """
    reads: dict[int, dict[Position, None]] = defaultdict(dict)
    returns: dict[int, dict[Position, None]] = defaultdict(dict)
    depth: dict[int | None, int] = {None: 0}
    found: dict[Position, None] = {(node, None): None}
    waiting = list(found)
    for at, opened in waiting:  # it grows
        for low, high, target in nodes.edges[at]:
            for byte in range(low, high + 1):
                reads[byte][target, opened] = None
        for rule, after in nodes.calls[at]:
            if not _is_last(nodes, rule, after):
                depth.setdefault(rule, 1 + depth[opened])
                returns[rule][after, opened] = None
        for position in _behind_calls(nodes, at, opened):
            if position not in found:
                found[position] = None
                waiting.append(position)
    return Closure(
        {byte: tuple(positions) for byte, positions in reads.items()},
        {rule: tuple(positions) for rule, positions in returns.items()},
        depth,
    )


def _is_last(nodes: RuleNodes, rule: int, after: int) -> bool:
    """Whether nothing comes after a call: then the rule that calls need not be kept on the stack."""
    return after in nodes.last and nodes.counts[rule] is None


def _behind_calls(nodes: RuleNodes, node: int, opened: int | None) -> Iterator[Position]:
    """The positions that are reached over the calls of a node without a byte."""
    for rule, after in nodes.calls[node]:
        if rule in nodes.skipped:  # the called rule may be empty
            yield after, opened
        yield nodes.starts[rule], opened if _is_last(nodes, rule, after) else rule
