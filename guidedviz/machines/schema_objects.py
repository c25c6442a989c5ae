"""An object: the keys that have a name in their order, then any number of others, by what their keys look like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from guidedviz.errors import PatternError
from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.json_text import escape, key_text, quoted
from guidedviz.machines.nfa import build_nfa
from guidedviz.machines.overlap import split_texts
from guidedviz.machines.schema_keys import other_keys
from guidedviz.machines.schema_kinds import Member, object_tree, pattern_tree, string_texts
from guidedviz.machines.schema_source import below, check_key, check_value, nearest, refusal, shown, take_counts
from guidedviz.machines.tree import NOTHING, Repeat, Tree, concat, either, literal

if TYPE_CHECKING:
    from guidedviz.machines.schema_reader import Reader

LOOKS = ("pattern", "format", "minLength", "maxLength", "enum", "const", "type")
Part = tuple[Any, str]  # a schema and its path


@dataclass(frozen=True)
class Family:
    """Keys of one look: their texts, and the schema of their values."""

    tree: Tree
    part: Part

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))

    def has(self, name: str) -> bool:
        return self.machine.accepts(name.encode())


@dataclass(frozen=True)
class Keys:
    """What a schema says of an object's keys: those with a name, families of others, and the schema of all the rest."""

    named: dict[str, Part]
    required: tuple[str, ...]
    families: tuple[Family, ...]
    rest: Part
    look: Family | None  # of all keys

    def fixed(self, order: Sequence[str] | None) -> list[str]:
        """The keys that have their place; in a given order all of them that may be there at all."""
        own = list(dict.fromkeys((*self.named, *self.required)))
        return own if order is None else [name for name in order if name in own or self.part(name)[0] is not False]

    def part(self, name: str) -> Part:
        """The schema for the value of this key."""
        if self.look and not self.look.has(name):
            return False, self.look.part[1]
        named = [self.named[name]] if name in self.named else []
        return self.joined([*named, *(family.part for family in self.families if family.has(name))])

    def joined(self, parts: list[Part]) -> Part:
        """One schema for what several ask of the same key."""
        asking = [part for part in parts if part[0] is not True and part[0] != {}]
        if len(asking) < 2:
            return next(iter(asking or parts), self.rest)
        return {"allOf": [schema for schema, _ in asking]}, asking[-1][1]


def read_object(schema: dict[str, Any], path: str, reader: Reader) -> Tree:
    """The texts of all objects that the keywords for objects allow."""
    keys = read_keys(schema, path)
    names = keys.fixed(reader.order)
    reader.keys.update(names)
    members: list[Member] = []
    for name in names:
        part, at = keys.part(name)
        value = reader.read_part(part, at)
        if value == NOTHING and name in keys.required:
            raise refusal(at, "a required property that no value fits", "a schema with some value")
        tree = concat(key_text(name, reader.token), value)
        if value != NOTHING and len(names) > 1 and not keys.required:  # it will be written several times
            tree = reader.rules.settle(tree, at, 1, "member")
        if value != NOTHING:
            members.append((tree, name in keys.required))
    others = [
        concat(reader.token(tree), reader.token(literal(":"), ":"), reader.read_part(*part))
        for tree, part in other_parts(keys, names, path)
    ]
    other = reader.rules.settle(either(*others), below(path, "additionalProperties"))
    return count_members(schema, path, members, other, reader)


def other_parts(keys: Keys, names: list[str], path: str) -> list[tuple[Tree, Part]]:
    """The keys that have no place of their own, and the schema of their values."""
    if not keys.families and keys.look is None:
        found = [(other_keys(names), keys.rest)]
    else:
        trees = [either(*map(literal, names)), *(family.tree for family in keys.families)]
        look = [keys.look.tree] if keys.look else []
        try:
            split = split_texts([*trees, *look])
        except PatternError as error:
            raise refusal(path, error.seen, error.expected, error.hint) from error
        kinds = [(tree, of) for tree, of in split if 0 not in of and (not look or len(trees) in of)]
        found = [
            (quoted(escape(tree)), keys.joined([keys.families[n - 1].part for n in sorted(of) if n < len(trees)]))
            for tree, of in kinds
        ]
    return [(tree, part) for tree, part in found if part[0] is not False]


