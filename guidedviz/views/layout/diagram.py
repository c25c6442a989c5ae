"""A diagram is a sketch with positions: where each state, arrow and label of a machine is drawn.

`lay_out.py` makes it; the lines are curves (`curves.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from guidedviz.views.layout.curves import Curve, Point, move
from guidedviz.views.layout.sketch import Sketch

Placed = TypeVar("Placed", "Spot", "Label")
Curves = dict[int, Curve]  # by the number of the arrow in the sketch
Spots = dict[int, "Spot"]  # by state
# Of a call: a curve to the start of the called rule, then one from each of its ends back to the node after the call.
Jumps = tuple[Curve, ...]


@dataclass(frozen=True)
class Spot:
    """The position of a state and half its size. A state inside a run is a dot; inside a special token's name it is not
    drawn.
    """

    x: float
    y: float
    rx: float
    ry: float
    dot: bool = False
    in_name: bool = False  # of a special token


@dataclass(frozen=True)
class Label:
    """The text on a line from disc to disc, and the arrows on it that it labels."""

    words: str  # what is drawn
    full: str  # in full, for the tooltip
    arrows: tuple[int, ...]  # their numbers, in order
    dots: tuple[int, ...] = ()  # the states between the arrows
    bundle: bool = False  # the arrows overlap (`plan.Bundle`)
    call: bool = False  # the name of a called rule, in a box
    chip: bool = False  # the name of a special token
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class Block:
    """The frame around a grammar rule: its name, and its nodes, the start first."""

    name: str
    nodes: tuple[int, ...]
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of its right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower side."""
        return self.y + self.height


@dataclass(frozen=True)
class Diagram:
    """A sketch with positions; the states in `more` have neighbours that are not drawn."""

    sketch: Sketch
    spots: Spots
    curves: Curves
    labels: tuple[Label, ...]
    more: frozenset[int]
    width: float
    height: float
    number_places: Mapping[int, Point]  # arrow number -> where the numbers of the bytes that took it are written
    blocks: tuple[Block, ...] = ()  # of a grammar: one per rule
    jumps: Mapping[int, Jumps] = field(default_factory=dict)  # by the number of the arrow of a call

    def moved(self, x: float, y: float) -> "Diagram":
        """The same diagram at another place. It has no blocks and jumps yet: it is that of one rule."""

        def shift(one: Placed) -> Placed:
            return replace(one, x=one.x + x, y=one.y + y)

        spots = {state: shift(spot) for state, spot in self.spots.items()}
        curves = {n: move(curve, x, y) for n, curve in self.curves.items()}
        labels = tuple(map(shift, self.labels))
        places = move(self.number_places.values(), x, y)
        number_places = dict(zip(self.number_places, places, strict=True))
        return replace(self, spots=spots, curves=curves, labels=labels, number_places=number_places)


def size_around(corners: Iterable[Iterable[float]]) -> tuple[float, float]:
    """The width and the height of a drawing that reaches to all these corners."""
    places = [tuple(corner) for corner in corners]
    width, height = np.max(places, axis=0).tolist()
    return width, height
