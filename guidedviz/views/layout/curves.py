"""Curves, and the boxes that they join, placed by Graphviz inside this process or in layers.

A curve is a tuple of points: a start, then three points per Bézier segment.

Graphviz gets sizes and pairs of numbers only: no name, no label and no font. So no hostile text reaches it, and the
drawing itself does not depend on its version. In layers the column of a box is its distance from the first; inside a
column, boxes follow the order of their neighbours. This is always quick.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import dist
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.machines.work import distances, grouped

Point = tuple[float, float]
Points = npt.NDArray[np.float64]  # x and y in the last dimension
Curve = tuple[Point, ...]


def bezier(count: int) -> Points:
    """The weights of the four points of a Bézier segment at `count` places after its start."""
    t = np.arange(1, count + 1)[:, None] / count
    return np.hstack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3])


SEGMENT = bezier(12)  # a curve is measured and cut as so many straight lines per segment


def straight(start: Point, end: Point) -> Curve:
    """A straight line.

    >>> straight((0, 0), (3, 0))
    ((0, 0), (1.0, 0.0), (2.0, 0.0), (3, 0))
    """
    (a, b), (c, d) = start, end
    return (start, ((2 * a + c) / 3, (2 * b + d) / 3), ((a + 2 * c) / 3, (b + 2 * d) / 3), end)


def sample(curve: Curve) -> Points:
    """Points along the curve at short distances."""
    points = np.array(curve, dtype=float)
    parts = [SEGMENT @ points[first : first + 4] for first in range(0, len(curve) - 3, 3)]
    return np.concatenate([points[:1], *parts])


def along(curve: Curve, shares: Sequence[float]) -> list[Point]:
    """The points at these fractions of the curve's length.

    >>> along(straight((0, 0), (8, 0)), [0.25, 1])
    [(2.0, 0.0), (8.0, 0.0)]
    """
    points = sample(curve)
    lengths = np.concatenate([[0.0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
    at = np.multiply(shares, lengths[-1])
    return list(zip(*(np.interp(at, lengths, values).tolist() for values in points.T), strict=True))


def cut(curve: Curve, count: int) -> list[Curve]:
    """The curve in `count` parts of equal length."""
    points = along(curve, [number / (4 * count) for number in range(4 * count + 1)])
    pieces = [straight(a, b) for a, b in pairwise(points)]
    rows = (pieces[4 * n : 4 * n + 4] for n in range(count))
    return [(row[0][0], *(point for piece in row for point in piece[1:])) for row in rows]


def above_middle(curve: Curve) -> Point:
    """The position of a label: above the point at half the length."""
    x, y = along(curve, [0.5])[0]
    return x, y - 9


def write_path(curve: Curve) -> str:
    """The curve as the path data of SVG.

    >>> write_path(((0, 0), (1, 0), (2, 0), (3.25, 0)))
    'M0,0C1,0 2,0 3.2,0'
    """
    points = [f"{x:.1f}".removesuffix(".0") + "," + f"{y:.1f}".removesuffix(".0") for x, y in curve]
    return f"M{points[0]}C{' '.join(points[1:])}"


def head(curve: Curve, long: float = 8.0, broad: float = 3.4) -> str:
    """The arrowhead at the end of a curve, as the points of a polygon."""
    (x, y) = curve[-1]
    (a, b) = next((p for p in sample(curve)[::-1].tolist() if dist(p, (x, y)) >= long), curve[0])
    far = dist((a, b), (x, y)) or 1.0
    u, v = (x - a) / far, (y - b) / far
    base = ((x - long * u - side * v, y - long * v + side * u) for side in (broad, -broad))
    return " ".join(f"{p:.1f},{q:.1f}" for p, q in ((x, y), *base))


# --- boxes and the lines between them, by Graphviz or in layers ---


SWEEPS = 4
DOT = 72.0  # points per inch in Graphviz
MARGIN = 10.0
HEAD = 'digraph{rankdir=LR;nodesep=0.22;ranksep=0.3;node[shape=ellipse,fixedsize=true,label=""];edge[arrowhead=none]'
MOST_WORK = 420  # boxes plus columns that lines cross; above it Graphviz may need seconds and cannot be stopped
MOST_LABELLED = 200  # space for labels doubles the number of columns


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
    columns = [[box for box, number in enumerate(layer) if number == column] for column in range(max(layer) + 1)]
    _untangle(columns, links)
    most = max(map(len, columns))
    pitch = 2 * max(box.ry for box in boxes) + (22 if most < 12 else 9)
    spots: dict[int, Point] = {}
    for x, column in zip(_columns_x(columns, boxes, links, layer), columns, strict=True):
        top = 60 + (most - len(column)) * pitch / 2
        spots |= {box: (x, top + (row + 0.5) * pitch) for row, box in enumerate(column)}
    curves = tuple(_curve(spots, boxes, link, layer) for link in links)
    labels = tuple(above_middle(curve) for curve in curves)
    deepest = max([y for curve in curves for _, y in curve], default=0.0)
    width, height = max(x for x, _ in spots.values()) + 60, max(most * pitch + 90, deepest + 20)
    return Layout(tuple(spots[box] for box in range(len(boxes))), curves, labels, width, height)


def _untangle(columns: list[list[int]], links: Sequence[Link]) -> None:
    """Sort each column by the mean row of the neighbours; repeat a few times."""
    near = grouped(pair for link in links for pair in ((link.source, link.target), (link.target, link.source)))
    height: dict[int, float] = {}
    for sweep in range(SWEEPS + 1):
        for column in columns:
            if sweep:
                column.sort(key=lambda box: fmean(height[other] for other in (near[box] or [box])))
            height |= {box: (row + 0.5) / len(column) for row, box in enumerate(column)}


def _columns_x(
    columns: list[list[int]], boxes: Sequence[Extent], links: Sequence[Link], layer: list[int]
) -> list[float]:
    """The x of every column, with space for the labels between neighbours."""
    room = [0.0] * len(columns)
    for link in links:
        low, high = sorted((layer[link.source], layer[link.target]))
        if high - low <= 1:
            room[low] = max(room[low], min(link.room, 140.0))
    half = [max([boxes[box].rx for box in column], default=0.0) for column in columns]
    found = [40 + half[0]]
    for number in range(1, len(columns)):
        found.append(found[-1] + half[number - 1] + room[number - 1] + 44 + half[number])
    return found


def _curve(spots: dict[int, Point], boxes: Sequence[Extent], link: Link, layer: list[int]) -> Curve:
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


@lru_cache(maxsize=64)
def place(boxes: tuple[Extent, ...], links: tuple[Link, ...], first: int = 0) -> Layout:
    """The layout by Graphviz; in layers where it is missing, fails, or would take too long.

    >>> found = place((Extent(17, 17), Extent(17, 17)), (Link(0, 1, 30),))
    >>> found.centres[0][0] < found.labels[0][0] < found.centres[1][0]
    True
    """
    layer = count_layers(len(boxes), links, first)
    work = len(boxes) + sum(max(1, abs(layer[link.source] - layer[link.target])) for link in links)
    if work > MOST_LABELLED:
        links = tuple(link._replace(room=0.0) for link in links)
    answer = ask_graphviz(describe(boxes, links)) if work <= MOST_WORK else None
    return read_layout(answer, len(boxes)) if answer else place_in_layers(boxes, links, first)


def ask_graphviz(text: str) -> dict[str, Any] | None:
    """The layout of a graph by Graphviz' dot; None where it cannot be imported or reports an error."""
    try:
        import pygraphviz

        graph = pygraphviz.AGraph(string=text)
        try:
            answer = graph.draw(format="json", prog="dot")
        finally:
            graph.close()
    except (ImportError, OSError, ValueError):  # all that pygraphviz raises here
        return None
    found: dict[str, Any] = json.loads(answer)
    return found