def count_members(schema: dict[str, Any], path: str, members: list[Member], other: Tree, reader: Reader) -> Tree:
    """The members, then from minProperties to maxProperties of others, the members counted too."""
    low, high = take_counts(schema, "minProperties", "maxProperties", path)
    if reader.order is not None:
        low, high = 0, None  # all keys are named there, and may be too many to count
    must = sum(required for _, required in members)
    if high is not None and high < must:
        raise refusal(below(path, "maxProperties"), f"maxProperties {high}", f"at least {must}, which are required")
    low, high = max(0, low - must), None if high is None else high - must
    if other == NOTHING and high is not None and high >= len(members) - must:
        high = None
    if high == 0:
        members, other, high = [member for member in members if member[1]], NOTHING, None
    optional = len(members) - must
    if optional and (high is not None or low > 1 or (low and must)):
        raise refusal(path, "counted properties of which some are optional", "counts where all named ones are required")
    if low > 1 or (low and not optional and other == NOTHING):
        most = f"at most {must + min(1, optional + (other != NOTHING))}: a text may repeat its keys"
        raise refusal(below(path, "minProperties"), f"minProperties {low + must}", most)
    if other != NOTHING:
        comma = reader.token(literal(","), ",")
        row = concat(other, Repeat(concat(comma, other), 0, None if high is None else high - 1))
        members = [*members, (row, low > 0 and not optional)]
    return object_tree(members, reader.token, low)


def read_keys(schema: dict[str, Any], path: str) -> Keys:
    """What the keywords say of the keys."""
    at = below(path, "properties")
    properties, patterns = (schema.get(key, {}) for key in ("properties", "patternProperties"))
    for key, parts in (("properties", properties), ("patternProperties", patterns)):
        if not isinstance(parts, dict):
            raise refusal(below(path, key), shown(parts), "an object of schemas")
        for name in parts:
            check_key(name, below(path, key))
    closed = "properties" in schema or "patternProperties" in schema
    rest = schema.get("additionalProperties", not closed), below(path, "additionalProperties")
    places = {text: below(below(path, "patternProperties"), text) for text in patterns}
    families = tuple(Family(pattern_tree(text, place), (patterns[text], place)) for text, place in places.items())
    named = {name: (part, below(at, name)) for name, part in properties.items()}
    keys = Keys(named, (), families, rest, read_look(schema, path))
    return replace(keys, required=take_required(schema, path, keys))


def take_required(schema: dict[str, Any], path: str, keys: Keys) -> tuple[str, ...]:
    names = schema.get("required", [])
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise refusal(below(path, "required"), shown(names), "a list of names")
    for name in names:
        check_value(name, below(path, "required"))
        if name not in keys.named and keys.part(name)[0] is False:
            raise refusal(below(path, "required"), shown(name), "one of properties", nearest(name, keys.named))
    return tuple(names)


def read_look(schema: dict[str, Any], path: str) -> Family | None:
    """The texts that propertyNames allows."""
    names, path = schema.get("propertyNames", True), below(path, "propertyNames")
    if names is True or names == {}:
        return None
    if names is False:
        return Family(NOTHING, (False, path))
    if not isinstance(names, dict):
        raise refusal(path, shown(names), "a schema: an object, true or false")
    for key in names:
        if key not in LOOKS:
            raise refusal(below(path, key), "a keyword that is not supported for names", "one of " + ", ".join(LOOKS))
    values = names.get("enum", [names["const"]] if "const" in names else None)
    if values is None:
        return Family(string_texts(names, path), (False, path))
    texts = [value for value in values if isinstance(value, str)]
    return Family(either(*map(literal, texts)), (False, path))
