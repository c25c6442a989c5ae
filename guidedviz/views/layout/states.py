"""The layout of one machine, or of one rule of a grammar: its states, lines, bundles, calls and their labels.

First the boxes of states, bundles and calls are placed with the lines between them. Then each arrow gets its curve, and
each state inside a run or a bundle its dot.
"""

from collections.abc import Collection, Iterator, Mapping, Set
from math import dist

from guidedviz.errors import shorten
from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, cut, sample_curve, straight
from guidedviz.views.layout.diagram import Curves, Diagram, Label, Spot, Spots, size_around
from guidedviz.views.layout.layers import Extent, Layout, Link
from guidedviz.views.layout.names import place_counts, settle_names
from guidedviz.views.layout.neighbourhood import choose_states
from guidedviz.views.layout.placing import place
from guidedviz.views.layout.plan import ArrowLine, Bundle, Plan, make_plan
from guidedviz.views.layout.room import Room, count_box, label_box
from guidedviz.views.layout.sketch import Arrow, Sketch

RADIUS = 16.0
BEYOND = "beyond ASCII"
BEYOND_IN_FULL = "a character beyond ASCII: two to four bytes"
FREE_END = 22.0  # from the start's dot to the first state
BEFORE_START = FREE_END + 8  # left of all boxes

Boxed = int | Bundle | Arrow  # what has a box: a state, a bundle, or a call


def lay_out_states(sketch: Sketch, among: Collection[int], at: int, compact: bool | None) -> Diagram:
    """The diagram of the states of a machine or of a rule or, if they are many, of those around `at`."""
    keep = choose_states(sketch, among, at if at in among else sketch.initial)
    if not keep:
        return Diagram(sketch, {}, {}, (), frozenset(), 60, 40, {})
    plan = make_plan(sketch, keep, compact)
    boxes = dict(_sized_boxes(sketch, plan))
    number = {part: n for n, part in enumerate(boxes)}
    lines = _lines_between(sketch, plan)
    links = tuple(Link(number[source], number[target], space) for source, target, space in lines)
    first = number.get(sketch.initial, 0)
    placed = place(tuple(boxes.values()), links, first).moved(BEFORE_START)
    spots, curves, labels = _draw_parts(sketch, plan, boxes, placed)
    room = Room(placed.width, placed.height)
    settled = settle_names(spots, curves, labels, room)
    counts = dict(place_counts(sketch, curves, room))
    names = [label_box(label.words, (label.x, label.y)) for label in settled]
    names += map(count_box, counts.values())
    corners = [(placed.width, placed.height)]
    corners += [(name.right + 2, name.bottom + 2) for name in names]
    corners += [(spot.x + spot.rx + 8, spot.y + spot.ry + 8) for spot in spots.values()]
    corners += [sample_curve(curve).max(0) + 8 for curve in curves.values()]
    more = _cut_off(sketch, keep)
    return Diagram(sketch, spots, curves, settled, more, *size_around(corners), counts)


def _cut_off(sketch: Sketch, keep: Set[int]) -> frozenset[int]:
    """The drawn states with neighbours that are not drawn."""
    found = set[int]()
    for arrow in sketch.arrows:
        if (arrow.source in keep) != (arrow.target in keep):
            found |= keep & {arrow.source, arrow.target}
    return frozenset(found)


# --- boxes and the lines between them ---


def _sized_boxes(sketch: Sketch, plan: Plan) -> Iterator[tuple[Boxed, Extent]]:
    """The size of each state, bundle and call."""
    for state in plan.discs:
        ring = 3.5 if state in sketch.accepting else 0.0
        name = wide(short_name(sketch, state), 12)
        yield state, Extent(max(RADIUS, name / 2 + 7) + ring, RADIUS + ring)
    for bundle in plan.bundles:
        rows = max(map(len, bundle.columns))
        columns = len(bundle.columns)
        yield bundle, Extent(9.0 * columns + 4, 7.0 * rows + 4)
    for n in plan.calls:
        call = sketch.arrows[n]
        words = wide(call_words(call), 12)
        yield call, Extent(words / 2 + 9, 11.0)


