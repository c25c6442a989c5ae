"""One byte of a window: free text up to a trigger, then a machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible

State = tuple[str, Any]  # "free" with the bytes of the trigger read so far, or "in" with a state of the machine
NUMBER, TIME = "[0-9]+", "[0-9:]+"
FREE = "in free text every byte is legal; one that does not go on with the trigger leaves b''"
AGAIN = "the trigger may begin again: keep the longest beginning of the trigger with which the text ends"
# a regex, a trigger, a state (inside the window: the text read so far), a byte, and what a wrong answer has missed
STEPS: tuple[tuple[str, bytes, State, bytes, str], ...] = (
    (NUMBER, b":", ("free", b""), b"x", FREE),
    (NUMBER, b":", ("free", b""), b":", "the trigger is complete: the window opens at the machine's initial state"),
    (NUMBER, b":", ("in", b""), b"4", "in the window the machine reads the byte"),
    (NUMBER, b":", ("in", b""), b"x", "in the window a byte that the machine refuses is illegal: None"),
    (NUMBER, b"A:", ("free", b""), b"A", "the first byte of the trigger is remembered"),
    (NUMBER, b"A:", ("free", b"A"), b"b", FREE),
    (NUMBER, b"A:", ("free", b"A"), b":", "the trigger is complete: the window opens at the machine's initial state"),
    (NUMBER, b"A:", ("free", b"A"), b"A", AGAIN),
    (NUMBER, b"A:", ("in", b"12"), b"A", "in the window the trigger has no meaning: only the machine counts"),
    (TIME, b":", ("in", b"12"), b":", "in the window the trigger has no meaning: only the machine counts"),
    (NUMBER, b"::=", ("free", b"::"), b":", AGAIN),
    (NUMBER, b"abab!", ("free", b"abab"), b"a", AGAIN),
    (NUMBER, b"abab!", ("free", b"abab"), b"!", "the trigger is complete: the window opens"),
    (NUMBER, b"A:", ("free", b""), b"\xff", FREE),
)


def check_window_step(answer: Callable[[Machine, bytes, State, int], State | None]) -> Verdict:
    """Does `answer(machine, trigger, state, byte)` give the state after one more byte, or None?

    >>> check_window_step(lambda machine, trigger, state, byte: ("free", b"")).facts[-1][1]
    "the trigger is complete: the window opens at the machine's initial state"
    """
    cases = []
    for pattern, trigger, (kind, inside), byte, why in STEPS:
        machine = _machine(pattern)
        state = (kind, read(machine, inside) if kind == "in" else inside)
        given = (("machine", pattern), ("trigger", str(trigger)), ("state", show(state)), ("byte", visible(byte)))
        expected = step_window(machine, trigger, state, byte[0])
        cases.append(Case((machine, trigger, state, byte[0]), expected, why, given))
    return check_function(answer, cases, _same, _say)


def step_window(machine: Machine, trigger: bytes, state: State, byte: int) -> State | None:
    """One byte of a window, by the definition.

    >>> step_window(regex("[0-9]+"), b"A:", ("free", b"A"), ord("A"))
    ('free', b'A')
    """
    kind, inside = state
    if kind == "in":
        after = machine.step(inside, byte)
        return None if after is None else ("in", after)
    text = inside + bytes([byte])
    if text == trigger:
        return "in", machine.initial
    return "free", next(text[at:] for at in range(len(text) + 1) if trigger.startswith(text[at:]))


@cache
def _machine(pattern: str) -> DFA:
    return regex(pattern)


def _same(value: Any, expected: State | None) -> bool:
    if expected is None or not isinstance(value, tuple | list):
        return value is expected
    return tuple(value) == expected


def _say(case: Case, value: Any) -> Mistake:
    if value is not None and not (isinstance(value, tuple | list) and len(value) == 2):
        return Mistake('a pair is expected, ("free", bytes) or ("in", state), or None')
    if value is not None and value[0] not in ("free", "in"):
        return Mistake('the first item of the pair is "free" or "in"')
    return Mistake(case.why)
