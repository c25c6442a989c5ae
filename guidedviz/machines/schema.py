"""From a JSON Schema (draft 2020-12) to a machine: the flat part, where no value nests to any depth.

Every keyword adds its piece to a tree; the tree becomes a machine as a regex does. What a schema leaves open is decided
as the engines for structured output decide it:

- Keys stand in the order of `properties`. Without `additionalProperties` an object has no keys but those.
- `enum` and `const` are written in one spelling, that of json.dumps with every character as it is and 1.0 as 1.
- An integer has no fraction and no exponent; see `numerals` for numbers with bounds.
- `pattern` means what `re.search` means under re.ASCII, save that `$` is only the very end; a format is always checked.
- A keyword about another type says nothing, as in the standard; one that is not known here is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.apart import shared_text
from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.json_text import json_text, key_text, kind_of, plain_text
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import build_nfa
from guidedviz.machines.schema_kinds import array_tree, number_tree, object_tree, string_tree
from guidedviz.machines.schema_source import (
    below,
    check_key,
    check_value,
    find_part,
    load_schema,
    nearest,
    refusal,
    shown,
    take_counts,
)
from guidedviz.machines.show_regex import show_regex
from guidedviz.machines.tree import EMPTY, NOTHING, Chars, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.visible import visible

KINDS = ("object", "array", "string", "integer", "fraction", "boolean", "null")
TYPES = {"number": {"integer", "fraction"}} | {kind: {kind} for kind in KINDS if kind != "fraction"}
ANY = frozenset(KINDS)
SHAPES = ("$ref", "anyOf", "oneOf", "allOf")  # at most one of them, and beside it only `type`
SAYS_NOTHING = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor "
    "discriminator".split()
)
KNOWN = SAYS_NOTHING | frozenset(
    "type enum const properties required additionalProperties items prefixItems minItems maxItems minLength maxLength "
    "pattern format minimum maximum exclusiveMinimum exclusiveMaximum".split()
).union(SHAPES)
GAPS = {"compact": {}, "space": dict.fromkeys(",:", optional(literal(" ")))}
BLANK = Repeat(Chars(((9, 10), (13, 13), (32, 32))), 0, None)
MOST_PARTS = 20_000


def json_schema(schema: dict[str, Any] | bool | str, whitespace: str = "space") -> DFA:
    """The smallest machine for a flat JSON Schema, given as a dict or as its text.

    `whitespace`: "space" is one blank or none after each `:` and `,`; "compact" none; "any" all that JSON allows.
    An object has the keys of `properties`, in that order, and no others, even where `additionalProperties` is missing.

    >>> person = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}
    >>> machine = json_schema(person)
    >>> machine.accepts(b'{"age": 42}'), machine.accepts(b'{"age":-1}'), machine.accepts(b'{}')
    (True, False, False)
    """
    with _said_of("schema"):
        return machine_of(schema_tree(schema, whitespace))


def schema_regex(schema: dict[str, Any] | bool | str, whitespace: str = "space") -> str:
    """The regex that a schema stands for.

    >>> schema_regex({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 12}, "maxItems": 2})
    '\\\\[(?:(?:[1-9]|1[0-2])(?:, ?(?:[1-9]|1[0-2]))?)?\\\\]'
    """
    with _said_of("schema"):
        return show_regex(schema_tree(schema, whitespace))


def schema_tree(schema: dict[str, Any] | bool | str, whitespace: str = "space") -> Tree:
    """The tree of a flat schema."""
    if whitespace not in ("space", "compact", "any"):
        raise PatternError("schema, whitespace", seen=repr(whitespace), expected='"space", "compact" or "any"')
    reader = _Reader(load_schema(schema), whitespace)
    return concat(reader.token(EMPTY), reader.read(reader.root, "#"))


@contextmanager
def _said_of(where: str) -> Iterator[None]:
    """Errors of the machines say that it was a schema."""
    try:
        yield
    except PatternError as error:
        if error.where.startswith(where):
            raise
        raise PatternError(where, seen=error.seen, expected=error.expected, hint=error.hint) from error
    except RecursionError as error:
        raise PatternError(where, seen="parts nested too deeply", expected="a flatter schema") from error


def machine_of(tree: Tree) -> DFA:
    """The smallest machine of a tree."""
    return minimise(build_dfa(build_nfa(tree)))


class _Reader:
    """Reads one schema; knows the root, for $ref, and the schemas that are being read, for those that never end."""

    def __init__(self, root: Any, whitespace: str) -> None:
        self.root, self.whitespace = root, whitespace
        self.gaps = GAPS.get(whitespace, {})
        self.open: dict[int, str] = {}
        self.parts = 0

    def token(self, tree: Tree, sign: str = "") -> Tree:
        """A piece of JSON and the blanks that may follow it."""
        return concat(tree, BLANK if self.whitespace == "any" else self.gaps.get(sign, EMPTY))

    def needs_stack(self, path: str, what: str, hint: str = "") -> Tree:
        """The one place where a flat machine has to give up; a pushdown machine calls a rule here."""
        seen, expected = f"{what}, which may nest to any depth", "a flat schema: nesting needs the pushdown machine"
        raise refusal(path, seen, expected, hint)

    def read(self, schema: Any, path: str, allowed: frozenset[str] = ANY) -> Tree:
        """The texts of all values that a schema allows, of these kinds."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise refusal(path, f"more than {MOST_PARTS:,} parts, $ref followed", "a smaller schema")
        if schema is False:
            return NOTHING
        if schema is True or schema == {}:
            return self.needs_stack(path, "any JSON value", 'a "type"')
        if not isinstance(schema, dict):
            raise refusal(path, shown(schema), "a schema: an object, true or false")
        if id(schema) in self.open:
            return self.needs_stack(path, f"a schema inside itself, again {self.open[id(schema)]}")
        self.open[id(schema)] = path
        tree = self.read_keywords(schema, path, allowed & self.kinds(schema, path))
        del self.open[id(schema)]
        if tree == NOTHING and allowed == ANY:  # within a narrower one it is a branch that falls away
            raise refusal(path, "keywords that no value meets together", "some value")
        return tree

    def read_keywords(self, schema: dict[str, Any], path: str, allowed: frozenset[str]) -> Tree:
        self.check_keywords(schema, path)
        if "enum" in schema or "const" in schema:
            return self.values(schema, path, allowed)
        shapes = [key for key in SHAPES if key in schema]
        if not shapes:
            return either(*(self.read_kind(kind, schema, path, allowed) for kind in KINDS if kind in allowed))
        others = [key for key in schema if key not in SAYS_NOTHING and key not in ("type", "$id", shapes[0])]
        if others:
            raise refusal(below(path, others[0]), f"{others[0]} beside {shapes[0]}", f"only type beside {shapes[0]}")
        if shapes[0] == "$ref":
            part, found = find_part(self.root, schema["$ref"], below(path, "$ref"))
            return self.read(part, found, allowed)
        return self.branches(schema, shapes[0], path, allowed)

    def check_keywords(self, schema: dict[str, Any], path: str) -> None:
        """Refuses what is not known here: nothing of a schema is silently left out."""
        for key in schema:
            if key == "$id" and path == "#":
                continue
            if key not in KNOWN:
                known = nearest(str(key), KNOWN)
                hint = f"did you mean {known}?" if known else ""
                raise refusal(below(path, key), "a keyword that is not supported", "one of the flat part", hint)

    def kinds(self, schema: dict[str, Any], path: str) -> frozenset[str]:
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

    def read_kind(self, kind: str, schema: dict[str, Any], path: str, allowed: frozenset[str]) -> Tree:
        """All values of one kind."""
        match kind:
            case "object":
                return self.read_object(schema, path)
            case "array":
                return self.read_array(schema, path)
            case "string":
                return self.token(string_tree(schema, path))
            case "integer" if "fraction" in allowed:
                return NOTHING  # it is among the numbers
            case "integer" | "fraction":
                return self.token(number_tree(schema, path, whole=kind == "integer"))
            case "boolean":
                return self.token(either(literal("true"), literal("false")))
            case _:
                return self.token(literal("null"))

    def read_object(self, schema: dict[str, Any], path: str) -> Tree:
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", False)
        if more is not False:
            hint = '"additionalProperties": false'
            return self.needs_stack(below(path, "additionalProperties"), "an object with any keys", hint)
        if "properties" not in schema and "additionalProperties" not in schema:
            return self.needs_stack(path, "any object", '"properties", or a "type"')
        if not isinstance(properties, dict):
            raise refusal(below(path, "properties"), shown(properties), "an object of schemas")
        required = self.required(schema, path, properties)
        members = []
        for name, part in properties.items():
            check_key(name, below(path, "properties"))
            at = below(below(path, "properties"), name)
            value = self.read(part, at)
            if value == NOTHING and name in required:
                raise refusal(at, "a required property that no value fits", "a schema with some value")
            members.append((concat(key_text(name, self.token), value), name in required))
        return object_tree([member for member in members if member[0] != NOTHING], self.token)

    def required(self, schema: dict[str, Any], path: str, properties: dict[str, Any]) -> set[str]:
        names = schema.get("required", [])
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise refusal(below(path, "required"), shown(names), "a list of names")
        for name in names:
            if name not in properties:
                raise refusal(below(path, "required"), shown(name), "one of properties", nearest(name, properties))
        return set(names)

    def read_array(self, schema: dict[str, Any], path: str) -> Tree:
        low, high = take_counts(schema, "minItems", "maxItems", path)
        prefix, items = schema.get("prefixItems", []), schema.get("items", True)
        if not isinstance(prefix, list | tuple):
            raise refusal(below(path, "prefixItems"), shown(prefix), "a list of schemas")
        at = below(path, "prefixItems")
        first = [self.read(part, below(at, place)) for place, part in enumerate(prefix[:high])]
        rest = NOTHING
        if high is None or high > len(prefix):
            free = "items" not in schema
            rest = self.needs_stack(path, "any array", '"items"') if free else self.read(items, below(path, "items"))
        room = first.index(NOTHING) if NOTHING in first else len(first) if rest == NOTHING else high
        if room is not None and low > room:
            raise refusal(path, f"minItems {low}", f"at most {room}, as many items as fit")
        return array_tree(first[:room], rest if room == high else NOTHING, low, room, self.token)

    def branches(self, schema: dict[str, Any], shape: str, path: str, allowed: frozenset[str]) -> Tree:
        """anyOf, oneOf whose branches share no text, and allOf of one."""
        branches, at = schema[shape], below(path, shape)
        if not isinstance(branches, list | tuple) or not branches:
            raise refusal(at, shown(branches), "a list of schemas")
        if shape == "allOf" and len(branches) > 1:
            raise refusal(at, f"allOf of {len(branches)} schemas", "allOf of one", "all of it in one schema")
        trees = [self.read(branch, below(at, place), allowed) for place, branch in enumerate(branches)]
        if shape == "oneOf":
            self.check_apart(trees, at)
        return either(*trees)

    def check_apart(self, trees: list[Tree], path: str) -> None:
        """Do the branches of a oneOf share no text?"""
        if shared := shared_text(trees):
            text, one, other = shared
            seen = f"branches {one} and {other} that both match {visible(text)}"
            raise refusal(path, seen, "branches that share no text", "anyOf, or branches that differ in a const")

    def values(self, schema: dict[str, Any], path: str, allowed: frozenset[str]) -> Tree:
        """enum and const: the values that the rest of the schema allows too."""
        key = "enum" if "enum" in schema else "const"
        values = schema["enum"] if key == "enum" else [schema["const"]]
        if not isinstance(values, list | tuple) or not values:
            raise refusal(below(path, key), shown(values), "a list of values")
        check_value(schema[key], below(path, key))
        kept = [value for value in values if kind_of(value) in allowed]
        rest = {name: part for name, part in schema.items() if name not in (key, "$id", *SAYS_NOTHING)}
        if kept and rest.keys() - {"type"}:
            kept = self.fitting(kept, rest, below(path, key))
        return either(*(json_text(value, self.token) for value in kept))

    def fitting(self, values: list[Any], rest: dict[str, Any], path: str) -> list[Any]:
        """The values that the other keywords beside them allow; those of objects and arrays cannot be asked."""
        kinds = frozenset(map(kind_of, values))
        if kinds & {"object", "array"}:
            raise refusal(path, f"an object or array beside {next(iter(rest))}", "only type beside it")
        machine = machine_of(self.read(rest, path, kinds))
        return [value for value in values if machine.accepts(plain_text(value).encode())]
