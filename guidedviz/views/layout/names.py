"""Names on arrows: none covers another one, a call's box or a state.

A name takes the free place near its arrow that has the fewest lines under it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import cos, dist, pi, sin

from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, along
from guidedviz.views.layout.diagram import Curves, Label, Spot, Spots
from guidedviz.views.layout.room import COUNT_WIDTH, ROOM_AROUND, Rect, Room, box_around, call_box, count_box, label_box
from guidedviz.views.layout.sketch import Sketch

BESIDE_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # of a curve's length, where names may lie beside it
STOPS = [share + part for share in BESIDE_SHARES for part in (-0.08, 0.0, 0.08)]  # each with a point before and after
SHORT_ARROW = 34.0  # an arrow shorter than this has no count


def settle_names(spots: Spots, curves: Curves, labels: Sequence[Label], room: Room) -> tuple[Label, ...]:
    """The labels at free places; those of calls stay where they are."""
    for spot in spots.values():
        _take_disc(room, spot)
    for curve in curves.values():
        room.draw(curve)
    for label in labels:
        if label.call:
            box = call_box(label)
            room.take(box)
            times = Rect(box.right + 1, box.top - 10, box.right + 22, box.top + 2)  # how often it is open
            room.take(times)
    return tuple(label if label.call else _settle_name(label, curves, room) for label in labels)


def _take_disc(room: Room, spot: Spot) -> None:
    """Take the room of a disc as a few boxes."""
    for turn in (0.2, 0.5, 0.8, 1.1, 1.4):
        across = spot.rx - spot.ry + (spot.ry + 1.5) * cos(turn)
        down = (spot.ry + 1.5) * sin(turn)
        room.take(box_around((spot.x, spot.y), across, down))


def _settle_name(label: Label, curves: Curves, room: Room) -> Label:
    """A label at a free place, whose room it takes."""
    here = label.x, label.y
    near = [here]
    for number in label.arrows[:3]:
        near += places_beside(curves[number], wide(label.words, 12) / 2, 7.0)
    box = partial(label_box, label.words)
    place = room.best(near, box)
    if place is None:
        place = next((place for place in _ring(here) if room.is_free(box(place))), here)
    room.take(box(place))
    return replace(label, x=place[0], y=place[1])


def places_beside(curve: Curve, half: float, high: float) -> Iterator[Point]:
    """Centres of a box of this size beside a curve, on both sides."""
    stops = along(curve, STOPS)
    for number in range(0, len(stops), 3):
        (a, b), (x, y), (c, d) = stops[number : number + 3]
        far = dist((a, b), (c, d)) or 1.0
        u = -(d - b) / far  # across the curve
        v = (c - a) / far
        reach = abs(u) * half + abs(v) * high
        for gap in (3.0, 9.0, 16.0):
            across = u * (reach + gap)
            down = v * (reach + gap)
            yield x - across, y - down
            yield x + across, y + down


def _ring(centre: Point) -> Iterator[Point]:
    """Places around a point, the nearest first."""
    x, y = centre
    for radius in range(6, int(ROOM_AROUND), 6):
        count = 8 + radius // 8
        for number in range(count):
            angle = 2 * pi * number / count - pi / 2
            yield x + radius * cos(angle), y + radius * sin(angle)


def place_counts(sketch: Sketch, curves: Curves, room: Room) -> Iterator[tuple[int, Point]]:
    """Every arrow that has room for its count, and the place of it."""
    for number, curve in curves.items():
        arrow = sketch.arrows[number]
        length = dist(curve[0], curve[-1])
        long = length >= SHORT_ARROW or arrow.source == arrow.target
        if long and not arrow.call:
            places = ((x, y + 3) for x, y in places_beside(curve, COUNT_WIDTH / 2, 6.0))  # of the baseline
            place = room.best(places, count_box)
            if place:
                room.take(count_box(place))
                yield number, place
