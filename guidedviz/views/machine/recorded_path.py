"""The states that a recorded step passes: the one before its token, then one per byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guidedviz.decoding.trace import Step, follows
from guidedviz.errors import SettingError
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import name_state, visible

Drawable = DFA | PDA
StatePath = tuple[Any, ...]


def read_bytes(step: Step) -> bytes:
    """The bytes that a machine reads at a step; the end reads none."""
    return b"" if step.how == "none" or step.end == "eos" else step.piece


def read_step(machine: Drawable, state: Any, step: Step) -> StatePath:
    """The states of a step, `state` first, up to the first byte that the machine cannot read."""
    path = [state]
    for byte in read_bytes(step):
        if (reached := machine.step(path[-1], byte)) is None:
            break
        path.append(reached)
    return tuple(path)


def recorded_paths(machine: Drawable, steps: Sequence[Step]) -> list[StatePath]:
    """The path of every step; each starts where the step that it follows ends."""
    paths: list[StatePath] = [(machine.initial,)]
    for step, place in zip(steps, follows(steps), strict=True):
        paths.append(read_step(machine, paths[place][-1], step))
    return paths[1:]


def last_path(machine: Drawable, steps: Sequence[Step]) -> StatePath:
    """The path of the last step; with no steps, the initial state alone."""
    return recorded_paths(machine, steps)[-1] if steps else (machine.initial,)


def check_recording(machine: Drawable, steps: Sequence[Step]) -> None:
    """Refuse the steps of another machine: one cannot read their bytes or, for a DFA, names their states otherwise."""
    for number, (step, path) in enumerate(zip(steps, recorded_paths(machine, steps), strict=True), 1):
        renamed = isinstance(machine, DFA) and step.state != name_state(path[0])
        if renamed or len(path) <= len(read_bytes(step)):
            seen = f"step {number}, {visible(step.piece)!r} in {step.state or 'no state'}"
            hint = "gv.stage(trace) shows it without a machine"
            raise SettingError("this guide", seen=seen, expected="the guide of the recording", hint=hint)
