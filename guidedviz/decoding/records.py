"""Records as JSON files: frozen dataclasses, written and read by the annotations of their fields.

Bytes are kept as Latin-1 text, so that a person can read the file. A damaged file is a TraceError that names the field.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from secrets import token_hex
from types import NoneType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from guidedviz.errors import SettingError, TraceError, quoted
from guidedviz.files import parse_json, read_bounded

MOST = 2**128 - 1  # no number of a record is larger
MOST_FILE = 64 << 20  # bytes
MOST_VALUES = 2_000_000  # numbers, texts and lists of a file
NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")
Record = TypeVar("Record", bound=Any)  # a frozen dataclass with a `source`


@dataclass(frozen=True)
class Between:
    """The range of a number in an annotation; both ends are included."""

    low: float = -MOST
    high: float = MOST


Share = Annotated[float, Between(0, 1)]
Count = Annotated[int, Between(0)]
Milliseconds = Annotated[float, Between(0)]


def save_record(record: Any, path: str | Path, indent: int | None = None) -> None:
    """Write a record as JSON. The file is complete or, after an error, what it was before."""
    target = check_path(path)
    data = {_key(type(record)): _version(type(record)), **dict(_kept(record))}
    text = json.dumps(data, indent=indent, ensure_ascii=False, default=_to_json) + "\n"
    write_whole(target, text.encode("utf-8", "backslashreplace"))  # JSON escapes a lone surrogate in the same way


def write_whole(path: Path, data: bytes) -> None:
    """Write a file; after an error it is what it was before."""
    target = path.resolve()
    beside = target.with_name(f"{target.name}.{token_hex(4)}")
    try:
        beside.write_bytes(data)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def as_json(value: Any) -> str:
    """A record, or records in lists and dictionaries, as JSON without spaces and in ASCII.

    >>> print(as_json({"piece": b"a", "at": (1, 2)}))
    {"piece":"a","at":[1,2]}
    """
    return json.dumps(value, separators=(",", ":"), default=_to_json)


def _kept(record: Any) -> list[tuple[str, Any]]:
    """The fields of a record that a file keeps."""
    return [(field.name, getattr(record, field.name)) for field in _fields(type(record))]


def _fields(kind: Any) -> list[Any]:
    return [field for field in fields(kind) if field.metadata.get("kept", True)]


def _version(kind: type[Any]) -> int:
    """The version of a record's files."""
    return int(getattr(kind, "version", 1))


def _to_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if is_dataclass(value):
        return dict(_kept(value))
    if isinstance(value, np.generic):
        return value.item()
    raise SettingError("record", seen=quoted(value), expected="a text, a number or bytes")


