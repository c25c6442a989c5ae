"""The room in a drawing: which name or state takes each square cell, and how many lines pass through it.

So no name covers another one, a call's box or a state: a name takes the free place near its arrow that has the fewest
lines under it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import ceil, copysign, cos, dist, pi, sin
from typing import NamedTuple

import numpy as np

from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, along
from guidedviz.views.layout.diagram import Curves, Label, Spot, Spots
from guidedviz.views.layout.sketch import Sketch

GRAIN = 2.0  # pixels of a cell
ROOM_AROUND = 400.0  # right of the diagram and below it
NUMBERS_WIDTH = 44.0  # of the numbers of the bytes that took an arrow
LINE_CELL = 10.0  # a cell of a line under a name counts as so many pixels of distance
CENTRE_SHARE = 0.3  # a pixel from its centre counts as so many from its box

CellNumbers = tuple[np.ndarray, np.ndarray]  # rows and columns


class Rect(NamedTuple):
    """A box by its sides; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


def box_around(centre: Point, across: float, down: float) -> Rect:
    """The box with this centre, half its width and half its height."""
    x, y = centre
    return Rect(x - across, y - down, x + across, y + down)


def label_box(words: str, centre: Point) -> Rect:
    """The box of a label on an arrow."""
    x, y = centre
    half = wide(words, 12) / 2
    return Rect(x - half, y - 7, x + half, y + 6)


def call_box(label: Label) -> Rect:
    """The box around the name of a called rule."""
    return box_around((label.x, label.y), wide(label.words, 12) / 2 + 9, 10)


def number_box(place: Point) -> Rect:
    """The numbers of the bytes that took an arrow."""
    x, y = place
    half = NUMBERS_WIDTH / 2
    return Rect(x - half, y - 9, x + half, y + 3)


class Room:
    """The cells of a drawing: which name or state takes each, and how many lines pass through it."""

    def __init__(self, width: float, height: float) -> None:
        rows = int((height + ROOM_AROUND) / GRAIN)
        size = rows, int((width + ROOM_AROUND) / GRAIN)
        self.owner = np.zeros(size, np.int16)
        self.lines = np.zeros(size, np.int16)
        self._taken = 0

    def take(self, box: Rect, margin: float = 0.0) -> None:
        """Take the room of a name or a state."""
        self._taken += 1
        self.owner[_cells(box, margin)] = self._taken

    def draw(self, curve: Curve) -> None:
        """Remember a line; a name may lie on it, but better does not."""
        length = sum(dist(a, b) for a, b in pairwise(curve))
        shares = np.linspace(0, 1, 2 + int(length / GRAIN))
        points = along(curve, shares.tolist())
        self.lines[self.cells_at(np.array(points))] += 1

    def cells_at(self, points: np.ndarray) -> CellNumbers:
        """The cells of these points; those outside count as the border's."""
        cells = (points / GRAIN).astype(int)
        columns, rows = np.moveaxis(cells, -1, 0)
        high, long = self.owner.shape
        return rows.clip(0, high - 1), columns.clip(0, long - 1)

    def is_free(self, box: Rect) -> bool:
        """Whether a box is inside the drawing and nothing is there yet."""
        if min(box.left, box.top) < 0:
            return False
        return not self.owner[_cells(box)].any()

    def best(self, places: Iterable[Point], box: Callable[[Point], Rect]) -> Point | None:
        """Of the places where a box is free, one near the first with few lines under it; None if no place is free.

        The box is to be near, more than its centre: a long name begins or ends at its arrow.
        """
        wanted = list(places)

        def cost(place: Point) -> float:
            there = box(place)
            lines = self.lines[_cells(there)]
            return _gap(there, wanted[0]) + CENTRE_SHARE * dist(wanted[0], place) + LINE_CELL * int(lines.sum())

        free = [place for place in wanted if self.is_free(box(place))]
        return min(free, key=cost, default=None)


