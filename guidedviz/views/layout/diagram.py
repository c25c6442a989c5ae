"""A diagram is a sketch with positions: where each state, arrow and label of a machine is drawn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from guidedviz.views.layout.curves import Curve, Point, move
from guidedviz.views.layout.sketch import Sketch

Curves = dict[int, Curve]  # by the number of the arrow
Spots = dict[int, "Spot"]  # by state


@dataclass(frozen=True)
class Spot:
    """The position of a state, half its size, and whether it is drawn as a dot."""

    x: float
    y: float
    rx: float
    ry: float
    dot: bool = False


@dataclass(frozen=True)
class Label:
    """The text on a line, and the arrows that it labels."""

    x: float
    y: float
    words: str
    full: str
    arrows: tuple[int, ...]
    bundle: bool = False  # the arrows overlap
    call: bool = False  # the name of a called rule, in a box


@dataclass(frozen=True)
class Block:
    """The frame of a grammar rule: its name, and its nodes, the start first."""

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
class Jumps:
    """The curves of a call: to the start of the called rule, and from its ends back to the node after."""

    call: Curve
    returns: tuple[Curve, ...]


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
    counts: Mapping[int, Point]  # arrow number -> the place of its bytes' numbers
    blocks: tuple[Block, ...] = ()  # of a grammar: one per rule
    jumps: Mapping[int, Jumps] = field(default_factory=dict)  # number of a call arrow -> its curves

    def moved(self, x: float, y: float) -> "Diagram":
        """The same diagram at another place."""
        spots = {state: replace(spot, x=spot.x + x, y=spot.y + y) for state, spot in self.spots.items()}
        curves = {n: move(curve, x, y) for n, curve in self.curves.items()}
        labels = tuple(replace(label, x=label.x + x, y=label.y + y) for label in self.labels)
        counts = dict(zip(self.counts, move(self.counts.values(), x, y), strict=True))
        return replace(self, spots=spots, curves=curves, labels=labels, counts=counts)


def size_around(corners: Iterable[Iterable[float]]) -> tuple[float, float]:
    """The width and the height of a drawing that reaches to all these corners."""
    width, height = np.max([tuple(corner) for corner in corners], axis=0).tolist()
    return width, height
