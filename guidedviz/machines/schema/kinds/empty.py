"""What shows that a case allows no value of a kind, and the counts of a case."""

from __future__ import annotations

from guidedviz.errors import PatternError
from guidedviz.machines.schema.document.paths import below
from guidedviz.machines.schema.logic.cases import Case
from guidedviz.machines.schema.logic.facts import Count

WORDS = {"string": "Length", "array": "Items", "object": "Properties"}


class Empty(Exception):
    """No value of this kind meets a case; another case, or another kind, may have some."""

    def __init__(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        super().__init__(seen)
        self.error = PatternError(f"schema, {path}", seen=seen, expected=expected, hint=hint)


def take_range(case: Case, kind: str) -> tuple[int, int | None]:
    """The lowest and the highest count of characters, items or properties."""
    counts = [fact for fact in case.facts(Count) if fact.kind == kind]
    low = max((fact.low for fact in counts), default=0)
    high = min((fact.high for fact in counts if fact.high is not None), default=None)
    if high is not None and low > high:
        at = next(fact.path for fact in counts if fact.low == low)
        least, most = f"min{WORDS[kind]}", f"max{WORDS[kind]}"
        raise Empty(below(at, least), f"{least} {low}", f"at most {most}, which is {high}")
    return low, high