def describe(boxes: Sequence[Extent], links: Sequence[Link]) -> str:
    """The graph in Graphviz' language: sizes and pairs.

    >>> describe([Extent(18, 18)], []).splitlines()[-2]
    '0[width=0.5,height=0.5]'
    """
    lines = [HEAD, *(f"{n}[width={2 * box.rx / DOT:g},height={2 * box.ry / DOT:g}]" for n, box in enumerate(boxes))]
    lines += [f"{link.source}->{link.target}[id={n}{_room(link)}]" for n, link in enumerate(links)]
    return "\n".join([*lines, "}"])


def _room(link: Link) -> str:
    size = f'BORDER="0" FIXEDSIZE="TRUE" WIDTH="{link.room:.0f}" HEIGHT="18"'
    return f",label=<<TABLE {size}><TR><TD></TD></TR></TABLE>>" if link.room else ""


def read_layout(answer: dict[str, Any], count: int) -> Layout:
    """The positions in an answer of Graphviz, whose y grows upwards."""
    _, _, width, height = map(float, answer["bb"].split(","))

    def turn(text: str) -> Point:
        x, y = map(float, text.split(","))
        return x + MARGIN, height - y + MARGIN

    nodes = {int(found["name"]): turn(found["pos"]) for found in answer.get("objects", ())}
    edges = {int(edge["id"]): edge for edge in answer.get("edges", ())}
    curves: list[Curve] = [tuple(map(turn, edges[n]["pos"].split())) for n in range(len(edges))]
    labels = [turn(edges[n]["lp"]) if "lp" in edges[n] else above_middle(curves[n]) for n in range(len(edges))]
    centres = tuple(nodes[n] for n in range(count))
    return Layout(centres, tuple(curves), tuple(labels), width + 2 * MARGIN, height + 2 * MARGIN)
