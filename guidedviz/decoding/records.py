"""Records as JSON files: frozen dataclasses, written, read and checked by the annotations of their fields.

Bytes are kept as Latin-1 text, so that a person can read the file. A damaged file is a TraceError that names the field.
"""

import json
import os
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import numpy as np

from guidedviz.decoding.annotations import kept_fields, read_value
from guidedviz.errors import SettingError, TraceError, quoted
from guidedviz.files import parse_json, read_bounded

MOST_RECORD_BYTES = 64 << 20  # bytes
MOST_RECORD_VALUES = 2_000_000  # numbers, texts and lists of a file
Record = TypeVar("Record", bound=Any)  # a frozen dataclass with a `source`


def save_record(record: Any, path: str | Path, indent: int | None = None) -> None:
    """Write a record as JSON. The file is complete or, after an error, what it was before."""
    target = check_path(path)
    kind = type(record)
    data = {f"guidedviz_{kind.__name__.lower()}": _version(kind), **to_plain(record)}
    text = json.dumps(data, indent=indent, ensure_ascii=False, default=to_plain) + "\n"
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


def load_record(
    kind: type[Record], path: str | Path, hint: str, check: Callable[[Record], None] = lambda record: None
) -> Record:
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
        raise TraceError(where, seen=error.strerror or str(error), expected=saved_by, hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise TraceError(where, seen=f"no JSON ({str(error)[:80]})", expected=saved_by, hint=hint) from None
    version = data.pop(f"guidedviz_{name.lower()}", None) if isinstance(data, dict) else None
    if type(version) is not int or version != _version(kind):
        expected = f"version {_version(kind)}"
        raise TraceError(where, seen=f"version {quoted(version)}", expected=expected, hint=hint)
    try:
        record: Record = read_value(kind, data)
        if record.source != "TOY":
            record = replace(record, source="RECORDED")
        check(record)
    except TraceError as error:
        raise TraceError(f"{where}, {error.where}", seen=error.seen, expected=error.expected) from None
    return record


def check_path(path: object) -> Path:
    """Refuse what is not the path of a file."""
    if not isinstance(path, str | os.PathLike):
        raise SettingError("path", seen=quoted(path), expected="the path of a file")
    return Path(path)
