"""Which states of a machine are drawn, as discs or as dots on a line; of a large machine those around the current one.

Large machines consist mostly of runs: the letters of a key, a class repeated thirty times, the bytes of a character.
A run is a row (`fold.py`) that is drawn as one line with a label; a state inside is a dot, which can be highlighted.
The name of a special token is a run of its own, without dots: it is one token.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from guidedviz.errors import shorten
from guidedviz.machines.graph import grouped, reach
from guidedviz.machines.names import BEGIN, END
from guidedviz.views.layout.diagram import Label
from guidedviz.views.layout.fold import ArrowRow, find_rows, inside_row
from guidedviz.views.layout.sketch import (
    LABEL_LENGTH,
    Arrow,
    ByState,
    DrawnRule,
    Sketch,
    by_state,
    say_arrow,
    say_arrow_in_full,
    say_row,
)

MOST_DISCS = 16  # states above which runs are drawn as runs
SHORT_RUN = 2  # a run has more arrows than this
FEWEST_BUNDLED = 3  # a bundle has at least so many states

FIRST_OF_NAME = ((BEGIN[0], BEGIN[0]),)  # the bytes of an arrow, as ranges
LAST_OF_NAME = ((END[0], END[0]),)

Numbered = Mapping[Arrow, int]  # the drawn arrows, and their numbers in the sketch


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
    lines: tuple[Label, ...]  # not placed yet
    bundles: tuple[Bundle, ...]
    calls: tuple[int, ...]  # rule calls, one box per call


def make_plan(sketch: Sketch, keep: Collection[int], compact: bool | None) -> Plan:
    """The plan for these states. With `compact` None a small machine has only those runs that are names of tokens."""
    number = dict[Arrow, int]()
    for n, arrow in enumerate(sketch.arrows):
        if arrow.source in keep and arrow.target in keep:
            number[arrow] = n
    bundles = [] if compact is False else find_bundles(sketch, number, keep)
    drawn = set[Arrow]()
    dots = set[int]()
    for bundle in bundles:
        drawn.update(sketch.arrows[n] for n in bundle.arrows)
        dots.update(*bundle.columns)
    has_runs = len(keep) > MOST_DISCS if compact is None else compact
    runs = find_runs(sketch, number, drawn)
    if not has_runs:
        runs = list(filter(reads_name, runs))
    lines = [_line_of_run(run, number) for run in runs]
    drawn.update(*runs)
    dots.update(*map(inside_row, runs))
    calls = []
    for arrow, n in number.items():
        if arrow.call:
            calls.append(n)
        elif arrow not in drawn:
            lines.append(Label(say_arrow(arrow), say_arrow_in_full(arrow), (n,)))
    discs = tuple(sorted({*keep} - dots))
    return Plan(discs, tuple(lines), tuple(bundles), tuple(calls))


def _line_of_run(run: ArrowRow, number: Numbered) -> Label:
    full = " ".join(say_row([arrow.ranges for arrow in run]))
    numbers = tuple(number[arrow] for arrow in run)
    return Label(shorten(full, 2 * LABEL_LENGTH), full, numbers, inside_row(run), chip=reads_name(run))


def reads_name(run: ArrowRow) -> bool:
    """Whether a run reads the name of a special token, from its first byte to its last."""
    return run[0].ranges == FIRST_OF_NAME and run[-1].ranges == LAST_OF_NAME


def find_runs(sketch: Sketch, arrows: Collection[Arrow], others: Set[Arrow]) -> list[ArrowRow]:
    """Long rows inside which no text begins or ends, and that share no state with a call, a chain or `others`."""
    ends = {sketch.initial, *sketch.accepting}
    for arrow in arrows:
        if arrow in others or arrow.call or sketch.is_chain(arrow):
            ends |= {arrow.source, arrow.target}
        elif arrow.ranges == FIRST_OF_NAME:
            ends.add(arrow.source)
        elif arrow.ranges == LAST_OF_NAME:
            ends.add(arrow.target)
    return [row for row in find_rows(arrows, ends) if len(row) > SHORT_RUN]


def find_bundles(sketch: Sketch, number: Numbered, keep: Collection[int]) -> list[Bundle]:
    """The connected groups of states inside UTF-8 characters, each between one state and another."""
    into, out = by_state(number)
    inside = inside_characters(sketch, into, out, keep)

    def near(state: int) -> Set[int]:
        neighbours = [arrow.source for arrow in into[state]]
        neighbours += [arrow.target for arrow in out[state]]
        return inside.intersection(neighbours)

    bundles = []
    while inside:
        part = frozenset(reach([min(inside)], near))
        inside -= part
        arrows = [arrow for arrow in number if part & {arrow.source, arrow.target}]
        sources = {arrow.source for arrow in arrows} - part
        targets = {arrow.target for arrow in arrows} - part
        is_passage = len(sources) == len(targets) == 1
        if is_passage and len(part) >= FEWEST_BUNDLED:
            target = targets.pop()
            columns = _columns(into, target, part)
            numbers = tuple(number[arrow] for arrow in arrows)
            bundles.append(Bundle(sources.pop(), target, columns, numbers))
    return bundles


def _columns(into: ByState, target: int, part: frozenset[int]) -> tuple[tuple[int, ...], ...]:
    """The states of a bundle by the number of bytes to come."""

    def before(state: int) -> Set[int]:
        return part.intersection(arrow.source for arrow in into[state])

    to_come = reach([target], before)
    most = max(to_come.values())
    # a state that does not reach the target stands in the first column
    columns = grouped((to_come.get(state, most), state) for state in sorted(part))
    return tuple(tuple(columns[bytes_left]) for bytes_left in range(most, 0, -1))


def inside_characters(sketch: Sketch, into: ByState, out: ByState, keep: Collection[int]) -> frozenset[int]:
    """States whose arrows in read bytes beyond ASCII and whose arrows out read continuation bytes."""

    def is_inside(state: int) -> bool:
        before = [arrow.ranges for arrow in into[state]]
        after = [arrow.ranges for arrow in out[state]]
        if not before or not after or not all(before) or not all(after):
            return False
        if any(map(sketch.is_chain, into[state] + out[state])):
            return False
        lowest = min(ranges[0][0] for ranges in before + after)
        highest = max(ranges[-1][1] for ranges in after)
        return lowest >= 0x80 and highest <= 0xBF

    between = {*keep} - sketch.accepting - {sketch.initial}
    return frozenset(filter(is_inside, between))


# --- the states, or the rules, nearest to the current one ---


MOST_DRAWN_STATES = 300  # of a larger machine the neighbourhood of one state is drawn
MOST_ARROWS = 1200
NEAR_STATES = 40  # states in that neighbourhood
MOST_DRAWN_NODES = 150  # of a larger grammar the neighbourhood of one rule is drawn
NEAR_NODES = 70  # in that neighbourhood
LEAST_NODES = 6  # a smaller rule counts as so many


def choose_states(sketch: Sketch, among: Collection[int], start: int) -> Set[int]:
    """All states that are not folded or, if these are many, those nearest to one."""
    inside = frozenset(among)
    states = inside - sketch.folded
    arrows = [arrow for arrow in sketch.arrows if arrow.source in inside]
    if len(states) <= MOST_DRAWN_STATES and len(arrows) <= MOST_ARROWS:
        return states
    ahead = grouped((arrow.source, arrow.target) for arrow in arrows)
    behind = grouped((arrow.target, arrow.source) for arrow in arrows)
    near = nearest_first(start, ahead, NEAR_STATES * 2 // 3)
    near += nearest_first(start, behind, NEAR_STATES // 3)
    return {*near}


def choose_rules(sketch: Sketch, node: int) -> Sequence[DrawnRule]:
    """All rules or, for a large grammar, those nearest by calls to the rule of a node, in the grammar's order."""
    size: dict[int, int] = {}
    rule_of: dict[int, int] = {}
    number: dict[str, int] = {}
    for rule, (name, nodes) in enumerate(sketch.rules):
        size[rule] = max(LEAST_NODES, len({*nodes} - sketch.folded))
        rule_of |= dict.fromkeys(nodes, rule)
        number[name] = rule
    if sum(size.values()) <= MOST_DRAWN_NODES:
        return sketch.rules
    near = defaultdict(list)
    for arrow in sketch.arrows:
        if arrow.call:
            caller = rule_of[arrow.source]
            called = number[arrow.call]
            near[caller].append(called)
            near[called].append(caller)
    rules = nearest_first(rule_of.get(node, 0), near, NEAR_NODES, size)
    return [sketch.rules[rule] for rule in sorted(rules)]


def nearest_first(
    start: int, near: Mapping[int, Iterable[int]], most: int, size: Mapping[int, int] | None = None
) -> list[int]:
    """The states or rules nearest to one; each counts 1 unless it has a size, and one that does not fit is left out.

    >>> nearest_first(5, {5: [6, 7], 6: [8]}, most=3)
    [5, 6, 7]
    """
    sizes = size or {}
    room = most - sizes.get(start, 1)
    found = [start]
    for one in found:
        for other in near.get(one, ()):
            needed = sizes.get(other, 1)
            if other not in found and needed <= room:
                room -= needed
                found.append(other)
    return found
