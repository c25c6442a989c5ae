"""The stacks of a pushdown machine for people: which rules are open, where each stands, what it waits for.

A cell is an open call; with the node where the rule that made the call stands, or will go on, it is a frame. A stack is
read from its innermost frame down, along the first way at each; `shared_stacks` shows all ways at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from guidedviz.machines.visible import visible_bytes

if TYPE_CHECKING:
    from guidedviz.machines.pda import PDA, Cell, State

MOST_SHOWN = 40  # frames of a stack
MOST_SHARED = 60  # of all stacks together
BLANKS = frozenset(b" \t\n\v\f\r")
ASCII, CONTROLS = frozenset(range(128)), frozenset([*range(32), 127])
Standing = tuple[int, "Cell"]  # a node, and the open call that it stands in


@dataclass(frozen=True)
class Frame:
    """One open rule: the node where it stands (innermost) or will go on, and what may come there."""

    rule: str
    node: int
    waits: str
    number: int  # of the open call, the same from step to step; 0 is the root's


@dataclass(frozen=True)
class SharedStack:
    """A frame that several stacks may share, and the numbers of those that may lie below it; 0 is the bottom.

    Numbers stay the same from step to step; of very many frames some that are numbered below may be missing.
    """

    number: int
    rule: str
    node: int
    below: tuple[int, ...]


def first_stack(pda: PDA, state: State) -> Iterator[Standing]:
    """The first stack of a state, innermost first, without end in sight: ask for as much as you need."""
    if state.tops:
        node, (cell, *_) = state.tops[0]
        yield node, cell
        while cell is not pda.bottom:
            node, cell = next(pda.below(cell))
            yield node, cell


def rule_names(pda: PDA, state: State) -> tuple[str, ...]:
    """The open rules, innermost first; of a deep stack the innermost and how many more."""
    names = tuple(pda.nodes.name_of(node) for node, _ in islice(first_stack(pda, state), MOST_SHOWN))
    more = pda.depth(state) - len(names)
    return (*names, f"… {more:,} more") if more else names


def list_frames(pda: PDA, state: State) -> tuple[Frame, ...]:
    """The innermost frames of the first stack."""
    return tuple(make_frame(pda, *standing) for standing in islice(first_stack(pda, state), MOST_SHOWN))


def make_frame(pda: PDA, node: int, cell: Cell) -> Frame:
    return Frame(pda.nodes.name_of(node), node, say_waits(pda, node), cell.number)


def unfinished_frame(pda: PDA, state: State) -> Frame | None:
    """The innermost open rule that cannot end here; None if all may."""
    stuck = (standing for standing in first_stack(pda, state) if standing[0] not in pda.nodes.ends)
    return next((make_frame(pda, *standing) for standing in stuck), None)


def say_waits(pda: PDA, node: int) -> str:
    """What may come at a node, in words; blanks that only lay a text out are not named.

    >>> from guidedviz.machines.pda import grammar
    >>> pairs = grammar('root ::= [0-9] [ \\t]* ("," | ";") root?')
    >>> [say_waits(pairs, node) for node in range(3)]
    ['0-9', ', or ;', '0-9 or its end']
    >>> say_waits(grammar(r'root ::= [^"\\x00-\\x1F]*'), 0)
    'any character but " controls or its end'
    """
    choices = frozenset(pda.ways(node).reads)
    many = len(choices & ASCII) > len(ASCII) // 2
    if not many and len(choices & BLANKS) > 1 and choices - BLANKS:  # a single one is a character like others
        choices -= BLANKS
    said = visible_bytes(choices, limit=12) if choices and not many else ""
    parts = [_say_many(choices)] if many else [said] if said.endswith((" byte", " more")) else said.split()
    parts += ["its end"] * (node in pda.nodes.ends)
    return " ".join(parts[:-1]) + " or " * (len(parts) > 1) + parts[-1]


def _say_many(choices: frozenset[int]) -> str:
    """Most of ASCII, by what is missing."""
    missing = ASCII - choices
    words = [visible_bytes(missing - CONTROLS, limit=8)] * bool(missing - CONTROLS) + ["controls"] * bool(
        missing & CONTROLS
    )
    return ("any character" if choices - ASCII else "any of ASCII") + f" but {' '.join(words)}" * bool(words)


def shared_stacks(pda: PDA, state: State) -> tuple[SharedStack, ...]:
    """All stacks of a state, tops first; where they share a frame it stands there once."""
    found: dict[Standing, None] = {(node, cell): None for node, cells in state.tops for cell in cells}
    shared: list[SharedStack] = []
    waiting = list(found)
    for node, cell in waiting:
        if len(shared) == MOST_SHARED:
            break
        below = list(dict.fromkeys(pda.below(cell)))
        fresh = [standing for standing in below if standing not in found]
        found.update(dict.fromkeys(fresh))
        waiting += fresh
        numbers = tuple(_number(pda, *standing) for standing in below) or (0,)
        shared.append(SharedStack(_number(pda, node, cell), pda.nodes.name_of(node), node, numbers))
    return tuple(shared)


def _number(pda: PDA, node: int, cell: Cell) -> int:
    return 1 + cell.number * len(pda.nodes) + node
