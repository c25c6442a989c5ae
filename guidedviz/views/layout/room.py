"""The room in a drawing: which name or state takes each square cell, and how many lines pass through it.

A name takes the free place with the fewest lines under it, and a call the shortest bend that meets no name.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from math import ceil, cos, dist, pi, sin
from typing import NamedTuple

import numpy as np

from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, along, bezier
from guidedviz.views.layout.diagram import Label, Spot

GRAIN = 2.0  # pixels of a cell
AROUND = 400.0  # right of the diagram and below it
COUNT_WIDTH = 44.0  # of the numbers of the bytes that took an arrow
LINE = 10.0  # a cell of a line under a name counts as so many pixels of distance


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


def count_box(place: Point) -> Rect:
    """The numbers of the bytes that took an arrow."""
    x, y = place
    return Rect(x - COUNT_WIDTH / 2, y - 9, x + COUNT_WIDTH / 2, y + 3)


class Room:
    """The cells of a drawing: which name or state takes each, and how many lines pass through it."""

    def __init__(self, width: float, height: float) -> None:
        size = int((height + AROUND) / GRAIN), int((width + AROUND) / GRAIN)
        self._owner, self._lines = np.zeros(size, np.int16), np.zeros(size, np.int16)
        self._taken = 0

    def take(self, box: Rect, margin: float = 0.0) -> None:
        """Take the room of a name or a state."""
        self._taken += 1
        left, top, right, bottom = box
        self._owner[_cells(Rect(left - margin, top - margin, right + margin, bottom + margin))] = self._taken

    def draw(self, curve: Curve) -> None:
        """Remember a line; a name may lie on it, but better does not."""
        steps = 2 + int(sum(dist(a, b) for a, b in pairwise(curve)) / GRAIN)
        self._lines[self._at(np.array(along(curve, np.linspace(0, 1, steps).tolist())))] += 1

    def _at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        columns, rows = np.moveaxis((points / GRAIN).astype(int), -1, 0)
        high, long = self._owner.shape
        return rows.clip(0, high - 1), columns.clip(0, long - 1)

    def is_free(self, box: Rect) -> bool:
        """Whether a box is inside the drawing and nothing is there yet."""
        return min(box.left, box.top) >= 0 and not self._owner[_cells(box)].any()

    def best(self, places: Iterable[Point], box: Callable[[Point], Rect]) -> Point | None:
        """Of the places where a box is free, one near the first with few lines under it; None if no place is free."""
        places = list(places)
        free = [place for place in places if self.is_free(box(place))]
        return min(free, key=lambda p: dist(places[0], p) + LINE * self._lines[_cells(box(p))].sum(), default=None)

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
# from a state to the control point of its curve
PULLS = [(far * cos(pi * n / 8), far * sin(pi * n / 8)) for far in (40, 90, 170, 300, 450) for n in range(16)]
BEND = bezier(80)
STRIKE = 1000.0  # pixels of detour to keep a point of a curve off a name
ON_LINE = 6.0  # off a line


def _cells(box: Rect) -> tuple[slice, slice]:
    left, top = max(0, int(box.left / GRAIN)), max(0, int(box.top / GRAIN))
    return slice(top, max(top, ceil(box.bottom / GRAIN))), slice(left, max(left, ceil(box.right / GRAIN)))


def _rims(spot: Spot, toward: np.ndarray) -> np.ndarray:
    """The points on a state's border towards other points."""
    centre = np.array([spot.x, spot.y])
    way: np.ndarray = toward - centre
    size = np.hypot(way[..., :1] / spot.rx, way[..., 1:] / spot.ry)
    return centre + way / size
