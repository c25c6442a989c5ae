"""Checks of the labs' exercises: `gv.checks.softmax(answer)` grades a student's answer."""

from functools import partial, wraps
from types import FunctionType
from typing import Any

from guidedviz.checks.verdict import Verdict
from guidedviz.lazy import attach
from guidedviz.models.reports import report

OURS = Verdict("wrong", "this is a function of the library; write your own")


def _is_ours(name: str, answer: Any = None) -> bool:
    """Is an answer a function of the library, or does it call the library's function of this name?"""
    function = answer.func if type(answer) is partial else answer
    if type(function) is not FunctionType:
        return False
    return str(function.__module__).startswith("guidedviz.") or {"gv", name} <= {*function.__code__.co_names}


def _reported(name: str, check: Any) -> Any:
    """A check that also tells the class where a student stands who gave a nickname."""

    @wraps(check)
    def graded(*given: Any, **named: Any) -> Any:
        verdict = OURS if _is_ours(name, *given[:1]) else check(*given, **named)
        report(f"check {name}", verdict.result)
        return verdict

    return graded


__getattr__, __dir__, __all__ = attach(__name__, _reported)
