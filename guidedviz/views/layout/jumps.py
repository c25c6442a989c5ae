"""The curves of a grammar's calls: to the start of the called rule, and from its ends back to the node after.

Each is the shortest bend that meets no name and no other state.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import cos, pi, sin

import numpy as np

from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Points, bezier
from guidedviz.views.layout.diagram import Block, Diagram, Jumps, Spot
from guidedviz.views.layout.room import Rect, Room, box_around, call_box, label_box
from guidedviz.views.layout.sketch import Sketch

MOST_RETURNS = 3  # for a rule with more ends, one return starts at its frame
CLEARANCE = 4.0  # pixels between a name and the curve of a call


def title_width(sketch: Sketch, name: str) -> float:
    """The width of a rule's name and its counter, with room for "now ..."."""
    width = wide(name)
    counter = dict(sketch.repeats).get(name)
    if counter:
        width += wide(f"{counter}, now 0000 to 0000", 12) + 12
    return width


def find_jumps(diagram: Diagram) -> Iterator[tuple[int, Jumps]]:
    """The curves of every call whose arrow and rule are both drawn."""
    spots = diagram.spots
    room = _take_room(diagram)
    blocks = {block.name: block for block in diagram.blocks}
    for number, arrow in enumerate(diagram.sketch.arrows):
        block = blocks.get(arrow.call)
        if block and number in diagram.curves:
            middle = block.y + block.height / 2
            edge = Spot(block.x, middle, 0.1, 0.1)  # stands for a start that is not drawn
            start = spots.get(block.nodes[0], edge)
            ways = [(spots[arrow.source], start)]
            back = spots[arrow.target]
            ways += [(end, back) for end in _ends_of_rule(diagram, block, edge)]
            yield number, tuple(bend(room, *way) for way in ways)


def _ends_of_rule(diagram: Diagram, block: Block, edge: Spot) -> list[Spot]:
    """Where the returns of a rule start."""
    drawn = diagram.sketch.accepting & diagram.spots.keys()
    ends = [diagram.spots[node] for node in block.nodes if node in drawn]
    if len(ends) <= MOST_RETURNS:
        return ends
    return [replace(edge, x=block.right)]


def _take_room(diagram: Diagram) -> Room:
    """The room that is left by the titles, names, states and lines of a diagram."""
    room = Room(diagram.width, diagram.height)
    for block in diagram.blocks:
        left = block.x + 11  # of its title
        top = block.y + 7
        right = left + title_width(diagram.sketch, block.name)
        room.take(Rect(left, top, right, top + 15), CLEARANCE)
    for label in diagram.labels:
        place = (label.x, label.y)
        box = call_box(label) if label.call else label_box(label.words, place)
        room.take(box, CLEARANCE)
    for spot in diagram.spots.values():
        if not spot.dot:
            box = box_around((spot.x, spot.y), spot.rx, spot.ry)
            room.take(box, CLEARANCE / 2)
    for curve in diagram.curves.values():
        room.draw(curve)
    return room


# --- one bend ---


BEND_PARTS = 16  # in which the curves are tried
TURNS = [(cos(angle), sin(angle)) for angle in np.arange(16) * pi / 8]
# from a state to the control point of its curve
PULLS = [(far * across, far * down) for far in (40, 90, 170, 300, 450) for across, down in TURNS]
BEND = bezier(80)
STRIKE = 1000.0  # pixels of detour to keep a point of a curve off a name
ON_LINE = 6.0  # the same, to keep it off a line


def bend(room: Room, start: Spot, end: Spot) -> Curve:
    """Draw a short curve from state to state that passes through no other state and no name, if there is one."""
    corners = _possible_bends(start, end)
    across, down = np.moveaxis(np.diff(corners, axis=1), -1, 0)
    length = np.hypot(across, down).sum(1)
    centres = np.array([(start.x, start.y), (end.x, end.y)])
    own = room.owner[room.cells_at(centres)]
    found = []
    for part in np.array_split(length.argsort(), BEND_PARTS):  # the shortest first
        cells = room.cells_at(BEND @ corners[part])
        owner = room.owner[cells]
        struck = (owner > 0) & ~np.isin(owner, own)
        crossed = room.lines[cells] > 0
        detour = STRIKE * struck.sum(1) + ON_LINE * crossed.sum(1)
        cost = length[part] + detour
        cheapest = cost.argmin()
        best = corners[part[cheapest]]
        found.append((float(cost[cheapest]), best.tolist()))
        if not struck.any(1).all():
            break
    _, shortest = min(found)
    curve = tuple(map(tuple, shortest))
    room.draw(curve)
    return curve


def _possible_bends(start: Spot, end: Spot) -> Points:
    """Bézier segments from state to state, with every pull at each."""
    first = np.add((start.x, start.y), PULLS)[:, None]
    last = np.add((end.x, end.y), PULLS)[None]
    corners = np.broadcast_arrays(_rims(start, first), first, last, _rims(end, last))
    return np.stack(corners, axis=2).reshape(-1, 4, 2)


def _rims(spot: Spot, toward: Points) -> Points:
    """The points on a state's border towards other points."""
    centre = np.array([spot.x, spot.y])
    way: Points = toward - centre
    across, down = np.split(way, 2, axis=-1)
    size = np.hypot(across / spot.rx, down / spot.ry)
    rims: Points = centre + way / size
    return rims
