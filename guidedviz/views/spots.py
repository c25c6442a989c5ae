"""What a diagram is made of, when everything has its place: states, curves, labels, and the frames of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from guidedviz.machines.sketch import Sketch
from guidedviz.views.bezier import Curve


@dataclass(frozen=True)
class Spot:
    """Where a state stands, half its size, and whether it is only a dot."""

    x: float
    y: float
    rx: float
    ry: float
    dot: bool = False


@dataclass(frozen=True)
class Label:
    """A line's words, and the arrows that they belong to."""

    x: float
    y: float
    words: str
    full: str
    arrows: tuple[int, ...]
    lens: bool = False  # the arrows lie on each other


@dataclass(frozen=True)
class Block:
    """The frame around a rule of a grammar: its name, and its nodes, the start first."""

    name: str
    nodes: tuple[int, ...]
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Jumps:
    """The ways of a call: from its node to the start of the rule, and from the rule's ends to the node after."""

    call: Curve
    returns: tuple[Curve, ...]


@dataclass(frozen=True)
class Diagram:
    """A sketch with everything in its place; `more` are the states with neighbours that are left out."""

    sketch: Sketch
    spots: dict[int, Spot]
    curves: dict[int, tuple[Curve, bool]]  # place in the sketch's arrows -> its curve, and whether it has a head
    labels: tuple[Label, ...]
    exits: frozenset[int]  # arrows that leave the middle of a run: drawn thin, for there are many alike
    more: frozenset[int]
    width: float
    height: float
    blocks: tuple[Block, ...] = ()  # of a grammar: one a rule
    jumps: Mapping[int, Jumps] = field(default_factory=dict)  # place of a calling arrow -> its ways
