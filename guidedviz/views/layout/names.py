"""Names on arrows: each at a free place near its arrow, so that none covers another one, a call's box or a state."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import cos, dist, pi, sin

from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, along
from guidedviz.views.layout.diagram import Curves, Label, Spot
from guidedviz.views.layout.room import AROUND, COUNT_WIDTH, Rect, Room, call_box, count_box, label_box
from guidedviz.views.layout.sketch import Sketch

SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # of a curve's length, where names may lie beside it
SHORT = 34.0  # an arrow shorter than this has no count


def settle_names(
    sketch: Sketch, spots: Mapping[int, Spot], curves: Curves, labels: Sequence[Label], room: Room
) -> tuple[tuple[Label, ...], dict[int, Point]]:
    """The labels at free places, and the place of the count of every arrow that has room for one."""
    for spot, turn in product(spots.values(), (0.2, 0.5, 0.8, 1.1, 1.4)):  # a disc as a few boxes
        across, down = spot.rx - spot.ry + (spot.ry + 1.5) * cos(turn), (spot.ry + 1.5) * sin(turn)
        room.take(Rect(spot.x - across, spot.y - down, spot.x + across, spot.y + down))
    for curve, _ in curves.values():
        room.draw(curve)
    calls = [label for label in labels if sketch.arrows[label.arrows[0]].call]
    for label in calls:
        room.take(called := call_box(label))
        room.take(Rect(called.right + 1, called.top - 10, called.right + 22, called.top + 2))  # how often it is open
    settled = {label.arrows: label for label in calls}
    for label in labels:
        if label.arrows in settled:
            continue
        here, half, own = (label.x, label.y), wide(label.words, 12) / 2, [curves[n][0] for n in label.arrows[:3]]
        box = partial(label_box, label.words)
        near = [here, *(place for curve in own for place in beside(curve, half, 7.0))]
        x, y = room.best(near, box) or next((place for place in _ring(here) if room.is_free(box(place))), here)
        settled[label.arrows] = replace(label, x=x, y=y)
        room.take(box((x, y)))
    return tuple(settled[label.arrows] for label in labels), dict(_place_counts(sketch, room, curves))


def beside(curve: Curve, half: float, high: float) -> Iterator[Point]:
    """Centres of a box of this size beside a curve, on both sides."""
    stops = along(curve, [share + part for share in SHARES for part in (-0.08, 0.0, 0.08)])
    for (a, b), (x, y), (c, d) in zip(stops[::3], stops[1::3], stops[2::3], strict=True):
        far = dist((a, b), (c, d)) or 1.0
        u, v = -(d - b) / far, (c - a) / far  # across the curve
        reach = abs(u) * half + abs(v) * high
        for gap, side in product((3.0, 9.0, 16.0), (-1, 1)):
            yield x + side * u * (reach + gap), y + side * v * (reach + gap)


def _ring(centre: Point) -> Iterator[Point]:
    """Places around a point, the nearest first."""
    for radius in range(6, int(AROUND), 6):
        count = 8 + radius // 8
        for angle in (2 * pi * number / count - pi / 2 for number in range(count)):
            yield centre[0] + radius * cos(angle), centre[1] + radius * sin(angle)


def _place_counts(sketch: Sketch, room: Room, curves: Curves) -> Iterator[tuple[int, Point]]:
    for n, (curve, _) in curves.items():
        arrow = sketch.arrows[n]
        long = arrow.source == arrow.target or dist(curve[0], curve[-1]) >= SHORT
        places = ((x, y + 3) for x, y in beside(curve, COUNT_WIDTH / 2, 6.0))  # of the baseline
        if long and not arrow.call and (place := room.best(places, count_box)):
            room.take(count_box(place))
            yield n, place
