"""Exercises on texts with JSON in them: what JSON is, an object in prose, a window in free text."""

import json
from typing import Any

import numpy as np

from guidedviz.checks.cases import cases_of, read_trials
from guidedviz.checks.function import check_function
from guidedviz.checks.verdict import Verdict
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import json as json_machine
from guidedviz.machines.regular.regex import regex

# -- texts and JSON ------------------------------------------------------------------------------------------------

JSON_TEXTS = read_trials(r"""
the text ends before its JSON does
    ""
    "{"
an object may be empty
    "{}"
a number, a text, a list or null alone is JSON: the value need not be an object
    "42"
    "[1]"
    "null"
    '"a{b"'
a number of JSON does not begin with 0
    "042"
JSON writes true, not True as Python does
    "True"
a key is a text in double quotes, and it has a value
    '{"age"}'
    "{1: true}"
    "{'age': 42}"
no comma stands before the closing brace
    '{"a": 1,}'
blanks and line ends around a value are allowed
    "\n[]\n "
something stands before or after the JSON
    "`1`"
    "{} {}"
    "Sure! {}"
    "{}\nDone!"
    '```json\n{"a": [1, {"b": null}]}\n```'
    '{"a": 1} {"b": 2}'
a value may hold others
    '{"age": 42}'
    '[{"a": [-1.5e3]}]'
""")
PROSE_TEXTS = read_trials(r"""
an empty object is an object: {}
    "{}"
there is no object: None
    ""
    "[1]"
    "{"
prose before and after the object is skipped
    'Sure: {"a": 1}'
    '{"a": 1}\nDone!'
objects nest: the value goes from its own { to its own }
    '```json\n{"a": [1, {"b": null}]}\n```'
the first object is wanted
    '{"a": 1} {"b": 2}'
    '{} {"b": 2}'
an object in a list is an object, too
    '[1, {"a": 1}]'
the outer object begins first
    '{"a": {"b": 2}}'
a brace inside a string closes nothing
    '{"a": "}"}'
a brace that begins no JSON is skipped; go on with the next one
    '{x} {"a": 1}'
    '{\'a\': 1} or {"a": "{"}'
the outer object is not closed; the inner one is the first that is
    '{"a": {"b": 2}'
""")


def check_parses(answer: Any) -> Verdict:
    """Does `answer(text)` say whether a text is valid JSON, with nothing before or after it?

    >>> check_parses(lambda text: text.startswith("{"))
    ✗ not yet right: on input 2 of 22, the first on which it fails
        input       '{'
        yours gave  True
        expected    False
        because     the text ends before its JSON does
    """

    def reference(text: str) -> bool:
        return json_machine().accepts(text.encode())

    return check_function(answer, cases_of(reference, JSON_TEXTS), same=_same_truth)


def _same_truth(value: Any, expected: bool) -> bool:
    """Is the value True or False as expected? 1 and 0 are taken for them."""
    return isinstance(value, int | np.bool_) and value == expected


def check_cut_out(answer: Any) -> Verdict:
    """Does `answer(text)` give the value of the first JSON object in the text, or None?

    >>> check_cut_out(lambda text: json.loads(text) if text[:1] == "{" else None).facts[-1][1]
    'there is no object: None'
    """
    return check_function(answer, cases_of(cut_object, PROSE_TEXTS))


def cut_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text.

    >>> cut_object('Sure: {"a": 1}!')
    {'a': 1}
    """
    for place, char in enumerate(text):
        if char == "{":
            try:
                found: dict[str, Any] = json.JSONDecoder().raw_decode(text, place)[0]
            except ValueError:
                continue
            return found
    return None


# -- drafts and windows --------------------------------------------------------------------------------------------

WindowState = tuple[str, Any]  # "free" with the bytes of the trigger read so far, or "in" with a state of the machine
CLOCK_TIMES = regex("([0-9]:)*")
# a trigger, a state and a byte
WINDOWS = read_trials(
    build=lambda trigger, state, byte: (CLOCK_TIMES, trigger, state, byte[0]),
    text=r"""
in free text every byte is legal; one that does not go on with the trigger leaves b''
    b":", ("free", b""), b"x"
    b"A:", ("free", b"A"), b"b"
    b"A:", ("free", b""), b"\xff"
    b"A:", ("free", b""), b":"
the trigger is complete: the window opens at the machine's initial state
    b":", ("free", b""), b":"
    b"abab!", ("free", b"abab"), b"!"
in the window the machine reads the byte; it is illegal (None) if the machine refuses it
    b":", ("in", 0), b"4"
    b":", ("in", 0), b"x"
    b"A:", ("in", 0), b"A"
    b":", ("in", 0), b":"
    b":", ("in", 1), b":"
    b":", ("in", 1), b"4"
the trigger may begin again: keep the longest beginning of the trigger with which the text ends
    b"A:", ("free", b""), b"A"
    b"A:", ("free", b"A"), b"A"
    b"::=", ("free", b"::"), b":"
    b"abab!", ("free", b"abab"), b"a"
    b"::", ("free", b""), b":"
    b"\xc3\xa9", ("free", b""), b"\xc3"
""",
)


def check_window_step(answer: Any) -> Verdict:
    """Does `answer(machine, trigger, state, byte)` give the state after one more byte, or None?

    >>> check_window_step(lambda machine, trigger, state, byte: ("free", b"")).facts[-1][1]
    "the trigger is complete: the window opens at the machine's initial state"
    """
    return check_function(answer, cases_of(step_window, WINDOWS, "", "trigger", "state", "byte"))


def step_window(machine: Machine[Any], trigger: bytes, state: WindowState, byte: int) -> WindowState | None:
    """One byte of a window, by the definition: free text up to a trigger, then a machine.

    >>> step_window(gv.regex("[0-9]+"), b"A:", ("free", b"A"), ord("A"))
    ('free', b'A')
    """
    kind, inside = state
    if kind == "in":
        after = machine.step(inside, byte)
        return None if after is None else ("in", after)
    text = inside + bytes([byte])
    if text == trigger:
        return "in", machine.initial
    while not trigger.startswith(text):
        text = text[1:]
    return "free", text
