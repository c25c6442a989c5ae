"""How a schema is read: whitespace, keys that it does not name, what is ignored."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote, urljoin

from guidedviz.errors import PatternError, SchemaWarning, quoted, shorten
from guidedviz.machines.visible import visible
from guidedviz.machines.work import spend

ALLOWED = {
    "whitespace": ("space", "one", "compact", "any"),
    "extra_keys": ("closed", "open"),
    "unknown": ("note", "error"),
    "approximate": (False, True),
}


@dataclass(frozen=True)
class Choices:
    """The settings of `json_schema`.

    >>> Choices(extra_keys="none")
    Traceback (most recent call last):
    guidedviz.errors.PatternError: schema, extra_keys: saw 'none', expected "closed" or "open"
    """

    whitespace: str = "space"
    extra_keys: str = "closed"
    unknown: str = "note"
    approximate: bool = False

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            *others, last = (f'"{word}"' if isinstance(word, str) else str(word) for word in ALLOWED[name])
            if getattr(self, name) not in ALLOWED[name]:
                expected = f"{', '.join(others)} or {last}"
                raise PatternError(f"schema, {name}", seen=quoted(getattr(self, name)), expected=expected)

    @property
    def closed(self) -> bool:
        """Whether an object that names keys or patterns has no other keys, unless the schema allows them."""
        return self.extra_keys == "closed"


# --- Reads the JSON text of a schema, finds its parts by path, and makes errors that name the path.


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


# --- The keywords of JSON Schema, draft 4 to 2020-12, and the notes about what a machine does not enforce.


KINDS = ("object", "array", "string", "integer", "fraction", "boolean", "null")
TYPES = {"number": {"integer", "fraction"}} | {kind: {kind} for kind in KINDS if kind != "fraction"}
ANY = frozenset(KINDS)
NUMBERS = frozenset(("integer", "fraction"))
REFS = ("$ref", "$recursiveRef", "$dynamicRef")
APPLIED = (*REFS, "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies")  # to the same value
SAYS_NOTHING = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentMediaType contentSchema then else".split()
)
SAYING = frozenset(
    "type enum const properties required additionalProperties patternProperties propertyNames minProperties "
    "maxProperties dependentRequired unevaluatedProperties items prefixItems minItems maxItems additionalItems "
    "contains minContains maxContains uniqueItems unevaluatedItems minLength maxLength pattern format contentEncoding "
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
KNOWN = SAYS_NOTHING.union(APPLIED, SAYING)
NEAR = 0.85  # of difflib's ratio: `propertes` is a near miss of `properties`
OFFER = "approximate=True, which allows more and lists what it does not enforce in machine.notes"


class Notes:
    """What a schema says that the machine does not enforce. Each note begins with the path of its part."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.texts: dict[str, None] = {}
        self.seen: set[tuple[int, str]] = set()  # id of a part, keyword

    def add(self, path: str, text: str) -> None:
        self.texts[f"{path}: {text}"] = None

    def check(self, schema: Mapping[str, Any], path: str) -> None:
        """Note the keywords that are outside JSON Schema."""
        for key in schema:
            if key not in KNOWN and (id(schema), key) not in self.seen:
                self.seen.add((id(schema), key))
                self.ignore(str(key), path)

    def ignore(self, key: str, path: str) -> None:
        """An unknown keyword: a note, and a warning if it looks like a mistake; or an error."""
        near = "" if key[:1] in "_$" or key.startswith("x-") else nearest(key, KNOWN - SAYS_NOTHING, NEAR)
        hint = f"did you mean {near}?" if near else ""
        if self.choices.unknown == "error":
            raise refusal(below(path, key), "a keyword that JSON Schema does not have", "one that it has", hint)
        self.add(below(path, key), "not a keyword of JSON Schema, ignored" + (f"; {hint}" if hint else ""))
        if hint:
            text = f"schema, {below(path, key)}: a keyword that JSON Schema does not have, ignored; {hint}"
            warnings.warn(text, SchemaWarning, stacklevel=2)

    def ignore_format(self, name: str, path: str, near: str) -> None:
        """A format that JSON Schema does not have: a note or an error."""
        hint = f"did you mean {near}?" if near else ""
        if self.choices.unknown == "error":
            raise refusal(path, f"the format {shown(name)}", "a format of JSON Schema", hint)
        self.add(path, f"the format {shown(name)} is unknown, ignored" + (f"; {hint}" if hint else ""))

    def give_up(self, path: str, seen: str, expected: str) -> None:
        """What no machine of this kind can say: a note if the caller accepts that, else an error."""
        if not self.choices.approximate:
            raise refusal(path, seen, expected, OFFER)
        self.add(path, f"{seen}: not enforced")

    def give_up_of(self, error: PatternError, path: str) -> None:
        """The same for a pattern that cannot become a machine."""
        if not self.choices.approximate:
            hint = ", or ".join(filter(None, [error.hint, OFFER]))
            raise PatternError(error.where, seen=error.seen, expected=error.expected, hint=hint) from error
        self.add(path, f"{error.seen}: not enforced")


