"""Boxes and the curves that join them, placed by Graphviz inside this process, or in columns where it cannot.

Graphviz gets sizes and pairs of numbers only: no name, no label and no font. So no hostile text reaches it, and the
drawing itself does not depend on its version. Without it, as in a browser tab, the column of a box is its distance from
the first; inside a column, boxes follow the order in which a search from the first finds them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from guidedviz.machines.graph import grouped, reach
from guidedviz.views.layout.curves import Curve, Point, above_middle

WIDEST_ROOM = 140.0  # between two columns, for labels
ROW_GAP = 24.0  # between two boxes in a column
Layers = Mapping[int, int]  # the layer of each box: the number of its column


class Extent(NamedTuple):
    """A thing to place: half its width and half its height."""

    rx: float
    ry: float


class Link(NamedTuple):
    """A line between two boxes, and the space for its label."""

    source: int
    target: int
    label_width: float = 0.0  # 0: it has none


@dataclass(frozen=True)
class Layout:
    """The positions of boxes, lines and labels; y grows downwards."""

    centres: tuple[Point, ...]
    curves: tuple[Curve, ...]  # one per link
    labels: tuple[Point, ...]  # one per link: the centre of its label
    width: float
    height: float


def count_layers(count: int, links: Sequence[Link], first: int = 0) -> Layers:
    """The distance of every box from the first, in the order of the search; unreachable boxes come after the rest.

    >>> count_layers(3, [Link(0, 1), Link(1, 0)])
    {0: 0, 1: 1, 2: 2}
    """
    following = grouped((link.source, link.target) for link in links)
    layer = reach([first], following.__getitem__)
    last = max(layer.values()) + 1
    return layer | {box: last for box in range(count) if box not in layer}


def place_in_layers(boxes: Sequence[Extent], links: Sequence[Link], layer: Layers, left: float = 0.0) -> Layout:
    """The boxes in columns from left to right."""
    columns = list(grouped((number, box) for box, number in layer.items()).values())
    most = max(map(len, columns))
    pitch = 2 * max(box.ry for box in boxes) + ROW_GAP
    widest = max((link.label_width for link in links), default=0.0)
    room = 44 + min(widest, WIDEST_ROOM)  # between two columns
    spots: dict[int, Point] = {}
    x = left + 40 - room
    for column in columns:
        half = max(boxes[box].rx for box in column)
        x += room + half
        top = 60 + (most - len(column)) * pitch / 2
        for row, box in enumerate(column):
            spots[box] = (x, top + (row + 0.5) * pitch)
        x += half
    centres = tuple(spots[box] for box in sorted(spots))
    curves = tuple(_curve(spots, boxes, link, layer) for link in links)
    heights = [y for _, y in chain.from_iterable(curves)]
    lowest = max(heights, default=0.0)
    height = max(most * pitch + 90, lowest + 20)
    return Layout(centres, curves, tuple(map(above_middle, curves)), x + 44, height)


def _curve(spots: dict[int, Point], boxes: Sequence[Extent], link: Link, layer: Layers) -> Curve:
    """A line forward leaves to the right, a line back runs below, a self-loop lies on top; y grows downwards."""
    x, y = spots[link.source]
    a, b = spots[link.target]
    source = boxes[link.source]
    target = boxes[link.target]
    if link.source == link.target:
        top = y - source.ry
        low = top + 2
        high = top - 28
        return (x - 7, low), (x - 20, high), (x + 20, high), (x + 7, low)
    span = layer[link.target] - layer[link.source]
    if span > 0:
        lift = 26.0 * (span - 1) ** 0.5
        reach = (a - x) * 0.4
        start = (x + source.rx, y)
        end = (a - target.rx, b)
        return start, (x + reach, y - lift), (a - reach, b - lift), end
    back = min(8, -span)
    down = 34 + 12 * back + abs(y - b) * 0.1
    start = (x, y + source.ry)
    end = (a, b + target.ry)
    return start, (x - 10, start[1] + down), (a + 10, end[1] + down), end


# --- by Graphviz; in columns where it is missing ---


GraphvizJson = dict[str, Any]
DOT_INCH = 72.0  # points per inch in Graphviz
MARGIN = 10.0
GRAPH_OPENING = (
    'digraph{rankdir=LR;nodesep=0.22;ranksep=0.3;node[shape=ellipse,fixedsize=true,label=""];edge[arrowhead=none]'
)
MOST_FOR_GRAPHVIZ = 420  # boxes plus columns that lines cross; above it Graphviz may need seconds and cannot be stopped
MOST_LABELLED = 200  # space for labels doubles the number of columns


@lru_cache(maxsize=64)
def place(boxes: tuple[Extent, ...], links: tuple[Link, ...], first: int = 0, left: float = 0.0) -> Layout:
    """The layout by Graphviz, with room on the left; in layers where it is missing, fails, or would take too long.

    >>> found = place((Extent(17, 17), Extent(17, 17)), (Link(0, 1, 30),))
    >>> found.centres[0][0] < found.labels[0][0] < found.centres[1][0]
    True
    """
    layer = count_layers(len(boxes), links, first)
    work = len(boxes)
    for link in links:
        crossed = abs(layer[link.source] - layer[link.target])
        work += max(1, crossed)
    if work > MOST_LABELLED:
        links = tuple(link._replace(label_width=0.0) for link in links)
    answer = ask_graphviz(write_graph(boxes, links)) if work <= MOST_FOR_GRAPHVIZ else None
    return read_layout(answer, left) if answer else place_in_layers(boxes, links, layer, left)


def ask_graphviz(text: str) -> GraphvizJson | None:
    """The layout of a graph by Graphviz' dot; None where it cannot be imported or reports an error."""
    try:
        import pygraphviz

        with pygraphviz.AGraph(string=text) as graph:
            answer = graph.draw(format="json", prog="dot")
    except (ImportError, OSError, ValueError):  # all that pygraphviz raises here
        return None
    found: GraphvizJson = json.loads(answer)
    return found


