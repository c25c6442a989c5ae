"""JSON values: their kinds, exact numbers, and a form in which equal values are equal."""

import json
from decimal import Decimal
from typing import Any

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.schema.places import below, refusal

KINDS = ("object", "array", "string", "integer", "fraction", "true", "false", "null")
TYPES = {kind: {kind} for kind in ("object", "array", "string", "integer", "null")}
TYPES |= {"number": {"integer", "fraction"}, "boolean": {"true", "false"}}
ANY = frozenset(KINDS)
NUMBERS = frozenset(TYPES["number"])

MOST_DIGITS, MOST_ZEROS = 100, 400  # of a number; the largest float has 17 digits and 292 zeros


def load_schema(schema: Any) -> Any:
    """The schema from JSON text, with exact numbers, or from a Pydantic model; a dict is returned unchanged."""
    if hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    if not isinstance(schema, str):
        return schema
    try:
        return json.loads(schema, parse_float=Decimal)
    except ValueError as error:
        raise PatternError("schema", seen=str(error), expected="JSON") from error


def exact(value: Any, path: str) -> Decimal:
    """The exact value of a number: 0.1 is 1/10.

    >>> exact(0.1, "#"), exact(10**20, "#")
    (Decimal('0.1'), Decimal('100000000000000000000'))
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise refusal(path, quoted(value), "a number")
    too_long = refusal(path, "a longer number", f"one of at most {MOST_DIGITS} digits and {MOST_ZEROS} zeros")
    if isinstance(value, int) and value.bit_length() > 4 * (MOST_DIGITS + MOST_ZEROS):
        raise too_long
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise refusal(path, quoted(value), "a number that JSON can write")
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(digits) > MOST_DIGITS or abs(number.adjusted()) > MOST_ZEROS:
        raise too_long
    return number


def take_text(value: Any, path: str) -> str:
    """A key or another text."""
    if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
        raise refusal(path, quoted(value), "text without lone surrogates" if isinstance(value, str) else "a text")
    return value


def take_names(names: Any, path: str) -> tuple[str, ...]:
    """A list of keys."""
    if not isinstance(names, list | tuple):
        raise refusal(path, quoted(names), "a list of names")
    return tuple(take_text(name, path) for name in names)


def canon(value: Any, path: str) -> Any:
    """A hashable form of a JSON value that is equal for equal values: 1 and 1.0, but not true.

    >>> canon([1, {"a": True}], "#") == canon([1.0, {"a": True}], "#"), canon(1, "#") == canon(True, "#")
    (True, False)
    """
    if isinstance(value, dict):
        return "object", frozenset((take_text(key, path), canon(item, below(path, key))) for key, item in value.items())
    if isinstance(value, list | tuple):
        return "array", tuple(canon(item, below(path, place)) for place, item in enumerate(value))
    if isinstance(value, bool | None):
        return "constant", value
    return ("string", take_text(value, path)) if isinstance(value, str) else ("number", exact(value, path))


def kind_of(value: Any) -> str:
    """The kind of a JSON value; 1.0 is an integer.

    >>> kind_of(1.0), kind_of(0.5), kind_of(True), kind_of("a")
    ('integer', 'fraction', 'true', 'string')
    """
    if isinstance(value, bool | None):
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float | Decimal):
        return "integer" if value == int(value) else "fraction"
    kinds: dict[type, str] = {dict: "object", list: "array", tuple: "array", str: "string"}
    return kinds.get(type(value), "integer")


def plain_text(value: Any) -> str:
    """A scalar in one spelling: no optional escapes, numbers without an exponent.

    >>> plain_text("é"), plain_text(1.0), plain_text(1e-7)
    ('"é"', '1', '0.0000001')
    """
    if kind_of(value) == "integer":
        return str(int(value))
    if kind_of(value) == "fraction":
        return format(Decimal(str(value)), "f")
    return json.dumps(value, ensure_ascii=False)
