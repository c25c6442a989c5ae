"""Reads the JSON text of a schema, finds its parts by path, and makes errors that name the path."""

from __future__ import annotations

import json
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from guidedviz.errors import PatternError, shorten
from guidedviz.machines.visible import visible

Located = tuple[Any, str]  # a part of a schema and its path
LONGEST_STEP = 80  # characters of a key in a path
MOST_DIGITS, MOST_ZEROS = 100, 400  # of a number; the largest float has 17 digits and 292 zeros


def refusal(path: str, seen: str, expected: str, hint: str = "") -> PatternError:
    """An error about the part of the schema at this path."""
    return PatternError(f"schema, {path}", seen=seen, expected=expected, hint=hint)


def below(path: str, key: str | int) -> str:
    r"""The path of a part; the key is escaped as in a JSON pointer (RFC 6901).

    >>> below("#/properties", "a/b\n")
    '#/properties/a~1b↵'
    """
    return f"{path}/{key if isinstance(key, int) else step(key)}"


def step(key: str) -> str:
    """One step of a path; a long key is cut."""
    name = shorten(key, LONGEST_STEP).replace("~", "~0").replace("/", "~1")
    return name if name.isascii() and name.isalnum() else visible(name.encode(errors="surrogatepass"))


def shown(value: Any) -> str:
    """A value for an error message: short, on one line."""
    try:
        text = visible(repr(value).encode(errors="surrogatepass"))
    except ValueError:  # an integer with thousands of digits
        text = type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def nearest(name: str, known: Any, cutoff: float = 0.6) -> str:
    """A hint that names the closest known name; "" for a long name or among many names, which would take long."""
    names = sorted(known) if len(name) <= 60 else []
    close = get_close_matches(name, names, 1, cutoff) if len(names) <= 5000 else []
    return f'"{close[0]}"' if close else ""


def load_schema(schema: Any) -> Any:
    """The schema from JSON text, with exact numbers, or from a Pydantic model; a dict is returned unchanged."""
    if hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    if not isinstance(schema, str):
        return schema
    try:
        return json.loads(schema, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_twins)
    except json.JSONDecodeError as error:
        where = f"schema, line {error.lineno}, column {error.colno}"
        raise PatternError(where, seen=error.msg, expected="JSON") from error
    except ValueError as error:  # an integer with thousands of digits
        if isinstance(error, PatternError):
            raise
        raise PatternError("schema", seen=str(error), expected="JSON") from error


def _no_constant(name: str) -> Any:
    raise PatternError("schema", seen=name, expected="JSON, which has no such number")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twin = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise PatternError("schema", seen=f"the key {shown(twin)} twice in one object", expected="each key once")
    return found


def take_number(schema: dict[str, Any], key: str, path: str) -> Decimal | None:
    """The exact number of a keyword; None if the keyword is missing."""
    return exact(schema[key], below(path, key)) if key in schema else None


def exact(value: Any, path: str) -> Decimal:
    """The exact value of a number: 0.1 is 1/10.

    >>> exact(0.1, "#"), exact(10**20, "#")
    (Decimal('0.1'), Decimal('100000000000000000000'))
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise refusal(path, shown(value), "a number")
    if isinstance(value, int) and value.bit_length() > 4 * (MOST_DIGITS + MOST_ZEROS):
        raise refusal(path, "a longer number", f"one of at most {MOST_DIGITS} digits and {MOST_ZEROS} zeros")
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise refusal(path, shown(value), "a number that JSON can write")
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(digits) > MOST_DIGITS or abs(number.adjusted()) > MOST_ZEROS:
        raise refusal(path, "a longer number", f"one of at most {MOST_DIGITS} digits and {MOST_ZEROS} zeros")
    return number


def take_count(schema: dict[str, Any], key: str, path: str) -> int | None:
    """The count of a keyword such as minLength; 2.0 is accepted."""
    number = take_number(schema, key, path)
    if number is not None and (number < 0 or number != int(number)):
        raise refusal(below(path, key), shown(schema[key]), "an integer from 0 on")
    return None if number is None else int(number)


def check_key(key: Any, path: str) -> None:
    """Raise an error if this key is not a JSON string."""
    if not isinstance(key, str):
        raise refusal(path, f"the key {shown(key)}", "keys that are strings")
    check_value(key, below(path, key))


def check_value(value: Any, path: str) -> None:
    """Raise an error if this value cannot be written as JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            check_key(key, path)
            check_value(item, below(path, key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            check_value(item, below(path, place))
    elif isinstance(value, str):
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise refusal(path, shown(value), "text without lone surrogates")
    elif isinstance(value, int | float | Decimal):
        exact(int(value) if isinstance(value, bool) else value, path)
    elif value is not None:
        raise refusal(path, shown(value), "a value that JSON can write")
