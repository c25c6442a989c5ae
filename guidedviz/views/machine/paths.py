"""The states along a text, and along the steps of a recording."""

from collections.abc import Sequence
from typing import Any

from guidedviz.decoding.trace import Step, tokens_before
from guidedviz.errors import SettingError, expect
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible

Drawable = DFA | PDA
StatePath = tuple[Any, ...]


def check_pda(machine: object, where: str) -> None:
    """Refuse a machine without a stack.

    >>> check_pda(gv.regex("a"), "draw_stack_table")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_stack_table: saw DFA, expected a pushdown machine; try: gv.grammar(text)
    """
    expect(machine, PDA, where, "a pushdown machine", "gv.grammar(text)")


def state_after(pda: PDA, text: State | bytes | str, where: str = "text") -> State:
    """The state after a text, or the state itself; an error names the first byte that cannot be read.

    >>> state_after(gv.grammar('root ::= "a"*'), "ab")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: text, byte 1: saw b, expected a or its end
    """
    check_pda(pda, where)
    if isinstance(text, State):
        pda.is_accepting(text)  # raises for a state of another machine
        return text
    return states_along(pda, to_bytes(text))[-1]


def states_along(pda: PDA, data: bytes) -> tuple[State, ...]:
    """The state before the first byte of a text and after each; an error names the first byte that cannot be read."""
    path: tuple[State, ...] = read_path(pda, data)
    if (read := len(path) - 1) < len(data):
        top = pda.frames(path[-1])
        expected = top[0].waits if top else "the end"
        raise SettingError(f"text, byte {read}", seen=visible(data[read : read + 1]), expected=expected)
    return path


def read_bytes(step: Step) -> bytes:
    """The bytes that a machine reads at a step; the end reads none."""
    return b"" if step.how == "none" or step.end == "eos" else step.piece


def recorded_paths(machine: Drawable, steps: Sequence[Step]) -> list[StatePath]:
    """The initial state, and the path of every step; each starts where the step that it follows ends."""
    paths: list[StatePath] = [(machine.initial,)]
    for step, place in zip(steps, tokens_before(steps), strict=True):
        paths.append(read_path(machine, read_bytes(step), paths[place][-1]))
    return paths
