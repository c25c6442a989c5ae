"""The layout of one machine, or of one rule of a grammar: its states, lines, bundles, calls and their labels."""

from collections.abc import Collection, Mapping
from math import dist

import numpy as np

from guidedviz.errors import shorten
from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, cut, sample, straight
from guidedviz.views.layout.diagram import Curves, Diagram, Label, Spot
from guidedviz.views.layout.layers import Extent, Link
from guidedviz.views.layout.names import settle_names
from guidedviz.views.layout.neighbourhood import choose_states
from guidedviz.views.layout.placing import place
from guidedviz.views.layout.plan import Bundle, Plan, make_plan
from guidedviz.views.layout.room import Room, count_box, label_box
from guidedviz.views.layout.sketch import Sketch

RADIUS = 16.0
BEYOND = "beyond ASCII"
FREE_END = 22.0  # from the start's dot to the first state

Part = tuple[str, int]  # of a drawing: its kind, and the number of a state, a line, a bundle, or the arrow of a call


def lay_out_states(sketch: Sketch, among: Collection[int], at: int, compact: bool | None) -> Diagram:
    """The diagram of the states of a machine or of a rule or, if they are many, of those around `at`."""
    keep = frozenset(choose_states(sketch, among, at if at in among else sketch.initial))
    plan = make_plan(sketch, keep, compact)
    boxes = _boxes(sketch, plan)
    if not boxes:
        return Diagram(sketch, {}, {}, (), frozenset(), 60, 40, {})
    links, number = _links(sketch, plan), {part: n for n, part in enumerate(boxes)}
    ways = tuple(Link(number[a], number[b], room) for a, b, room in links.values())
    placed = place(tuple(boxes.values()), ways, number.get(("state", sketch.initial), 0))
    by = FREE_END + 8  # to the right: space for the start arrow
    centres = {part: (x + by, y) for part, (x, y) in zip(boxes, placed.centres, strict=True)}
    rooms = {part: (x + by, y) for part, (x, y) in zip(links, placed.labels, strict=True)}
    lines = {part: tuple((x + by, y) for x, y in line) for part, line in zip(links, placed.curves, strict=True)}
    spots = {state: Spot(*centres["state", state], *boxes["state", state]) for state in plan.discs}
    curves, labels = _draw_lines(plan, spots, lines, rooms)
    for n, bundle in enumerate(plan.bundles):
        spots |= _bundle_spots(bundle, centres["bundle", n])
        curves |= _bundle_curves(sketch, bundle, spots, lines["into", n], lines["from", n])
        full = "a character beyond ASCII: two to four bytes"
        labels.append(Label(*rooms["into", n], BEYOND, full, bundle.arrows, True))
    for n in plan.calls:
        centre, before, after, rule = centres["call", n], lines["before", n], lines["after", n], sketch.arrows[n].call
        curves[n] = before + straight(before[-1], centre)[1:] + straight(centre, after[0])[1:] + after[1:], True
        labels.append(Label(*centre, call_words(rule), f"calls {rule}", (n,)))
    ends = [(arrow.source, arrow.target) for arrow in sketch.arrows]
    more = frozenset(a if a in keep else b for a, b in ends if (a in keep) != (b in keep))
    settled, counts = settle_names(sketch, spots, curves, labels, Room(placed.width + by, placed.height))
    names = [label_box(label.words, (label.x, label.y)) for label in settled]
    names += [count_box(place) for place in counts.values()]
    low = [(placed.width + by, placed.height), *((name.right + 2, name.bottom + 2) for name in names)]
    low += [(spot.x + spot.rx + 8, spot.y + spot.ry + 8) for spot in spots.values()]
    low += [tuple(sample(curve).max(0) + 8) for curve, _ in curves.values()]
    width, height = np.max(low, axis=0).tolist()
    return Diagram(sketch, spots, curves, settled, more, width, height, counts)


