"""A machine in one state at a time reads a text, as a film.

Each byte moves it along one arrow. The film ends where no arrow reads the byte, or at the end of the text.
"""

from dataclasses import replace

from guidedviz.errors import expect
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import name_state, visible
from guidedviz.views.layout.sketch import sketch_of
from guidedviz.views.machine.film import check_machine
from guidedviz.views.machine.frame import MachineFrame


def reading_frames(machine: DFA, text: str) -> list[MachineFrame]:
    """One frame per byte that a machine reads, and one that says whether the text may end.

    >>> for frame in reading_frames(gv.regex("ab"), "ax"):
    ...     print(frame.words)
    Nothing is read. The machine starts in q0.
    "a" is read, q0 to q1.
    "x" cannot be read in q1: the machine refuses the text.
    """
    expect(machine, DFA, "reading_frames, machine", "a finite machine", hint="gv.regex(text)")
    data: bytes = expect(text, str, "reading_frames, text", "a text").encode()
    check_machine(text, machine)
    whole = MachineFrame(sketch_of(machine), tape=(data, 0))
    state = machine.initial
    frames = [whole.show(f"Nothing is read. The machine starts in {name_state(state)}.", {state})]
    for read, byte in enumerate(data, 1):
        sign = visible(bytes([byte]))
        here = name_state(state)
        after = machine.step(state, byte)
        if after is None:
            words = f'"{sign}" cannot be read in {here}: the machine refuses the text.'
            return [*frames, frames[-1].show(words, {state}, sign=sign)]
        words = f'"{sign}" is read, {here} to {name_state(after)}.'
        whole = replace(whole, tape=(data, read))
        frames.append(whole.show(words, {after}, [f"{state}-{after}"], sign))
        state = after
    words = f"The text ends in {name_state(state)}. This state is not accepting: the text may only go on."
    if machine.is_accepting(state):
        words = f"The text ends in {name_state(state)}. This state is accepting: the machine accepts the text."
    return [*frames, whole.show(words, {state})]
