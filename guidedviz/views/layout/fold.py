"""Chains and loops as one arrow each.

A *row* is arrows one after another without a choice. A *chain* is a row of single bytes, such as the keys of a schema;
it folds to one arrow that reads several bytes, as in SGLang's compressed finite state machine (LMSYS, 2024-02). So does
a loop such as a JSON string, with its escapes.
"""

from collections.abc import Collection, Iterator, Set
from dataclasses import replace

from guidedviz.views.layout.sketch import Arrow, ByState, Sketch, by_state, is_one_byte

ArrowRow = tuple[Arrow, ...]  # one after another, without a choice
FEWEST_INSIDE = 4  # states of a loop that is folded, besides the one where it begins


def find_rows(arrows: Collection[Arrow], ends: Set[int], single: bool = False) -> list[ArrowRow]:
    """Maximal rows through states with one arrow in and one out; with `single` each arrow reads one byte.

    No row goes on after a state of `ends`.
    """
    into, out = by_state(arrows)
    inner = set()
    for state in into.keys() - ends:
        touching = into[state] + out.get(state, [])
        one_byte = all(is_one_byte(arrow.ranges) for arrow in touching)
        no_choice = len(into[state]) == 1 and len(touching) == 2
        if no_choice and (one_byte or not single):
            inner.add(state)
    begins = [arrow for arrow in arrows if arrow.target in inner and arrow.source not in inner]

    def follow(arrow: Arrow) -> Iterator[Arrow]:
        yield arrow
        while arrow.target in inner:
            (arrow,) = out[arrow.target]
            yield arrow

    return list(map(tuple, map(follow, begins)))


def find_chains(sketch: Sketch) -> list[ArrowRow]:
    """Rows of single bytes without a choice; no text begins or ends inside.

    >>> from guidedviz.views.layout.sketch import sketch_dfa
    >>> [bytes(arrow.ranges[0][0] for arrow in chain) for chain in find_chains(sketch_dfa(gv.regex("[0-9]kg|xy")))]
    [b'xy', b'kg']
    """
    return find_rows(sketch.arrows, _ends(sketch), single=True)


def _ends(sketch: Sketch) -> set[int]:
    """The states where a text or a rule may begin or end."""
    starts = [nodes[0] for _, nodes in sketch.rules]
    return {sketch.initial, *sketch.accepting, *starts}


def inside_row(row: ArrowRow) -> tuple[int, ...]:
    """The states inside a row."""
    return tuple(arrow.target for arrow in row[:-1])


def join(chain: ArrowRow) -> Arrow:
    """A chain as one arrow that reads its bytes in order."""
    source = chain[0].source
    target = chain[-1].target
    ranges = tuple(arrow.ranges[0] for arrow in chain)
    return Arrow(source, target, ranges, through=inside_row(chain))


def fold(sketch: Sketch, around: Set[int] = frozenset()) -> Sketch:
    """Every chain as one arrow, except those with a state of `around` inside.

    >>> from guidedviz.views.layout.sketch import sketch_dfa
    >>> [(arrow.source, arrow.target, arrow.through) for arrow in fold(sketch_dfa(gv.regex("abc[0-9]"))).arrows]
    [(0, 3, (1, 2)), (3, 4, ())]
    """
    joined: dict[Arrow, Arrow] = {}  # by the first arrow of the chain
    gone: set[Arrow] = set()
    unfolded: set[int] = set()
    for chain in find_chains(sketch):
        inside = inside_row(chain)
        if around.isdisjoint(inside):
            joined[chain[0]] = join(chain)
            gone.update(chain[1:])
        else:
            unfolded.update(inside)
    kept = [arrow for arrow in sketch.arrows if arrow not in gone]
    arrows = tuple(joined.get(arrow, arrow) for arrow in kept)
    return replace(sketch, arrows=arrows, unfolded=frozenset(unfolded))


def fold_loops(sketch: Sketch, around: Set[int] = frozenset()) -> Sketch:
    """Each loop that is left only where it begins becomes one arrow; one of few states or with a chain inside stays.

    >>> from guidedviz.views.layout.sketch import sketch_dfa
    >>> [(arrow.source, arrow.target, arrow.through) for arrow in fold_loops(sketch_dfa(gv.regex('"[^"]*"'))).arrows]
    [(0, 1, ()), (1, 2, ()), (1, 1, (3, 4, 5, 6, 7, 8, 9))]
    """
    kept = _ends(sketch).union(*map(inside_row, find_chains(sketch)))
    _, out = by_state(sketch.arrows)
    arrows = list(sketch.arrows)
    for hub in range(len(sketch.names)):
        inside = _inside_loop(out, hub, kept)
        if len(inside) >= FEWEST_INSIDE and inside.isdisjoint(around):
            arrows = _fold_loop(arrows, hub, inside)
    return replace(sketch, arrows=tuple(arrows))


def _inside_loop(out: ByState, hub: int, kept: Set[int]) -> set[int]:
    """The states from which every way leads back to the hub, and to no state that is kept."""
    inside = set[int]()
    for arrow in out[hub]:
        if arrow.target not in {hub, *inside}:
            inside |= _reach_without(out, arrow.target, hub, kept)
    return inside


def _reach_without(out: ByState, start: int, hub: int, kept: Set[int]) -> set[int]:
    """The states that a state reaches without the hub, itself included; none if one of them is kept."""
    found = {start}
    waiting = [start]
    while waiting:
        if not found.isdisjoint(kept):
            return set()
        following = {arrow.target for arrow in out[waiting.pop()]}
        new = following - found - {hub}
        found |= new
        waiting += new
    return found


def _fold_loop(arrows: list[Arrow], hub: int, inside: Set[int]) -> list[Arrow]:
    """The arrows with those of a loop as one, if it is entered only from the hub."""
    loop = []
    others = []
    for arrow in arrows:
        if {arrow.source, arrow.target} <= {hub, *inside}:
            loop.append(arrow)
        else:
            others.append(arrow)
    entered = not inside.isdisjoint(arrow.target for arrow in others)
    if not loop or entered:
        return arrows  # without arrows it is inside a loop that is folded already
    begins = [arrow for arrow in loop if arrow.source == hub]
    first = {bounds for arrow in begins for bounds in arrow.ranges}
    ranges = tuple(sorted(first))
    joined = Arrow(hub, hub, ranges, through=tuple(sorted(inside)), folds_loop=True)
    return [*others, joined]
