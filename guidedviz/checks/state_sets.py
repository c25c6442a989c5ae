"""Exercises on sets of NFA states."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from guidedviz.checks.cases import Case, read_table
from guidedviz.checks.compare import say_difference, say_not_ids
from guidedviz.checks.function import Mistake, check_function
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.graph import reach
from guidedviz.machines.regular.dfa import build_dfa_steps
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages
from guidedviz.machines.visible import counted, name_node
from guidedviz.views.layout.sketch import sketch_nfa
from guidedviz.views.machine.construction import moves_by
from guidedviz.views.machine.picture import draw_machine

# a regex, the text read so far, and the next byte
READINGS = read_table(r"""
    "a", b"", b"a"
    "a", b"", b"b"
    "a", b"a", b"a"
    "[a-c]", b"", b"b"
    "[a-c]", b"", b"c"
    "ab", b"a", b"b"
    "ab?", b"", b"a"
    "a?b|a", b"", b"a"
    "a*", b"a", b"a"
    "(a*)*", b"", b"a"
    "é+", b"\xc3", b"\xa9"
    "[ab]*a[ab]{2}", b"aab", b"a"
    "ab?c?d?e?f?", b"", b"a"
    r"\d+|\d+\.\d+|\d+,\d+", b"4", b"2"
    r"\d+|\d+\.\d+|\d+,\d+", b"42", b"."
    r"\d+|\d+\.\d+|\d+,\d+", b"42", b"x"
""")
SUBSETS = r"a ab a|b ab? a?b|a (a*)* \x00a [ab]*a[ab] [ab]*a[ab]{2} é+ \d+|\d+\.\d+|\d+,\d+".split()
BORDER = NFA((((255, 255, 1),), ()), ((), ()))  # it reads the last byte, which UTF-8 never has


def check_step_set(answer: Callable[[NFA, set[int], int], Iterable[int]]) -> Verdict:
    """Does `answer(nfa, states, byte)` give all states after the byte, with those that epsilon edges add?

    >>> check_step_set(lambda nfa, states, byte: {
    ...     target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high})
    ✗ not yet right: on input 7 of 16, the first on which it fails
        input       NFA of the regex ab?, states {0}, byte 'a'
        yours gave  {2}
        expected    {1, 2}
        because     n1 is missing: take the edges that read the byte, then follow all epsilon edges
    """
    cases = []
    for text, begun, byte in READINGS:
        nfa = machine_stages(text)[0]
        states = set(reach([nfa.initial], nfa.epsilon.__getitem__))
        for one in begun:
            states = step_set(nfa, states, one)
        given = f"NFA of the regex {text}, states {show(states)}, byte {show(byte)[1:]}"
        why = "take the edges that read the byte, then follow all epsilon edges"
        expected = step_set(nfa, states, byte[0])
        cases.append(Case((nfa, states, byte[0]), expected, why, (("input", given),)))
    return check_function(answer, cases, _say_states)


def step_set(nfa: NFA, states: set[int], byte: int) -> set[int]:
    """The states after a byte, with those that epsilon edges add."""
    targets = [target for _, target in moves_by(nfa, states, byte)]
    return set(reach(targets, nfa.epsilon.__getitem__))


def _say_states(case: Case, value: Any) -> Mistake | str:
    if say_not_ids(value):
        return ""
    nfa = case.arguments[0]
    known = frozenset(value).intersection(range(len(nfa)))
    words = f"lit: what yours gave, {counted(len(known), 'state')}"
    sketch = replace(sketch_nfa(nfa), lit=known, words=words)
    wrong = say_difference(value, case.expected, name_node)
    return Mistake(f"{wrong}: {case.why}", draw_machine(sketch))


def check_subsets(answer: Callable[..., Iterable[frozenset[int]]]) -> Verdict:
    """Does `answer(start, step)` find all sets of NFA states that a text leads to, except the empty one?

    >>> check_subsets(lambda start, step: [start, *(after for byte in range(256) if (after := step(start, byte)))])
    ✗ not yet right: on input 2 of 12, the first on which it fails
        input       NFA of the regex ab, start {0}
        yours gave  [{0}, {2}]
        expected    {{0}, {1}, {2}}
        because     {1} is missing
    """

    def say(case: Case, value: Any) -> str:
        sets = {frozenset(one) for one in value}
        return say_difference(sets, case.expected).replace("frozenset()", "the empty set")

    def same(value: Any, expected: set[frozenset[int]]) -> bool:
        return {frozenset(one) for one in value} == expected

    nfas = {f"NFA of the regex {text}": machine_stages(text)[0] for text in SUBSETS}
    nfas["NFA with one edge, of the byte 255"] = BORDER
    why = "each is start, or what step gives for a set of the list and a byte"
    cases = []
    for words, nfa in nfas.items():
        step = _remembered_step(nfa)
        sets = [one.subset for one in build_dfa_steps(nfa, whole=True)]
        for one in sets:  # the guard's time is for the answer
            for byte in range(256):
                step(one, byte)
        given = (("input", f"{words}, start {show(sets[0])}"),)
        cases.append(Case((sets[0], step), {*sets}, why, given))
    return check_function(answer, cases, say, same)


def _remembered_step(nfa: NFA) -> Callable[[frozenset[int], int], frozenset[int]]:
    @cache
    def step(states: frozenset[int], byte: int) -> frozenset[int]:
        return frozenset(step_set(nfa, {*states}, byte))

    return step
