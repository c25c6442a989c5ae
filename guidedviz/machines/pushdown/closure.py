"""What is possible at a node of a grammar, whatever lies below it: all calls are followed until a byte is read."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.work import reach

Position = tuple[int, int | None]  # a node, and the rule of the call opened here that it is in; None: no such call


class Closure(NamedTuple):
    """The positions that each byte leads to, where each call that is opened here returns, and how deep each is."""

    reads: dict[int, tuple[Position, ...]]
    returns: dict[int, tuple[Position, ...]]
    depth: dict[int, int]  # per rule: the number of calls it stands in, along the first path


def close_node(nodes: RuleNodes, node: int) -> Closure:
    """Follow all calls from a node; a rule that is called several times is followed once."""
    if not nodes.calls[node]:  # most nodes: one target per byte
        spans = [(range(low, high + 1), ((target, None),)) for low, high, target in nodes.edges[node]]
        return Closure({byte: positions for span, positions in spans for byte in span}, {}, {})
    reads: dict[int, dict[Position, None]] = defaultdict(dict)
    returns: dict[int, dict[Position, None]] = defaultdict(dict)

    def follow_calls(position: Position) -> Iterator[Position]:
        at, opened = position
        for rule, after in nodes.calls[at]:
            if rule in nodes.skipped:  # the called rule may be empty
                yield after, opened
            is_last = after in nodes.last and nodes.counts[rule] is None
            if not is_last:
                returns[rule][after, opened] = None
            yield nodes.starts[rule], opened if is_last else rule

    start: Position = node, None
    for at, opened in reach([start], follow_calls):
        for low, high, target in nodes.edges[at]:
            for byte in range(low, high + 1):
                reads[byte][target, opened] = None
    depth: dict[int | None, int] = {None: 0}
    for rule, positions in returns.items():  # the first return of a rule is into a call that was found before it
        depth[rule] = 1 + depth[next(iter(positions))[1]]
    return Closure(
        {byte: tuple(positions) for byte, positions in reads.items()},
        {rule: tuple(positions) for rule, positions in returns.items()},
        {rule: number for rule, number in depth.items() if rule is not None},
    )
