"""A small compiler from JSON Schema to a regex, and the regex of the numbers up to a bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function, say_kind
from guidedviz.checks.same_language import check_machine
from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import schema_regex


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


WHOLE, TRUTH, TEXT = {"type": "integer"}, {"type": "boolean"}, {"type": "string"}
TRIALS: tuple[tuple[dict[str, Any], str], ...] = (
    (WHOLE, "the regex of a type without parts stands in LEAVES"),
    ({"enum": ["red", "green"]}, "each value is written as json.dumps writes it, and | stands between them"),
    ({"enum": ["C++", "a.b"]}, "+ and . are special in a regex: re.escape"),
    ({"enum": [1, None, True]}, "the values of an enum need not be strings: json.dumps writes each of them"),
    (_object(ok=TEXT), 'an object is { and " and the key and ": " and the value and }'),
    (_object(a=WHOLE, b=WHOLE), '", " stands between two members'),
    (_object(ok=TRUTH), "true|false needs parentheses inside a longer regex"),
    (_object(color={"enum": ["red", "green"]}, n=WHOLE), "the | of an enum needs parentheses inside a longer regex"),
    (_object(**{"a.b": WHOLE}), "a key may have characters that are special in a regex: re.escape"),
    (_object(id=WHOLE, at=_object(city=TEXT, ok=TRUTH)), "a value may be an object: the function calls itself"),
    ({"type": "object", "properties": {}}, "an object without keys is {}"),
)


def check_schema_to_regex(answer: Callable[[Mapping[str, Any]], str]) -> Verdict:
    """Does `answer(schema)` write a regex for fixed keys, enums and simple types, spelled as by json.dumps?

    >>> leaves = {kind: schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}
    >>> check_schema_to_regex(lambda schema: leaves[schema["type"]]).facts[0]
    ('input', "{'enum': ['red', 'green']}")
    """
    cases = [Case((schema,), schema_regex(schema, whitespace="one"), why) for schema, why in TRIALS]
    return check_function(answer, cases, same_texts, _explain)


def check_at_most(answer: Callable[[int], str]) -> Verdict:
    """Does `answer(n)` write a regex for the whole numbers from 0 to n, short for large n too?

    >>> check_at_most(lambda n: f"[0-{n}]")
    ✗ not yet right: on input 3 of 12, the smallest on which it fails
        input       10
        yours gave  '[0-10]'
        text        2
        yours       refuses it
        expected    accepts it
        its path    q0 ✕ 2
        because     no transition leaves q0 with 2
    """
    numbers = (0, 7, 10, 9, 42, 60, 99, 100, 120, 999, 2026, 2**31 - 1)
    why = {numbers[-1]: "the regex may grow with the digits of n, but not with n: a list of all numbers is too long"}
    bounds = [{"type": "integer", "minimum": 0, "maximum": n} for n in numbers]
    cases = [Case((n,), schema_regex(each), why.get(n, "")) for n, each in zip(numbers, bounds, strict=True)]
    return check_function(answer, cases, same_texts, _explain)


def same_texts(value: Any, expected: str) -> bool:
    """Do two regexes accept the same texts?"""
    return isinstance(value, str) and regex(value) == regex(expected)


def _explain(case: Case, value: Any) -> Mistake:
    """The shortest text on which a regex is wrong, with its path."""
    if kind := say_kind(value, case.expected):
        return Mistake(kind)
    found = check_machine(value, regex(case.expected), _read)
    facts = dict(found.facts)
    because = " · ".join(filter(None, (facts.pop("because", found.said), case.why)))
    facts.pop("yours is", None)
    return Mistake(because, found.figure, (("yours gave", show(value)), *facts.items()))


def _read(text: Any) -> DFA:
    try:
        return regex(text)
    except RecursionError as error:
        raise PatternError("regex", seen="too many parts inside each other", expected="a flatter regex") from error
