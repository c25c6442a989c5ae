"""The document of a schema: its text, the values and places in it, what references mean, and notes.

A place is a JSON pointer (RFC 6901); it names a subschema, and every error and note begins with it.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, Self
from urllib.parse import unquote, urljoin

from guidedviz.errors import PatternError, SchemaWarning, nearest, quoted, shorten
from guidedviz.machines.visible import visible
from guidedviz.machines.work import spend

KINDS = ("object", "array", "string", "integer", "fraction", "true", "false", "null")
TYPES = {kind: {kind} for kind in ("object", "array", "string", "integer", "null")}
TYPES |= {"number": {"integer", "fraction"}, "boolean": {"true", "false"}}
ANY = frozenset(KINDS)
NUMBERS = frozenset(TYPES["number"])
REFS = ("$ref", "$recursiveRef", "$dynamicRef")
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
APPLIED = (*REFS, "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependentRequired", "dependencies")
# where schemas stand: a keyword has one, a list or an object of them
ONE = "additionalItems additionalProperties contains contentSchema else if items not propertyNames then".split()
ONE += UNEVALUATED
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
MAPS = "$defs definitions dependencies dependentSchemas patternProperties properties".split()
SAYS_NOTHING = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentEncoding contentMediaType contentSchema then else".split()
)
KNOWN = SAYS_NOTHING.union(APPLIED, ONE, LISTS, MAPS).union(
    "type enum const required minProperties maxProperties minItems maxItems minContains maxContains uniqueItems "
    "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
DRAFT = re.compile(r"json-schema\.org/draft-0?(\d+)/")
NEAR = 0.85  # of difflib's ratio: `propertes` is a near miss of `properties`
LONGEST_STEP = 80  # characters of a key in a path
MOST_DIGITS, MOST_ZEROS = 100, 400  # of a number; the largest float has 17 digits and 292 zeros
MOST_REFS = 20
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
    guidedviz.errors.PatternError: schema, extra_keys: saw 'none', expected 'closed' or 'open'
    """

    whitespace: str = "space"
    extra_keys: str = "closed"
    unknown: str = "note"
    approximate: bool = False

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value not in ALLOWED[name]:
                expected = " or ".join(map(repr, ALLOWED[name]))
                raise PatternError(f"schema, {name}", seen=quoted(value), expected=expected)


# --- errors and paths -----------------------------------------------------------------------------------------------