def _gap(box: Rect, point: Point) -> float:
    """How far a point is from a box; 0 inside."""
    x, y = point
    across = max(box.left - x, 0, x - box.right)
    down = max(box.top - y, 0, y - box.bottom)
    return dist((across, down), (0, 0))


def _cells(box: Rect, margin: float = 0.0) -> tuple[slice, slice]:
    rows = _span(box.top - margin, box.bottom + margin)
    return rows, _span(box.left - margin, box.right + margin)


def _span(low: float, high: float) -> slice:
    start = max(0, int(low / GRAIN))
    return slice(start, max(start, ceil(high / GRAIN)))


# --- names on arrows ---


BESIDE_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # of a curve's length, where names may lie beside it
AROUND_STOP = (-0.08, 0.0, 0.08)  # each with a point before and after
STOPS = [share + part for share in BESIDE_SHARES for part in AROUND_STOP]
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
            _, top, right, _ = box
            times = Rect(right + 1, top - 10, right + 22, top + 2)  # how often it is open
            room.take(times)
    settled = list(labels)
    for number, label in enumerate(labels):
        if not label.call:
            settled[number] = _settle_name(label, curves, room)
    return tuple(settled)


def _take_disc(room: Room, spot: Spot) -> None:
    """Take the room of a disc as a few boxes."""
    for turn in (0.2, 0.5, 0.8, 1.1, 1.4):
        radius = spot.ry + 1.5
        across = spot.rx - spot.ry + radius * cos(turn)
        down = radius * sin(turn)
        room.take(box_around((spot.x, spot.y), across, down))


def _settle_name(label: Label, curves: Curves, room: Room) -> Label:
    """A label at a free place, whose room it takes."""
    here = label.x, label.y
    near = [here]
    half = wide(label.words, 12) / 2
    for number in label.arrows[:3]:
        near += places_beside(curves[number], half, 7.0)
    box = partial(label_box, label.words)
    place = room.best(near, box)
    if place is None:
        free = (place for place in _ring(here) if room.is_free(box(place)))
        place = next(free, here)
    room.take(box(place))
    x, y = place
    return replace(label, x=x, y=y)


def places_beside(curve: Curve, half_width: float, half_height: float) -> Iterator[Point]:
    """Centres of a box of this size beside a curve, on both sides; its middle or a corner stands at a stop."""
    stops = along(curve, STOPS)
    for number in range(0, len(stops), 3):
        (a, b), (x, y), (c, d) = stops[number : number + 3]
        far = dist((a, b), (c, d)) or 1.0
        u = -(d - b) / far  # across the curve
        v = (c - a) / far
        reach = abs(u) * half_width + abs(v) * half_height
        for gap in (3.0, 9.0, 16.0):
            across = u * (reach + gap)
            down = v * (reach + gap)
            yield x - across, y - down
            yield x + across, y + down
            corner_x = copysign(half_width, u) + u * gap
            corner_y = copysign(half_height, v) + v * gap
            yield x - corner_x, y - corner_y
            yield x + corner_x, y + corner_y


def _ring(centre: Point) -> Iterator[Point]:
    """Places around a point, the nearest first."""
    x, y = centre
    for radius in range(6, int(ROOM_AROUND), 6):
        count = 8 + radius // 8
        for number in range(count):
            angle = 2 * pi * number / count - pi / 2
            across = radius * cos(angle)
            yield x + across, y + radius * sin(angle)


def place_numbers(sketch: Sketch, curves: Curves, room: Room) -> Iterator[tuple[int, Point]]:
    """Every arrow that has room for the numbers of its bytes, and their place."""
    for number, curve in curves.items():
        arrow = sketch.arrows[number]
        length = dist(curve[0], curve[-1])
        long = length >= SHORT_ARROW or arrow.source == arrow.target
        if long and not arrow.call:
            beside = places_beside(curve, NUMBERS_WIDTH / 2, 6.0)
            places = ((x, y + 3) for x, y in beside)  # of the baseline
            place = room.best(places, number_box)
            if place:
                room.take(number_box(place))
                yield number, place
