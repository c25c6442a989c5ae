"""Machines wired by hand, and regexes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.same_language import check_machine, say_start
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import read
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.by_hand import GuidedFSM

DECIMAL = r"\d+(\.\d+)?"


def check_advance(answer: Callable[[Sequence[tuple[int, set[int], int]], int, int], int | None]) -> Verdict:
    """Does `answer(transitions, state, token)` give the state after the token, or None?

    >>> check_advance(lambda transitions, state, token: next((t for _, ids, t in transitions if token in ids), None))
    ✗ not yet right: on input 3 of 10, the smallest on which it fails
        input       [(0, {5}, 1)], 1, 5
        yours gave  1
        expected    None
        because     the transition leaves state 0, and this is state 1: the answer is None
    """
    first_only = "the first transition does not match, but a later one does"
    trials: list[tuple[list[tuple[int, set[int], int]], int, int, int | None, str]] = [
        ([(0, {5}, 1)], 0, 5, 1, "the transition leaves state 0 with token 5 and leads to state 1"),
        ([(0, {5}, 1)], 0, 6, None, "no transition reads token 6: the answer is None"),
        ([(0, {5}, 1)], 1, 5, None, "the transition leaves state 0, and this is state 1: the answer is None"),
        ([(0, {5, 6}, 0)], 0, 6, 0, "state 0 is a valid state, although 0 is false in Python"),
        ([(0, {5}, 1), (0, {6}, 2)], 0, 6, 2, first_only),
        ([(0, {5}, 1), (1, {5}, 2)], 1, 5, 2, first_only),
        ([(0, {5}, 1), (1, {5}, 2)], 0, 5, 1, "the first transition fits, whatever the later ones are"),
        ([(1, {6}, 2), (0, {5}, 1)], 0, 5, 1, "the transitions may come in any order"),
        ([(0, {5}, 1), (1, {5}, 1), (1, {6}, 0)], 1, 6, 0, "state 0 is a valid state, although 0 is false in Python"),
        ([(0, {5}, 1), (1, {5, 7}, 2), (2, {7}, 0)], 0, 7, None, "others read token 7, but not from state 0"),
    ]
    cases = [Case((moves, state, token), expected, why) for moves, state, token, expected, why in trials]
    return check_function(answer, cases, explain=_advance_mistake)


def _advance_mistake(case: Case, value: Any) -> Mistake:
    if value is not None:
        return Mistake()
    moves, state, token = case.arguments
    (fits,) = (one for one in moves if one[0] == state and token in one[1])
    return Mistake(f"None means that no transition fits, and {fits} does: a state is expected")


def check_several_words(answer: GuidedFSM) -> Verdict:
    """Does a machine accept lines whose name has one or more words in capitals, separated by spaces?"""
    return check_machine(answer, regex("[A-Z]+( [A-Z]+)*: [a-z]+\n"))


def case_of_tokens(text: str, begun: bytes, pieces: list[bytes]) -> Case:
    """The legal ids among some pieces, after a text that a regex has read."""
    machine = regex(text)
    state: Any = read(machine, begun)
    legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
    given = (("input", say_start(text, begun, state)), ("pieces", show(pieces)))
    return Case((machine, state, pieces), legal, given=given)
