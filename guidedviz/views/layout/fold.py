"""Chains and loops as one arrow each.

A chain, bytes in a row without a choice such as the keys of a schema, folds to one arrow that reads several bytes, as
in SGLang's compressed finite state machine (LMSYS, 2024-02). So does a loop such as a JSON string, with its escapes.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from guidedviz.views.layout.sketch import Arrow, Sketch, by_state, is_single

Chain = tuple[Arrow, ...]  # in a row, one byte each
FEWEST_INSIDE = 4  # states of a loop that is folded, besides the one where it begins


def find_rows(arrows: Collection[Arrow], inside: Callable[[int, Arrow, Arrow], bool]) -> list[Chain]:
    """Maximal rows of arrows through states with one arrow in and one out, of which `inside` holds."""
    into, out = by_state(arrows)
    single = [state for state in into if len(into[state]) == len(out[state]) == 1]
    inner = {state for state in single if inside(state, into[state][0], out[state][0])}

    def follow(arrow: Arrow) -> Iterator[Arrow]:
        yield arrow
        while arrow.target in inner:
            (arrow,) = out[arrow.target]
            yield arrow

    return [tuple(follow(arrow)) for arrow in arrows if arrow.target in inner and arrow.source not in inner]


def find_chains(sketch: Sketch) -> list[Chain]:
    """Rows of single bytes without a choice; no text begins or ends inside.

    >>> from guidedviz.views.layout.sketch import sketch_dfa
    >>> [bytes(arrow.ranges[0][0] for arrow in chain) for chain in find_chains(sketch_dfa(gv.regex("[0-9]kg|xy")))]
    [b'xy', b'kg']
    """
    ends, single = _ends(sketch), {arrow for arrow in sketch.arrows if is_single(arrow.ranges)}
    return find_rows(sketch.arrows, lambda state, into, out: state not in ends and {into, out} <= single)


def _ends(sketch: Sketch) -> set[int]:
    """The states where a text or a rule may begin or end."""
    return {sketch.initial, *sketch.accepting, *(nodes[0] for _, nodes in sketch.rules)}


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
    kept = _ends(sketch) | {state for chain in find_chains(sketch) for state in inside_chain(chain)}
    _, out = by_state(sketch.arrows)
    arrows = list(sketch.arrows)
    for hub in range(len(sketch.names)):
        ways = (_reach(out, way.target, hub, kept) for way in out[hub] if way.target not in {hub, *kept})
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


def _reach(out: Mapping[int, Sequence[Arrow]], start: int, without: int, kept: Set[int]) -> frozenset[int]:
    """The states that a state reaches, itself included, without one state; the search ends at any of `kept`."""
    found, waiting = {start}, [start]
    while waiting and found.isdisjoint(kept):
        new = {arrow.target for arrow in out[waiting.pop()]} - found - {without}
        found |= new
        waiting += new
    return frozenset(found)
