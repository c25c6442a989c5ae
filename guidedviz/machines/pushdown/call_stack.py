"""The stacks of a pushdown machine for people: which rules are open, where each stands, what it waits for.

A cell is an open call. With the node where its caller stands, or will go on, it is a frame. A stack is listed from its
innermost frame down, along the first path; `shared_frames` lists the frames of all stacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from guidedviz.machines.pushdown.closure import Closure
from guidedviz.machines.pushdown.counts import count_once, may_stop, say_count
from guidedviz.machines.pushdown.rule_nodes import RuleNodes
from guidedviz.machines.pushdown.stack_graph import Cell, Configuration, State
from guidedviz.machines.visible import visible_bytes

MOST_SHOWN = 40  # frames of a stack
MOST_SHARED = 60  # frames of all stacks
BLANKS = frozenset(b" \t\n\v\f\r")
ASCII, CONTROLS = frozenset(range(128)), frozenset([*range(32), 127])


class Stacks(Protocol):
    """A pushdown machine, as far as these functions need it."""

    nodes: RuleNodes
    bottom: Cell

    def below(self, cell: Cell) -> tuple[Configuration, ...]: ...
    def closure(self, node: int) -> Closure: ...


@dataclass(frozen=True)
class Frame:
    """One open rule: the node where it stands (innermost) or will go on, and what may come there."""

    rule: str
    node: int
    waits: str
    number: int  # of the open call, the same at every step; 0 is the root's


@dataclass(frozen=True)
class SharedFrame:
    """A frame that several stacks may share, and the numbers of the frames that may lie below it; 0 is the bottom.

    A number is the same at every step. When there are very many frames, some numbers in `below` are not listed.
    """

    number: int
    rule: str
    node: int
    below: tuple[int, ...]


def first_stack(pda: Stacks, state: State) -> Iterator[Configuration]:
    """The first stack of a state, innermost configuration first; it may be very deep."""
    if state.tops:
        node, (cell, *_) = state.tops[0]
        yield node, cell
        while cell is not pda.bottom:
            node, cell = pda.below(cell)[0]
            yield node, cell


def rule_names(pda: Stacks, state: State) -> tuple[str, ...]:
    """The open rules, innermost first; of a deep stack the innermost and how many more."""
    names = tuple(pda.nodes.name_of(node) for node, _ in islice(first_stack(pda, state), MOST_SHOWN))
    more = state.tops[0][1][0].depth - len(names) if state.tops else 0
    return (*names, f"… {more:,} more") if more else names


def list_frames(pda: Stacks, state: State) -> tuple[Frame, ...]:
    """The innermost frames of the first stack."""
    return tuple(_frame(pda, *configuration) for configuration in islice(first_stack(pda, state), MOST_SHOWN))


def _frame(pda: Stacks, node: int, cell: Cell) -> Frame:
    again = pda.nodes.counts[cell.rule] is not None and not pda.closure(node).reads  # the next part, if any
    at = pda.nodes.starts[cell.rule] if again else node
    waits = say_waits(pda, at, may_end(pda, node, cell)) + say_counts(pda, node, cell)
    return Frame(pda.nodes.name_of(node), node, waits, cell.number)


def may_end(pda: Stacks, node: int, cell: Cell) -> bool:
    """Whether an open rule may end at its node: at the end of a part, or after enough parts of a counted repeat."""
    bounds = pda.nodes.counts[cell.rule]
    if bounds is None or bounds.spare is not None:
        return node in pda.nodes.ends
    if node == pda.nodes.starts[cell.rule]:
        return may_stop(cell.counts, bounds)
    return node in pda.nodes.ends and count_once(cell.counts, bounds)[1]


def say_counts(pda: Stacks, node: int, cell: Cell) -> str:
    """The counter of a counted rule, in brackets."""
    bounds = pda.nodes.counts[pda.nodes.rule_of[node]] if cell.rule == pda.nodes.rule_of[node] else None
    return f" ({say_count(cell.counts, bounds)})" if bounds else ""


def unfinished_frame(pda: Stacks, state: State) -> Frame | None:
    """The innermost open rule that cannot end here; None if all may end."""
    stuck = ((node, cell) for node, cell in first_stack(pda, state) if not may_end(pda, node, cell))
    return next((_frame(pda, *configuration) for configuration in stuck), None)


def say_waits(pda: Stacks, node: int, may_end: bool | None = None) -> str:
    """What may come at a node, in words; optional whitespace is not named. `may_end`: whether the rule may end there.

    >>> pairs = gv.grammar('root ::= [0-9] [ \\t]* ("," | ";") root?')
    >>> [say_waits(pairs, node) for node in range(3)]
    ['0-9', ', or ;', '0-9 or its end']
    >>> say_waits(gv.grammar(r'root ::= [^"\\x00-\\x1F]*'), 0)
    'any character but " controls or its end'
    """
    choices = frozenset(pda.closure(node).reads)
    many = len(choices & ASCII) > len(ASCII) // 2
    if not many and len(choices & BLANKS) > 1 and choices - BLANKS:  # a single blank is a character like others
        choices -= BLANKS
    said = visible_bytes(choices, limit=12) if choices and not many else ""
    parts = [_say_many(choices)] if many else [said] if said.endswith((" byte", " more")) else said.split()
    parts += ["its end"] * (node in pda.nodes.ends if may_end is None else may_end)
    return " ".join(parts[:-1]) + " or " * (len(parts) > 1) + parts[-1]


def _say_many(choices: frozenset[int]) -> str:
    """Most of ASCII, described by what is missing."""
    missing = ASCII - choices
    words = [visible_bytes(missing - CONTROLS)] * bool(missing - CONTROLS) + ["controls"] * bool(missing & CONTROLS)
    return ("any character" if choices - ASCII else "any of ASCII") + f" but {' '.join(words)}" * bool(words)


def shared_frames(pda: Stacks, state: State) -> tuple[SharedFrame, ...]:
    """The frames of all stacks, tops first; a frame that several stacks share is listed once."""
    found: dict[Configuration, None] = {(node, cell): None for node, cells in state.tops for cell in cells}
    waiting = list(found)
    shared: list[SharedFrame] = []
    for node, cell in waiting:
        if len(shared) == MOST_SHARED:
            break
        below = dict.fromkeys(pda.below(cell))
        waiting += [configuration for configuration in below if configuration not in found]
        found.update(below)
        numbers = tuple(_number(pda, *configuration) for configuration in below) or (0,)
        shared.append(SharedFrame(_number(pda, node, cell), pda.nodes.name_of(node), node, numbers))
    return tuple(shared)


def _number(pda: Stacks, node: int, cell: Cell) -> int:
    return 1 + cell.number * len(pda.nodes) + node
