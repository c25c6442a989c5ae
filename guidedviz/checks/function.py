"""A student's function runs under guard on all cases, from small to large, and is judged on the first that fails."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from guidedviz.checks.cases import Case, Spell
from guidedviz.checks.compare import Same, agrees, alike, say_kind
from guidedviz.checks.guard import Failed, run, safe_copy
from guidedviz.checks.verdict import Facts, Verdict, show
from guidedviz.views.figure import Figure


class Mistake(NamedTuple):
    """What a check says about a wrong value."""

    because: str = ""
    figure: Figure | None = None
    gave: Facts = ()  # instead of "yours gave" and "expected"


Explain = Callable[[Case, Any], Mistake | str]


def check_function(
    answer: object,
    cases: Sequence[Case],
    explain: Explain = lambda case, value: "",
    same: Same = alike,
    spell: Spell = show,
) -> Verdict:
    """Judge a function on cases, smallest first.

    >>> check_function(lambda x: x, [Case((1,), 1), Case((-2,), 2, "a distance is never negative")])
    ✗ not yet right: on input 2 of 2, the first on which it fails
        input       -2
        yours gave  -2
        expected    2
        because     a distance is never negative
    """
    if answer is None or answer is ...:
        return Verdict("open", "write the function, run its cell, then run this one")
    if not callable(answer):
        return Verdict("wrong", "a function is expected", (("yours is", show(safe_copy(answer))),))
    outcomes = run(answer, [case.arguments for case in cases])
    if all(is_open(outcome.value) for outcome in outcomes):
        return Verdict("open", "it returned None on every input: write it, or look at what it returns")
    none_is_right = any(case.expected is None for case in cases)
    for number, (case, (value, touched)) in enumerate(zip(cases, outcomes, strict=False), 1):
        if not touched and agrees(value, case.expected, same):
            continue
        said = f"on input {number} of {len(cases)}, the first on which it fails"
        given = case.given or (("input", ", ".join(map(show, case.arguments))),)
        gave: Facts = (("yours gave", spell(value)), ("expected", spell(case.expected)))
        if touched:
            return Verdict("wrong", said, (*given, gave[0], ("but", "it changed its input; work on a copy")))
        try:
            found = explain(case, value)
        except Exception:  # a value of a kind that nobody expected
            found = ""
        mistake = Mistake(found) if isinstance(found, str) else found
        kind = "" if value is None and none_is_right else say_kind(value, case.expected)
        because = case.why if isinstance(value, Failed) else mistake.because or kind or case.why
        reason = (("because", because),) if because else ()
        figure = mistake.figure or (case.draw and case.draw())
        return Verdict("wrong", said, (*given, *(mistake.gave or gave), *reason), figure)
    return Verdict("right", f"agrees on all {len(cases)} inputs")


def is_open(value: Any) -> bool:
    """Does a function return nothing so far?"""
    return value is None or value is ... or (isinstance(value, Failed) and "NotImplementedError" in value.kinds)


def is_empty(answer: Any) -> bool:
    """Is an answer that is no function not begun?"""
    return answer is None or answer is ... or answer == {} or (isinstance(answer, str) and not answer.strip())
