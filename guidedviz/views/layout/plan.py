"""Which states are discs, and which are dots on a line.

Large machines consist mostly of runs: the letters of a key, a class repeated thirty times, the bytes of a character.
A state inside a run is a dot on a line with one label; it can still be highlighted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from guidedviz.errors import shorten
from guidedviz.machines.work import reach
from guidedviz.views.layout.arrow_words import LABEL, say_arrow, say_row
from guidedviz.views.layout.fold import Chain, find_rows, inside_chain
from guidedviz.views.layout.sketch import Arrow, Sketch, by_state

MANY = 16  # states above which runs are drawn as runs
LONG = 2  # a run has more arrows than this
INSIDE = 3  # a bundle has at least so many states


@dataclass(frozen=True)
class ArrowLine:
    """Arrows drawn as one line from disc to disc, the states between them as dots on it."""

    arrows: tuple[int, ...]  # numbers in the sketch's arrows, in order
    dots: tuple[int, ...]
    label: str
    full: str  # the label in full, for the tooltip


@dataclass(frozen=True)
class Bundle:
    """The states inside characters beyond ASCII between two discs, in columns by the bytes still to come."""

    source: int
    target: int
    columns: tuple[tuple[int, ...], ...]  # most bytes to come first
    arrows: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """How states and arrows are drawn."""

    discs: tuple[int, ...]
    lines: tuple[ArrowLine, ...]
    bundles: tuple[Bundle, ...]
    calls: tuple[int, ...]  # rule calls, one box per call


def make_plan(sketch: Sketch, keep: Collection[int], compact: bool | None = None) -> Plan:
    """The plan for these states; with `compact` None only large machines have runs."""
    number = {arrow: n for n, arrow in enumerate(sketch.arrows) if arrow.source in keep and arrow.target in keep}
    bundles = [] if compact is False else find_bundles(sketch, number, keep)
    bundled = {sketch.arrows[n] for bundle in bundles for n in bundle.arrows}
    runs = find_runs(sketch, number, bundled) if compact or (compact is None and len(keep) > MANY) else []
    lines = []
    for run in runs:
        full = " ".join(say_row([arrow.ranges for arrow in run]))
        lines.append(ArrowLine(tuple(number[a] for a in run), inside_chain(run), shorten(full, 2 * LABEL), full))
    done = bundled.union(*runs)
    single = [arrow for arrow in number if arrow not in done and not arrow.call]
    lines += [ArrowLine((number[a],), (), say_arrow(a), say_arrow(a, whole=True)) for a in single]
    groups = [*(line.dots for line in lines), *(column for bundle in bundles for column in bundle.columns)]
    discs = tuple(sorted({*keep}.difference(*groups)))
    return Plan(discs, tuple(lines), tuple(bundles), tuple(n for arrow, n in number.items() if arrow.call))


def find_runs(sketch: Sketch, arrows: Collection[Arrow], others: Collection[Arrow]) -> list[Chain]:
    """Long rows of arrows without a choice, which touch no other arrows; no text begins or ends inside."""
    apart = [arrow for arrow in arrows if arrow in others or arrow.call or sketch.is_chain(arrow)]
    ends = {sketch.initial, *sketch.accepting, *(end for arrow in apart for end in (arrow.source, arrow.target))}
    return [row for row in find_rows(arrows, lambda state, into, out: state not in ends) if len(row) > LONG]


def find_bundles(sketch: Sketch, number: Mapping[Arrow, int], keep: Collection[int]) -> list[Bundle]:
    """The connected groups of states inside UTF-8 characters, each between one state and another."""
    inside = inside_characters(sketch, number, keep)
    into, out = by_state(number)

    def near(state: int) -> frozenset[int]:
        return inside & {*(a.source for a in into[state]), *(a.target for a in out[state])}

    bundles = []
    while inside:
        part = frozenset(reach([min(inside)], near))
        inside -= part
        touching = [arrow for arrow in number if not part.isdisjoint((arrow.source, arrow.target))]
        around = {arrow.source for arrow in touching} - part, {arrow.target for arrow in touching} - part
        if len(part) >= INSIDE and list(map(len, around)) == [1, 1]:
            (source,), (target,) = around
            bundles.append(Bundle(source, target, _columns(touching, target, part), tuple(number[a] for a in touching)))
    return bundles


def _columns(arrows: Sequence[Arrow], target: int, part: Collection[int]) -> tuple[tuple[int, ...], ...]:
    """The states of a bundle by the number of bytes to come."""
    left = {target: 0}
    for _ in part:
        left |= {a.source: left[a.target] + 1 for a in arrows if a.source in part and a.target in left}
    most = max(left.values())
    return tuple(tuple(s for s in sorted(part) if left.get(s, most) == count) for count in range(most, 0, -1))


def inside_characters(sketch: Sketch, arrows: Iterable[Arrow], keep: Collection[int]) -> frozenset[int]:
    """States whose arrows in read bytes beyond ASCII and whose arrows out read continuation bytes."""
    into, out = by_state(arrows)

    def inside(state: int) -> bool:
        arrows = into[state] + out[state]
        if not (into[state] and out[state] and all(a.ranges and not sketch.is_chain(a) for a in arrows)):
            return False
        high = all(a.ranges[0][0] >= 0x80 for a in into[state])
        return high and all(low >= 0x80 and up <= 0xBF for a in out[state] for low, up in a.ranges)

    return frozenset(filter(inside, set(keep) - sketch.accepting - {sketch.initial}))
