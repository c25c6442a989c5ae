"""The way of a recorded step through a machine: the state before its token, then one more for every byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from guidedviz.decoding.trace import Step, follows, standing
from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.pda import PDA, State
from guidedviz.machines.visible import visible


def states_named(machine: DFA, labels: Iterable[str]) -> tuple[int, ...]:
    """The states of these names, up to the first that the machine does not have.

    >>> from guidedviz.machines.regex import regex
    >>> states_named(regex("ab"), ["q0", "q1", "q9", "q2"])
    (0, 1)
    """
    states = []
    for label in labels:
        found = re.fullmatch(r"q(\d{1,9})", label, re.ASCII)
        if not found or int(found[1]) >= len(machine):
            break
        states.append(int(found[1]))
    return tuple(states)


def step_path(machine: DFA, step: Step) -> tuple[int, ...]:
    """The states inside a step's token, the one before it first; an end reads no byte."""
    path = list(states_named(machine, [step.state]))
    if not path or step.how == "none" or step.end == "eos":
        return tuple(path)
    for byte in step.piece:
        reached = machine.step(path[-1], byte)
        if reached is None:
            break
        path.append(reached)
    return tuple(path)


def check_same_machine(machine: DFA, steps: Sequence[Step]) -> None:
    """Whether a record can be of this machine: every token passes, and leads to where the next one begins."""
    reached = [machine.initial]  # by the prompt, and by each step
    for number, (step, place) in enumerate(zip(steps, follows(steps), strict=True), 1):
        path = step_path(machine, step)
        reads = 0 if step.how == "none" or step.end == "eos" else len(step.piece)
        if path[:1] != (reached[place],) or len(path) != reads + 1:
            seen = f"step {number}, {visible(step.piece)!r} in {step.state or 'no state'}"
            hint = "gv.stage(trace) shows it without a machine"
            raise SettingError("this guide", seen=seen, expected="the guide of the recording", hint=hint)
        reached.append(path[-1])


def state_of(pda: PDA, steps: Iterable[Step]) -> State:
    """Where a pushdown machine stands after these steps; up to the first byte that it cannot read."""
    state = pda.initial
    for byte in b"".join(step.piece for step in standing(tuple(steps)) if step.how != "none" and step.end != "eos"):
        following = pda.step(state, byte)
        if following is None:
            break
        state = following
    return state
