"""Which states a diagram draws as discs and which as dots on a line.

Large machines consist mostly of runs: the letters of a key, a class repeated thirty times, the bytes of a character.
A state inside a run is a dot on a line with one label; it can still be highlighted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from guidedviz.errors import shorten
from guidedviz.machines.visible import counted, visible, visible_bytes
from guidedviz.machines.work import reach
from guidedviz.views.layout.sketch import Arrow, Ranges, Sketch, is_single

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
    if arrow.loop:
        return f"again, {arrow.loop} times in all" if whole else f"{arrow.loop} times"
    if arrow.folds_loop:
        words = say_ranges(arrow.ranges, limit=64, whole=whole)
        return f"{words} ({counted(len(arrow.through), 'state')} inside)" if whole else shorten(words, LABEL)
    if arrow.through:
        text = visible(bytes(low for low, _ in arrow.ranges))
        return f"{text} ({counted(len(arrow.through), 'state')} inside)" if whole else shorten(text, 2 * LABEL)
    return say_ranges(arrow.ranges, limit=64, whole=True) if whole else shorten(say_ranges(arrow.ranges), LABEL)


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
    ascii_part, high_part = values & ASCII, sorted(values - ASCII)
    if len(values) == 256:
        return "any byte"
    parts = [_say_ascii(ascii_part, limit, whole)] if ascii_part else []
    parts += [_say_high(high_part, whole)] if high_part else []
    return (", " if whole else " ").join(parts)


def _say_ascii(values: frozenset[int], limit: int, whole: bool) -> str:
    missing = ASCII - values
    kind = "any ASCII" if whole or not missing else "any"
    seen = missing - CONTROLS if missing >= CONTROLS else missing
    if len(values) <= 64 or len(seen) > 8:
        return visible_bytes(values, limit)
    words = [visible_bytes(seen, 8)] * bool(seen) + ["controls" if whole else "ctrl"] * (seen != missing)
    return f"{kind} but {' '.join(words)}" if words else kind


def _say_high(values: Sequence[int], whole: bool) -> str:
    """Bytes beyond ASCII in hexadecimal and, in full, their roles in UTF-8."""
    cuts = [n for n in range(1, len(values)) if values[n] != values[n - 1] + 1]
    rows = [values[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    said = " ".join(f"0x{row[0]:02X}" + (f"-0x{row[-1]:02X}" if len(row) > 1 else "") for row in rows)
    if not whole:
        return said
    kinds = dict.fromkeys(map(_kind, values))
    return f"{'byte' if len(values) == 1 else 'bytes'} {said} ({', '.join(kinds)})"


def _kind(byte: int) -> str:
    if byte < 0xC0:
        return "inside a character"
    if byte > 0xF4 or byte < 0xC2:
        return "never in UTF-8"
    return f"first of {2 if byte < 0xE0 else 3 if byte < 0xF0 else 4} bytes of a character"


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
    """How states and arrows are drawn; `exits` are arrows from the dots of a run, grouped by target."""

    discs: tuple[int, ...]
    lines: tuple[ArrowLine, ...]
    bundles: tuple[Bundle, ...]
    exits: tuple[tuple[int, ...], ...]
    calls: tuple[int, ...] = ()  # rule calls, one box per call


def make_plan(sketch: Sketch, keep: Collection[int], compact: bool | None = None) -> Plan:
    """The plan for these states; with `compact` None only large machines have runs."""
    arrows = {n: a for n, a in enumerate(sketch.arrows) if a.source in keep and a.target in keep}
    bundles = [] if compact is False else find_bundles(sketch, arrows, keep)
    small = frozenset(state for bundle in bundles for column in bundle.columns for state in column)
    through = {n for bundle in bundles for n in bundle.arrows}
    runs = find_runs(sketch, arrows, small) if compact or (compact is None and len(keep) > MANY) else []
    dots = {dot for run in runs for dot in run_dots(sketch, run)}
    inner = {n for run in runs for n in run}
    exits: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        for dot in run_dots(sketch, run):
            for n, arrow in arrows.items():
                if arrow.source == dot and n not in inner:
                    exits[number, arrow.target].append(n)
    leaving = {n for group in exits.values() for n in group}
    lines = [_run_line(sketch, run) for run in runs]
    calls = tuple(n for n, arrow in arrows.items() if arrow.call)
    plain = {n: a for n, a in arrows.items() if n not in {*inner, *leaving, *through, *calls}}
    lines += [ArrowLine((n,), (), say_arrow(a), say_arrow(a, whole=True)) for n, a in plain.items()]
    discs = tuple(state for state in sorted(keep) if state not in dots and state not in small)
    return Plan(discs, tuple(lines), tuple(bundles), tuple(map(tuple, exits.values())), calls)


def run_dots(sketch: Sketch, run: Sequence[int]) -> tuple[int, ...]:
    """The states between the arrows of a run."""
    return tuple(sketch.arrows[n].target for n in run[:-1])


def find_bundles(sketch: Sketch, arrows: dict[int, Arrow], keep: Collection[int]) -> list[Bundle]:
    """The connected groups of states inside UTF-8 characters."""
    inside = inside_characters(sketch, arrows, keep)
    near: dict[int, set[int]] = defaultdict(set)
    for arrow in arrows.values():
        if arrow.source in inside and arrow.target in inside:
            near[arrow.source].add(arrow.target)
            near[arrow.target].add(arrow.source)
    bundles, seen = [], set[int]()
    for state in sorted(inside):
        if state not in seen:
            seen |= (part := set(reach([state], near.__getitem__)))
            bundles += _bundle(arrows, part)
    return bundles


def _bundle(arrows: dict[int, Arrow], part: set[int]) -> list[Bundle]:
    touching = [n for n, a in arrows.items() if a.source in part or a.target in part]
    sources = {arrows[n].source for n in touching} - part
    targets = {arrows[n].target for n in touching} - part
    if len(part) < INSIDE or len(sources) != 1 or len(targets) != 1:
        return []
    left = {state: 0 for state in targets}
    inner = [(arrows[n].source, arrows[n].target) for n in touching if arrows[n].source in part]
    for _ in part:
        left |= {source: left[target] + 1 for source, target in inner if target in left}
    (source,), (target,) = sources, targets
    rows = [tuple(s for s in sorted(part) if left[s] == count) for count in range(max(left[s] for s in part), 0, -1)]
    return [Bundle(source, target, tuple(rows), tuple(touching))]


def inside_characters(sketch: Sketch, arrows: dict[int, Arrow], keep: Collection[int]) -> frozenset[int]:
    """States whose arrows in read bytes beyond ASCII and whose arrows out read continuation bytes."""
    into: dict[int, list[Arrow]] = defaultdict(list)
    out: dict[int, list[Arrow]] = defaultdict(list)
    for arrow in arrows.values():
        into[arrow.target].append(arrow)
        out[arrow.source].append(arrow)

    def inside(state: int) -> bool:
        if not into[state] or not out[state] or not all(a.ranges for a in (*into[state], *out[state])):
            return False
        high = all(a.ranges[0][0] >= 0x80 for a in into[state])
        return high and all(low >= 0x80 and up <= 0xBF for a in out[state] for low, up in a.ranges)

    chains = {end for a in arrows.values() if sketch.is_chain(a) for end in (a.source, a.target)}
    return frozenset(filter(inside, set(keep) - sketch.accepting - chains - {sketch.initial}))


def find_runs(sketch: Sketch, arrows: dict[int, Arrow], small: frozenset[int]) -> list[tuple[int, ...]]:
    """Maximal rows of arrows whose inner states have one arrow in, one arrow on, and equal other arrows out."""
    into: dict[int, list[int]] = defaultdict(list)
    out: dict[int, list[int]] = defaultdict(list)
    for n, arrow in arrows.items():
        into[arrow.target].append(n)
        out[arrow.source].append(n)

    discs = {end for a in arrows.values() if a.call or sketch.is_chain(a) for end in (a.source, a.target)}
    discs |= small | {sketch.initial}

    def onward(state: int) -> tuple[int, object] | None:
        """The arrow on, and the properties that all states of a run share."""
        if state in discs or len(into[state]) != 1:
            return None
        alone = [n for n in out[state] if len(into[arrows[n].target]) == 1 and arrows[n].target != state]
        on = out[state] if len(out[state]) == 1 else alone
        if len(on) != 1 or arrows[on[0]].target == state or len(out[state]) > 3:
            return None
        others = frozenset((arrows[n].target, arrows[n].ranges) for n in out[state] if n != on[0])
        return on[0], (others, state in sketch.accepting)

    follow = {state: found for state in into if (found := onward(state))}
    kind_of = {state: kind for state, (_, kind) in follow.items()}
    runs = []
    for state, (on, kind) in follow.items():
        before = follow.get(arrows[into[state][0]].source)
        if before == (into[state][0], kind):
            continue  # it is inside a run that starts earlier
        # the state between two runs is a disc and belongs to neither
        run = [on] if before and before[0] == into[state][0] else [into[state][0]]
        while kind_of.get(arrows[run[-1]].target) == kind and len(run) <= len(arrows):
            run.append(follow[arrows[run[-1]].target][0])
        if len(run) > LONG:
            runs.append(tuple(run))
    return runs


def _run_line(sketch: Sketch, run: tuple[int, ...]) -> ArrowLine:
    ranges = [sketch.arrows[n].ranges for n in run]
    full = " ".join(say_row(ranges))
    return ArrowLine(run, run_dots(sketch, run), shorten(full, 2 * LABEL), full)