def take_branches(schema: Mapping[str, Any], shape: str, path: str) -> list[Any]:
    """The schemas of an anyOf, oneOf or allOf."""
    if not isinstance(schema[shape], list | tuple) or not schema[shape]:
        raise refusal(below(path, shape), shown(schema[shape]), "a list of schemas")
    return list(schema[shape])


def take_map(schema: Mapping[str, Any], key: str, path: str, what: str = "schemas") -> dict[str, Any]:
    """The value of a keyword that is an object of schemas; empty if it is missing."""
    found = schema.get(key, {})
    if not isinstance(found, dict):
        raise refusal(below(path, key), shown(found), f"an object of {what}")
    return found


def take_names(names: Any, path: str) -> tuple[str, ...]:
    """A list of keys."""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise refusal(path, shown(names), "a list of names")
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


# --- Finds the part that a reference means: by path, by anchor, or by the URI of a part with `$id`, in one document.


ONE = "additionalProperties contains not if then else propertyNames unevaluatedItems unevaluatedProperties".split()
ONE += ["additionalItems", "contentSchema", "items"]
Scope = tuple[tuple[str, str], ...]  # a $dynamicAnchor, the base of the outermost resource that has it
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
MAPS = "properties patternProperties $defs definitions dependentSchemas dependencies".split()
DRAFT = re.compile(r"json-schema\.org/draft-0?(\d+)/")


