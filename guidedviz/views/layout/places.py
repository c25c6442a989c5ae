"""The places of names on arrows: no label or count covers another one, a call's box, or a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import cos, dist, pi, sin

from guidedviz.sketches.sketch import Sketch
from guidedviz.views.figure import wide
from guidedviz.views.layout.bezier import Curve, Point, along, sample
from guidedviz.views.layout.boxes import COUNT_WIDTH, Rect, Taken, call_box, count_box, label_box, times_box
from guidedviz.views.layout.parts import Label, Spot

SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # of a curve's length, where names may lie beside it
STOPS = sorted(round(share + part, 2) for share in SHARES for part in (-0.08, 0.0, 0.08))
FARTHEST = 400.0  # from its first place, where a label must find room
SHORT = 34.0  # an arrow shorter than this has no count
STRIDE = 5.0  # pixels between the points of a line, at most
LINE = 25.0  # a point of a line under a label counts as so many pixels of distance

Curves = Mapping[int, tuple[Curve, bool]]


def settle_names(
    sketch: Sketch, spots: Mapping[int, Spot], curves: Curves, labels: Sequence[Label], exits: frozenset[int]
) -> tuple[tuple[Label, ...], dict[int, Point]]:
    """The labels at free places, and the place of the count of every arrow that has room for one."""
    taken = Taken()
    for spot in spots.values():
        taken.add_disc(spot)
    for curve, _ in curves.values():
        taken.add_line(_dense(sample(curve)))
    calls = [label for label in labels if sketch.arrows[label.arrows[0]].call]
    for label in calls:
        taken.add(call_box(label))
        taken.add(times_box(label))
    settled: dict[tuple[int, ...], Label] = {label.arrows: label for label in calls}
    waiting = []
    for label in labels:
        box = label_box(label.x, label.y, label.words)
        if label.arrows in settled:
            continue
        if _is_room(taken, box) and not taken.count_points(box):
            taken.add(box)
            settled[label.arrows] = label
        else:
            waiting.append(label)
    for label in waiting:
        place = _find_room(taken, label, [curves[n][0] for n in label.arrows])
        settled[label.arrows] = replace(label, x=place[0], y=place[1])
        taken.add(label_box(*place, label.words))
    return tuple(settled[label.arrows] for label in labels), dict(_place_counts(sketch, taken, curves, exits))


def _find_room(taken: Taken, label: Label, curves: Sequence[Curve]) -> Point:
    """The best free place: near its arrow and its first place, with few lines under it."""
    here = label.x, label.y
    half = wide(label.words, 12) / 2

    def cost(place: Point) -> float:
        return dist(here, place) + LINE * taken.count_points(label_box(*place, label.words))

    def free(place: Point) -> bool:
        return _is_room(taken, label_box(*place, label.words))

    near = [place for place in (here, *(p for curve in curves[:3] for p in beside(curve, half, 7.0))) if free(place)]
    if near:
        return min(near, key=cost)
    return next((place for place in _ring(here) if free(place)), here)


def _dense(points: Sequence[Point]) -> Iterator[Point]:
    """Points of a line, so near to each other that none crosses a label unseen."""
    yield points[0]
    for (a, b), (c, d) in pairwise(points):
        count = 1 + int(dist((a, b), (c, d)) / STRIDE)
        yield from ((a + (c - a) * step / count, b + (d - b) * step / count) for step in range(1, count + 1))


def beside(curve: Curve, half: float, high: float) -> Iterator[Point]:
    """Centres of a box of this size beside a curve, on both sides."""
    points = dict(zip(STOPS, along(curve, STOPS), strict=True))
    for share in SHARES:
        (a, b), (x, y), (c, d) = (points[round(share + part, 2)] for part in (-0.08, 0.0, 0.08))
        far = dist((a, b), (c, d)) or 1.0
        u, v = -(d - b) / far, (c - a) / far  # across the curve
        reach = abs(u) * half + abs(v) * high
        for gap, side in product((3.0, 9.0, 16.0), (-1, 1)):
            yield x + side * u * (reach + gap), y + side * v * (reach + gap)


def _ring(centre: Point) -> Iterator[Point]:
    """Places around a point, the nearest first."""
    for radius in range(6, int(FARTHEST), 6):
        count = 8 + radius // 8
        for number in range(count):
            angle = 2 * pi * number / count - pi / 2
            yield centre[0] + radius * cos(angle), centre[1] + radius * sin(angle)


def _place_counts(sketch: Sketch, taken: Taken, curves: Curves, exits: frozenset[int]) -> Iterator[tuple[int, Point]]:
    for n, (curve, _) in curves.items():
        arrow = sketch.arrows[n]
        home = arrow.source == arrow.target
        if arrow.call or n in exits or (not home and dist(curve[0], curve[-1]) < SHORT):
            continue
        places = ((x, y + 3) for x, y in beside(curve, COUNT_WIDTH / 2, 6.0))  # of the baseline
        if place := _emptiest(taken, places):
            taken.add(count_box(*place))
            yield n, place


def _emptiest(taken: Taken, places: Iterable[Point]) -> Point | None:
    """The first place of a count that is free and has no line under it, else the free one with the least."""
    found: list[tuple[int, Point]] = []
    for place in places:
        box = count_box(*place)
        if _is_room(taken, box):
            found.append((taken.count_points(box), place))
            if not found[-1][0]:
                return place
    return min(found)[1] if found else None


def _is_room(taken: Taken, box: Rect) -> bool:
    return box.left >= 0 and box.top >= 0 and taken.is_free(box)
