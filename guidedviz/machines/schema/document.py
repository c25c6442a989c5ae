"""The document of a schema: its text, the places in it, what references mean, and what the machine does not enforce.

A place is a JSON pointer (RFC 6901); it names a subschema, and every error and note begins with it.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote, urljoin

from guidedviz.errors import PatternError, SchemaWarning, quoted, shorten
from guidedviz.machines.visible import visible
from guidedviz.machines.work import spend

KINDS = ("object", "array", "string", "integer", "fraction", "boolean", "null")
TYPES = {"number": {"integer", "fraction"}} | {kind: {kind} for kind in KINDS if kind != "fraction"}
ANY = frozenset(KINDS)
NUMBERS = frozenset(("integer", "fraction"))
REFS = ("$ref", "$recursiveRef", "$dynamicRef")
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
APPLIED = (*REFS, "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependentRequired", "dependencies")
SAYS_NOTHING = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentMediaType contentSchema then else".split()
)
SAYING = frozenset(
    "type enum const properties required additionalProperties patternProperties propertyNames minProperties "
    "maxProperties unevaluatedProperties items prefixItems minItems maxItems additionalItems "
    "contains minContains maxContains uniqueItems unevaluatedItems minLength maxLength pattern format contentEncoding "
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
KNOWN = SAYS_NOTHING.union(APPLIED, SAYING)
ONE = "additionalProperties contains not if then else propertyNames unevaluatedItems unevaluatedProperties".split()
ONE += ["additionalItems", "contentSchema", "items"]
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
MAPS = "properties patternProperties $defs definitions dependentSchemas dependencies".split()
DRAFT = re.compile(r"json-schema\.org/draft-0?(\d+)/")
NEAR = 0.85  # of difflib's ratio: `propertes` is a near miss of `properties`
LONGEST_STEP = 80  # characters of a key in a path
MOST_DIGITS, MOST_ZEROS = 100, 400  # of a number; the largest float has 17 digits and 292 zeros
MOST_REFS = 20
OFFER = "approximate=True, which allows more and lists what it does not enforce in machine.notes"
PLAIN, OPEN = "+", "o"  # as written; the same, but open for other keys
NOT, TWICE = "-", "="  # negated, and negated twice; both are open for other keys
FLIPPED = {PLAIN: NOT, OPEN: NOT, TWICE: NOT, NOT: TWICE}
ALLOWED = {
    "whitespace": ("space", "one", "compact", "any"),
    "extra_keys": ("closed", "open"),
    "unknown": ("note", "error"),
    "approximate": (False, True),
}
Scope = tuple[tuple[str, str], ...]  # a $dynamicAnchor, the base of the outermost resource that has it


@dataclass(frozen=True)
class SchemaSettings:
    """How a schema is read: whitespace, keys that it does not name, what is ignored.

    >>> SchemaSettings(extra_keys="none")
    Traceback (most recent call last):
    guidedviz.errors.PatternError: schema, extra_keys: saw 'none', expected "closed" or "open"
    """

    whitespace: str = "space"
    extra_keys: str = "closed"
    unknown: str = "note"
    approximate: bool = False

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value not in ALLOWED[name]:
                *others, last = (f'"{word}"' if isinstance(word, str) else str(word) for word in ALLOWED[name])
                raise PatternError(f"schema, {name}", seen=quoted(value), expected=f"{', '.join(others)} or {last}")


# --- places and values ----------------------------------------------------------------------------------------------


def refusal(path: str, seen: str, expected: str, hint: str = "") -> PatternError:
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
    return "/".join(map(show_step, path.split("/")))


def show_step(step: str) -> str:
    name = shorten(step, LONGEST_STEP)
    return name if name.isascii() and name.isalnum() else visible(name.encode(errors="surrogatepass"))


def shown(value: Any) -> str:
    """A value for an error message: short, on one line."""
    try:
        text = visible(repr(value).encode(errors="surrogatepass"))
    except ValueError:  # an integer with thousands of digits
        text = type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def nearest(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """A hint that names the closest known name; "" for a long name or among many names, which would take long."""
    few = len(name) <= 60 and len(known) <= 5000
    close = get_close_matches(name, sorted(known), 1, cutoff) if few else []
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
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise PatternError("schema", seen=f"the key {shown(key)} twice in one object", expected="each key once")
        found[key] = value
    return found


def take_number(schema: Mapping[str, Any], key: str, path: str) -> Decimal | None:
    """The exact number of a keyword; None if the keyword is missing."""
    return exact(schema[key], below(path, key)) if key in schema else None


def exact(value: Any, path: str) -> Decimal:
    """The exact value of a number: 0.1 is 1/10.

    >>> exact(0.1, "#"), exact(10**20, "#")
    (Decimal('0.1'), Decimal('100000000000000000000'))
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise refusal(path, shown(value), "a number")
    too_long = refusal(path, "a longer number", f"one of at most {MOST_DIGITS} digits and {MOST_ZEROS} zeros")
    if isinstance(value, int) and value.bit_length() > 4 * (MOST_DIGITS + MOST_ZEROS):
        raise too_long
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise refusal(path, shown(value), "a number that JSON can write")
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(digits) > MOST_DIGITS or abs(number.adjusted()) > MOST_ZEROS:
        raise too_long
    return number