def load_record(
    kind: type[Record], path: str | Path, hint: str, check: Callable[[Record], None] = lambda record: None
) -> Record:
    """Read a file that `save_record` wrote; the record is marked RECORDED unless it is a TOY.

    `check` raises an error where fields do not fit each other.
    """
    file = check_path(path)
    where, saved_by = f"{kind.__name__.lower()} file {quoted(str(path))}", f"a file that {kind.__name__}.save wrote"
    try:
        data = parse_json(read_bounded(file, MOST_FILE), MOST_VALUES)
    except OSError as error:
        raise TraceError(where, seen=error.strerror or str(error), expected=saved_by, hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise TraceError(where, seen=f"no JSON ({str(error)[:80]})", expected=saved_by, hint=hint) from None
    version = data.pop(_key(kind), None) if isinstance(data, dict) else None
    newest = _version(kind)
    if type(version) is not int or not 1 <= version <= newest:
        expected = f"version {' or '.join(map(str, range(1, newest + 1)))}"
        raise TraceError(where, seen=f"version {quoted(version)}", expected=expected, hint=hint)
    try:
        record: Record = read_value(kind, data)
        record = record if record.source == "TOY" else replace(record, source="RECORDED")
        check(record)
    except TraceError as error:
        older = f"version {version} of these files saved it: record it again" if version < newest else ""
        raise TraceError(f"{where}, {error.where}", seen=error.seen, expected=error.expected, hint=older) from None
    return record


def check_path(path: object) -> Path:
    """Refuse what is not the path of a file."""
    if not isinstance(path, str | os.PathLike):
        raise SettingError("path", seen=quoted(path), expected="the path of a file")
    return Path(path)


def _key(kind: type[Any]) -> str:
    return f"guidedviz_{kind.__name__.lower()}"


def read_value(kind: Any, value: Any, where: str = "record") -> Any:
    """A value from JSON as an annotation describes it; an error names the field.

    An annotation may hold a function, which then checks the value.

    >>> read_value(tuple[Count, ...], [1, 2]), read_value(bytes, "\\xff")
    ((1, 2), b'\\xff')
    >>> read_value(Share, 1.5, "steps[0].raw")
    Traceback (most recent call last):
    guidedviz.errors.TraceError: steps[0].raw: saw 1.5, expected a number from 0 to 1
    """
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind) or is_typeddict(kind):
        return _read_fields(kind, value, where)
    if origin is tuple:
        return _read_items(inner, value, where)
    if isinstance(kind, type) and issubclass(kind, tuple):
        return kind(*_read_items(tuple(_hints(kind).values()), value, where))
    if origin is dict:
        return _read_entries(inner, value, where)
    if kind is NoneType or NoneType in inner:
        _check(where, value, value is None or kind is not NoneType, "null")
        return None if value is None else read_value(inner[0], value, where)
    if origin is Annotated and callable(inner[1]):
        inner[1](value, where)
        return value
    if origin is Literal:
        _check(where, value, value in inner, " or ".join(map(repr, inner)))
        return value
    if kind is bytes:
        _check(where, value, isinstance(value, str) and all(char <= "\xff" for char in value), "bytes as Latin-1 text")
        return value.encode("latin-1")
    if kind is str or kind is bool:
        _check(where, value, isinstance(value, kind), "a text" if kind is str else "true or false")
        return value
    kind, limits = inner if origin is Annotated else (kind, Between())
    return _read_number(kind, limits, value, where)


def _read_fields(kind: Any, data: Any, where: str) -> Any:
    _check(where, data, isinstance(data, dict), f"the fields of a {kind.__name__}")
    hints, prefix, known = _hints(kind), "" if where == "record" else f"{where}.", {}
    for name, needed in _names(kind).items():
        if name in data:
            known[name] = read_value(hints[name], data[name], prefix + name)
        elif needed:
            raise TraceError(prefix + name, seen="nothing", expected=f"all fields of a {kind.__name__}")
    if strange := set(data) - set(known):
        raise TraceError(prefix + quoted(min(strange)), seen="an unknown field", expected=" or ".join(hints))
    return kind(**known)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: get_args(hint)[0] if get_origin(hint) is NotRequired else hint for name, hint in hints.items()}


@cache
def _names(kind: Any) -> dict[str, bool]:
    """The fields, and whether each must be there."""
    if is_typeddict(kind):
        return {name: name in kind.__required_keys__ for name in _hints(kind)}
    return {field.name: field.default is MISSING for field in _fields(kind)}


def _read_entries(kinds: tuple[Any, ...], data: Any, where: str) -> dict[Any, Any]:
    """A dictionary whose keys are whole numbers, which JSON writes as texts."""
    _check(where, data, isinstance(data, dict) and all(NUMBER.fullmatch(key) for key in data), "numbers and values")
    return {int(key): read_value(kinds[1], item, f"{where}.{key}") for key, item in data.items()}


def _read_items(kinds: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    any_length = kinds[-1] is Ellipsis
    fits = isinstance(data, list) and (any_length or len(data) == len(kinds))
    _check(where, data, fits, "a list" if any_length else f"a list of {len(kinds)}")
    kinds = kinds[:1] * len(data) if any_length else kinds
    return tuple(
        read_value(kind, item, f"{where}[{at}]") for at, (kind, item) in enumerate(zip(kinds, data, strict=True))
    )


def _read_number(kind: type, limits: Between, value: Any, where: str) -> Any:
    numbers = (int,) if kind is int else (int, float)
    good = type(value) in numbers and limits.low <= value <= limits.high * (1 + 1e-9)  # sums are rounded
    expected = f"a {'whole ' * (kind is int)}number" + f" from {limits.low:g}" * (limits.low > -MOST)
    _check(where, value, good, expected + f" to {limits.high:g}" * (limits.high < MOST))
    return value


def _check(where: str, seen: Any, good: bool, expected: str) -> None:
    if not good:
        raise TraceError(where, seen=quoted(seen), expected=expected)
