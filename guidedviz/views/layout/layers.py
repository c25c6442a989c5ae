"""A plain layout in layers, for machines that have too many crossing arrows for Graphviz. It is always quick.

The column of a box is its distance from the first; inside a column, boxes follow the order of their neighbours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from guidedviz.views.layout.bezier import Curve, Point, above_middle

SWEEPS = 4


@dataclass(frozen=True)
class Box:
    """A thing to place: half its width and half its height."""

    rx: float
    ry: float


@dataclass(frozen=True)
class Link:
    """A line between two boxes, with space for a label."""

    source: int
    target: int
    room: float = 0.0  # the width of its label; 0 for none


@dataclass(frozen=True)
class Placed:
    """The positions of boxes, lines and labels; y grows downwards."""

    centres: tuple[Point, ...]
    curves: tuple[Curve, ...]  # one per link
    labels: tuple[Point, ...]  # one per link: the centre of its label
    width: float
    height: float


def count_layers(count: int, links: Sequence[Link], first: int = 0) -> list[int]:
    """The distance of every box from the first; unreachable boxes come after the rest.

    >>> count_layers(3, [Link(0, 1), Link(1, 0)])
    [0, 1, 2]
    """
    following = defaultdict(list)
    for link in links:
        following[link.source].append(link.target)
    layer = {first: 0} if count else {}
    for box in (queue := list(layer)):
        for target in following[box]:
            if target not in layer:
                layer[target] = layer[box] + 1
                queue.append(target)
    last = max(layer.values(), default=-1) + 1
    return [layer.get(box, last) for box in range(count)]


def place_in_layers(boxes: Sequence[Box], links: Sequence[Link], first: int = 0) -> Placed:
    """The boxes in columns from left to right."""
    layer = count_layers(len(boxes), links, first)
    columns: list[list[int]] = [[] for _ in range(max(layer, default=0) + 1)]
    for box, number in enumerate(layer):
        columns[number].append(box)
    _untangle(columns, links)
    pitch = max([2 * box.ry for box in boxes], default=0) + (22 if max(map(len, columns)) < 12 else 9)
    tall = max(map(len, columns)) * pitch
    middle_x = _columns_x(columns, boxes, links, layer)
    spots: dict[int, Point] = {}
    for number, column in enumerate(columns):
        top = 60 + (tall - len(column) * pitch) / 2
        spots |= {box: (middle_x[number], top + (row + 0.5) * pitch) for row, box in enumerate(column)}
    curves = tuple(_curve(spots, boxes, link, layer) for link in links)
    labels = tuple(above_middle(curve) for curve in curves)
    deepest = max([y for curve in curves for _, y in curve], default=0.0)
    width = max([x for x, _ in spots.values()], default=0) + 60
    return Placed(tuple(spots[box] for box in range(len(boxes))), curves, labels, width, max(tall + 90, deepest + 20))


def _untangle(columns: list[list[int]], links: Sequence[Link]) -> None:
    """Sort each column by the mean row of the neighbours in the column before, then after; repeat a few times."""
    before, after = defaultdict(list), defaultdict(list)
    for link in links:
        before[link.target].append(link.source)
        after[link.source].append(link.target)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for number in range(len(columns)) if forward else range(len(columns) - 1, -1, -1):
            other = number - 1 if forward else number + 1
            if 0 <= other < len(columns):
                place = {box: row / len(columns[other]) for row, box in enumerate(columns[other])}
                _sort_column(columns[number], place, before if forward else after)


def _sort_column(column: list[int], place: dict[int, float], near: dict[int, list[int]]) -> None:
    own = {box: row / len(column) for row, box in enumerate(column)}

    def mean(box: int) -> float:
        found = [place[other] for other in near[box] if other in place]
        return sum(found) / len(found) if found else own[box]

    column.sort(key=mean)


def _columns_x(columns: list[list[int]], boxes: Sequence[Box], links: Sequence[Link], layer: list[int]) -> list[float]:
    """The x of every column, with space for the labels between neighbours."""
    room = [0.0] * len(columns)
    for link in links:
        low, high = sorted((layer[link.source], layer[link.target]))
        if high - low <= 1:
            room[low] = max(room[low], min(link.room, 140.0))
    widest = [max(boxes[box].rx for box in column) if column else 0.0 for column in columns]
    found = [40 + widest[0]]
    for number in range(1, len(columns)):
        found.append(found[-1] + widest[number - 1] + room[number - 1] + 44 + widest[number])
    return found


def _curve(spots: dict[int, Point], boxes: Sequence[Box], link: Link, layer: list[int]) -> Curve:
    """A line forward leaves to the right, a line back runs below, a self-loop lies on top."""
    (x, y), (a, b) = spots[link.source], spots[link.target]
    source, target = boxes[link.source], boxes[link.target]
    if link.source == link.target:
        top = y - source.ry
        return ((x - 7, top + 2), (x - 20, top - 28), (x + 20, top - 28), (x + 7, top + 2))
    span = layer[link.target] - layer[link.source]
    if span > 0:
        lift = 26.0 * (span - 1) ** 0.5
        reach = (a - x) * 0.4
        return ((x + source.rx, y), (x + reach, y - lift), (a - reach, b - lift), (a - target.rx, b))
    down = 34 + 12 * min(8, -span) + abs(y - b) * 0.1
    return ((x, y + source.ry), (x - 10, y + source.ry + down), (a + 10, b + target.ry + down), (a, b + target.ry))
