"""A schema as it was given: its text read strictly, its parts found by path, and errors that name the path."""

from __future__ import annotations

import json
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote

from guidedviz.errors import PatternError
from guidedviz.machines.visible import visible

MOST_DIGITS, MOST_ZEROS = 100, 400  # of a number; the largest float has 17 digits and 292 zeros


def refusal(path: str, seen: str, expected: str, hint: str = "") -> PatternError:
    """An error about the part of a schema at this path."""
    return PatternError(f"schema, {path}", seen=seen, expected=expected, hint=hint)


def below(path: str, key: str | int) -> str:
    r"""The path of a part; a key is escaped as in a JSON pointer (RFC 6901) and made visible.

    >>> below("#/properties", "a/b\n")
    '#/properties/a~1b↵'
    """
    name = str(key).replace("~", "~0").replace("/", "~1")
    return f"{path}/{visible(name.encode(errors='surrogatepass'))}"


def shown(value: Any) -> str:
    """A value in an error: short, on one line."""
    try:
        text = visible(repr(value).encode(errors="surrogatepass"))
    except ValueError:  # an integer of thousands of digits
        text = type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def nearest(name: str, known: Any) -> str:
    """A hint to the name that was probably meant."""
    close = get_close_matches(name, sorted(known), 1)
    return f'"{close[0]}"' if close else ""


def load_schema(schema: Any) -> Any:
    """The schema of a text, numbers exact; a dict comes back as it is."""
    if not isinstance(schema, str):
        return schema
    try:
        return json.loads(schema, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_twins)
    except json.JSONDecodeError as error:
        where = f"schema, line {error.lineno}, column {error.colno}"
        raise PatternError(where, seen=error.msg, expected="JSON") from error
    except ValueError as error:  # an integer of thousands of digits
        if isinstance(error, PatternError):
            raise
        raise PatternError("schema", seen=str(error), expected="JSON") from error


def _no_constant(name: str) -> Any:
    raise PatternError("schema", seen=name, expected="JSON, which has no such number")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise PatternError("schema", seen=f"the key {shown(twin)} twice in one object", expected="each key once")
    return found


def find_part(root: Any, ref: Any, path: str) -> tuple[Any, str]:
    """The part that a local $ref points to, and its path.

    >>> find_part({"$defs": {"a/b": {"type": "null"}}}, "#/$defs/a~1b", "#/items/$ref")
    ({'type': 'null'}, '#/$defs/a~1b')
    """
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        raise refusal(path, shown(ref), "a path into this schema, such as #/$defs/name")
    part, found = root, "#"
    for step in ref.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(part, dict) and key in part:
            part = part[key]
        elif isinstance(part, list) and key in map(str, range(len(part))):
            part = part[int(key)]
        else:
            near = nearest(key, filter(_is_text, part)) if isinstance(part, dict) else ""
            raise refusal(path, shown(ref), f"a path that exists; {found} has no {shown(key)}", near)
        found = below(found, key)
    return part, found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def take_number(schema: dict[str, Any], key: str, path: str) -> Decimal | None:
    """The number of a keyword, exactly; None where the keyword is missing."""
    return exact(schema[key], below(path, key)) if key in schema else None


def exact(value: Any, path: str) -> Decimal:
    """A number as it was written: 0.1 is a tenth.

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
    """The count of a keyword such as minLength; 2.0 is a count too."""
    number = take_number(schema, key, path)
    if number is not None and (number < 0 or number != int(number)):
        raise refusal(below(path, key), shown(schema[key]), "an integer from 0 on")
    return None if number is None else int(number)


def take_counts(schema: dict[str, Any], least: str, most: str, path: str) -> tuple[int, int | None]:
    """Two counts, the first of them not above the second."""
    low, high = take_count(schema, least, path) or 0, take_count(schema, most, path)
    if high is not None and low > high:
        raise refusal(below(path, least), f"{least} {low}", f"at most {most}, which is {high}")
    return low, high


def check_key(key: Any, path: str) -> None:
    """Is this a key that JSON can write?"""
    if not isinstance(key, str):
        raise refusal(path, f"the key {shown(key)}", "keys that are strings")
    check_value(key, below(path, key))


def check_value(value: Any, path: str) -> None:
    """Is this a value that JSON can write?"""
    if isinstance(value, dict):
        for key, item in value.items():
            check_key(key, path)
            check_value(item, below(path, key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            check_value(item, below(path, place))
    elif isinstance(value, str):
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise refusal(path, shown(value), "text; half of a pair of surrogates is none")
    elif isinstance(value, int | float | Decimal):
        exact(int(value) if isinstance(value, bool) else value, path)
    elif value is not None:
        raise refusal(path, shown(value), "a value that JSON can write")