def write_graph(boxes: Sequence[Extent], links: Sequence[Link]) -> str:
    """The graph in Graphviz' language: sizes and pairs.

    >>> write_graph([Extent(18, 18)], []).splitlines()[-2]
    '0[width=0.5,height=0.5]'
    """
    lines = [GRAPH_OPENING]
    for number, box in enumerate(boxes):
        width = 2 * box.rx / DOT_INCH
        height = 2 * box.ry / DOT_INCH
        lines.append(f"{number}[width={width:g},height={height:g}]")
    for number, link in enumerate(links):
        label = ""
        if link.label_width:
            size = f'BORDER="0" FIXEDSIZE="TRUE" WIDTH="{link.label_width:.0f}" HEIGHT="18"'
            label = f",label=<<TABLE {size}><TR><TD></TD></TR></TABLE>>"
        lines.append(f"{link.source}->{link.target}[id={number}{label}]")
    return "\n".join([*lines, "}"])


def read_layout(answer: GraphvizJson, left: float) -> Layout:
    """The positions in an answer of Graphviz, whose y grows upwards."""
    _, _, width, height = map(float, answer["bb"].split(","))

    def turn(text: str) -> Point:
        x, y = map(float, text.split(","))
        return x + MARGIN + left, height - y + MARGIN

    boxes = sorted(answer.get("objects", ()), key=lambda box: int(box["name"]))
    lines = sorted(answer.get("edges", ()), key=lambda line: int(line["id"]))
    centres = tuple(turn(box["pos"]) for box in boxes)
    curves = []
    labels = []
    for line in lines:
        curve = tuple(map(turn, line["pos"].split()))
        curves.append(curve)
        labels.append(turn(line["lp"]) if "lp" in line else above_middle(curve))
    width += 2 * MARGIN + left
    return Layout(centres, tuple(curves), tuple(labels), width, height + 2 * MARGIN)
