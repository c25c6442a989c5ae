"""A student's function runs under guard on all cases, from small to large, and is judged on the first that fails.

The value that differs is shown beside the expected one, with the most exact sentence that is known: of the check, of
the value's kind, or of the case.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from guidedviz.checks.cases import Case, Spell
from guidedviz.checks.compare import Same, agrees, alike, say_kind
from guidedviz.checks.guard import Outcome, run, safe_copy
from guidedviz.checks.values import Failed
from guidedviz.checks.verdict import Facts, Verdict, show
from guidedviz.views.figure import Figure

NOT_WRITTEN = Verdict("open", "write the function, then run its cell and this check")
ALL_NONE = Verdict("open", "it returned None on every input: write it, or look at what it returns")


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
    if is_open(answer):
        return NOT_WRITTEN
    if not callable(answer):
        return Verdict("wrong", "a function is expected", (("yours is", show(safe_copy(answer))),))
    outcomes = run(answer, [case.arguments for case in cases])
    if all(is_open(outcome.value) for outcome in outcomes):
        return ALL_NONE
    none_is_right = any(case.expected is None for case in cases)
    for number, (case, outcome) in enumerate(zip(cases, outcomes, strict=False), 1):
        if not _is_right(case, outcome, same):
            said = f"on input {number} of {len(cases)}, the first on which it fails"
            mistake = _find_mistake(case, outcome, explain, spell, none_is_right)
            return Verdict("wrong", said, _list_facts(case, mistake), mistake.figure)
    return Verdict("right", f"agrees on all {len(cases)} inputs")


def _is_right(case: Case, outcome: Outcome, same: Same) -> bool:
    return not outcome.touched and agrees(outcome.value, case.expected, case.same or same)


def _find_mistake(case: Case, outcome: Outcome, explain: Explain, spell: Spell, none_is_right: bool) -> Mistake:
    """What is said about the outcome of a case that failed."""
    yours = ("yours gave", spell(outcome.value))
    if outcome.touched:
        return Mistake(gave=(yours, ("but", "it changed its input; work on a copy")))
    found = _explained(explain, case, outcome.value)
    because = found.because
    if isinstance(outcome.value, Failed):
        because = ""
    elif not because and not (outcome.value is None and none_is_right):
        because = say_kind(outcome.value, case.expected)
    figure = found.figure
    if figure is None and case.draw:
        figure = case.draw()
    gave = found.gave or (yours, ("expected", spell(case.expected)))
    return Mistake(because or case.why, figure, gave)


def _explained(explain: Explain, case: Case, value: Any) -> Mistake:
    """What a check says about a value; nothing about one of a kind that it does not expect."""
    try:
        found = explain(case, value)
    except Exception:
        return Mistake()
    return Mistake(found) if isinstance(found, str) else found


def _list_facts(case: Case, mistake: Mistake) -> Facts:
    """The input, what the answer gave for it, and why that is wrong."""
    arguments = ", ".join(map(show, case.arguments))
    facts = [*(case.given or [("input", arguments)]), *mistake.gave]
    if mistake.because:
        facts.append(("because", mistake.because))
    return tuple(facts)


def is_open(value: Any) -> bool:
    """Is there no answer, or does a function return nothing so far?"""
    return value is None or value is ... or (isinstance(value, Failed) and "NotImplementedError" in value.kinds)


def is_empty(answer: Any) -> bool:
    """Is an answer that is no function not begun?"""
    if isinstance(answer, str):
        return not answer.strip()
    return answer is None or answer is ... or answer == {}
