"""What shows that a case allows no value of a kind, and the counts of a case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.schema.constraints import Case, Count, Fact, Limit, Step, Text
from guidedviz.machines.schema.document import below, exact, refusal
from guidedviz.machines.schema.numbers import Bound, number_tree
from guidedviz.machines.schema.strings import ONE_CHARACTER, escape, in_quotes, overlap
from guidedviz.machines.tree import LAST, NOTHING, Chars, Repeat, Tree, either, literal

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


# --- Trees for the strings and numbers that a case allows.


def string_tree(case: Case, path: str, tick: bool) -> Tree:
    """A string; it is written without optional escapes if a pattern, a format or a constant limits it."""
    texts = string_texts(case, path, tick)
    return in_quotes(Repeat(ONE_CHARACTER, *take_range(case, "string")) if texts is None else escape(texts))


def any_length(case: Case) -> Case:
    """The case without upper bounds of a string's length."""

    def free(fact: Fact) -> Fact:
        return replace(fact, high=None) if isinstance(fact, Count) and fact.kind == "string" else fact

    return replace(case, atoms=tuple(replace(atom, facts=tuple(map(free, atom.facts))) for atom in case.atoms))


def string_texts(case: Case, path: str, tick: bool = False) -> Tree | None:
    """The contents of a string before JSON escapes; None if only its length is limited.

    `tick`: a large length beside a pattern may be counted; the tree must then be a rule of its own.
    """
    low, high = take_range(case, "string")
    facts = case.facts(Text)
    banned = [literal(value) for value in case.banned.values() if isinstance(value, str)]
    if not facts and not banned:
        return None
    wanted = [fact.tree for fact in facts if fact.wanted]
    if not wanted or low:
        wanted.append(Repeat(Chars(((0, LAST),)), low, None))
    at = facts[0].path if facts else path
    unwanted = [fact.tree for fact in facts if not fact.wanted]
    tree = combine(wanted, [*unwanted, either(*banned)] if banned else unwanted, at, high, tick)
    if tree == NOTHING:
        raise Empty(at, "a pattern, format or length that no string meets", "some string")
    return tree


def combine(wanted: list[Tree], banned: Iterable[Tree], path: str, high: int | None = None, tick: bool = False) -> Tree:
    """The texts of all wanted trees and of no banned one, of at most `high` characters; errors name the path."""
    try:
        return overlap(wanted, banned, high, tick)
    except PatternError as error:
        raise refusal(path, error.seen, error.expected, error.hint) from error


def number_texts(case: Case, path: str, kinds: frozenset[str]) -> Tree:
    """A number between its bounds; `kinds` says whether integers, fractions or both."""
    whole = "fraction" not in kinds
    steps = [(fact.step, fact.wanted) for fact in case.facts(Step)]
    steps += [(Decimal(1), False)] if "integer" not in kinds else []
    banned = [exact(value, path) for value in case.banned.values() if is_number(value)]
    low, high = (tightest(case, lower) for lower in (True, False))
    try:
        tree = number_tree(low, high, whole, steps, banned)
    except PatternError as error:
        at = below(case.facts(Step)[0].path, "multipleOf") if case.facts(Step) else path
        raise refusal(at, error.seen, error.expected) from error
    if tree == NOTHING:
        limits = case.facts(Limit)
        kind = "integer" if whole else "number"
        at = limits[0].path if limits else path
        raise Empty(at, f"bounds with no {kind} between them", "a minimum not above the maximum")
    return tree


def tightest(case: Case, lower: bool) -> Bound | None:
    """The tightest bound on one side; the strict one if two are equal."""
    bounds = [fact.bound for fact in case.facts(Limit) if fact.lower == lower]
    return max(bounds, key=lambda bound: (bound.value if lower else -bound.value, bound.strict), default=None)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def fitting_scalars(case: Case, path: str) -> list[Any]:
    """The strings and numbers among a case's values that its other keywords allow."""
    values = list((case.values or {}).values())
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if is_number(value)]
    kept: list[Any] = []
    if texts and case.asks("string"):
        texts = fitting_texts(texts, case, path)
    if numbers and case.asks("number"):
        numbers = [value for value in numbers if fits_number(exact(value, path), case)]
    kept_keys = {id(value) for value in (*texts, *numbers)}
    kept = [value for value in values if id(value) in kept_keys or not (isinstance(value, str) or is_number(value))]
    return kept


def fitting_texts(values: list[str], case: Case, path: str) -> list[str]:
    """The strings that the lengths and patterns of a case allow."""
    low, high = take_range(case, "string")
    values = [value for value in values if low <= len(value) and (high is None or len(value) <= high)]
    for fact in case.facts(Text):
        machine = build_dfa(build_nfa(fact.tree))
        values = [value for value in values if machine.accepts(value.encode()) == fact.wanted]
    return values


def fits_number(value: Decimal, case: Case) -> bool:
    """Whether a number lies between the bounds and is a multiple of the steps."""
    for fact in case.facts(Limit):
        low, high = (fact.bound.value, value) if fact.lower else (value, fact.bound.value)
        if low > high or (low == high and fact.bound.strict):
            return False
    for step in case.facts(Step):
        top, bottom = value.as_integer_ratio()
        size, parts = step.step.as_integer_ratio()
        if (top * parts % (bottom * size) == 0) != step.wanted:
            return False
    return True
