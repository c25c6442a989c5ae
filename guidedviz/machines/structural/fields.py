"""A structural tag as data: the formats, the fields of each, and what a field holds.

    {"type": "tag", "begin": "<a>", "contnt": {...}, "end": "</a>"}       $.format.contnt: no field of a tag

A part is one format at its place. A field is checked when it is read; an unknown one, as soon as its format is met.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from guidedviz.errors import PatternError, expect, nearest, quoted, shorten
from guidedviz.files import text_of
from guidedviz.machines import limits
from guidedviz.machines.names import has_surrogate
from guidedviz.machines.visible import show_line

FORMATS: dict[str, tuple[str, ...]] = {
    "const_string": ("value",),
    "regex": ("pattern",),
    "grammar": ("grammar",),
    "json_schema": ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"),
    "qwen_xml_parameter": ("json_schema",),
    "any_text": ("excludes", "max_tokens", "max_chars"),
    "sequence": ("elements",),
    "or": ("elements",),
    "optional": ("content",),
    "star": ("content",),
    "plus": ("content",),
    "repeat": ("min", "max", "content"),
    "tag": ("begin", "content", "end"),
    "triggered_tags": ("triggers", "tags", "at_least_one", "stop_after_first", "excludes"),
    "tags_with_separator": ("tags", "separator", "at_least_one", "stop_after_first"),
    "dispatch": ("rules", "loop", "excludes"),
    "token": ("token",),
    "exclude_token": ("exclude_tokens",),
    "any_tokens": ("exclude_tokens", "max_tokens"),
    "token_triggered_tags": ("trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"),
    "token_dispatch": ("rules", "loop", "exclude_tokens"),
}
MISSING = object()
LONGEST_PATH = 240  # characters
Token = str | int  # the text of a special token, or its id


def tag_error(path: str, seen: str, expected: str, hint: str = "") -> PatternError:
    """An error about the part of a structural tag at this path."""
    return PatternError(f"structural_tag, {shorten(path, LONGEST_PATH)}", seen=seen, expected=expected, hint=hint)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Make errors of a regex, a grammar or a schema name their place in the structural tag."""
    try:
        yield
    except PatternError as error:
        if error.where.startswith("structural_tag"):
            raise
        seen = error.seen or str(error)
        raise tag_error(f"{path}, {error.where}", seen, error.expected, error.hint) from error


@dataclass(frozen=True)
class FormatPart:
    """A format, or another object of the structural tag, and its place."""

    path: str
    fields: Mapping[str, Any]

    @classmethod
    def of_format(cls, value: Any, path: str, kind: str = "") -> Self:
        """A format whose name and whose fields are known; without a name it is a `kind`."""
        if not isinstance(value, Mapping):
            raise tag_error(path, quoted(value), "a format, such as {'type': 'any_text'}")
        part = cls(path, {"type": kind, **value} if kind else value)
        name = part.text("type")
        if name not in FORMATS:
            expected = kind or ", ".join(FORMATS)
            raise tag_error(f"{path}.type", quoted(name), expected, nearest(name, FORMATS))
        if kind and name != kind:
            raise tag_error(f"{path}.type", quoted(name), f"{kind} here")
        part.check(("type", *FORMATS[name]), name)
        return part

    def check(self, known: tuple[str, ...], what: str) -> None:
        """Raise an error for a field that is not known."""
        for key in self.fields:
            if key not in known:
                near = nearest(key, known) if isinstance(key, str) else ""
                raise tag_error(self.at(key), f"a field that {what} does not have", ", ".join(known), near)

    @property
    def name(self) -> str:
        """The name of the format."""
        return str(self.fields["type"])

    def at(self, *keys: object) -> str:
        """The path of a field, or of something inside it."""
        path = self.path
        for key in keys:
            if isinstance(key, int):
                path += f"[{key}]"
            else:
                path += f".{show_line(shorten(str(key), 40))}"
        return path

    def value(self, key: str, kind: Any, expected: str, default: Any = MISSING) -> Any:
        """The value of a field, if it is of this type; null is the same as a field that is missing."""
        value = self.fields.get(key)
        if value is None and default is not MISSING:
            return default
        if value is None:
            near = ""
            if key not in self.fields:
                near = nearest(key, map(str, self.fields))
            seen = "null" if key in self.fields else "nothing"
            raise tag_error(self.at(key), seen, expected, near)
        check_type(value, kind, self.at(key), expected)
        return value

    def text(self, key: str, empty: bool = True) -> str:
        """A text; `empty`: it may be empty."""
        return check_text(self.value(key, str, "a text"), self.at(key), empty)

    def texts(self, key: str, default: Any = MISSING) -> list[str]:
        """Texts that are not empty."""
        found = []
        for place, value in enumerate(self.value(key, list, "a list of texts", default)):
            where = self.at(key, place)
            found.append(check_text(value, where, empty=False))
        return found

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        return bool(self.value(key, bool, "true or false", default))

    def count(self, key: str, default: Any = MISSING, least: int = 0) -> Any:
        """A whole number."""
        expected = f"a whole number from {least} to {limits.REPEATS:,}"
        number = self.value(key, int, expected, default)
        if number is not default and not least <= number <= limits.REPEATS:
            raise tag_error(self.at(key), f"{quoted(number)}", expected)
        return number

    def items(self, key: str) -> list[Any]:
        """A list that is not empty."""
        values: list[Any] = self.value(key, list, "a list")
        if not values:
            raise tag_error(self.at(key), "an empty list", "at least one")
        return values

    def format(self, key: str) -> Self:
        """The format in a field."""
        return self.of_format(self.value(key, Mapping, "a format"), self.at(key))

    def formats(self, key: str, kind: str = "") -> list[Self]:
        """The formats of a list."""
        found = []
        for place, value in enumerate(self.items(key)):
            path = self.at(key, place)
            found.append(self.of_format(value, path, kind))
        return found

    def rules(self) -> list[tuple[Any, Self]]:
        """The rules of a dispatch: a text or a token, and the format behind it."""
        found = []
        for place, pair in enumerate(self.items("rules")):
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise tag_error(self.at("rules", place), quoted(pair), "a pair: what is watched for, and a format")
            watched, content = pair
            made = self.of_format(content, self.at("rules", place, 1))
            found.append((watched, made))
        return found

    def dump(self, *keys: str) -> str:
        """These fields as JSON text, or all of them: the same for parts that are equal there."""
        try:
            return json.dumps({key: self.fields.get(key) for key in keys or self.fields})
        except (TypeError, ValueError, RecursionError) as error:
            raise tag_error(self.path, str(error), "what JSON can write") from error


