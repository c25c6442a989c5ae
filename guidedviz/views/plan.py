"""What a diagram draws of a machine: discs, lines, and runs of small dots where a machine only repeats itself.

Real machines are mostly runs: the letters of a key, a class thirty times, the bytes of a character. Every state is
drawn and can light up, but a state inside a run is a dot on one line with one label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from guidedviz.machines.sketch import Arrow, Ranges, Sketch
from guidedviz.views.arrows import LABEL, say_arrow, say_row
from guidedviz.views.figure import shorten

MANY = 16  # states above which runs are drawn as runs
LONG = 2  # dots at least that make a run
INSIDE = 3  # states inside characters at least, that are drawn as dots


@dataclass(frozen=True)
class Line:
    """Arrows drawn as one line from disc to disc, the states between them as dots on it."""

    arrows: tuple[int, ...]  # places in the sketch's arrows, in order
    dots: tuple[int, ...]
    label: str
    full: str  # the whole label, for the hover


@dataclass(frozen=True)
class Lens:
    """The states inside characters beyond ASCII that lead from one disc to one disc, in columns by what is left."""

    source: int
    target: int
    columns: tuple[tuple[int, ...], ...]  # first those that need most bytes to the end of the character
    arrows: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """What is drawn how; `exits` leave a run from its dots, each group for one target."""

    discs: tuple[int, ...]
    lines: tuple[Line, ...]
    lenses: tuple[Lens, ...]
    exits: tuple[tuple[int, ...], ...]
    calls: tuple[int, ...] = ()  # arrows over the call of a rule, each with a box of its own


def make_plan(sketch: Sketch, keep: Collection[int], compact: bool | None = None) -> Plan:
    """What to draw of these states; `compact` None draws runs in large machines only."""
    arrows = {n: a for n, a in enumerate(sketch.arrows) if a.source in keep and a.target in keep}
    lenses = [] if compact is False else find_lenses(sketch, arrows, keep)
    small = frozenset(state for lens in lenses for column in lens.columns for state in column)
    through = {n for lens in lenses for n in lens.arrows}
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
    lines += [_plain_line(n, a) for n, a in arrows.items() if n not in {*inner, *leaving, *through, *calls}]
    discs = tuple(state for state in sorted(keep) if state not in dots and state not in small)
    return Plan(discs, tuple(lines), tuple(lenses), tuple(map(tuple, exits.values())), calls)


def run_dots(sketch: Sketch, run: Sequence[int]) -> tuple[int, ...]:
    """The states between the arrows of a run."""
    return tuple(sketch.arrows[n].target for n in run[:-1])


def find_lenses(sketch: Sketch, arrows: dict[int, Arrow], keep: Collection[int]) -> list[Lens]:
    """States that a text only passes in the middle of a UTF-8 character, those together that hang together."""
    inside = inside_characters(sketch, arrows, keep)
    near: dict[int, set[int]] = defaultdict(set)
    for arrow in arrows.values():
        if arrow.source in inside and arrow.target in inside:
            near[arrow.source].add(arrow.target)
            near[arrow.target].add(arrow.source)
    lenses, seen = [], set[int]()
    for state in sorted(inside):
        if state not in seen:
            seen |= (part := _reach(state, near))
            lenses += _lens(arrows, part)
    return lenses


def _reach(state: int, near: dict[int, set[int]]) -> set[int]:
    found, waiting = {state}, [state]
    while waiting:
        new = near[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _lens(arrows: dict[int, Arrow], part: set[int]) -> list[Lens]:
    touching = [n for n, a in arrows.items() if a.source in part or a.target in part]
    sources = {arrows[n].source for n in touching} - part
    targets = {arrows[n].target for n in touching} - part
    if len(part) < INSIDE or len(sources) != 1 or len(targets) != 1:
        return []
    left = {state: 0 for state in targets}
    for _ in part:
        left |= {
            arrows[n].source: left[t] + 1
            for n in touching
            if (t := arrows[n].target) in left and arrows[n].source in part
        }
    (source,), (target,) = sources, targets
    rows = [tuple(s for s in sorted(part) if left[s] == count) for count in range(max(left[s] for s in part), 0, -1)]
    return [Lens(source, target, tuple(rows), tuple(touching))]


def inside_characters(sketch: Sketch, arrows: dict[int, Arrow], keep: Collection[int]) -> frozenset[int]:
    """States whose ways in and out are bytes beyond ASCII, the ways out those that go on with a character."""
    into: dict[int, list[Arrow]] = defaultdict(list)
    out: dict[int, list[Arrow]] = defaultdict(list)
    for arrow in arrows.values():
        into[arrow.target].append(arrow)
        out[arrow.source].append(arrow)

    def inside(state: int) -> bool:
        high = all(a.ranges and a.ranges[0][0] >= 0x80 for a in into[state])
        return bool(into[state] and out[state]) and high and all(a.ranges and _is_within(a.ranges) for a in out[state])

    chains = {end for a in arrows.values() if sketch.is_chain(a) for end in (a.source, a.target)}
    return frozenset(filter(inside, set(keep) - sketch.accepting - chains - {sketch.initial}))


def _is_within(ranges: Ranges) -> bool:
    return all(low >= 0x80 and high <= 0xBF for low, high in ranges)


def find_runs(sketch: Sketch, arrows: dict[int, Arrow], small: frozenset[int]) -> list[tuple[int, ...]]:
    """Longest rows of arrows whose inner states have one way in, one way on, and otherwise the same ways out."""
    into: dict[int, list[int]] = defaultdict(list)
    out: dict[int, list[int]] = defaultdict(list)
    for n, arrow in arrows.items():
        into[arrow.target].append(n)
        out[arrow.source].append(n)

    discs = {end for a in arrows.values() if a.call or sketch.is_chain(a) for end in (a.source, a.target)}
    discs |= small | {sketch.initial}

    def onward(state: int) -> tuple[int, object] | None:
        """The arrow on, and what else is true of the state: the same all along a run."""
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
            continue  # it stands inside a run that begins earlier
        # where one run ends and another begins, the state between is a disc and belongs to neither
        run = [on] if before and before[0] == into[state][0] else [into[state][0]]
        while kind_of.get(arrows[run[-1]].target) == kind and len(run) <= len(arrows):
            run.append(follow[arrows[run[-1]].target][0])
        if len(run) > LONG:
            runs.append(tuple(run))
    return runs


def _run_line(sketch: Sketch, run: tuple[int, ...]) -> Line:
    ranges = [sketch.arrows[n].ranges for n in run]
    full = " ".join(say_row(ranges))
    return Line(run, run_dots(sketch, run), shorten(full, 2 * LABEL), full)


def _plain_line(n: int, arrow: Arrow) -> Line:
    return Line((n,), (), say_arrow(arrow), say_arrow(arrow, whole=True))
