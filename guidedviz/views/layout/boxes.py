"""The boxes that names take in a diagram, and an index that finds what overlaps a box quickly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from guidedviz.views.figure import wide
from guidedviz.views.layout.bezier import Point
from guidedviz.views.layout.parts import Block, Label, Spot

CELL = 64.0
COUNT_WIDTH = 44.0  # of the numbers of the bytes that took an arrow


@dataclass(frozen=True)
class Rect:
    """A box by its sides; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def grown(self, by: float) -> Rect:
        """The box with a margin."""
        return Rect(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def meets(self, other: Rect) -> bool:
        """Whether two boxes overlap; touching sides do not."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def meets_disc(self, spot: Spot) -> bool:
        """Whether the box overlaps a state's disc, whose ends are half circles.

        >>> Rect(0, 0, 10, 10).meets_disc(Spot(19, 19, 12, 12)), Rect(0, 0, 10, 10).meets_disc(Spot(18, 18, 12, 12))
        (False, True)
        """
        half = spot.rx - spot.ry
        across = max(0.0, self.left - (spot.x + half), (spot.x - half) - self.right)
        down = max(0.0, self.top - spot.y, spot.y - self.bottom)
        return across**2 + down**2 < spot.ry**2


def label_box(x: float, y: float, words: str) -> Rect:
    """The box of a label on an arrow."""
    half = wide(words, 12) / 2
    return Rect(x - half, y - 7, x + half, y + 6)


def call_box(label: Label) -> Rect:
    """The box around the name of a called rule, with room at its corner for how often the call is open."""
    half = wide(label.words, 12) / 2 + 9
    return Rect(label.x - half, label.y - 10, label.x + half, label.y + 10)


def times_box(label: Label) -> Rect:
    """The number of times that a call is open, at the upper right corner of its box."""
    box = call_box(label)
    return Rect(box.right + 1, box.top - 10, box.right + 22, box.top + 2)


def count_box(x: float, y: float) -> Rect:
    """The numbers of the bytes that took an arrow."""
    return Rect(x - COUNT_WIDTH / 2, y - 9, x + COUNT_WIDTH / 2, y + 3)


def title_box(block: Block, width: float) -> Rect:
    """The name and the counter of a rule, in its frame."""
    return Rect(block.x + 11, block.y + 7, block.x + 11 + width, block.y + 22)


def disc_box(spot: Spot) -> Rect:
    """The box around a state's disc."""
    return Rect(spot.x - spot.rx, spot.y - spot.ry, spot.x + spot.rx, spot.y + spot.ry)


class Taken:
    """The room that is taken: names, discs, and points of lines, in square cells."""

    def __init__(self) -> None:
        self._boxes: dict[tuple[int, int], list[tuple[Rect, Spot | None]]] = defaultdict(list)
        self._points: dict[tuple[int, int], list[Point]] = defaultdict(list)

    def add(self, box: Rect) -> None:
        """Take the room of a name."""
        for cell in _cells(box):
            self._boxes[cell].append((box, None))

    def add_disc(self, spot: Spot) -> None:
        """Take the room of a state."""
        for cell in _cells(disc_box(spot)):
            self._boxes[cell].append((disc_box(spot), spot))

    def add_line(self, points: Iterable[Point]) -> None:
        """Remember a line; a name may lie on it, but better does not."""
        for x, y in points:
            self._points[int(x // CELL), int(y // CELL)].append((x, y))

    def is_free(self, box: Rect) -> bool:
        """Whether nothing is there yet."""
        for cell in _cells(box):
            for other, spot in self._boxes[cell]:
                if box.meets(other) and (spot is None or box.meets_disc(spot)):
                    return False
        return True

    def count_points(self, box: Rect) -> int:
        """How many points of lines lie inside."""
        left, top, right, bottom = box.left, box.top, box.right, box.bottom  # a large drawing asks for many points
        near = chain.from_iterable(self._points[cell] for cell in _cells(box))
        return sum([left < x < right and top < y < bottom for x, y in near])


def _cells(box: Rect) -> Iterator[tuple[int, int]]:
    for column in range(int(box.left // CELL), int(box.right // CELL) + 1):
        for row in range(int(box.top // CELL), int(box.bottom // CELL) + 1):
            yield column, row
