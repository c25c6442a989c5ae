"""Lab 03: machines built by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from guidedviz.checks.judge import Case, check_function
from guidedviz.checks.same_language import check_machine
from guidedviz.checks.verdict import Verdict
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.by_hand.fsm import GuidedFSM


def check_advance(answer: Callable[[Sequence[tuple[int, set[int], int]], int, int], int | None]) -> Verdict:
    """Lab 03: does `answer(transitions, state, token)` give the state after the token, or None?

    >>> check_advance(lambda transitions, state, token: next((t for _, ids, t in transitions if token in ids), None))
    ✗ not yet right: on input 3 of 7, the smallest on which it fails
        input       [(0, {5}, 1)], 1, 5
        yours gave  1
        expected    None
        because     the transition leaves state 0, and this is state 1
    """
    first_only = "the first transition does not match, but a later one does"
    trials: list[tuple[list[tuple[int, set[int], int]], int, int, int | None, str]] = [
        ([(0, {5}, 1)], 0, 5, 1, ""),
        ([(0, {5}, 1)], 0, 6, None, "no transition reads token 6"),
        ([(0, {5}, 1)], 1, 5, None, "the transition leaves state 0, and this is state 1"),
        ([(0, {5, 6}, 0)], 0, 6, 0, "state 0 is a valid state, although 0 is false in Python"),
        ([(0, {5}, 1), (0, {6}, 2)], 0, 6, 2, first_only),
        ([(0, {5}, 1), (1, {5}, 2)], 1, 5, 2, first_only),
        ([(0, {5}, 1), (1, {5}, 1), (1, {6}, 0)], 1, 6, 0, ""),
    ]
    cases = [Case((moves, state, token), expected, why) for moves, state, token, expected, why in trials]
    return check_function(answer, cases)


def check_several_words(answer: GuidedFSM) -> Verdict:
    """Lab 03: does a machine accept lines whose name has one or more words in capitals, separated by spaces?"""
    return check_machine(answer, regex("[A-Z]+( [A-Z]+)*: [a-z]+\n"))


def check_clock(answer: str) -> Verdict:
    """Lab 03: does a regex accept the times of day from 00:00 to 23:59?

    >>> check_clock(r"\\d\\d:\\d\\d").facts[0]
    ('text', '00:60')
    """
    return check_machine(answer, regex(r"([01]\d|2[0-3]):[0-5]\d"))
