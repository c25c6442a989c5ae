"""Which states a diagram draws as discs and which as dots on a line.

Large machines consist mostly of runs: the letters of a key, a class repeated thirty times, the bytes of a character.
A state inside a run is a dot on a line with one label; it can still be highlighted.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from guidedviz.errors import shorten
from guidedviz.machines.visible import byte_ranges, counted, visible, visible_bytes
from guidedviz.machines.work import reach
from guidedviz.views.layout.sketch import Arrow, Chain, Ranges, Sketch, by_state, find_rows, inside_chain, is_single

# --- the bytes of an arrow as text: short for its label, in full for its tooltip ---


LABEL = 16  # characters of a label; the tooltip has the rest
ASCII = frozenset(range(128))
CONTROLS = frozenset(range(32))


def say_arrow(arrow: Arrow, whole: bool = False) -> str:
    """The bytes of an arrow; those of a folded chain as one text.

    >>> chain = Arrow(0, 4, ((97, 97), (195, 195), (169, 169), (32, 32)), through=(1, 2, 3))
    >>> say_arrow(chain), say_arrow(chain, whole=True), say_arrow(Arrow(0, 1, ((48, 57),)))
    ('aé␣', 'aé␣ (3 states inside)', '0-9')
    """
    if arrow.call:
        return f"calls {arrow.call}"
    if arrow.loop:
        return f"again, {arrow.loop} times in all" if whole else f"{arrow.loop} times"
    chain = arrow.through and not arrow.folds_loop
    if chain:
        text = visible(bytes(low for low, _ in arrow.ranges))
    else:
        text = say_ranges(arrow.ranges, 64 if whole or arrow.folds_loop else 4, whole)
    if not whole:
        return shorten(text, 2 * LABEL if chain else LABEL)
    return text + (f" ({counted(len(arrow.through), 'state')} inside)" if arrow.through else "")


def say_row(row: Sequence[Ranges]) -> Iterator[str]:
    """Arrows in a row: single bytes as one text, equal classes as one with a count.

    >>> list(say_row([((58, 58),), ((32, 32),), ((48, 57),), ((48, 57),)]))
    [':␣', '0-9 ×2']
    """
    for single, group in groupby(row, key=is_single):
        if single:
            yield visible(bytes(ranges[0][0] for ranges in group))
            continue
        for ranges, same in groupby(group):
            count = len(list(same))
            yield say_ranges(ranges) + (f" ×{count}" if count > 1 else "")


def say_ranges(ranges: Ranges, limit: int = 4, whole: bool = False) -> str:
    """Ranges of bytes, short for a label or in full for a tooltip.

    >>> say_ranges(((48, 57),)), say_ranges(((0, 33), (35, 91), (93, 127))), say_ranges(((0xC2, 0xDF),)), say_ranges(())
    ('0-9', 'any but " \\\\', '0xC2-0xDF', 'ε')
    """
    if not ranges:
        return "an epsilon edge: reads nothing" if whole else "ε"
    values = frozenset(value for low, high in ranges for value in range(low, high + 1))
    if len(values) == 256:
        return "any byte"
    parts = [_say_ascii(values & ASCII, limit, whole)] if values & ASCII else []
    parts += [f"0x{low:02X}" + f"-0x{high:02X}" * (high > low) for low, high in byte_ranges(values - ASCII)]
    return (", " if whole else " ").join(parts)


def _say_ascii(values: frozenset[int], limit: int, whole: bool) -> str:
    missing = ASCII - values
    kind = "any ASCII" if whole or not missing else "any"
    seen = missing - CONTROLS if missing >= CONTROLS else missing
    if len(values) <= 64 or len(seen) > 8:
        return visible_bytes(values, limit)
    words = [visible_bytes(seen, 8)] * bool(seen) + ["controls" if whole else "ctrl"] * (seen != missing)
    return f"{kind} but {' '.join(words)}" if words else kind


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
