"""Where names and the curves of calls find room: no name covers another one, a call's box or a state.

An index in square cells finds what overlaps a box. The curve of a call is a plain bow where nothing is in its way, else
a short way through a grid that is one integer with a bit per cell: a step in all directions is a few shifts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, product
from math import cos, dist, pi, sin

from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Block, Curve, Label, Point, Spot, along, sample, straight
from guidedviz.views.layout.sketch import Sketch

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


class SpatialIndex:
    """The room that is taken: names, discs, and points of lines, in square cells."""

    def __init__(self) -> None:
        self._boxes: dict[tuple[int, int], list[tuple[Rect, Spot | None]]] = defaultdict(list)
        self._points: dict[tuple[int, int], list[Point]] = defaultdict(list)

    def add(self, box: Rect, spot: Spot | None = None) -> None:
        """Take the room of a name or, inside its box, of a state."""
        for cell in _cells(box):
            self._boxes[cell].append((box, spot))

    def add_line(self, points: Iterable[Point]) -> None:
        """Remember a line; a name may lie on it, but better does not."""
        for x, y in points:
            self._points[int(x // CELL), int(y // CELL)].append((x, y))

    def is_free(self, box: Rect) -> bool:
        """Whether a box is inside the diagram and nothing is there yet."""
        near = (other for cell in _cells(box) for other in self._boxes[cell])
        taken = (box.meets(other) and (spot is None or box.meets_disc(spot)) for other, spot in near)
        return box.left >= 0 and box.top >= 0 and not any(taken)

    def count_points(self, box: Rect) -> int:
        """How many points of lines lie inside."""
        left, top, right, bottom = box.left, box.top, box.right, box.bottom  # a large drawing asks for many points
        near = chain.from_iterable(self._points[cell] for cell in _cells(box))
        return sum([left < x < right and top < y < bottom for x, y in near])


def _cells(box: Rect) -> Iterator[tuple[int, int]]:
    for column in range(int(box.left // CELL), int(box.right // CELL) + 1):
        for row in range(int(box.top // CELL), int(box.bottom // CELL) + 1):
            yield column, row


# --- curves of calls ---


STEP = 6.0  # between neighbours in the grid
MARGIN = 4.0  # around names
BEYOND = 60.0  # right of the diagram and below it
ROUND = 14.0  # of a corner
NEAR = 2.0  # how close to a name a way may cut a corner
LOW = 60.0  # two states that differ less in height are in one row


class Router:
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
            return next(flat, straight(rim(start, points[1]), rim(end, points[0])))
        points[0], points[-1] = rim(start, points[1]), rim(end, points[-2])
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
        yield (rim(start, a), a, b, rim(end, b))


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


def rim(spot: Spot, toward: Point) -> Point:
    """The point on a state's border towards another point."""
    u, v = toward[0] - spot.x, toward[1] - spot.y
    size = ((u / spot.rx) ** 2 + (v / spot.ry) ** 2) ** 0.5 or 1.0
    return spot.x + u / size, spot.y + v / size


# --- names on arrows ---


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
    taken = SpatialIndex()
    for spot in spots.values():
        taken.add(disc_box(spot), spot)
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
        if taken.is_free(box) and not taken.count_points(box):
            taken.add(box)
            settled[label.arrows] = label
        else:
            waiting.append(label)
    for label in waiting:
        place = _find_room(taken, label, [curves[n][0] for n in label.arrows])
        settled[label.arrows] = replace(label, x=place[0], y=place[1])
        taken.add(label_box(*place, label.words))
    return tuple(settled[label.arrows] for label in labels), dict(_place_counts(sketch, taken, curves, exits))


def _find_room(taken: SpatialIndex, label: Label, curves: Sequence[Curve]) -> Point:
    """The best free place: near its arrow and its first place, with few lines under it."""
    here = label.x, label.y
    half = wide(label.words, 12) / 2

    def cost(place: Point) -> float:
        return dist(here, place) + LINE * taken.count_points(label_box(*place, label.words))

    def free(place: Point) -> bool:
        return taken.is_free(label_box(*place, label.words))

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


def _place_counts(
    sketch: Sketch, taken: SpatialIndex, curves: Curves, exits: frozenset[int]
) -> Iterator[tuple[int, Point]]:
    for n, (curve, _) in curves.items():
        arrow = sketch.arrows[n]
        home = arrow.source == arrow.target
        if arrow.call or n in exits or (not home and dist(curve[0], curve[-1]) < SHORT):
            continue
        places = ((x, y + 3) for x, y in beside(curve, COUNT_WIDTH / 2, 6.0))  # of the baseline
        if place := _emptiest(taken, places):
            taken.add(count_box(*place))
            yield n, place


def _emptiest(taken: SpatialIndex, places: Iterable[Point]) -> Point | None:
    """The first place of a count that is free and has no line under it, else the free one with the least."""
    found: list[tuple[int, Point]] = []
    for place in places:
        box = count_box(*place)
        if taken.is_free(box):
            found.append((taken.count_points(box), place))
            if not found[-1][0]:
                return place
    return min(found)[1] if found else None
