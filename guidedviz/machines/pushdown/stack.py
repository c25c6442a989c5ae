"""The stacks of a pushdown machine as one graph, in which they share cells (Tomita's graph-structured stack, 1985).

All calls of one rule from one node share a cell, so a rule may call itself first (GLL, Scott and Johnstone, 2010). A
call with nothing after it is not pushed, so a list that ends in itself stays flat.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from guidedviz.machines.pushdown.counting import Counts
from guidedviz.machines.visible import name_nodes


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Cell:
    """An open call of a rule made at a node, and the cells that may lie below it; compared by identity."""

    number: int
    node: int
    rule: int
    below: tuple[Cell, ...]
    depth: int  # of the first stack with this top
    sure: bool = False  # one of its stacks stands on a sure ground, see `StackGraph.add_ground`
    guessed: bool = False  # one of its stacks stands on a guessed ground
    counts: Counts = None  # of a counted repeat: how many parts were read before this one


Configuration = tuple[int, Cell]  # a node, and the open call that it is in


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class State:
    """The possible configurations: nodes, each with the tops of its stacks; compared by identity."""

    number: int
    tops: tuple[tuple[int, tuple[Cell, ...]], ...]
    accepting: bool
    sure: bool  # one of the stacks with which the last byte was read stands on a sure ground
    clean: bool  # none of them stands on a guessed ground
    bottom: Cell  # of its graph, to recognise the states of another one
    moves: dict[int, State | None] = field(default_factory=dict)  # the steps that are known, by kind of byte
    reached: dict[object, State | None] = field(default_factory=dict)  # the same by the positions that a byte leads to

    def __repr__(self) -> str:
        return name_nodes([node for node, _ in self.tops])
