"""Chains of a machine: bytes in a row without a choice, such as the keys and punctuation of a schema.

A folded chain is one arrow that reads several bytes, as in SGLang's compressed finite state machine (LMSYS, 2024-02).
A loop such as a JSON string, with its escapes and the bytes of its characters, folds to one arrow too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from guidedviz.errors import SettingError
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted
from guidedviz.views.layout.sketch import Arrow, Sketch, is_single

Chain = tuple[Arrow, ...]  # in a row, one byte each
FEWEST_INSIDE = 4  # states of a loop that is folded, besides the one where it begins


def find_chains(sketch: Sketch) -> list[Chain]:
    """Maximal rows of arrows whose inner states have one arrow in and one out; no text begins or ends inside.

    >>> from guidedviz.views.layout.sketch import sketch_dfa
    >>> [bytes(arrow.ranges[0][0] for arrow in chain) for chain in find_chains(sketch_dfa(gv.regex("[0-9]kg|xy")))]
    [b'xy', b'kg']
    """
    into: dict[int, list[Arrow]] = defaultdict(list)
    out: dict[int, list[Arrow]] = defaultdict(list)
    for arrow in sketch.arrows:
        into[arrow.target].append(arrow)
        out[arrow.source].append(arrow)
    ends = sketch.accepting | {sketch.initial} | {nodes[0] for _, nodes in sketch.rules}
    inside = {state for state in set(into) - ends if _is_byte(into[state]) and _is_byte(out[state])}

    def follow(arrow: Arrow) -> Iterator[Arrow]:
        yield arrow
        while arrow.target in inside:
            (arrow,) = out[arrow.target]
            yield arrow

    return [tuple(follow(arrow)) for arrow in sketch.arrows if arrow.target in inside and arrow.source not in inside]


def _is_byte(arrows: list[Arrow]) -> bool:
    return len(arrows) == 1 and is_single(arrows[0].ranges)


def inside_chain(chain: Chain) -> tuple[int, ...]:
    """The states inside a chain."""
    return tuple(arrow.target for arrow in chain[:-1])


def join(chain: Chain) -> Arrow:
    """A chain as one arrow that reads its bytes in order."""
    ranges = tuple(arrow.ranges[0] for arrow in chain)
    return Arrow(chain[0].source, chain[-1].target, ranges, through=inside_chain(chain))


def fold(sketch: Sketch, around: Set[int] = frozenset()) -> Sketch:
    """Every chain as one arrow, except those with a state of `around` inside.

    >>> from guidedviz.views.layout.sketch import sketch_dfa
    >>> [(arrow.source, arrow.target, arrow.through) for arrow in fold(sketch_dfa(gv.regex("abc[0-9]"))).arrows]
    [(0, 3, (1, 2)), (3, 4, ())]
    """
    arrows: dict[Arrow, Arrow | None] = {arrow: arrow for arrow in sketch.arrows}
    opened: set[int] = set()
    for chain in find_chains(sketch):
        inside = inside_chain(chain)
        if not around.isdisjoint(inside):
            opened.update(inside)
            continue
        arrows |= dict.fromkeys(chain)
        arrows[chain[0]] = join(chain)
    return replace(sketch, arrows=tuple(filter(None, arrows.values())), opened=frozenset(opened))


def fold_loops(sketch: Sketch, around: Set[int] = frozenset()) -> Sketch:
    """Each loop of several states that can be left only where it begins as one arrow, except loops with a chain inside.

    >>> from guidedviz.views.layout.sketch import sketch_dfa
    >>> [(arrow.source, arrow.target, arrow.through) for arrow in fold_loops(sketch_dfa(gv.regex('"[^"]*"'))).arrows]
    [(0, 1, ()), (1, 2, ()), (1, 1, (3, 4, 5, 6, 7, 8, 9))]
    """
    kept = sketch.accepting | {sketch.initial} | {nodes[0] for _, nodes in sketch.rules}
    kept |= {state for chain in find_chains(sketch) for state in inside_chain(chain)}
    near: dict[int, list[int]] = defaultdict(list)
    for arrow in sketch.arrows:
        near[arrow.source].append(arrow.target)
    arrows = list(sketch.arrows)
    for hub in range(len(sketch.names)):
        ways = (_reach(near, after, hub, kept) for after in near[hub] if after not in {hub, *kept})
        inside = frozenset().union(*(way for way in ways if way.isdisjoint(kept)))
        if len(inside) < FEWEST_INSIDE or not inside.isdisjoint(around):
            continue
        loop = [arrow for arrow in arrows if {arrow.source, arrow.target} <= {hub, *inside}]
        entered = any(arrow.target in inside for arrow in arrows if arrow not in loop)
        if not loop or entered:
            continue  # without arrows it is inside a loop that is folded already
        first = sorted({bounds for arrow in loop if arrow.source == hub for bounds in arrow.ranges})
        arrows = [arrow for arrow in arrows if arrow not in loop]
        arrows.append(Arrow(hub, hub, tuple(first), through=tuple(sorted(inside)), folds_loop=True))
    return replace(sketch, arrows=tuple(arrows))


def _reach(near: Mapping[int, Sequence[int]], start: int, without: int, kept: Set[int]) -> frozenset[int]:
    """The states that a state reaches, itself included, without one state; the search ends at any of `kept`."""
    found, waiting = {start}, [start]
    while waiting and found.isdisjoint(kept):
        new = set(near.get(waiting.pop(), ())) - found - {without}
        found |= new
        waiting += new
    return frozenset(found)


@dataclass(frozen=True, repr=False)
class WaysOut:
    """How many states allow one byte, how many several, and how many the end of the text."""

    one: int
    several: int
    end: int

    def __repr__(self) -> str:
        states = self.one + self.several + self.end
        return f"{self.one:,} of {counted(states, 'state')} have one way out"


def count_ways(machine: DFA | PDA) -> WaysOut:
    """Count the states of a machine, or the nodes of a grammar, by their next bytes; a call has those of its rule.

    >>> count_ways(gv.json_schema({"const": {"name": "Ada"}}, whitespace="compact"))
    14 of 15 states have one way out
    """
    match machine:
        case DFA():
            ends = machine.accepting
            ways = [sum(high - low + 1 for low, high, _ in edges) for edges in machine.edges]
        case PDA():
            ends = machine.nodes.ends
            ways = [len(machine.closure(node).reads) for node in range(len(machine.nodes))]
        case _:
            raise SettingError("count_ways", seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")
    going = [count for state, count in enumerate(ways) if state not in ends]
    return WaysOut(going.count(1), sum(count > 1 for count in going), len(ends))
