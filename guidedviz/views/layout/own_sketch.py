"""What is drawn of a machine that somebody wrote: its states as far as bytes lead, the nearest to its start first.

The states of such a machine may be without number, as the stacks of a pushdown automaton are. The first are drawn, and
those that lead to others are marked. A tuple is a stack: its last items are its name.
"""

from collections.abc import Hashable
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.graph import grouped
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.ranges import byte_ranges
from guidedviz.views.layout.sketch import Arrow, Groups, Sketch, sketch_of
from guidedviz.views.words import reading

MOST_OWN_STATES = 24
OF_ENDLESS = 10  # states that are drawn of a machine with more than `MOST_OWN_STATES`
NAME_LENGTH = 12  # characters of a state's name


def sketch_given(machine: Any, where: str = "draw_machine") -> Sketch:
    """The sketch of a machine of the library, or of one with `initial`, `step` and `is_accepting`."""
    try:
        return sketch_of(machine, where)
    except SettingError:
        if isinstance(machine, Machine):
            raise
    return sketch_own(as_machine(machine, where))


def sketch_own(machine: Machine[Any], most: int = MOST_OWN_STATES) -> Sketch:
    """The first states of a machine, and the arrows between them.

    >>> class Brackets:
    ...     initial = ()
    ...     def step(self, stack, byte):
    ...         if byte == 40:
    ...             return (*stack, "(")
    ...         return stack[:-1] if byte == 41 and stack else None
    ...     def is_accepting(self, stack):
    ...         return stack == ()
    >>> sketch_given(Brackets()).names[:3]
    ('empty', '(', '( (')
    """
    moves = near_moves(machine, most)
    number = {state: place for place, state in enumerate(moves)}
    cut = frozenset(number[state] for state in moves if moves[state].keys() - moves.keys())
    if cut and most > OF_ENDLESS:
        return sketch_own(machine, OF_ENDLESS)
    groups: Groups = (("…", cut),) if cut else ()
    names = tuple(_name_own_state(machine, state) for state in moves)
    accepting = frozenset(number[state] for state in moves if machine.is_accepting(state))
    arrows = []
    for state, found in moves.items():
        for after, read in found.items():
            if after in number:
                arrows.append(Arrow(number[state], number[after], tuple(byte_ranges(read))))
    return Sketch(names, tuple(arrows), 0, accepting, groups)


def near_moves(machine: Machine[Any], most: int) -> dict[Hashable, dict[Hashable, list[int]]]:
    """The states that are reached first, each with the bytes that lead to each next state."""
    states: list[Hashable] = [machine.initial]
    moves: dict[Hashable, dict[Hashable, list[int]]] = {}
    for state in states:  # it grows
        moves[state] = grouped((machine.step(state, byte), byte) for byte in range(256))
        moves[state].pop(None, None)
        new = [after for after in moves[state] if after not in states]
        states += new[: most - len(states)]
    return moves


def _name_own_state(machine: Machine[Any], state: Hashable) -> str:
    if not isinstance(state, tuple):
        return shorten(reading(machine.describe(state)), NAME_LENGTH)
    items = reading(" ".join(map(str, state))) or "empty"
    if len(items) > NAME_LENGTH:
        return "…" + items[1 - NAME_LENGTH :]
    return items
