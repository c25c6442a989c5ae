"""Where the states and lines of a diagram stand: Graphviz, inside this process and without any text, then plain layers.

Graphviz gets boxes and numbers only: no name, no label, no font. So a hostile label never reaches it, and its own
drawing, which differs from version to version, is never shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from guidedviz.views.bezier import Curve, Point
from guidedviz.views.layers import Box, Link, Placed, count_layers, place_in_layers

DOT = 72.0  # points of Graphviz that make an inch
MARGIN = 10.0
MOST_WORK = 420  # boxes and columns crossed by lines: above it Graphviz may take seconds, and nothing can stop it
MOST_LABELLED = 200  # room for labels makes twice the columns


@lru_cache(maxsize=64)
def place(boxes: tuple[Box, ...], links: tuple[Link, ...], first: int = 0) -> Placed:
    """The best layout that comes in good time.

    >>> found = place((Box(17, 17), Box(17, 17)), (Link(0, 1, 30),))
    >>> found.centres[0][0] < found.labels[0][0] < found.centres[1][0]
    True
    """
    work = count_work(boxes, links, first)
    if work > MOST_LABELLED:
        links = tuple(replace(link, room=0.0) for link in links)
    if work <= MOST_WORK:
        try:
            return place_by_graphviz(boxes, links)
        except Exception:  # no wheel for this machine, a library that does not load: a diagram comes all the same
            pass
    return place_in_layers(boxes, links, first)


def count_work(boxes: Sequence[Box], links: Sequence[Link], first: int = 0) -> int:
    """What a layout costs Graphviz: it puts a box of its own wherever a line crosses a column."""
    layer = count_layers(len(boxes), links, first)
    return len(boxes) + sum(max(1, abs(layer[link.source] - layer[link.target])) for link in links)


def place_by_graphviz(boxes: Sequence[Box], links: Sequence[Link]) -> Placed:
    """Graphviz' dot, from left to right."""
    import pygraphviz

    graph = pygraphviz.AGraph(string=describe(boxes, links))
    try:
        return read_layout(json.loads(graph.draw(format="json", prog="dot")), len(boxes))
    finally:
        graph.close()


def describe(boxes: Sequence[Box], links: Sequence[Link]) -> str:
    """What Graphviz is asked: sizes and pairs.

    >>> describe([Box(18, 18)], []).splitlines()[-2]
    '0[width=0.5,height=0.5]'
    """
    lines = [
        'digraph{rankdir=LR;nodesep=0.22;ranksep=0.3;node[shape=ellipse,fixedsize=true,label=""];edge[arrowhead=none]'
    ]
    lines += [f"{n}[width={2 * box.rx / DOT:g},height={2 * box.ry / DOT:g}]" for n, box in enumerate(boxes)]
    lines += [f"{link.source}->{link.target}[id={n}{_room(link)}]" for n, link in enumerate(links)]
    return "\n".join([*lines, "}"])


def _room(link: Link) -> str:
    if not link.room:
        return ""
    size = f'BORDER="0" FIXEDSIZE="TRUE" WIDTH="{link.room:.0f}" HEIGHT="18"'
    return f",label=<<TABLE {size}><TR><TD></TD></TR></TABLE>>"


def read_layout(said: dict[str, Any], count: int) -> Placed:
    """Graphviz' answer; its y grows upwards."""
    _, _, width, height = map(float, said["bb"].split(","))

    def turn(text: str) -> Point:
        x, y = map(float, text.split(","))
        return x + MARGIN, height - y + MARGIN

    nodes = {int(thing["name"]): turn(thing["pos"]) for thing in said.get("objects", ())}
    edges = {int(edge["id"]): edge for edge in said.get("edges", ())}
    curves: list[Curve] = [tuple(map(turn, edges[n]["pos"].split())) for n in range(len(edges))]
    labels = [turn(edges[n]["lp"]) if "lp" in edges[n] else curves[n][0] for n in range(len(edges))]
    centres = tuple(nodes[n] for n in range(count))
    return Placed(centres, tuple(curves), tuple(labels), width + 2 * MARGIN, height + 2 * MARGIN)
