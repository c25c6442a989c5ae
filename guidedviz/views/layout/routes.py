"""Where names and the curves of calls find room: no name covers another one, a call's box or a state.

What is taken is painted into square cells: each name and state with a number of its own, and each line. A name takes
the free place near its arrow that has the fewest lines under it, and a call the shortest bend that meets no name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from math import ceil, cos, dist, pi, sin
from typing import NamedTuple

import numpy as np

from guidedviz.views.figure import wide
from guidedviz.views.layout.positions import Block, Curve, Label, Point, Points, Spot, along, bezier
from guidedviz.views.layout.sketch import Sketch

CELL = 2.0
BEYOND = 400.0  # right of the diagram and below it
COUNT_WIDTH = 44.0  # of the numbers of the bytes that took an arrow


class Rect(NamedTuple):
    """A box by its sides; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


def label_box(words: str, centre: Point) -> Rect:
    """The box of a label on an arrow."""
    (x, y), half = centre, wide(words, 12) / 2
    return Rect(x - half, y - 7, x + half, y + 6)


def call_box(label: Label) -> Rect:
    """The box around the name of a called rule, with room at its corner for how often the call is open."""
    half = wide(label.words, 12) / 2 + 9
    return Rect(label.x - half, label.y - 10, label.x + half, label.y + 10)


def times_box(label: Label) -> Rect:
    """The number of times that a call is open, at the upper right corner of its box."""
    box = call_box(label)
    return Rect(box.right + 1, box.top - 10, box.right + 22, box.top + 2)


def count_box(place: Point) -> Rect:
    """The numbers of the bytes that took an arrow."""
    x, y = place
    return Rect(x - COUNT_WIDTH / 2, y - 9, x + COUNT_WIDTH / 2, y + 3)


def title_box(block: Block, width: float) -> Rect:
    """The name and the counter of a rule, in its frame."""
    return Rect(block.x + 11, block.y + 7, block.x + 11 + width, block.y + 22)


def disc_box(spot: Spot) -> Rect:
    """The box around a state's disc."""
    return Rect(spot.x - spot.rx, spot.y - spot.ry, spot.x + spot.rx, spot.y + spot.ry)


class Room:
    """The cells of a drawing: which name or state takes each, and how many lines pass through it."""

    def __init__(self, width: float, height: float) -> None:
        size = int((height + BEYOND) / CELL), int((width + BEYOND) / CELL)
        self._owner, self._lines = np.zeros(size, np.int16), np.zeros(size, np.int16)
        self._taken = 0

    def take(self, box: Rect, margin: float = 0.0) -> None:
        """Take the room of a name or a state."""
        self._taken += 1
        left, top, right, bottom = box
        self._owner[_cells(Rect(left - margin, top - margin, right + margin, bottom + margin))] = self._taken

    def draw(self, curve: Curve) -> None:
        """Remember a line; a name may lie on it, but better does not."""
        steps = 2 + int(sum(dist(a, b) for a, b in pairwise(curve)) / CELL)
        self._lines[self._at(np.array(along(curve, np.linspace(0, 1, steps).tolist())))] += 1

    def _at(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        columns, rows = np.moveaxis((points / CELL).astype(int), -1, 0)
        high, long = self._owner.shape
        return rows.clip(0, high - 1), columns.clip(0, long - 1)

    def is_free(self, box: Rect) -> bool:
        """Whether a box is inside the drawing and nothing is there yet."""
        return min(box.left, box.top) >= 0 and not self._owner[_cells(box)].any()

    def count_lines(self, box: Rect) -> int:
        """How many cells in a box have a line."""
        return int(self._lines[_cells(box)].sum())

    def best(self, places: Iterable[Point], box: Callable[[Point], Rect]) -> Point | None:
        """Of the places where a box is free, one near the first with few lines under it; None if no place is free."""
        places = list(places)
        free = [place for place in places if self.is_free(box(place))]
        return min(free, key=lambda p: dist(places[0], p) + LINE * self.count_lines(box(p)), default=None)

    def bend(self, start: Spot, end: Spot) -> Curve:
        """Draw a short curve from state to state that passes through no other state and no name, if there is one."""
        first, last = np.add((start.x, start.y), PULLS)[:, None], np.add((end.x, end.y), PULLS)[None]
        both = np.broadcast_arrays(_rims(start, first), first, last, _rims(end, last))
        corners = np.stack(both, axis=2).reshape(-1, 4, 2)
        length = np.hypot(*np.moveaxis(np.diff(corners, axis=1), -1, 0)).sum(1)
        own, found = self._owner[self._at(np.array([(start.x, start.y), (end.x, end.y)]))], []
        for part in np.array_split(length.argsort(), PARTS):  # the shortest first
            at = self._at(BEND @ corners[part])
            owner = self._owner[at]
            struck = (owner > 0) & ~np.isin(owner, own)
            cost = length[part] + STRIKE * struck.sum(1) + ON_LINE * (self._lines[at] > 0).sum(1)
            found.append((float(cost.min()), corners[part[cost.argmin()]].tolist()))
            if not struck.any(1).all():
                break
        self.draw(curve := tuple(map(tuple, min(found)[1])))
        return curve


PARTS = 16  # in which the curves are tried
PULLS = [
    (far * cos(pi * turn / 8), far * sin(pi * turn / 8)) for far in (40, 90, 170, 300, 450) for turn in range(16)
]  # from a state to the control point of its curve
BEND = bezier(80)
STRIKE = 1000.0  # pixels of detour to keep a point of a curve off a name
ON_LINE = 6.0  # off a line


def _cells(box: Rect) -> tuple[slice, slice]:
    left, top = (max(0, int(side / CELL)) for side in (box.left, box.top))
    return slice(top, max(top, ceil(box.bottom / CELL))), slice(left, max(left, ceil(box.right / CELL)))


def _rims(spot: Spot, toward: Points) -> Points:
    """The points on a state's border towards other points."""
    centre = np.array([spot.x, spot.y])
    way: Points = toward - centre
    size = np.hypot(way[..., :1] / spot.rx, way[..., 1:] / spot.ry)
    return centre + way / size


# --- names on arrows ---


SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # of a curve's length, where names may lie beside it
SHORT = 34.0  # an arrow shorter than this has no count
LINE = 10.0  # a cell of a line under a name counts as so many pixels of distance

Curves = Mapping[int, tuple[Curve, bool]]


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
        room.take(call_box(label))
        room.take(times_box(label))
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
    for radius in range(6, int(BEYOND), 6):
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