def check_type(value: Any, kind: Any, path: str, expected: str) -> None:
    """Raise an error for a value of another type; true is no number."""
    is_number = kind in (int, str | int)
    if not isinstance(value, kind) or (is_number and isinstance(value, bool)):
        raise tag_error(path, quoted(value), expected)


def check_text(value: Any, path: str, empty: bool = True) -> str:
    """A text that UTF-8 can encode."""
    check_type(value, str, path, "a text")
    if has_surrogate(value):
        raise tag_error(path, quoted(value), "a text without lone surrogates")
    if not (value or empty):
        raise tag_error(path, "an empty text", "a text that is not empty")
    return str(value)


def load_spec(spec: Any) -> FormatPart:
    """The outermost format of a structural tag: a dict, JSON text, or an object with `model_dump`.

    >>> load_spec('{"type": "structural_tag", "format": {"type": "any_text"}}')
    FormatPart(path='$.format', fields={'type': 'any_text'})
    """
    if hasattr(spec, "model_dump") and not isinstance(spec, type):
        spec = spec.model_dump()
    spec = text_of(spec, "structural_tag")
    if isinstance(spec, str):
        try:
            spec = json.loads(spec)
        except (ValueError, RecursionError) as error:
            raise PatternError("structural_tag", seen=str(error), expected="JSON") from error
    expect(spec, Mapping, "structural_tag", "a dict, JSON text, or an object with model_dump")
    if "structures" in spec:
        return of_structures(FormatPart("$", spec))
    if spec.get("type") == "structural_tag" or "format" in spec:
        outer = FormatPart("$", {"type": "structural_tag", **spec})
        if outer.text("type") != "structural_tag":
            raise tag_error("$.type", quoted(outer.name), "structural_tag")
        outer.check(("type", "format"), "a structural tag")
        return outer.format("format")
    return FormatPart.of_format(spec, "$")


def of_structures(outer: FormatPart) -> FormatPart:
    """The older form, of which each structure has a begin, a schema and an end."""
    outer.check(("type", "structures", "triggers"), "a structural tag")
    tags = []
    for place, value in enumerate(outer.items("structures")):
        check_type(value, Mapping, outer.at("structures", place), "a begin, a schema and an end")
        item = FormatPart(outer.at("structures", place), value)
        item.check(("begin", "schema", "end"), "a structure")
        content = {"type": "json_schema", "json_schema": item.value("schema", Mapping | bool | str, "a schema")}
        tags.append({"type": "tag", "begin": item.text("begin"), "content": content, "end": item.text("end")})
    fields = {"type": "triggered_tags", "triggers": outer.texts("triggers"), "tags": tags}
    return FormatPart("$", fields)
