"""What is drawn of a machine that somebody wrote: its states as far as bytes lead, the nearest to its start first.

The states of such a machine may be without number, as the stacks of a pushdown automaton are. The first are drawn, and
those that lead to others are marked. A tuple is a stack: its last items are its name.
"""

from collections.abc import Hashable, Iterator
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.ranges import byte_ranges
from guidedviz.views.layout.sketch import Arrow, Groups, Sketch, sketch_of
from guidedviz.views.words import reading

MOST_OWN_STATES = 24
OF_ENDLESS = 10  # states of a machine with more than those
NAME_LENGTH = 12  # characters of a state's name


def sketch_given(machine: Any) -> Sketch:
    """The sketch of a machine of the library, or of one with `initial`, `step` and `is_accepting`."""
    try:
        return sketch_of(machine)
    except SettingError:
        if isinstance(machine, Machine):
            raise
        wrapped = as_machine(machine, "draw_machine")
    return sketch_own(wrapped)


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
    states, cut = near_states(machine, most)
    if cut and most > OF_ENDLESS:
        return sketch_own(machine, OF_ENDLESS)
    number = {state: place for place, state in enumerate(states)}
    groups: Groups = ()
    if cut:
        groups = (("…", frozenset(number[state] for state in cut)),)
    names = tuple(_name_own_state(machine, state) for state in states)
    accepting = frozenset(number[state] for state in states if machine.is_accepting(state))
    return Sketch(names, tuple(_arrows_between(machine, number)), 0, accepting, groups)


def _arrows_between(machine: Machine[Any], number: dict[Hashable, int]) -> Iterator[Arrow]:
    """The arrows from and to the states that are drawn."""
    for state, source in number.items():
        for after, read in _moves_of(machine, state).items():
            if after in number:
                yield Arrow(source, number[after], tuple(byte_ranges(read)))


def near_states(machine: Machine[Any], most: int) -> tuple[list[Hashable], set[Hashable]]:
    """The states that are reached first, and those of them from which others are reached."""
    states: list[Hashable] = [machine.initial]
    met = {machine.initial}
    cut = set()
    for state in states:  # it grows
        for after in _moves_of(machine, state):
            if after in met:
                continue
            if len(states) >= most:
                cut.add(state)
                continue
            met.add(after)
            states.append(after)
    return states, cut


def _moves_of(machine: Machine[Any], state: Hashable) -> dict[Hashable, list[int]]:
    """The bytes that lead to each next state."""
    found: dict[Hashable, list[int]] = {}
    for byte in range(256):
        after = machine.step(state, byte)
        if after is not None:
            found.setdefault(after, []).append(byte)
    return found


def _name_own_state(machine: Machine[Any], state: Hashable) -> str:
    if not isinstance(state, tuple):
        return shorten(reading(machine.describe(state)), NAME_LENGTH)
    items = reading(" ".join(map(str, state))) or "empty"
    if len(items) > NAME_LENGTH:
        return "…" + items[1 - NAME_LENGTH :]
    return items
