"""The strings and numbers that a conjunction allows, as trees, and its constants that its constraints allow."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.schema.constraints import Conjunction, Limit, Matching, MultipleOf, Size
from guidedviz.machines.schema.document import NUMBERS, below, exact, refusal
from guidedviz.machines.schema.numbers import Bound, number_tree
from guidedviz.machines.schema.strings import ANYTHING, ONE_CHARACTER, escape, in_quotes, kind_of, overlap
from guidedviz.machines.tree import LAST, NOTHING, Chars, Repeat, Tree, either, literal

WORDS = {"string": "Length", "array": "Items", "object": "Properties"}


class NoValue(Exception):
    """No value of this kind meets a conjunction; another one, or another kind, may have some."""

    def __init__(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        super().__init__(seen)
        self.error = refusal(path, seen, expected, hint)


def take_range(row: Conjunction, kind: str) -> tuple[int, int | None]:
    """The lowest and the highest number of characters, items or properties."""
    sizes = [size for size in row.of_type(Size) if size.kind == kind]
    low = max((size.low for size in sizes), default=0)
    high = min((size.high for size in sizes if size.high is not None), default=None)
    if high is not None and low > high:
        at = next(size.path for size in sizes if size.low == low)
        least, most = f"min{WORDS[kind]}", f"max{WORDS[kind]}"
        raise NoValue(below(at, least), f"{least} {low}", f"at most {most}, which is {high}")
    return low, high


def string_tree(row: Conjunction, path: str, tick: bool) -> Tree:
    """A string; it is written without optional escapes if a pattern, a format or a constant limits it."""
    texts = string_texts(row, path, tick)
    return in_quotes(Repeat(ONE_CHARACTER, *take_range(row, "string")) if texts is None else escape(texts))


def string_texts(row: Conjunction, path: str, tick: bool = False) -> Tree | None:
    """The contents of a string before JSON escapes; None if only its length is limited.

    `tick`: a large length beside a pattern may be counted; the tree must then be a rule of its own.
    """
    low, high = take_range(row, "string")
    found = row.of_type(Matching)
    banned = [value for value in row.banned.values() if isinstance(value, str)]
    if not found and not banned:
        return None
    wanted = [each.tree for each in found if each.wanted]
    if not wanted or low:
        wanted.append(Repeat(Chars(((0, LAST),)), low, None))
    unwanted = [each.tree for each in found if not each.wanted] + ([either(*map(literal, banned))] if banned else [])
    at = found[0].path if found else path
    try:
        tree = overlap(wanted, unwanted, high, tick)
    except PatternError as error:
        raise refusal(at, error.seen, error.expected, error.hint) from error
    if tree == NOTHING:
        raise NoValue(at, "a pattern, format or length that no string meets", "some string")
    return tree


def any_length(row: Conjunction) -> Conjunction:
    """The conjunction without upper bounds of a string's length."""
    kept = (each for each in row.constraints if not (isinstance(each, Size) and each.kind == "string"))
    low = Size("string", take_range(row, "string")[0], None, row.path)
    return replace(row, constraints=(*kept, low))


def number_texts(row: Conjunction, path: str) -> Tree:
    """A number between its bounds."""
    whole = "fraction" not in row.kinds
    steps = [(each.step, each.wanted) for each in row.of_type(MultipleOf)]
    steps += [] if "integer" in row.kinds else [(Decimal(1), False)]
    banned = [exact(value, path) for value in row.banned.values() if kind_of(value) in NUMBERS]
    low, high = (tightest(row, lower) for lower in (True, False))
    try:
        tree = number_tree(low, high, whole, steps, banned)
    except PatternError as error:
        at = next((below(each.path, "multipleOf") for each in row.of_type(MultipleOf)), path)
        raise refusal(at, error.seen, error.expected) from error
    if tree == NOTHING:
        at = next((each.path for each in row.of_type(Limit)), path)
        kind = "integer" if whole else "number"
        raise NoValue(at, f"bounds with no {kind} between them", "a minimum not above the maximum")
    return tree


def tightest(row: Conjunction, lower: bool) -> Bound | None:
    """The tightest bound on one side; the strict one if two are equal."""
    bounds = [each.bound for each in row.of_type(Limit) if each.lower == lower]
    return max(bounds, key=lambda bound: (bound.value if lower else -bound.value, bound.strict), default=None)


def allowed_values(row: Conjunction) -> list[Any]:
    """The values of a conjunction, without strings and numbers that its constraints do not allow."""
    values = list((row.values or {}).values())
    if row.asks("string") and any(isinstance(value, str) for value in values):
        values = allowed_strings(values, row)
    if row.asks("number"):
        values = [value for value in values if kind_of(value) not in NUMBERS or fits_number(exact(value, "#"), row)]
    return values


def allowed_strings(values: list[Any], row: Conjunction) -> list[Any]:
    """The values without strings that the lengths and patterns do not allow."""
    try:
        low, high = take_range(row, "string")
    except NoValue:
        return [value for value in values if not isinstance(value, str)]
    most = float("inf") if high is None else high
    for found in row.of_type(Matching):
        machine = found.machine
        values = [v for v in values if not isinstance(v, str) or machine.accepts(v.encode()) == found.wanted]
    return [value for value in values if not isinstance(value, str) or low <= len(value) <= most]


def fits_number(value: Decimal, row: Conjunction) -> bool:
    """Whether a number lies between the bounds and is a multiple of the steps."""
    for limit in row.of_type(Limit):
        low, high = (limit.bound.value, value) if limit.lower else (value, limit.bound.value)
        if low > high or (low == high and limit.bound.strict):
            return False
    for found in row.of_type(MultipleOf):
        top, bottom = value.as_integer_ratio()
        size, parts = found.step.as_integer_ratio()
        if (top * parts % (bottom * size) == 0) != found.wanted:
            return False
    return True


def key_texts(rows: list[Conjunction], path: str) -> Tree | None:
    """The strings that one of these conjunctions allows, before JSON escapes; None if all strings."""
    trees: list[Tree] = []
    for row in (row for row in rows if "string" in row.kinds):
        if row.values is not None:
            trees += [literal(value) for value in allowed_values(row) if isinstance(value, str)]
            continue
        try:
            texts, (low, high) = string_texts(row, path), take_range(row, "string")
        except NoValue:
            continue
        if texts is None and (low, high) == (0, None):
            return None
        trees.append(Repeat(ANYTHING.part, low, high) if texts is None else texts)
    return either(*trees)