class References:
    """The places in a document that references can name."""

    def __init__(self, root: Any) -> None:
        self.root = root
        declared = root.get("$schema") if isinstance(root, dict) else None
        found = DRAFT.search(declared) if isinstance(declared, str) else None
        self.draft = int(found[1]) if found else 2020
        self.explicit = found is not None
        self.bases: dict[int, str] = {}  # id of a part -> the URI of its resource
        self.named: dict[str, Located] = {"": (root, "#")}  # URI, or URI#anchor
        self.dynamic: dict[str, dict[str, Located]] = {}  # name of a $dynamicAnchor -> base -> its part
        self.recursive = 0  # the number of parts with $recursiveAnchor
        self.scan(root, "#", "")

    def scan(self, part: Any, path: str, base: str) -> None:
        """Note the base of every schema below a part, and its anchors."""
        waiting = [(part, path, base)]
        while waiting:
            part, path, base = waiting.pop()
            spend(1 + len(path) // 20)  # of a very deep schema the paths cost most
            if isinstance(part, dict) and id(part) not in self.bases:
                base = self.note(part, path, base)
                waiting.extend((inner, at, base) for inner, at in subschemas(part, path))

    def note(self, part: dict[str, Any], path: str, base: str) -> str:
        """Note the names of one part; its own base."""
        own = part.get("$id", part.get("id") if not self.explicit or self.draft <= 4 else None)
        if isinstance(own, str) and not (self.draft <= 7 and "$ref" in part):
            uri, _, fragment = own.partition("#")
            if uri:
                base = join(base, uri)
                self.named.setdefault(base, (part, path))
            if fragment and not fragment.startswith("/"):
                self.named.setdefault(f"{base}#{fragment}", (part, path))
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(part.get(key), str):
                self.named.setdefault(f"{base}#{part[key]}", (part, path))
        if isinstance(part.get("$dynamicAnchor"), str):
            self.dynamic.setdefault(part["$dynamicAnchor"], {}).setdefault(base, (part, path))
        self.recursive += part.get("$recursiveAnchor") is True
        self.bases[id(part)] = base
        return base

    def find(self, schema: dict[str, Any], key: str, path: str, scope: Scope = ()) -> Located:
        """The part that a reference in this schema means.

        >>> root = {"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a~1b"}
        >>> References(root).find(root, "$ref", "#")
        ({'type': 'null'}, '#/$defs/a~1b')
        """
        ref, at = schema[key], below(path, key)
        if not isinstance(ref, str):
            raise refusal(at, shown(ref), "a path into this schema, such as #/$defs/name")
        base = self.bases.get(id(schema), "")
        uri, _, fragment = ref.partition("#")
        uri = join(base, uri) if uri else base
        if key == "$recursiveRef" and self.recursive > 1:
            raise refusal(at, "more than one $recursiveAnchor", "one, or $ref")
        if uri not in self.named:
            raise refusal(at, shown(ref), "a path into this schema, such as #/$defs/name")
        if fragment and not fragment.startswith("/"):
            if f"{uri}#{fragment}" not in self.named:
                near = nearest(fragment, [name.partition("#")[2] for name in self.named if "#" in name])
                raise refusal(at, shown(ref), "a path into this schema, or an $anchor that exists", near)
            found = self.named[f"{uri}#{fragment}"]
            outer = dict(scope).get(fragment)
            dynamic = key == "$dynamicRef" and found[0].get("$dynamicAnchor") == fragment
            return self.dynamic[fragment][outer] if dynamic and outer is not None else found
        part, where = walk(self.named[uri], fragment, ref, at)
        self.scan(part, where, uri)
        return part, where

    def enter(self, schema: Any, scope: Scope) -> Scope:
        """The scope inside a schema: for each $dynamicAnchor the outermost resource that has it."""
        base = self.bases.get(id(schema), "")
        known = dict(scope)
        more = [(name, base) for name, found in self.dynamic.items() if base in found and name not in known]
        return tuple(sorted((*scope, *more))) if more else scope


def join(base: str, uri: str) -> str:
    """A URI relative to another; one that Python's urljoin cannot read is kept as it is."""
    try:
        return urljoin(base, uri)
    except ValueError:
        return uri


def walk(start: Located, pointer: str, ref: str, at: str) -> Located:
    """The part at a JSON pointer below another part."""
    part, found = start
    for step in pointer.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(part, dict) and key in part:
            part = part[key]
        elif isinstance(part, list) and key.isdecimal() and key == str(int(key[:9])) and int(key) < len(part):
            part = part[int(key)]
        else:
            near = nearest(key, [name for name in part if isinstance(name, str)]) if isinstance(part, dict) else ""
            raise refusal(at, shown(ref), f"a path that exists; {found} has no {shown(key)}", near)
        found = below(found, key)
    return part, found


def subschemas(part: dict[str, Any], path: str) -> Iterator[Located]:
    """The schemas directly inside a schema."""
    for key in ONE:
        if isinstance(part.get(key), dict):
            yield part[key], below(path, key)
    for key in LISTS:
        if isinstance(part.get(key), list | tuple):
            at = below(path, key)
            yield from ((inner, below(at, place)) for place, inner in enumerate(part[key]))
    for key in MAPS:
        if isinstance(part.get(key), dict):
            at = below(path, key)
            yield from ((inner, below(at, name)) for name, inner in part[key].items() if isinstance(inner, dict))