def take_count(schema: Mapping[str, Any], key: str, path: str) -> int | None:
    """The count of a keyword such as minLength; 2.0 is accepted."""
    number = take_number(schema, key, path)
    if number is not None and (number < 0 or number != int(number)):
        raise refusal(below(path, key), shown(schema[key]), "an integer from 0 on")
    return None if number is None else int(number)


def check_value(value: Any, path: str) -> None:
    """Raise an error if this value cannot be written as JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise refusal(path, f"the key {shown(key)}", "keys that are strings")
            check_value(key, below(path, key))
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


def take_list(schema: Mapping[str, Any], key: str, path: str) -> list[Any]:
    """The schemas of an anyOf, oneOf or allOf."""
    if not isinstance(schema[key], list | tuple) or not schema[key]:
        raise refusal(below(path, key), shown(schema[key]), "a list of schemas")
    return list(schema[key])


def take_map(schema: Mapping[str, Any], key: str, path: str, what: str = "schemas") -> dict[str, Any]:
    """The value of a keyword that is an object of schemas; empty if it is missing."""
    found = schema.get(key, {})
    if not isinstance(found, dict):
        raise refusal(below(path, key), shown(found), f"an object of {what}")
    check_value(dict.fromkeys(found), below(path, key))
    return found


def take_names(names: Any, path: str) -> tuple[str, ...]:
    """A list of keys."""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise refusal(path, shown(names), "a list of names")
    check_value(names, path)
    return tuple(names)


def take_kinds(schema: Mapping[str, Any], path: str) -> frozenset[str]:
    """The kinds of value that `type` allows."""
    if "type" not in schema:
        return ANY
    names = schema["type"] if isinstance(schema["type"], list | tuple) else [schema["type"]]
    for name in names:
        if not isinstance(name, str) or name not in TYPES:
            raise refusal(below(path, "type"), shown(name), ", ".join(sorted(TYPES)))
    if not names:
        raise refusal(below(path, "type"), "[]", "a type")
    return frozenset().union(*(TYPES[name] for name in names))


# --- subschemas and references --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subschema:
    """A schema at a place of the document, with a sign."""

    path: str
    schema: Any = field(compare=False)
    sign: str = PLAIN
    scope: Scope = ()  # of $dynamicRef
    base: str = field(default="", compare=False)  # the URI of its resource

    def at(self, schema: Any, *keys: str | int) -> Subschema:
        """A schema below this one, with the same sign."""
        return replace(self, path=below(self.path, *keys), schema=schema)

    def flip(self) -> Subschema:
        """The negated subschema."""
        return replace(self, sign=FLIPPED[self.sign])

    @property
    def says(self) -> bool:
        """Whether the keys and items that it names count as evaluated."""
        return self.sign in (PLAIN, OPEN)

    def is_true(self) -> bool:
        return self.schema is False if self.sign == NOT else self.schema is True or self.schema == {}

    def is_false(self) -> bool:
        return self.schema is True or self.schema == {} if self.sign == NOT else self.schema is False

    def check(self) -> None:
        """Raise an error if this is no schema."""
        if not isinstance(self.schema, dict | bool):
            raise refusal(self.path, shown(self.schema), "a schema: an object, true or false")


Goal = tuple[Subschema, ...]  # a conjunction


def impossible(path: str) -> Goal:
    """The goal that no value meets."""
    return (Subschema(below(path, "false"), False, OPEN),)


class Document:
    """The places in a document that references can name."""

    def __init__(self, root: Any) -> None:
        self.root = Subschema("#", root)
        declared = root.get("$schema") if isinstance(root, dict) else None
        found = DRAFT.search(declared) if isinstance(declared, str) else None
        self.draft = int(found[1]) if found else 2020
        self.old_ids = found is None or self.draft <= 4
        self.bases: dict[str, str] = {}  # the path of a resource -> its URI
        self.named: dict[str, Subschema] = {"": self.root}  # URI, or URI#anchor
        self.dynamic: dict[str, dict[str, Subschema]] = {}  # name of a $dynamicAnchor -> base -> its schema
        self.recursive = 0  # the number of schemas with $recursiveAnchor
        self.scanned: set[str] = set()
        self.scan(self.root)

    def scan(self, start: Subschema) -> None:
        """Note the names of every schema below another one."""
        waiting = [start]
        while waiting:
            part = waiting.pop()
            spend(1 + len(part.path) // 20)  # of a very deep schema the paths cost most
            if isinstance(part.schema, dict) and part.path not in self.scanned:
                self.scanned.add(part.path)
                waiting.extend(subschemas(self.note(part)))

    def note(self, part: Subschema) -> Subschema:
        """Note the names of one schema; the schema in its own resource."""
        schema = part.schema
        own = schema.get("$id", schema.get("id") if self.old_ids else None)
        if isinstance(own, str) and not (self.draft <= 7 and "$ref" in schema):
            uri, _, fragment = own.partition("#")
            if uri:
                part = replace(part, base=join_uris(part.base, uri))
                self.bases[part.path] = part.base
                self.named.setdefault(part.base, part)
            if fragment and not fragment.startswith("/"):
                self.named.setdefault(f"{part.base}#{fragment}", part)
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(key), str):
                self.named.setdefault(f"{part.base}#{schema[key]}", part)
        if isinstance(schema.get("$dynamicAnchor"), str):
            self.dynamic.setdefault(schema["$dynamicAnchor"], {}).setdefault(part.base, part)
        self.recursive += schema.get("$recursiveAnchor") is True
        return part

    def enter(self, part: Subschema) -> Subschema:
        """The subschema in its resource, and in its scope: for each $dynamicAnchor the outermost resource with it."""
        base = self.bases.get(part.path, part.base)
        known = dict(part.scope)
        more = [(name, base) for name, found in self.dynamic.items() if base in found and name not in known]
        if not more and base == part.base:
            return part
        return replace(part, base=base, scope=tuple(sorted((*part.scope, *more))))

    def stands_alone(self, part: Subschema) -> bool:
        """Whether keywords beside a $ref have no effect, as before draft 2019-09."""
        return "$ref" in part.schema and self.draft <= 7

    def target(self, part: Subschema, key: str) -> Subschema:
        """The subschema that a reference means.

        >>> root = {"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a~1b"}
        >>> Document(root).target(Subschema("#", root), "$ref").path
        '#/$defs/a~1b'
        """
        ref, at = part.schema[key], below(part.path, key)
        expected = "a path into this schema, such as #/$defs/name"
        if not isinstance(ref, str):
            raise refusal(at, shown(ref), expected)
        uri, _, fragment = ref.partition("#")
        uri = join_uris(part.base, uri) if uri else part.base
        if key == "$recursiveRef" and self.recursive > 1:
            raise refusal(at, "more than one $recursiveAnchor", "one, or $ref")
        if uri not in self.named:
            raise refusal(at, shown(ref), expected)
        if not fragment or fragment.startswith("/"):
            found = self.walk(self.named[uri], fragment, ref, at)
        elif f"{uri}#{fragment}" not in self.named:
            near = nearest(fragment, [name.partition("#")[2] for name in self.named if "#" in name])
            raise refusal(at, shown(ref), "a path into this schema, or an $anchor that exists", near)
        else:
            found = self.named[f"{uri}#{fragment}"]
            outer = dict(part.scope).get(fragment)
            if key == "$dynamicRef" and outer is not None and found.schema.get("$dynamicAnchor") == fragment:
                found = self.dynamic[fragment][outer]
        return replace(found, sign=part.sign, scope=part.scope)

    def walk(self, part: Subschema, pointer: str, ref: str, at: str) -> Subschema:
        """The subschema at a JSON pointer below another one."""
        for step in pointer.split("/")[1:]:
            key, inside = unquote(step).replace("~1", "/").replace("~0", "~"), part.schema
            if isinstance(inside, dict) and key in inside:
                part = part.at(inside[key], key)
            elif isinstance(inside, list) and key.isdecimal() and key == str(int(key[:9])) and int(key) < len(inside):
                part = part.at(inside[int(key)], key)
            else:
                near = (
                    nearest(key, [name for name in inside if isinstance(name, str)]) if isinstance(inside, dict) else ""
                )
                raise refusal(at, shown(ref), f"a path that exists; {show_path(part.path)} has no {shown(key)}", near)
            part = replace(part, base=self.bases.get(part.path, part.base))
        self.scan(part)
        return part

    def resolve(self, part: Subschema) -> Subschema:
        """The subschema that a reference means, if there is nothing else in the schema."""
        for _ in range(MOST_REFS):
            part = self.enter(part)
            plain = isinstance(part.schema, dict) and part.schema.keys() - SAYS_NOTHING == {"$ref"}
            if not plain and not (isinstance(part.schema, dict) and self.stands_alone(part)):
                break
            part = self.target(part, "$ref")
        return part


def join_uris(base: str, uri: str) -> str:
    """A URI relative to another; one that Python's urljoin cannot read is kept as it is."""
    try:
        return urljoin(base, uri)
    except ValueError:
        return uri