def _boxes(sketch: Sketch, plan: Plan) -> dict[Part, Extent]:
    """The size of each state, bundle and call."""
    boxes: dict[Part, Extent] = {}
    for state in plan.discs:
        ring = 3.5 if state in sketch.accepting else 0.0
        half = max(RADIUS, wide(short_name(sketch, state), 12) / 2 + 7)
        boxes["state", state] = Extent(half + ring, RADIUS + ring)
    for n, bundle in enumerate(plan.bundles):
        boxes["bundle", n] = Extent(9.0 * len(bundle.columns) + 4, 7.0 * max(map(len, bundle.columns)) + 4)
    for n in plan.calls:
        boxes["call", n] = Extent(wide(call_words(sketch.arrows[n].call), 12) / 2 + 9, 11.0)
    return boxes


def _links(sketch: Sketch, plan: Plan) -> dict[Part, tuple[Part, Part, float]]:
    """The lines between them: from part to part, with space for a label."""
    links: dict[Part, tuple[Part, Part, float]] = {}
    for n, line in enumerate(plan.lines):
        first, last = sketch.arrows[line.arrows[0]], sketch.arrows[line.arrows[-1]]
        room = max(wide(line.label, 12) + 8, min(240.0, 7.0 * len(line.dots)))
        links["line", n] = ("state", first.source), ("state", last.target), room
    for n, bundle in enumerate(plan.bundles):
        links["into", n] = ("state", bundle.source), ("bundle", n), wide(BEYOND, 12) + 8
        links["from", n] = ("bundle", n), ("state", bundle.target), 0.0
    for n in plan.calls:
        links["before", n] = ("state", sketch.arrows[n].source), ("call", n), 0.0
        links["after", n] = ("call", n), ("state", sketch.arrows[n].target), 0.0
    return links


def call_words(rule: str) -> str:
    """The name of a called rule, cut to fit its box."""
    return shorten(rule, 18)


def short_name(sketch: Sketch, state: int) -> str:
    """The name of a state, cut to fit its disc."""
    return shorten(sketch.names[state], 14)


def _draw_lines(
    plan: Plan, spots: dict[int, Spot], lines: Mapping[Part, Curve], rooms: Mapping[Part, Point]
) -> tuple[Curves, list[Label]]:
    """The curve of each arrow on a line, and the labels; the dots of the lines get their spots."""
    curves: Curves = {}
    labels = []
    for n, line in enumerate(plan.lines):
        curve, (x, y) = lines["line", n], rooms["line", n]
        parts = cut(curve, len(line.arrows)) if line.dots else [curve]
        curves |= {n: (part, n == line.arrows[-1]) for n, part in zip(line.arrows, parts, strict=True)}
        size = max(1.6, min(3.6, dist(parts[0][0], parts[0][-1]) * 0.36))
        spots |= {dot: Spot(*part[-1], size, size, True) for dot, part in zip(line.dots, parts, strict=False)}
        labels.append(Label(x, y - 3 * bool(line.dots), line.label, line.full, line.arrows))
    return curves, labels


def _bundle_spots(bundle: Bundle, centre: Point) -> dict[int, Spot]:
    x, y = centre[0] - 9.0 * (len(bundle.columns) - 1), centre[1]
    return {
        state: Spot(x + 18 * column, y + 14 * (row - (len(states) - 1) / 2), 3.4, 3.4, True)
        for column, states in enumerate(bundle.columns)
        for row, state in enumerate(states)
    }


def _bundle_curves(sketch: Sketch, bundle: Bundle, spots: dict[int, Spot], way_in: Curve, way_out: Curve) -> Curves:
    """Arrows into a bundle share one line, and so do those out of it."""
    found: Curves = {}
    for n in bundle.arrows:
        a, b = spots[sketch.arrows[n].source], spots[sketch.arrows[n].target]
        if a.dot and b.dot:
            found[n] = straight((a.x, a.y), (b.x, b.y)), False
        elif a.dot:
            found[n] = straight((a.x, a.y), way_out[0]) + way_out[1:], True
        else:
            found[n] = way_in + straight(way_in[-1], (b.x, b.y))[1:], False
    return found
