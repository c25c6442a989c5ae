"""Lab 07: may a slice be taken whole? A wrong answer is shown the shortest text that the machine cannot read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import eq
from typing import Any

from guidedviz.checks.lab07 import DECIMAL, say_start
from guidedviz.checks.machine import follow
from guidedviz.checks.verdict import Case, Verdict, agrees, call, check_function, show
from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import read
from guidedviz.machines.regex import regex
from guidedviz.machines.sketch import sketch_dfa
from guidedviz.machines.visible import visible
from guidedviz.views.figure import Figure
from guidedviz.views.machine import draw_machine

MOST_ASKED = 100_000  # a search that asks more does not end
STRING = r'"[^"\\\x00-\x1f]*"'
SLICES = (  # a regex, what was read of it, and the regex of a slice
    ("a*", b"", "a*"),
    ("a*", b"", "b*"),
    ("a*b", b"", "a*"),
    ("aa*", b"", "a*"),
    ("ab*", b"", "[ab]*"),
    ("a{0,3}", b"", "a*"),
    ("a{0,3}", b"", "a{0,3}"),
    ("a{0,3}", b"a", "a{0,3}"),
    ("[ab]*c", b"b", "(ab)*"),
    (DECIMAL, b"3", "[0-9]*"),
    (DECIMAL, b"3", "[0-9.]*"),
    (STRING, b'"', "[a-z ]*"),
    (STRING, b'"', "[é-ë]*"),
    (STRING, b'"x"', "[a-z ]*"),
    ('"[a-z]*"', b'"', "[a-zé]*"),
)


@dataclass
class Limited:
    """A machine that stops whoever asks without end."""

    machine: DFA
    asked: int = field(default=0, compare=False)

    @property
    def initial(self) -> int:
        return self.machine.initial

    def is_accepting(self, state: int) -> bool:
        return self.machine.is_accepting(state)

    def step(self, state: int, byte: int) -> int | None:
        self.asked += 1
        if self.asked > MOST_ASKED:
            raise RuntimeError("it does not end; is each pair looked at once?")
        return self.machine.step(state, byte)


def shortest_refused(machine: DFA, state: Any, part: DFA) -> bytes | None:
    """The shortest text that a slice can read and a machine cannot, from its state; None if there is none.

    >>> shortest_refused(regex("a{0,3}"), 0, regex("a*")), shortest_refused(regex("a*b"), 0, regex("a*"))
    (b'aaaa', None)
    """
    found = {(state, part.initial): b""}
    waiting = [(state, part.initial)]
    for here, there in waiting:
        for low, high, inner in part.edges[there]:
            for byte in range(low, high + 1):
                text, after = found[here, there] + bytes([byte]), machine.step(here, byte)
                if after is None:
                    return text
                if (after, inner) not in found:
                    found[after, inner] = text
                    waiting.append((after, inner))
    return None


def check_whole(answer: Callable[[Any, Any, Any], bool]) -> Verdict:
    """Lab 07: does `answer(machine, state, part)` say whether the machine can read from its state all that a part can?

    >>> check_whole(lambda machine, state, part: all(
    ...     machine.step(state, byte) is not None for byte in range(256) if part.step(0, byte) is not None))
    ✗ not yet right: on input 6 of 15, the smallest on which it fails
        machine     regex a{0,3}, in q0: nothing was read
        slice       regex a*
        yours gave  True
        expected    False
        because     aaaa begins a text of the slice, and the machine refuses its last byte
    """
    cases = [_whole_case(*one) for one in SLICES]
    verdict = check_function(answer, cases, eq)
    if verdict.result != "wrong" or not callable(answer):
        return verdict
    for given, case in zip(SLICES, cases, strict=True):
        value, touched = call(answer, case.arguments)
        if touched:
            return verdict
        if not agrees(value, case.expected, eq):
            return Verdict("wrong", verdict.said, *_show_slice(given, case, value))
    return verdict


def _whole_case(text: str, begun: bytes, part: str) -> Case:
    machine, inner = regex(text), regex(part)
    state = read(machine, begun)
    return Case((Limited(machine), state, Limited(inner)), shortest_refused(machine, state, inner) is None)


def _show_slice(given: tuple[str, bytes, str], case: Case, value: Any) -> tuple[tuple[tuple[str, str], ...], Figure]:
    text, begun, part = given
    machine, state = regex(text), case.arguments[1]
    refused = shortest_refused(machine, state, regex(part))
    path = follow(sketch_dfa(machine), refused or b"", state)
    facts = [
        ("machine", say_start(text, begun, state)),
        ("slice", f"regex {part}"),
        ("yours gave", show(value)),
        ("expected", show(case.expected)),
    ]
    if refused is None:
        facts.append(("because", "whatever the slice reads, the machine reads too"))
        return tuple(facts), draw_machine(machine, path, title="the machine")
    facts.append(("because", f"{visible(refused)} begins a text of the slice, and the machine refuses its last byte"))
    return tuple(facts), draw_machine(machine, path, title="the machine", died=visible(refused[-1:]))