def _lines_between(sketch: Sketch, plan: Plan) -> Iterator[tuple[Boxed, Boxed, float]]:
    """The lines between them, each with space for a label; a bundle and a call have one in and one out."""
    for line in plan.lines:
        first = sketch.arrows[line.arrows[0]]
        last = sketch.arrows[line.arrows[-1]]
        dots = min(240.0, 7.0 * len(line.dots))
        label = wide(line.label, 12) + 8
        yield first.source, last.target, max(label, dots)
    for bundle in plan.bundles:
        yield bundle.source, bundle, wide(BEYOND, 12) + 8
        yield bundle, bundle.target, 0.0
    for n in plan.calls:
        call = sketch.arrows[n]
        yield call.source, call, 0.0
        yield call, call.target, 0.0


def call_words(call: Arrow) -> str:
    """The name of a called rule, cut to fit its box."""
    return shorten(call.call, 18)


def short_name(sketch: Sketch, state: int) -> str:
    """The name of a state, cut to fit its disc."""
    return shorten(sketch.names[state], 14)


# --- the arrows on a line, and the states inside a run or a bundle ---


def _draw_parts(
    sketch: Sketch, plan: Plan, boxes: Mapping[Boxed, Extent], placed: Layout
) -> tuple[Spots, Curves, list[Label]]:
    """The spots of all states, the curves of all arrows, and their labels."""
    centres = dict(zip(boxes, placed.centres, strict=True))
    lines = zip(placed.curves, placed.labels, strict=True)  # in the order of _lines_between
    spots = {state: Spot(*centres[state], *boxes[state]) for state in plan.discs}
    curves: Curves = {}
    labels = []
    for line in plan.lines:
        curve, middle = next(lines)
        labels.append(_draw_line(line, curve, middle, spots, curves))
    for bundle in plan.bundles:
        way_in, middle = next(lines)
        way_out, _ = next(lines)
        spots |= _bundle_spots(bundle, centres[bundle])
        curves |= _bundle_curves(sketch, bundle, spots, way_in, way_out)
        labels.append(Label(*middle, BEYOND, BEYOND_IN_FULL, bundle.arrows, bundle=True))
    for n in plan.calls:
        call = sketch.arrows[n]
        before, _ = next(lines)
        after, _ = next(lines)
        curves[n] = before + straight(before[-1], centres[call], after[0])[1:] + after[1:]
        labels.append(Label(*centres[call], call_words(call), f"calls {call.call}", (n,), call=True))
    return spots, curves, labels


def _draw_line(line: ArrowLine, curve: Curve, centre: Point, spots: Spots, curves: Curves) -> Label:
    """The label of a line; its arrows get their curves, and the states between them their spots."""
    parts = cut(curve, len(line.arrows)) if line.dots else [curve]
    curves |= zip(line.arrows, parts, strict=True)
    length = dist(parts[0][0], parts[0][-1])
    size = max(1.6, min(3.6, length * 0.36))
    for state, part in zip(line.dots, parts, strict=False):
        spots[state] = Spot(*part[-1], size, size, dot=True)
    x, y = centre
    if line.dots:
        y -= 3
    return Label(x, y, line.label, line.full, line.arrows)


def _bundle_spots(bundle: Bundle, centre: Point) -> Spots:
    """The states of a bundle as dots in columns."""
    spots = {}
    x = centre[0] - 9.0 * (len(bundle.columns) - 1)
    for column, states in enumerate(bundle.columns):
        for row, state in enumerate(states):
            y = centre[1] + 14 * (row - (len(states) - 1) / 2)
            spots[state] = Spot(x + 18 * column, y, 3.4, 3.4, dot=True)
    return spots


def _bundle_curves(sketch: Sketch, bundle: Bundle, spots: Spots, way_in: Curve, way_out: Curve) -> Curves:
    """Arrows into a bundle share one line, and so do those out of it."""
    found: Curves = {}
    for n in bundle.arrows:
        arrow = sketch.arrows[n]
        source = spots[arrow.source]
        target = spots[arrow.target]
        start = (source.x, source.y)
        end = (target.x, target.y)
        if not source.dot:
            found[n] = way_in + straight(way_in[-1], end)[1:]
        elif target.dot:
            found[n] = straight(start, end)
        else:
            found[n] = straight(start, way_out[0]) + way_out[1:]
    return found