class NotEnforced(PatternError):
    """A keyword that no machine of this kind can enforce; approximate=True leaves it out."""

    def __init__(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        offer = "approximate=True, which leaves it out and says so in machine.notes"
        hint = f"{hint}, or {offer}" if hint else offer
        super().__init__(f"schema, {show_path(path)}", seen=seen, expected=expected, hint=hint)
        self.path = path


class NoValue(Exception):
    """No value of this kind meets a conjunction; another one, or another kind, may have some."""

    def __init__(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        super().__init__(seen)
        self.error = refusal(path, seen, expected, hint)


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
    return "/".join(visible(shorten(step, LONGEST_STEP).encode(errors="surrogatepass")) for step in path.split("/"))


# --- values ---------------------------------------------------------------------------------------------------------


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


# --- subschemas and references --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subschema:
    """A schema at a place of the document, with a sign."""

    path: str
    schema: Any = field(compare=False)
    sign: str = PLAIN
    scope: Scope = ()  # of $dynamicRef
    base: str = field(default="", compare=False)  # the URI of its resource

    def at(self, schema: Any, *keys: str | int) -> Self:
        """A schema below this one, with the same sign."""
        return replace(self, path=below(self.path, *keys), schema=schema)

    def flip(self) -> Self:
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
            raise refusal(self.path, quoted(self.schema), "a schema: an object, true or false")

    def number(self, key: str) -> Decimal | None:
        """The exact number of a keyword; None if the keyword is missing."""
        return exact(self.schema[key], below(self.path, key)) if key in self.schema else None

    def count(self, key: str) -> int | None:
        """The count of a keyword such as minLength; 2.0 is accepted."""
        number = self.number(key)
        if number is not None and (number < 0 or number != int(number)):
            raise refusal(below(self.path, key), quoted(self.schema[key]), "an integer from 0 on")
        return None if number is None else int(number)

    def listed(self, key: str, what: str = "schemas") -> list[Any]:
        """The value of a keyword that is a list with something in it, such as anyOf or enum."""
        found = self.schema[key]
        if not isinstance(found, list | tuple) or not found:
            raise refusal(below(self.path, key), quoted(found), f"a list of {what}")
        return list(found)

    def mapped(self, key: str, what: str = "schemas") -> dict[str, Any]:
        """The value of a keyword that is an object of schemas; empty if it is missing."""
        found = self.schema.get(key, {})
        if not isinstance(found, dict):
            raise refusal(below(self.path, key), quoted(found), f"an object of {what}")
        return {take_text(name, below(self.path, key)): inner for name, inner in found.items()}

    def kinds(self) -> frozenset[str]:
        """The kinds of value that `type` allows."""
        if "type" not in self.schema:
            return ANY
        names = self.listed("type", "types") if isinstance(self.schema["type"], list | tuple) else [self.schema["type"]]
        for name in names:
            if not isinstance(name, str) or name not in TYPES:
                raise refusal(below(self.path, "type"), quoted(name), f"a type: {', '.join(sorted(TYPES))}")
        return frozenset().union(*(TYPES[name] for name in names))


Goal = tuple[Subschema, ...]  # a conjunction


def goal_of(*parts: Subschema) -> Goal:
    """The conjunction of subschemas without what is trivial or repeated."""
    return tuple(dict.fromkeys(part for part in parts if not part.is_true()))


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
        anchors = [name if isinstance(name := schema.get(key), str) else "" for key in ("$anchor", "$dynamicAnchor")]
        if isinstance(own, str) and not self.stands_alone(part):
            uri, _, fragment = own.partition("#")
            if uri:
                part = replace(part, base=join_uris(part.base, uri))
                self.bases[part.path] = part.base
                self.named.setdefault(part.base, part)
            anchors.append(fragment if not fragment.startswith("/") else "")
        for anchor in filter(None, anchors):
            self.named.setdefault(f"{part.base}#{anchor}", part)
        if anchors[1] or schema.get("$recursiveAnchor") is True:  # of draft 2019-09: an anchor without a name
            self.dynamic.setdefault(anchors[1], {}).setdefault(part.base, part)
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
        uri, _, fragment = ref.partition("#") if isinstance(ref, str) else ("", "", "")
        uri = join_uris(part.base, uri) if uri else part.base
        if not isinstance(ref, str) or uri not in self.named:
            raise refusal(at, quoted(ref), "a path into this schema, such as #/$defs/name")
        if not fragment or fragment.startswith("/"):
            found = self.walk(self.named[uri], fragment, ref, at)
        elif f"{uri}#{fragment}" not in self.named:
            near = nearest(fragment, [name.partition("#")[2] for name in self.named if "#" in name])
            raise refusal(at, quoted(ref), "a path into this schema, or an $anchor that exists", near)
        else:
            found = self.named[f"{uri}#{fragment}"]
        anchors, outer = self.dynamic.get(fragment, {}), dict(part.scope).get(fragment)
        if key != "$ref" and outer is not None and found in anchors.values():
            found = anchors[outer]
        return replace(found, sign=part.sign, scope=part.scope)

    def walk(self, part: Subschema, pointer: str, ref: str, at: str) -> Subschema:
        """The subschema at a JSON pointer below another one."""
        for step in pointer.split("/")[1:]:
            key, inside = unquote(step).replace("~1", "/").replace("~0", "~"), part.schema
            if isinstance(inside, list):
                inside = {str(place): item for place, item in enumerate(inside)}
            if not isinstance(inside, dict) or key not in inside:
                names = [name for name in inside if isinstance(name, str)] if isinstance(inside, dict) else []
                expected = f"a path that exists; {show_path(part.path)} has no {quoted(key)}"
                raise refusal(at, quoted(ref), expected, nearest(key, names))
            part = part.at(inside[key], key)
            part = replace(part, base=self.bases.get(part.path, part.base))
        self.scan(part)
        return part

    def resolve(self, part: Subschema) -> Subschema:
        """The subschema that a reference means, if there is nothing else in the schema."""
        for _ in range(MOST_REFS):
            part = self.enter(part)
            if not isinstance(part.schema, dict) or "$ref" not in part.schema:
                break
            if part.schema.keys() - SAYS_NOTHING != {"$ref"} and not self.stands_alone(part):
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
        elif key in LISTS and isinstance(found, list | tuple):
            yield from (part.at(inner, key, place) for place, inner in enumerate(found))
        elif key in MAPS and isinstance(found, dict):
            yield from (part.at(inner, key, name) for name, inner in found.items() if isinstance(inner, dict))


class Notes:
    """What a schema says that the machine does not enforce. Each note begins with the path of its part.

    A keyword outside every vocabulary is an annotation: it is ignored and noted. A standard keyword that could
    constrain and is not supported is an error; `ignored` are the paths of those that approximate=True left out.
    """

    def __init__(self, settings: SchemaSettings, ignored: Mapping[str, str]) -> None:
        self.settings, self.ignored = settings, ignored
        self.texts: dict[str, None] = {}
        for path, seen in ignored.items():
            self.add(path, f"{seen}: not enforced")

    def add(self, path: str, text: str) -> bool:
        """Whether the note is new."""
        note = f"{show_path(path)}: {text}"
        return note not in self.texts and self.texts.setdefault(note) is None

    def check(self, part: Subschema) -> None:
        """Note the keywords that are outside JSON Schema."""
        for key in (key for key in part.schema if key not in KNOWN):
            plain = str(key)[:1] in "_$" or str(key).startswith("x-")
            near = "" if plain else nearest(str(key), KNOWN - SAYS_NOTHING, NEAR)
            self.ignore("keyword", below(part.path, key), near)

    def ignore(self, what: str, path: str, near: str) -> None:
        """A keyword or format that JSON Schema does not have; warn of one that looks like a mistake."""
        hint = f"did you mean {near}?" if near else ""
        if self.settings.unknown == "error":
            raise refusal(path, f"a {what} that JSON Schema does not have", "one that it has", hint)
        text = f"not a {what} of JSON Schema, ignored" + (f"; {hint}" if hint else "")
        if self.add(path, text) and hint:
            warnings.warn(f"schema, {show_path(path)}: {text}", SchemaWarning, stacklevel=2)
