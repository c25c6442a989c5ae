"""Checks of the labs' exercises: `gv.checks.softmax(answer)` grades a student's answer."""

from functools import wraps
from typing import Any

from guidedviz.lazy import attach
from guidedviz.models.remote import report


def _reported(name: str, check: Any) -> Any:
    """A check that also tells the class where a student stands who gave a nickname."""

    @wraps(check)
    def graded(*given: Any, **named: Any) -> Any:
        verdict = check(*given, **named)
        report(f"check {name}", verdict.result)
        return verdict

    return graded


__getattr__, __dir__, __all__ = attach(__name__, _reported)
