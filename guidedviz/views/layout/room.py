"""The room in a drawing: which name or state takes each square cell, and how many lines pass through it."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from math import ceil, dist
from typing import NamedTuple

import numpy as np

from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, along
from guidedviz.views.layout.diagram import Label

GRAIN = 2.0  # pixels of a cell
ROOM_AROUND = 400.0  # right of the diagram and below it
COUNT_WIDTH = 44.0  # of the numbers of the bytes that took an arrow
LINE_CELL = 10.0  # a cell of a line under a name counts as so many pixels of distance

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


def count_box(place: Point) -> Rect:
    """The numbers of the bytes that took an arrow."""
    x, y = place
    return Rect(x - COUNT_WIDTH / 2, y - 9, x + COUNT_WIDTH / 2, y + 3)


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
        points = np.array(along(curve, shares.tolist()))
        self.lines[self.cells_at(points)] += 1

    def cells_at(self, points: np.ndarray) -> CellNumbers:
        """The cells of these points; those outside count as the border's."""
        columns, rows = np.moveaxis((points / GRAIN).astype(int), -1, 0)
        high, long = self.owner.shape
        return rows.clip(0, high - 1), columns.clip(0, long - 1)

    def is_free(self, box: Rect) -> bool:
        """Whether a box is inside the drawing and nothing is there yet."""
        return min(box.left, box.top) >= 0 and not self.owner[_cells(box)].any()

    def best(self, places: Iterable[Point], box: Callable[[Point], Rect]) -> Point | None:
        """Of the places where a box is free, one near the first with few lines under it; None if no place is free."""
        first, *others = places

        def cost(place: Point) -> float:
            lines = int(self.lines[_cells(box(place))].sum())
            return dist(first, place) + LINE_CELL * lines

        free = [place for place in (first, *others) if self.is_free(box(place))]
        return min(free, key=cost, default=None)


def _cells(box: Rect, margin: float = 0.0) -> tuple[slice, slice]:
    rows = _span(box.top - margin, box.bottom + margin)
    return rows, _span(box.left - margin, box.right + margin)


def _span(low: float, high: float) -> slice:
    start = max(0, int(low / GRAIN))
    return slice(start, max(start, ceil(high / GRAIN)))
