"""The curves of a grammar's calls: to the start of the called rule, and from its ends back to the node after."""

from collections.abc import Iterator
from dataclasses import replace

from guidedviz.views.figure import wide
from guidedviz.views.layout.diagram import Diagram, Jumps, Spot
from guidedviz.views.layout.room import Rect, Room, call_box, label_box
from guidedviz.views.layout.sketch import Sketch

MOST_RETURNS = 3  # for a rule with more ends, one return starts at its frame
CLEAR = 4.0  # pixels between a name and the curve of a call


def title_width(sketch: Sketch, name: str) -> float:
    """The width of a rule's name and its counter, with room for "now ..."."""
    counter = dict(sketch.repeats).get(name, "")
    return wide(name, 13) + bool(counter) * (wide(f"{counter}, now 0000 to 0000", 12) + 12)


def find_jumps(diagram: Diagram) -> Iterator[tuple[int, Jumps]]:
    """The curves of every call whose arrow and rule are both drawn."""
    sketch, spots, room = diagram.sketch, diagram.spots, Room(diagram.width, diagram.height)
    for block in diagram.blocks:
        left, top = block.x + 11, block.y + 7  # of its title
        room.take(Rect(left, top, left + title_width(sketch, block.name), top + 15), CLEAR)
    for label in diagram.labels:
        is_call = sketch.arrows[label.arrows[0]].call
        room.take(call_box(label) if is_call else label_box(label.words, (label.x, label.y)), CLEAR)
    for spot in spots.values():
        if not spot.dot:
            room.take(Rect(spot.x - spot.rx, spot.y - spot.ry, spot.x + spot.rx, spot.y + spot.ry), CLEAR / 2)
    for curve, _ in diagram.curves.values():
        room.draw(curve)
    named = {block.name: block for block in diagram.blocks}
    for n, arrow in enumerate(sketch.arrows):
        if n not in diagram.curves or arrow.call not in named:
            continue
        block = named[arrow.call]
        edge = Spot(block.x, block.y + block.height / 2, 0.1, 0.1)  # stands for a start that is not drawn
        ends = [spots[node] for node in block.nodes if node in sketch.accepting and node in spots]
        if len(ends) > MOST_RETURNS:
            ends = [replace(edge, x=block.x + block.width)]
        call = room.bend(spots[arrow.source], spots.get(block.nodes[0], edge))
        yield n, Jumps(call, tuple(room.bend(end, spots[arrow.target]) for end in ends))
