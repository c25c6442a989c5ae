"""The curves of calls, led around names: a plain bow where nothing is in its way, else a short way through a grid.

The grid is one integer with a bit per cell, so a step of the search in all directions is a few shifts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import dist

from guidedviz.views.layout.bezier import Curve, Point, sample, straight
from guidedviz.views.layout.boxes import Rect, disc_box
from guidedviz.views.layout.parts import Spot

STEP = 6.0  # between neighbours in the grid
MARGIN = 4.0  # around names
BEYOND = 60.0  # right of the diagram and below it
ROUND = 14.0  # of a corner
NEAR = 2.0  # how close to a name a way may cut a corner
LOW = 60.0  # two states that differ less in height are in one row


class Ways:
    """The room for ways in a diagram."""

    def __init__(self, names: Sequence[Rect], spots: Iterable[Spot], width: float, height: float) -> None:
        self._boxes = [*names, *(disc_box(spot) for spot in spots if not spot.dot)]
        self._columns, self._rows = int((width + BEYOND) / STEP) + 1, int((height + BEYOND) / STEP) + 1
        row = (1 << (self._columns - 1)) - 1  # the last column stays blocked: nothing wraps around
        self._free = self._repeat(row, 0, self._rows)
        for box in self._boxes:
            self._free &= ~self._cells(box.grown(MARGIN))

    def lead(self, start: Spot, end: Spot) -> Curve:
        """A curve from state to state that passes through no other state and no name, if there is one."""
        own = {disc_box(start), disc_box(end)}
        boxes = [box.grown(NEAR) for box in self._boxes if box not in own]
        if curve := next((curve for curve in bows(start, end) if not _strikes(sample(curve), boxes)), None):
            return curve
        middle = self._search(self._around(start, boxes), self._around(end, boxes), start)
        if not middle:
            return next(bows(start, end))
        points = _pull(boxes, [(start.x, start.y), *_turns(middle), (end.x, end.y)])
        if len(points) == 2:
            flat = (curve for curve in arcs(start, end) if not _strikes(sample(curve), boxes))
            return next(flat, straight(_rim(start, points[1]), _rim(end, points[0])))
        points[0], points[-1] = _rim(start, points[1]), _rim(end, points[-2])
        return _round_corners(points)

    def _search(self, start: int, end: int, towards: Spot) -> list[Point]:
        """The centres of cells from the first set of cells to the other; none if they are not connected."""
        free, levels = self._free | start | end, [end]
        seen = end
        while not levels[-1] & start:
            new = self._widen(levels[-1], diagonal=len(levels) % 3 > 0) & free & ~seen
            if not new:
                return []
            seen |= new
            levels.append(new)
        at = self._nearest(levels.pop() & start, towards)
        path = [at]
        while levels:
            at = self._nearest(self._widen(1 << at, diagonal=True) & levels.pop(), towards)
            path.append(at)
        return [(STEP * (cell % self._columns + 0.5), STEP * (cell // self._columns + 0.5)) for cell in path]

    def _widen(self, cells: int, diagonal: bool) -> int:
        row = cells | cells << 1 | cells >> 1
        upright = row if diagonal else cells
        return row | upright << self._columns | upright >> self._columns

    def _nearest(self, cells: int, spot: Spot) -> int:
        """Of a few cells the one nearest to a state."""
        found = []
        while cells:
            low = cells & -cells
            found.append(low.bit_length() - 1)
            cells ^= low
        column, row = spot.x / STEP, spot.y / STEP
        return min(found, key=lambda cell: (cell % self._columns - column) ** 2 + (cell // self._columns - row) ** 2)

    def _around(self, spot: Spot, boxes: Sequence[Rect]) -> int:
        """The cells in and around a state that belong to no other name."""
        wide = disc_box(spot).grown(MARGIN + STEP)
        cells = self._cells(wide)
        for box in boxes:
            if box.meets(wide):
                cells &= ~self._cells(box)
        return cells

    def _cells(self, box: Rect) -> int:
        """The cells whose centres are inside a box."""
        left, top = (max(0, round(side / STEP)) for side in (box.left, box.top))
        right, bottom = min(self._columns - 1, round(box.right / STEP)), min(self._rows, round(box.bottom / STEP))
        return self._repeat((1 << max(0, right - left)) - 1 << left, top, bottom)

    def _repeat(self, row: int, top: int, bottom: int) -> int:
        """The same cells in each of these rows."""
        return sum(row << self._columns * number for number in range(top, bottom))


def bows(start: Spot, end: Spot) -> Iterator[Curve]:
    """Curves that leave and enter vertically, the best first; between states in one row, below and above both."""
    reach, far = abs(end.y - start.y), 0.06 * abs(end.x - start.x)
    if reach >= LOW:
        down = 1 if end.y >= start.y else -1
        a, b = (start.x, start.y + down * start.ry), (end.x, end.y - down * end.ry)
        yield (a, (a[0], a[1] + down * 0.5 * reach), (b[0], b[1] - down * 0.5 * reach), b)
        return
    low, high = max(start.y, end.y) + 44 + far, min(start.y, end.y) - 44 - far
    yield _bow(start, end, 1, low)
    yield _bow(start, end, 1, low + 24)
    if high > 0:
        yield _bow(start, end, -1, high)


def arcs(start: Spot, end: Spot) -> Iterator[Curve]:
    """Flat arcs on both sides of a straight line, on which an arrow may lie already."""
    for bulge in (0.22, -0.22):
        u, v = (end.x - start.x) / 3, (end.y - start.y) / 3
        a = start.x + u - 3 * bulge * v, start.y + v + 3 * bulge * u
        b = start.x + 2 * u - 3 * bulge * v, start.y + 2 * v + 3 * bulge * u
        yield (_rim(start, a), a, b, _rim(end, b))


def _bow(start: Spot, end: Spot, down: int, deep: float) -> Curve:
    a, b = (start.x, start.y + down * start.ry), (end.x, end.y + down * end.ry)
    return (a, (a[0], deep), (b[0], deep), b)


def _strikes(points: Sequence[Point], boxes: Sequence[Rect]) -> bool:
    return any(_crosses(a, b, box) for box in boxes for a, b in pairwise(points))


def _crosses(start: Point, end: Point, box: Rect) -> bool:
    """Whether a straight line passes through a box (Liang and Barsky, 1984)."""
    if max(start[0], end[0]) <= box.left or min(start[0], end[0]) >= box.right:
        return False
    if max(start[1], end[1]) <= box.top or min(start[1], end[1]) >= box.bottom:
        return False
    first, last = 0.0, 1.0
    for axis, low, high in ((0, box.left, box.right), (1, box.top, box.bottom)):
        at, way = start[axis], end[axis] - start[axis]
        if way == 0:
            continue
        near, far = sorted(((low - at) / way, (high - at) / way))
        first, last = max(first, near), min(last, far)
    return first < last


def _turns(points: Sequence[Point]) -> list[Point]:
    """The points where a way turns, and its ends."""
    ways = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
    turns = [point for point, (one, other) in zip(points[1:], pairwise(ways), strict=False) if one != other]
    return [points[0], *turns, points[-1]]


def _pull(boxes: Sequence[Rect], points: Sequence[Point]) -> list[Point]:
    """The way pulled tight: points are left out where a straight line meets no box."""
    tight, at = [points[0]], 0
    while at < len(points) - 1:
        far = len(points) - 1
        while far > at + 1 and any(_crosses(points[at], points[far], box) for box in boxes):
            far -= 1
        tight.append(points[far])
        at = far
    return tight


def _round_corners(points: Sequence[Point]) -> Curve:
    """Straight lines with round corners."""
    curve: Curve = (points[0],)
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        entry, leave = _toward(corner, before), _toward(corner, after)
        curve += (*straight(curve[-1], entry)[1:], corner, corner, leave)
    return curve + straight(curve[-1], points[-1])[1:]


def _toward(corner: Point, other: Point) -> Point:
    far = dist(corner, other) or 1.0
    part = min(ROUND, 0.45 * far) / far
    return corner[0] + part * (other[0] - corner[0]), corner[1] + part * (other[1] - corner[1])


def _rim(spot: Spot, toward: Point) -> Point:
    """The point on a state's border towards another point."""
    u, v = toward[0] - spot.x, toward[1] - spot.y
    size = ((u / spot.rx) ** 2 + (v / spot.ry) ** 2) ** 0.5 or 1.0
    return spot.x + u / size, spot.y + v / size
