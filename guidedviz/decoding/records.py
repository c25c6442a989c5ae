"""Records as JSON files: frozen dataclasses, written, read and checked by the annotations of their fields.

The annotations of a frozen dataclass, or of a TypedDict, are the only description of its form: how a value is read from
JSON, and the range of a number. Bytes are kept as Latin-1 text, so that a person can read the file. A damaged file is a
TraceError that names the field.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import repeat
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from guidedviz.errors import GuidedVizError, SettingError, TraceError, quoted
from guidedviz.files import parse_json, read_bounded, write_whole

LARGEST_NUMBER = 2**128 - 1  # no number of a record is larger
NUMERAL = re.compile(r"0|-?[1-9][0-9]{0,14}")


@dataclass(frozen=True)
class Between:
    """The range of a number in an annotation; both ends are included."""

    low: float = -LARGEST_NUMBER
    high: float = LARGEST_NUMBER


@dataclass(frozen=True)
class AtMost:
    """The most characters of a text, or entries of a list, in an annotation; and the fewest."""

    count: int
    least: int = 0


MOST_CHARACTERS = 1 << 20  # characters of a prompt, and of what is said of a run
MOST_LIST = 4096  # entries of a list that a step has; the page draws them all
LongText = Annotated[str, AtMost(MOST_CHARACTERS)]
Share = Annotated[float, Between(0, 1)]
Count = Annotated[int, Between(0)]
AtLeastOne = Annotated[int, Between(1)]
AtLeastZero = Annotated[float, Between(0)]
Milliseconds = AtLeastZero


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The annotations of the fields of a record."""
    hints = get_type_hints(kind, include_extras=True)
    for name, hint in hints.items():
        if get_origin(hint) is NotRequired:
            hints[name] = get_args(hint)[0]
    return hints


@cache
def kept_fields(kind: Any) -> dict[str, bool]:
    """The fields that a file keeps, and whether each must be there."""
    if is_typeddict(kind):
        return {name: name in kind.__required_keys__ for name in hints_of(kind)}
    kept = [field for field in fields(kind) if field.metadata.get("kept", True)]
    return {field.name: field.default is MISSING for field in kept}


def check_number(kind: Any, value: Any, where: str, error: type[GuidedVizError] = SettingError) -> Any:
    """A number of Python or NumPy, in the range of its annotation, as Python's own; a whole one if it is an `int`.

    >>> check_number(Share, np.float32(0.5), "top_p")
    0.5
    >>> check_number(Count, -1, "seed")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: seed: saw -1, expected a whole number from 0
    """
    limits = Between()
    if get_origin(kind) is Annotated:
        kind, limits = get_args(kind)
    numbers: Any = int | np.integer
    most = limits.high
    if kind is not int:
        numbers = int | float | np.integer | np.floating
        most *= 1 + 1e-9  # sums are rounded
    fits = isinstance(value, numbers) and limits.low <= value <= most
    if not fits or isinstance(value, bool):
        raise error(where, seen=quoted(value), expected=_range_in_words(kind, limits))
    return value.item() if isinstance(value, np.generic) else value


def _range_in_words(kind: Any, limits: Between) -> str:
    said = "a whole number" if kind is int else "a number"
    if limits.low > -LARGEST_NUMBER:
        said += f" from {limits.low:,g}"
    if limits.high < LARGEST_NUMBER:
        said += f" to {limits.high:,g}"
    return said


def check_fields(record: Any, where: str = "") -> None:
    """Check the texts, choices and numbers of a new record; numbers of NumPy become Python's own."""
    for name, kind in hints_of(record.__class__).items():
        if get_origin(kind) in (Annotated, Literal) or kind is str:
            try:
                value = read_value(kind, getattr(record, name), where + name)
            except TraceError as error:
                raise SettingError(error.where, seen=error.seen, expected=error.expected) from None
            object.__setattr__(record, name, value)


