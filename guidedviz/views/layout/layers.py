"""Boxes in columns from left to right, joined by curves: a simple layout of a graph, which is always quick.

The column of a box is its distance from the first; inside a column, boxes follow the order of their neighbours.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from guidedviz.machines.graph import distances, grouped
from guidedviz.views.layout.curves import Curve, Point, above_middle, move

SWEEPS = 4
WIDEST_ROOM = 140.0  # between two columns, for labels


class Extent(NamedTuple):
    """A thing to place: half its width and half its height."""

    rx: float
    ry: float


class Link(NamedTuple):
    """A line between two boxes, with space for a label."""

    source: int
    target: int
    room: float = 0.0  # the width of its label; 0 for none


@dataclass(frozen=True)
class Layout:
    """The positions of boxes, lines and labels; y grows downwards."""

    centres: tuple[Point, ...]
    curves: tuple[Curve, ...]  # one per link
    labels: tuple[Point, ...]  # one per link: the centre of its label
    width: float
    height: float

    def moved(self, right: float) -> "Layout":
        """The same layout, further to the right."""
        centres = move(self.centres, right, 0)
        curves = tuple(move(curve, right, 0) for curve in self.curves)
        labels = move(self.labels, right, 0)
        return Layout(centres, curves, labels, self.width + right, self.height)


def count_layers(count: int, links: Sequence[Link], first: int = 0) -> list[int]:
    """The distance of every box from the first; unreachable boxes come after the rest.

    >>> count_layers(3, [Link(0, 1), Link(1, 0)])
    [0, 1, 2]
    """
    following = grouped((link.source, link.target) for link in links)
    layer = distances([first] if count else [], following.__getitem__)
    last = max(layer.values(), default=-1) + 1
    return [layer.get(box, last) for box in range(count)]


def place_in_layers(boxes: Sequence[Extent], links: Sequence[Link], first: int = 0) -> Layout:
    """The boxes in columns from left to right."""
    layer = count_layers(len(boxes), links, first)
    in_layer = grouped((number, box) for box, number in enumerate(layer))
    columns = [in_layer[number] for number in range(len(in_layer))]
    _untangle(columns, links)
    most = max(map(len, columns))
    gap = 22 if most < 12 else 9
    pitch = 2 * max(box.ry for box in boxes) + gap
    spots: dict[int, Point] = {}
    for x, column in zip(_columns_x(columns, boxes, links, layer), columns, strict=True):
        top = 60 + (most - len(column)) * pitch / 2
        for row, box in enumerate(column):
            spots[box] = (x, top + (row + 0.5) * pitch)
    centres = tuple(spots[box] for box in sorted(spots))
    curves = tuple(_curve(spots, boxes, link, layer) for link in links)
    height = max(most * pitch + 90, _lowest(curves) + 20)
    return Layout(centres, curves, tuple(map(above_middle, curves)), x + 60, height)


def _lowest(curves: Sequence[Curve]) -> float:
    return max((y for curve in curves for _, y in curve), default=0.0)


def _untangle(columns: list[list[int]], links: Sequence[Link]) -> None:
    """Sort each column by the mean row of the neighbours; repeat a few times."""
    near = defaultdict(list)
    for link in links:
        near[link.source].append(link.target)
        near[link.target].append(link.source)
    height: dict[int, float] = {}

    def mean_height(box: int) -> float:
        return fmean(height[other] for other in near[box] or [box])

    for sweep in range(SWEEPS + 1):
        for column in columns:
            if sweep:
                column.sort(key=mean_height)
            for row, box in enumerate(column):
                height[box] = (row + 0.5) / len(column)


def _columns_x(
    columns: list[list[int]], boxes: Sequence[Extent], links: Sequence[Link], layer: list[int]
) -> Iterator[float]:
    """The x of every column, with space for the labels between neighbours."""
    room: defaultdict[int, float] = defaultdict(float)  # after each column
    for link in links:
        low, high = sorted((layer[link.source], layer[link.target]))
        if high - low <= 1:
            room[low] = max(room[low], min(link.room, WIDEST_ROOM))
    x = 40.0
    for number, column in enumerate(columns):
        half = max(boxes[box].rx for box in column)
        x += half
        yield x
        x = x + half + room[number] + 44


def _curve(spots: dict[int, Point], boxes: Sequence[Extent], link: Link, layer: list[int]) -> Curve:
    """A line forward leaves to the right, a line back runs below, a self-loop lies on top."""
    x, y = spots[link.source]
    a, b = spots[link.target]
    source = boxes[link.source]
    target = boxes[link.target]
    if link.source == link.target:
        top = y - source.ry
        return (x - 7, top + 2), (x - 20, top - 28), (x + 20, top - 28), (x + 7, top + 2)
    span = layer[link.target] - layer[link.source]
    if span > 0:
        lift = 26.0 * (span - 1) ** 0.5
        reach = (a - x) * 0.4
        return (x + source.rx, y), (x + reach, y - lift), (a - reach, b - lift), (a - target.rx, b)
    down = 34 + 12 * min(8, -span) + abs(y - b) * 0.1
    start = y + source.ry
    end = b + target.ry
    return (x, start), (x - 10, start + down), (a + 10, end + down), (a, end)
