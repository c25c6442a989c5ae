"""Places in a schema, which errors and notes begin with, and the JSON values that stand there.

A place is a JSON pointer (RFC 6901). Values have a kind, and a form in which equal ones are equal: 1, 1.0 and 10e-1 are
one integer; 0.1 is one tenth, not the nearest float; true is not 1.
"""

import json
import re
from decimal import Decimal
from typing import Any, get_origin

from guidedviz.errors import PatternError, quoted, shorten
from guidedviz.extras import need
from guidedviz.files import text_of
from guidedviz.machines.names import has_surrogate
from guidedviz.machines.visible import visible

LONGEST_STEP = 80  # characters of a key in a path


class NoValue(Exception):
    """No value of this kind meets a conjunction; another one, or another kind, may have some."""

    def __init__(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        super().__init__(seen)
        self.error = schema_error(path, seen, expected, hint)


def schema_error(path: str, seen: str, expected: str, hint: str = "") -> PatternError:
    """An error about the part of the schema at this path."""
    return PatternError(f"schema, {show_path(path)}", seen=seen, expected=expected, hint=hint)


def below(path: str, *keys: str | int) -> str:
    """The path of a part.

    >>> below("#/properties", "a/b", 0)
    '#/properties/a~1b/0'
    """
    return "/".join((path, *(str(key).replace("~", "~0").replace("/", "~1") for key in keys)))


def show_path(path: str) -> str:
    r"""A path for a message: on one line, long keys cut.

    >>> show_path(below("#", "a\n"))
    '#/a↵'
    """
    steps = (shorten(step, LONGEST_STEP) for step in path.split("/"))
    return "/".join(visible(step.encode(errors="surrogatepass")) for step in steps)


JSON_KINDS = ("object", "array", "string", "integer", "fraction", "true", "false", "null")
EVERY_KIND = frozenset(JSON_KINDS)
NUMBER_KINDS = frozenset(("integer", "fraction"))
KINDS_OF_TYPE: dict[str, frozenset[str]] = {
    "number": NUMBER_KINDS,
    "boolean": frozenset(("true", "false")),
    **{kind: frozenset((kind,)) for kind in ("object", "array", "string", "integer", "null")},
}
CONSTANT_KINDS = frozenset(("true", "false", "null"))
MOST_DIGITS = 100  # of a number; the largest float has 17
MOST_ZEROS = 400  # the largest float has 292


FILE_NAME = re.compile(r"[^\n{}\[\]\"]{1,200}\.\w{1,9}")


def load_schema(schema: Any) -> Any:
    """The schema from JSON text, with exact numbers, from a file, or from a type; a dict is returned unchanged.

    >>> load_schema("s.json")
    Traceback (most recent call last):
    guidedviz.errors.PatternError: schema: saw 's.json', which looks like the name of a file, expected JSON; ...
    """
    schema = text_of(schema, "schema")
    if is_type(schema):
        return schema_of_type(schema)
    if not isinstance(schema, str):
        return schema
    try:
        return json.loads(schema, parse_float=Decimal)
    except ValueError as error:
        seen = str(error)
        hint = ""
        if FILE_NAME.fullmatch(schema.strip()):
            seen = f"{quoted(schema)}, which looks like the name of a file"
            hint = f"gv.json_schema(pathlib.Path({quoted(schema)}))"
        raise PatternError("schema", seen=seen, expected="JSON", hint=hint) from error


def is_type(schema: Any) -> bool:
    """Whether this is a type, or an adapter of one, in the place of a schema.

    >>> is_type(list[int]), is_type(int), is_type({"type": "integer"}), is_type(3)
    (True, True, False, False)
    """
    known = isinstance(schema, type) or get_origin(schema) is not None
    return known or type(schema).__module__.startswith(("typing", "pydantic."))


def schema_of_type(kind: Any) -> Any:
    """The schema of a type, as Pydantic writes it."""
    if hasattr(kind, "model_json_schema"):
        return kind.model_json_schema()
    pydantic = need("pydantic", "lab", "gv.json_schema")
    try:
        adapter = kind if isinstance(kind, pydantic.TypeAdapter) else pydantic.TypeAdapter(kind)
        return adapter.json_schema()
    except (pydantic.errors.PydanticUserError, TypeError, NameError) as error:
        said = str(error).splitlines()[0]
        raise PatternError("schema", seen=f"{quoted(kind)}: {said}", expected="a type that Pydantic knows") from error


def exact(value: Any, path: str) -> Decimal:
    """The exact value of a number: 0.1 is 1/10.

    >>> exact(0.1, "#"), exact(10**20, "#")
    (Decimal('0.1'), Decimal('100000000000000000000'))
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise schema_error(path, quoted(value), "a number")
    if isinstance(value, int) and value.bit_length() > 4 * (MOST_DIGITS + MOST_ZEROS):
        raise too_long_number(path)
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise schema_error(path, quoted(value), "a number that JSON can write")
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(digits) > MOST_DIGITS or abs(number.adjusted()) > MOST_ZEROS:
        raise too_long_number(path)
    return number


def too_long_number(path: str) -> PatternError:
    """The error for a number that takes too long to compare."""
    return schema_error(path, "a longer number", f"one of at most {MOST_DIGITS} digits and {MOST_ZEROS} zeros")


def take_text(value: Any, path: str) -> str:
    """A key or another text."""
    if not isinstance(value, str):
        raise schema_error(path, quoted(value), "a text")
    if has_surrogate(value):
        raise schema_error(path, quoted(value), "text without lone surrogates")
    return value


def take_names(names: Any, path: str) -> tuple[str, ...]:
    """A list of keys."""
    if not isinstance(names, list | tuple):
        raise schema_error(path, quoted(names), "a list of names")
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
    if isinstance(value, str):
        return "string", take_text(value, path)
    return "number", exact(value, path)


def kind_of(value: Any) -> str:
    """The kind of a JSON value; 1.0 is an integer.

    >>> kind_of(1.0), kind_of(0.5), kind_of(True), kind_of("a")
    ('integer', 'fraction', 'true', 'string')
    """
    if isinstance(value, bool | None):
        return json.dumps(value)
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    return "integer" if value == int(value) else "fraction"


def plain_text(value: Any) -> str:
    """A scalar in one spelling: no optional escapes, numbers without an exponent.

    >>> plain_text("é"), plain_text(1.0), plain_text(1e-7)
    ('"é"', '1', '0.0000001')
    """
    kind = kind_of(value)
    if kind == "integer":
        return str(int(value))
    if kind == "fraction":
        return format(Decimal(str(value)), "f")
    return json.dumps(value, ensure_ascii=False)