def read_value(kind: Any, value: Any, where: str = "record") -> Any:
    """A value from JSON as an annotation describes it; an error names the field.

    An annotation may hold a function, which then checks the value.

    >>> read_value(tuple[Count, ...], [1, 2]), read_value(bytes, "\\xff")
    ((1, 2), b'\\xff')
    >>> read_value(Share, 1.5, "steps[0].raw")
    Traceback (most recent call last):
    guidedviz.errors.TraceError: steps[0].raw: saw 1.5, expected a number from 0 to 1
    """
    origin = get_origin(kind)
    inner = get_args(kind)
    if is_dataclass(kind) or is_typeddict(kind):
        return _read_fields(kind, value, where)
    if origin is tuple:
        return _read_items(inner, value, where)
    if isinstance(kind, type) and issubclass(kind, tuple):
        return kind(*_read_items(tuple(hints_of(kind).values()), value, where))
    if origin in (dict, Mapping):
        return _read_numbered(inner[1], value, where)
    if NoneType in (kind, *inner):
        expect_form(where, value, value is None or kind is not NoneType, "null")
        return None if value is None else read_value(inner[0], value, where)
    return _read_plain(kind, value, where)


def _read_plain(kind: Any, value: Any, where: str) -> Any:
    """A text, a truth value, bytes, one of some values, a number, or a value with a function that checks it."""
    if kind is str:
        expect_form(where, value, isinstance(value, str), "a text")
        return value
    if kind is bool:
        expect_form(where, value, isinstance(value, bool), "true or false")
        return value
    if kind is bytes:
        fits = isinstance(value, str) and all(char <= "\xff" for char in value)
        expect_form(where, value, fits, "bytes as Latin-1 text")
        return value.encode("latin-1")
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        expect_form(where, value, value in inner, " or ".join(map(repr, inner)))
        return value
    if inner and not isinstance(inner[1], Between):
        return _read_annotated(inner[0], inner[1], value, where)
    return check_number(kind, value, where, TraceError)


def _read_annotated(kind: Any, rule: Any, value: Any, where: str) -> Any:
    """A value that is limited in its length, or checked by a function."""
    if not isinstance(rule, AtMost):
        rule(value, where)
        return value
    if isinstance(value, str | list | dict) and not rule.least <= len(value) <= rule.count:
        unit = "characters" if isinstance(value, str) else "entries"
        seen = f"{len(value):,} {unit}"
        expected = f"at least {rule.least:,}" if len(value) < rule.least else f"at most {rule.count:,}"
        raise TraceError(where, seen=seen, expected=expected)
    return read_value(kind, value, where)


def _read_numbered(kind: Any, data: Any, where: str) -> dict[int, Any]:
    """A dictionary whose keys are whole numbers, which JSON writes as texts."""
    fits = isinstance(data, dict) and all(map(NUMERAL.fullmatch, data))
    expect_form(where, data, fits, "numbers and values")
    found = {}
    for key, item in data.items():
        found[int(key)] = read_value(kind, item, f"{where}.{key}")
    return found


def _read_fields(kind: Any, data: Any, where: str) -> Any:
    expect_form(where, data, isinstance(data, dict), f"the fields of a {kind.__name__}")
    older = getattr(kind, "older_names", {})
    data = {older.get(name, name): value for name, value in data.items()}
    hints = hints_of(kind)
    prefix = "" if where == "record" else f"{where}."
    known: dict[str, Any] = {}
    for name, needed in kept_fields(kind).items():
        if name in data:
            known[name] = read_value(hints[name], data[name], prefix + name)
        elif needed:
            expected = f"all fields of a {kind.__name__}"
            raise TraceError(prefix + name, seen="nothing", expected=expected)
    strange = set(data) - set(known)
    if strange:
        first = quoted(min(strange))
        raise TraceError(prefix + first, seen="an unknown field", expected=" or ".join(hints))
    return kind(**known)


