"""Several schemas of the same value as one: allOf, keywords beside a $ref or beside branches, keys of two patterns.

Each keyword is joined with its twin where the result is a keyword again: the tighter bound, the types of both, all that
is required. Properties of the same name are asked for together. Where that is not so, both are named in an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guidedviz.machines.schema_keywords import SAYS_NOTHING, check_keywords, take_branches
from guidedviz.machines.schema_source import below, exact, find_part, refusal, shown

Part = tuple[Any, str]  # a schema and its path
LOW = frozenset("minimum exclusiveMinimum minLength minItems minProperties".split())
HIGH = frozenset("maximum exclusiveMaximum maxLength maxItems maxProperties".split())
OF_KEYS = ("properties", "additionalProperties", "patternProperties", "propertyNames")
OF_ITEMS = ("items", "prefixItems")


class Joiner:
    """Joins parts of a schema; the same parts always give the same schema, so that a loop comes back to its start."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.joined: dict[frozenset[int], Any] = {}
        self.parts: dict[int, list[Part]] = {}  # what each joined schema was joined from
        self.rests: dict[tuple[int, str], tuple[Any, dict[str, Any]]] = {}  # with the schema, or its id might be reused

    def join(self, schema: dict[str, Any], path: str) -> Any:
        """One schema without allOf, and with nothing beside a $ref or beside branches."""
        parts = {id(part): (part, at) for part, at in self.spread(schema, path, ())}
        key = frozenset(parts)
        if key not in self.joined:
            self.joined[key] = self.join_parts(list(parts.values()), path)
            self.parts[id(self.joined[key])] = list(parts.values())
        return self.joined[key]

    def spread(self, schema: Any, path: str, above: tuple[int, ...]) -> Iterator[Part]:
        """The schemas that must all hold, $ref and allOf followed."""
        if schema is True or (isinstance(schema, dict) and id(schema) in self.parts):
            yield from self.parts.get(id(schema), ())
            return
        if schema is False or not isinstance(schema, dict):
            yield schema, path
            return
        if id(schema) in above:
            raise refusal(path, "a $ref that comes back to itself and asks for nothing", "a type or a property between")
        check_keywords(schema, path)
        shape = next((key for key in ("$ref", "allOf") if key in schema), None)
        if shape is None:
            yield schema, path
            return
        inner = [find_part(self.root, schema["$ref"], below(path, "$ref"))] if shape == "$ref" else []
        if shape == "allOf":
            at = below(path, shape)
            inner = [(part, below(at, place)) for place, part in enumerate(take_branches(schema, shape, path))]
        for part, at in self.with_rest(schema, shape, inner, path):
            yield from self.spread(part, at, (*above, id(schema)))

    def with_rest(self, schema: dict[str, Any], shape: str, inner: list[Part], path: str) -> list[Part]:
        """The parts that a keyword leads to, and what stands beside it: before them if its properties do."""
        rest, order = self.without(schema, shape), list(schema)
        if not rest:
            return inner
        first = "properties" in rest and order.index("properties") < order.index(shape)
        return [(rest, path), *inner] if first else [*inner, (rest, path)]

    def without(self, schema: dict[str, Any], shape: str) -> dict[str, Any]:
        """The same keywords but for one, and but for remarks."""
        rest = {key: part for key, part in schema.items() if key != shape and key not in SAYS_NOTHING and key != "$id"}
        return self.rests.setdefault((id(schema), shape), (schema, rest))[1]

    def join_parts(self, parts: list[Part], path: str) -> Any:
        for part, at in parts:
            if part is False:
                return False
            if not isinstance(part, dict):
                raise refusal(at, shown(part), "a schema: an object, true or false")
        for place, (part, at) in enumerate(parts):
            for shape in ("anyOf", "oneOf"):
                if shape in part:
                    rows = [
                        self.with_rest(part, shape, [(branch, at)], at) for branch in take_branches(part, shape, at)
                    ]
                    rows = [[*parts[:place], *row, *parts[place + 1 :]] for row in rows]
                    return {shape: [{"allOf": [schema for schema, _ in row]} for row in rows]}
        joined: dict[str, Any] = {}
        for part, _ in parts:
            joined = join_keywords(joined, part, path)
        return False if joined.get("type") == [] else joined


