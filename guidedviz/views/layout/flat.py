"""The layout of one machine, or of one grammar rule: positions for the plan of what is drawn."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from math import dist

from guidedviz.errors import shorten
from guidedviz.sketches.sketch import Sketch
from guidedviz.views.figure import wide
from guidedviz.views.layout.bezier import Curve, Point, above_middle, cut, sample, straight
from guidedviz.views.layout.boxes import Rect, count_box, label_box
from guidedviz.views.layout.labels import say_ranges
from guidedviz.views.layout.layers import Box, Link, Placed
from guidedviz.views.layout.parts import Diagram, Label, Spot
from guidedviz.views.layout.places import settle_names
from guidedviz.views.layout.plan import ArrowLine, Bundle, Plan, make_plan
from guidedviz.views.layout.positions import place

MOST_STATES = 300  # of a larger machine the neighbourhood of one state is drawn
MOST_ARROWS = 1200
NEAR = 40  # states in that neighbourhood
RADIUS = 16.0
BEYOND = "beyond ASCII"
FREE_END = 22.0  # from the start's dot to the first state


def lay_out_flat(sketch: Sketch, at: int = -1, compact: bool | None = None) -> Diagram:
    """The diagram of all states or, for a large machine, of those around `at`."""
    keep = choose_states(sketch, at)
    plan = make_plan(sketch, keep, compact)
    index = {state: n for n, state in enumerate(plan.discs)}
    boxes = tuple(_box(sketch, state) for state in plan.discs)
    boxes += tuple(Box(9.0 * len(b.columns) + 4, 7.0 * max(map(len, b.columns)) + 4) for b in plan.bundles)
    boxes += tuple(Box(wide(call_words(sketch.arrows[n].call), 12) / 2 + 9, 11.0) for n in plan.calls)
    ends = [(sketch.arrows[line.arrows[0]].source, sketch.arrows[line.arrows[-1]].target) for line in plan.lines]
    links: list[Link] = [Link(index[a], index[b], _room(line)) for (a, b), line in zip(ends, plan.lines, strict=True)]
    owner = {dot: n for n, line in enumerate(plan.lines) for dot in line.dots}
    pairs = set(ends)
    for group in plan.exits:  # an invisible link keeps the target of a run's exits near, unless a line does so
        line, target = ends[owner[sketch.arrows[group[0]].source]], sketch.arrows[group[0]].target
        if target in index and not pairs & {(line[0], target), (line[1], target)}:
            links.append(Link(index[line[1]], index[target]))
    for n, bundle in enumerate(plan.bundles, len(plan.discs)):
        links += [Link(index[bundle.source], n, wide(BEYOND, 12) + 8), Link(n, index[bundle.target])]
    for n, arrow in enumerate((sketch.arrows[n] for n in plan.calls), len(plan.discs) + len(plan.bundles)):
        links += [Link(index[arrow.source], n), Link(n, index[arrow.target])]
    if not boxes:
        return Diagram(sketch, {}, {}, (), frozenset(), frozenset(), 60, 40)
    placed = place(boxes, tuple(links), index.get(sketch.initial, 0))
    return _assemble(sketch, plan, placed, boxes, frozenset(keep))


def choose_states(sketch: Sketch, at: int = -1) -> tuple[int, ...]:
    """All unfolded states or, for a large machine, those nearest to `at`."""
    if len(sketch.names) - len(sketch.folded) <= MOST_STATES and len(sketch.arrows) <= MOST_ARROWS:
        return tuple(state for state in range(len(sketch.names)) if state not in sketch.folded)
    start = at if 0 <= at < len(sketch.names) else sketch.initial
    ahead, behind = defaultdict(list), defaultdict(list)
    for arrow in sketch.arrows:
        ahead[arrow.source].append(arrow.target)
        behind[arrow.target].append(arrow.source)
    return tuple(sorted({*_around(start, ahead, NEAR * 2 // 3), *_around(start, behind, NEAR // 3)}))


def _around(start: int, near: Mapping[int, list[int]], most: int) -> set[int]:
    """The `most` states nearest to one."""
    found, waiting = {start}, deque([start])
    while waiting and len(found) < most:
        new = [state for state in dict.fromkeys(near[waiting.popleft()]) if state not in found][: most - len(found)]
        found.update(new)
        waiting.extend(new)
    return found


def _box(sketch: Sketch, state: int) -> Box:
    ring = 3.5 if state in sketch.accepting else 0.0
    return Box(max(RADIUS, wide(short_name(sketch, state), 12) / 2 + 7) + ring, RADIUS + ring)


def call_words(rule: str) -> str:
    """The name of a called rule, cut to fit its box."""
    return shorten(rule, 18)


def short_name(sketch: Sketch, state: int) -> str:
    """The name of a state, cut to fit its disc."""
    return shorten(sketch.names[state], 14)


def _room(line: ArrowLine) -> float:
    words = wide(line.label, 12) + 8 if line.label else 0.0
    return max(words, min(240.0, 7.0 * len(line.dots))) if line.dots else words


def _assemble(sketch: Sketch, plan: Plan, placed: Placed, boxes: Sequence[Box], keep: frozenset[int]) -> Diagram:
    """The diagram from the positions of boxes and links."""
    placed = _shift(placed, FREE_END + 8)
    spots = {
        state: Spot(*centre, box.rx, box.ry)
        for state, centre, box in zip(plan.discs, placed.centres, boxes, strict=False)
    }
    curves: dict[int, tuple[Curve, bool]] = {}
    labels = []
    for line, curve, room in zip(plan.lines, placed.curves, placed.labels, strict=False):
        parts = cut(curve, len(line.arrows)) if line.dots else [curve]
        curves |= {n: (part, n == line.arrows[-1]) for n, part in zip(line.arrows, parts, strict=True)}
        size = max(1.6, min(3.6, dist(parts[0][0], parts[0][-1]) * 0.36))
        spots |= {dot: Spot(*part[-1], size, size, True) for dot, part in zip(line.dots, parts, strict=False)}
        if line.label:
            x, y = room if room != curve[0] else above_middle(curve)
            labels.append(Label(x, y - 3 * bool(line.dots), line.label, line.full, line.arrows))
    for bundle, n, first in _bundle_places(plan, placed):
        spots |= _bundle_spots(bundle, placed.centres[n])
        curves |= _bundle_curves(sketch, bundle, spots, placed.curves[first], placed.curves[first + 1])
        x, y = placed.labels[first]
        labels.append(Label(x, y, BEYOND, "a character beyond ASCII: two to four bytes", bundle.arrows, True))
    for n, curve, centre in _over_calls(plan, placed):
        curves[n] = curve, True
        rule = sketch.arrows[n].call
        labels.append(Label(*centre, call_words(rule), f"calls {rule}", (n,)))
    for group in plan.exits:
        curves |= dict(_exits(sketch, group, spots))
        labels.append(_exit_label(sketch, group, curves))
    exits = frozenset(n for group in plan.exits for n in group)
    more = frozenset(
        a.source if a.source in keep else a.target for a in sketch.arrows if (a.source in keep) != (a.target in keep)
    )
    settled, counts = settle_names(sketch, spots, curves, labels, exits)
    boxes_of_names = [label_box(label.x, label.y, label.words) for label in settled]
    boxes_of_names += [count_box(*point) for point in counts.values()]
    extent = _size(spots, curves, boxes_of_names, placed.width, placed.height)
    return Diagram(sketch, spots, curves, settled, exits, more, *extent, counts=counts)


def _shift(placed: Placed, by: float) -> Placed:
    """Everything moved to the right, to leave space for the start arrow."""
    curves = tuple(tuple((x + by, y) for x, y in curve) for curve in placed.curves)
    labels, centres = (tuple((x + by, y) for x, y in points) for points in (placed.labels, placed.centres))
    return Placed(centres, curves, labels, placed.width + by, placed.height)


def _bundle_places(plan: Plan, placed: Placed) -> Iterator[tuple[Bundle, int, int]]:
    """Every bundle, the number of its box, and the number of the first of its two links."""
    first = len(placed.curves) - 2 * len(plan.bundles) - 2 * len(plan.calls)
    for n, bundle in enumerate(plan.bundles):
        yield bundle, len(plan.discs) + n, first + 2 * n


def _over_calls(plan: Plan, placed: Placed) -> Iterator[tuple[int, Curve, Point]]:
    """The curve of every call and the centre of its box; their links come last."""
    first = len(placed.curves) - 2 * len(plan.calls)
    box = len(placed.centres) - len(plan.calls)
    for number, n in enumerate(plan.calls):
        way_in, way_out = placed.curves[first + 2 * number : first + 2 * number + 2]
        centre = placed.centres[box + number]
        yield n, way_in + straight(way_in[-1], centre)[1:] + straight(centre, way_out[0])[1:] + way_out[1:], centre


def _bundle_spots(bundle: Bundle, centre: Point) -> dict[int, Spot]:
    x, y = centre[0] - 9.0 * (len(bundle.columns) - 1), centre[1]
    return {
        state: Spot(x + 18 * column, y + 14 * (row - (len(states) - 1) / 2), 3.4, 3.4, True)
        for column, states in enumerate(bundle.columns)
        for row, state in enumerate(states)
    }


def _bundle_curves(
    sketch: Sketch, bundle: Bundle, spots: dict[int, Spot], way_in: Curve, way_out: Curve
) -> dict[int, tuple[Curve, bool]]:
    """Arrows into a bundle share one line, and so do those out of it."""
    found: dict[int, tuple[Curve, bool]] = {}
    for n in bundle.arrows:
        arrow = sketch.arrows[n]
        a, b = spots[arrow.source], spots[arrow.target]
        if a.dot:
            end = way_out[0] if not b.dot else (b.x, b.y)
            found[n] = straight((a.x, a.y), end) + (() if b.dot else way_out[1:]), not b.dot
        else:
            found[n] = way_in + straight(way_in[-1], (b.x, b.y))[1:], False
    return found


def _exits(sketch: Sketch, group: Sequence[int], spots: dict[int, Spot]) -> Iterator[tuple[int, tuple[Curve, bool]]]:
    """Nested arcs from the dots of a run to one target."""
    for n in group:
        arrow = sketch.arrows[n]
        dot, target = spots[arrow.source], spots[arrow.target]
        far = target.x - dot.x
        deep = 0.22 * abs(far) + 14
        turn = (target.x - 0.25 * far, target.y + deep)
        yield n, (((dot.x, dot.y), (dot.x + 0.25 * far, dot.y + deep), turn, _rim(target, turn)), n == group[-1])


def _rim(spot: Spot, toward: Point) -> Point:
    """The point on a state's border towards another point."""
    u, v = toward[0] - spot.x, toward[1] - spot.y
    size = ((u / spot.rx) ** 2 + (v / spot.ry) ** 2) ** 0.5 or 1.0
    return spot.x + u / size, spot.y + v / size


def _exit_label(sketch: Sketch, group: Sequence[int], curves: dict[int, tuple[Curve, bool]]) -> Label:
    ranges = sketch.arrows[group[0]].ranges
    x, y = max(sample(curves[group[0]][0]), key=lambda point: point[1])
    return Label(x, y + 9, shorten(say_ranges(ranges), 16), say_ranges(ranges, 64, whole=True), tuple(group))


def _size(
    spots: dict[int, Spot], curves: dict[int, tuple[Curve, bool]], names: list[Rect], width: float, height: float
) -> tuple[float, float]:
    """The size of the diagram, with all curves and names inside."""
    points = [point for curve, _ in curves.values() for point in sample(curve)]
    right = [*(x + 8 for x, _ in points), *(s.x + s.rx + 8 for s in spots.values()), *(n.right + 2 for n in names)]
    low = [*(y + 8 for _, y in points), *(s.y + s.ry + 8 for s in spots.values()), *(n.bottom + 2 for n in names)]
    return max([width, *right]), max([height, *low])