def _read_items(kinds: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    inner: Iterable[Any] = kinds
    if kinds[-1] is Ellipsis:
        expect_form(where, data, isinstance(data, list), "a list")
        inner = repeat(kinds[0])
    else:
        fits = isinstance(data, list) and len(data) == len(kinds)
        expect_form(where, data, fits, f"a list of {len(kinds)}")
    places = (f"{where}[{at}]" for at in range(len(data)))
    return tuple(map(read_value, inner, data, places))


def expect_form(where: str, seen: Any, good: bool, expected: str) -> None:
    if not good:
        raise TraceError(where, seen=quoted(seen), expected=expected)


MOST_RECORD_BYTES = 64 << 20  # bytes
MOST_RECORD_VALUES = 2_000_000  # numbers, texts and lists of a file
Record = TypeVar("Record", bound=Any)  # a frozen dataclass with a `source`


def save_record(record: Any, path: str | Path, indent: int | None = None) -> None:
    """Write a record as JSON. The file is complete or, after an error, what it was before."""
    target = check_path(path)
    kind = type(record)
    data = {f"guidedviz_{kind.__name__.lower()}": _version(kind)} | to_plain(record)
    text = json.dumps(data, indent=indent, ensure_ascii=False, default=to_plain)
    line = f"{text}\n"
    write_whole(target, line.encode("utf-8", "backslashreplace"))  # JSON escapes a lone surrogate in the same way


def as_json(value: Any) -> str:
    """A record, or records in lists and dictionaries, as JSON without spaces and in ASCII.

    >>> print(as_json({"piece": b"a", "at": (1, 2)}))
    {"piece":"a","at":[1,2]}
    """
    return json.dumps(value, separators=(",", ":"), default=to_plain)


def to_plain(value: Any) -> Any:
    """What JSON writes for a record, for bytes or for a number of NumPy."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if is_dataclass(value):
        kind: Any = type(value)
        return {name: getattr(value, name) for name in kept_fields(kind)}
    if isinstance(value, np.generic):
        return value.item()
    raise SettingError("record", seen=quoted(value), expected="a text, a number or bytes")


def _version(kind: type[Any]) -> int:
    """The version of a record's files."""
    return int(getattr(kind, "version", 1))


def load_record(kind: type[Record], path: str | Path, hint: str, check: Callable[[Record], None]) -> Record:
    """Read a file that `save_record` wrote; the record is marked RECORDED unless it is a TOY.

    `check` raises an error where fields do not fit each other.
    """
    file = check_path(path)
    name = kind.__name__
    where = f"{name.lower()} file {quoted(str(path))}"
    saved_by = f"a file that {name}.save wrote"
    try:
        data = parse_json(read_bounded(file, MOST_RECORD_BYTES), MOST_RECORD_VALUES)
    except OSError as error:
        seen = error.strerror or str(error)
        raise TraceError(where, seen=seen, expected=saved_by, hint=hint) from None
    except (ValueError, RecursionError) as error:
        seen = f"no JSON ({str(error)[:80]})"
        raise TraceError(where, seen=seen, expected=saved_by, hint=hint) from None
    version = None
    if isinstance(data, dict):
        version = data.pop(f"guidedviz_{name.lower()}", None)
    if type(version) is not int or version != _version(kind):
        expected = f"version {_version(kind)}"
        raise TraceError(where, seen=f"version {quoted(version)}", expected=expected, hint=hint)
    try:
        record: Record = read_value(kind, data)
        if record.source != "TOY":
            record = replace(record, source="RECORDED")
        check(record)
    except TraceError as error:
        where += f", {error.where}"
        raise TraceError(where, seen=error.seen, expected=error.expected) from None
    return record


def check_path(path: object) -> Path:
    """Refuse what is not the path of a file."""
    if not isinstance(path, str | os.PathLike):
        raise SettingError("path", seen=quoted(path), expected="the path of a file")
    return Path(path)