def subschemas(part: Subschema) -> Iterator[Subschema]:
    """The schemas directly inside a schema."""
    for key, found in part.schema.items():
        if key in ONE and isinstance(found, dict):
            yield part.at(found, key)
        if key in LISTS and isinstance(found, list | tuple):
            yield from (part.at(inner, key, place) for place, inner in enumerate(found))
        if key in MAPS and isinstance(found, dict):
            yield from (part.at(inner, key, name) for name, inner in found.items() if isinstance(inner, dict))


class Notes:
    """What a schema says that the machine does not enforce. Each note begins with the path of its part.

    A keyword outside every vocabulary is an annotation: it is ignored and noted. A standard keyword that could
    constrain and is not supported is an error.
    """

    def __init__(self, settings: SchemaSettings) -> None:
        self.settings = settings
        self.texts: dict[str, None] = {}

    def add(self, path: str, text: str) -> bool:
        """Whether the note is new."""
        note = f"{show_path(path)}: {text}"
        return note not in self.texts and self.texts.setdefault(note) is None

    def check(self, part: Subschema) -> None:
        """Note the keywords that are outside JSON Schema; warn of one that looks like a mistake."""
        for key in (key for key in part.schema if key not in KNOWN):
            path, name = below(part.path, key), str(key)
            plain = name[:1] in "_$" or name.startswith("x-")
            near = "" if plain else nearest(name, KNOWN - SAYS_NOTHING, NEAR)
            hint = f"did you mean {near}?" if near else ""
            if self.settings.unknown == "error":
                raise refusal(path, "a keyword that JSON Schema does not have", "one that it has", hint)
            new = self.add(path, "not a keyword of JSON Schema, ignored" + (f"; {hint}" if hint else ""))
            if hint and new:
                text = f"schema, {show_path(path)}: a keyword that JSON Schema does not have, ignored; {hint}"
                warnings.warn(text, SchemaWarning, stacklevel=2)

    def ignore_format(self, name: str, path: str, near: str) -> None:
        """A format that JSON Schema does not have: a note or an error."""
        hint = f"did you mean {near}?" if near else ""
        if self.settings.unknown == "error":
            raise refusal(path, f"the format {shown(name)}", "a format of JSON Schema", hint)
        self.add(path, f"the format {shown(name)} is unknown, ignored" + (f"; {hint}" if hint else ""))

    def give_up(self, path: str, seen: str, expected: str) -> None:
        """What no machine of this kind can say: a note if the caller accepts that, else an error."""
        self.give_up_of(refusal(path, seen, expected), path)

    def give_up_of(self, error: PatternError, path: str) -> None:
        """The same for a part that cannot become a machine."""
        if not self.settings.approximate:
            hint = ", or ".join(filter(None, [error.hint, OFFER]))
            raise PatternError(error.where, seen=error.seen, expected=error.expected, hint=hint) from error
        self.add(path, f"{error.seen}: not enforced")
