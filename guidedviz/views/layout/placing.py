"""Boxes and the curves that join them, placed by Graphviz inside this process, or in layers where it cannot.

Graphviz gets sizes and pairs of numbers only: no name, no label and no font. So no hostile text reaches it, and the
drawing itself does not depend on its version.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from guidedviz.views.layout.curves import Point, above_middle
from guidedviz.views.layout.layers import Extent, Layout, Link, count_layers, place_in_layers

DOT_INCH = 72.0  # points per inch in Graphviz
MARGIN = 10.0
GRAPH_OPENING = (
    'digraph{rankdir=LR;nodesep=0.22;ranksep=0.3;node[shape=ellipse,fixedsize=true,label=""];edge[arrowhead=none]'
)
MOST_FOR_GRAPHVIZ = 420  # boxes plus columns that lines cross; above it Graphviz may need seconds and cannot be stopped
MOST_LABELLED = 200  # space for labels doubles the number of columns


@lru_cache(maxsize=64)
def place(boxes: tuple[Extent, ...], links: tuple[Link, ...], first: int = 0) -> Layout:
    """The layout by Graphviz; in layers where it is missing, fails, or would take too long.

    >>> found = place((Extent(17, 17), Extent(17, 17)), (Link(0, 1, 30),))
    >>> found.centres[0][0] < found.labels[0][0] < found.centres[1][0]
    True
    """
    layer = count_layers(len(boxes), links, first)
    work = len(boxes)
    for link in links:
        work += max(1, abs(layer[link.source] - layer[link.target]))
    if work > MOST_LABELLED:
        links = tuple(link._replace(room=0.0) for link in links)
    answer = None
    if work <= MOST_FOR_GRAPHVIZ:
        answer = ask_graphviz(write_graph(boxes, links))
    return read_layout(answer) if answer else place_in_layers(boxes, links, first)


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
        lines.append(f"{link.source}->{link.target}[id={number}{_space_for_label(link)}]")
    return "\n".join([*lines, "}"])


def _space_for_label(link: Link) -> str:
    if not link.room:
        return ""
    size = f'BORDER="0" FIXEDSIZE="TRUE" WIDTH="{link.room:.0f}" HEIGHT="18"'
    return f",label=<<TABLE {size}><TR><TD></TD></TR></TABLE>>"


def read_layout(answer: dict[str, Any]) -> Layout:
    """The positions in an answer of Graphviz, whose y grows upwards."""
    _, _, width, height = map(float, answer["bb"].split(","))

    def turn(text: str) -> Point:
        x, y = map(float, text.split(","))
        return x + MARGIN, height - y + MARGIN

    boxes = sorted(answer.get("objects", ()), key=lambda box: int(box["name"]))
    lines = sorted(answer.get("edges", ()), key=lambda line: int(line["id"]))
    centres = tuple(turn(box["pos"]) for box in boxes)
    curves = tuple(tuple(map(turn, line["pos"].split())) for line in lines)
    labels = []
    for line, curve in zip(lines, curves, strict=True):
        labels.append(turn(line["lp"]) if "lp" in line else above_middle(curve))
    return Layout(centres, curves, tuple(labels), width + 2 * MARGIN, height + 2 * MARGIN)