def join_keywords(one: Mapping[str, Any], other: Mapping[str, Any], path: str) -> dict[str, Any]:
    """A schema that asks what both ask; neither has branches or a $ref.

    >>> join_keywords({"type": ["integer", "null"], "minimum": 2}, {"type": "number", "minimum": 3}, "#")
    {'type': ['integer'], 'minimum': 3}
    """
    joined = {**join_keys(one, other, path), **join_items(one, other, path)}
    for key in dict.fromkeys((*one, *other)):
        if key not in (*OF_KEYS, *OF_ITEMS):
            values = [part[key] for part in (one, other) if key in part]
            joined[key] = values[0] if len(values) == 1 else join_values(key, values[0], values[1], path)
    return joined


def join_values(key: str, one: Any, other: Any, path: str) -> Any:
    """What a keyword says that stands in two schemas."""
    if key in LOW | HIGH:
        return (max if key in LOW else min)(one, other, key=lambda value: exact(value, below(path, key)))
    if key == "required" and isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return [*one, *(name for name in other if name not in one)]
    if key == "type":
        return join_types(as_list(one), as_list(other))
    if repr(one) != repr(other):
        raise refusal(path, f"{key} as {shown(one)} and as {shown(other)}", "one of them, or both in one schema")
    return one


def join_types(one: list[Any], other: list[Any]) -> list[Any]:
    """The types that both allow; an integer is a number.

    >>> join_types(["integer", "null"], ["number", "string"]), join_types(["number", "integer"], ["integer"])
    (['integer'], ['integer'])
    """
    both = [kind for kind in one if kind in other]
    whole = [kinds for kinds in (one, other) if "integer" in kinds] and "number" in (*one, *other)
    return [*both, "integer"] if whole and not {"integer", "number"} & {*map(str, both)} else both


def as_list(kinds: Any) -> list[Any]:
    return list(kinds) if isinstance(kinds, list | tuple) else [kinds]


def join_keys(one: Mapping[str, Any], other: Mapping[str, Any], path: str) -> dict[str, Any]:
    """What both say of the keys of an object; one that allows other keys asks something of those it does not name."""
    saying = [part for part in (one, other) if any(key in part for key in OF_KEYS)]
    if len(saying) < 2:
        return {key: part[key] for part in saying for key in OF_KEYS if key in part}
    for key in ("patternProperties", "propertyNames"):
        if any(key in part for part in saying):
            raise refusal(path, f"{key} beside another schema of the same object", "both in one schema")
    named = [part.get("properties", {}) for part in saying]
    for parts in named:
        if not isinstance(parts, dict):
            raise refusal(below(path, "properties"), shown(parts), "an object of schemas")
    joined: dict[str, Any] = {"properties": {}}
    for name in dict.fromkeys(name for parts in named for name in parts):
        asked = [
            parts.get(name, part.get("additionalProperties", True)) for part, parts in zip(saying, named, strict=True)
        ]
        joined["properties"][name] = all_of(asked)
    more = [part["additionalProperties"] for part in saying if "additionalProperties" in part]
    return {**joined, "additionalProperties": all_of(more)} if more else joined


def join_items(one: Mapping[str, Any], other: Mapping[str, Any], path: str) -> dict[str, Any]:
    """What both say of the items of an array."""
    saying = [part for part in (one, other) if any(key in part for key in OF_ITEMS)]
    if len(saying) < 2:
        return {key: part[key] for part in saying for key in OF_ITEMS if key in part}
    first = [part.get("prefixItems", []) for part in saying]
    if not all(isinstance(parts, list | tuple) for parts in first):
        raise refusal(below(path, "prefixItems"), shown(first), "a list of schemas")
    rest = [part.get("items", True) for part in saying]
    longest = max(map(len, first))
    places = [[*parts, *[more] * (longest - len(parts))] for parts, more in zip(first, rest, strict=True)]
    return {"prefixItems": [all_of(list(asked)) for asked in zip(*places, strict=True)], "items": all_of(rest)}


def all_of(asked: list[Any]) -> Any:
    """One schema for all of them."""
    several = [part for part in asked if part is not True]
    return several[0] if len(several) == 1 else {"allOf": several} if several else True
