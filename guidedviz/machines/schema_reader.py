"""Reads a schema keyword by keyword: a tree for every part, a rule where it is named, or long, or inside itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.apart import check_apart
from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.grammar import Grammar
from guidedviz.machines.inline import inline_rules
from guidedviz.machines.json_text import json_text, kind_of, plain_text
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import build_nfa
from guidedviz.machines.schema_joined import Joiner
from guidedviz.machines.schema_keywords import (
    ANY,
    ASKS,
    KINDS,
    SAYS_NOTHING,
    SHAPES,
    TYPES,
    check_keywords,
    take_branches,
)
from guidedviz.machines.schema_kinds import array_tree, number_tree, string_tree
from guidedviz.machines.schema_objects import read_object
from guidedviz.machines.schema_rules import MOST_SIGNS, Rules
from guidedviz.machines.schema_source import below, check_value, find_part, refusal, shown, take_counts
from guidedviz.machines.tree import EMPTY, NOTHING, Call, Tree, concat, either, literal, optional

GAPS = {"compact": {}, "space": dict.fromkeys(",:", optional(literal(" "))), "one": dict.fromkeys(",:", literal(" "))}
MOST_PARTS = 20_000
FEW = 4  # signs of a part that has a name, or that stands in several places

Key = tuple[int, frozenset[str]]  # a part of the schema, the kinds of value that it may have here


def machine_of(tree: Tree) -> DFA:
    """The smallest machine of a tree."""
    return minimise(build_dfa(build_nfa(tree)))


class Reader:
    """Reads one schema; knows the root, for $ref, and the parts that are being read, for those inside themselves."""

    def __init__(self, root: Any, whitespace: str, order: Sequence[str] | None = None) -> None:
        self.root, self.whitespace = root, whitespace
        self.order = order  # of all keys, wherever they are named; None: as each object names its own
        self.keys: set[str] = set()
        self.gaps = GAPS.get(whitespace, {})
        self.rules = Rules(self.token)
        self.known: dict[Key, Tree] = {}
        self.open: dict[Key, int] = {}  # parts that are being read, and how many values deep each of them began
        self.names: dict[Key, str] = {}  # of those that turned out to be inside themselves
        self.joiner = Joiner(root)
        self.depth = self.parts = 0
        self.at = "#"  # the part that was read last
        self.apart: list[tuple[str, list[Tree]]] = []  # the branches of each oneOf

    def grammar(self) -> Grammar:
        """The rules of the whole schema."""
        if "root" not in self.rules.trees:
            try:
                self.rules.add("root", concat(self.token(EMPTY), self.read_root()))
            except RecursionError:
                raise self.too_deep() from None
        grammar = self.rules.grammar()
        if self.apart:
            self.check_branches()
        return grammar

    def too_deep(self) -> PatternError:
        """The reader calls itself for a part inside a part."""
        path = "/".join(self.at.split("/")[:9])
        hint = "at most some fifty values inside each other"
        return refusal(path, "parts nested too deeply", "a flatter schema", hint)

    def check_branches(self) -> None:
        """Every oneOf once more, with all keys in one order: branches that order them differently may share values."""
        twin = Reader(self.root, "compact", sorted(self.keys))
        twin.rules.add("root", twin.read_root())
        for path, trees in twin.apart:
            check_apart(trees, twin.rules.every(), path)

    def read_root(self) -> Tree:
        """The whole schema; where blanks may stand before it, it is not yet the root."""
        key = id(self.root), ANY
        self.open[key] = self.depth
        tree = self.read(self.root, "#")
        if key not in self.names or self.names[key] == "root":
            return tree
        return self.rules.add(self.names[key], tree)

    def token(self, tree: Tree, sign: str = "") -> Tree:
        """A piece of JSON and the blanks that may follow it."""
        return concat(tree, Call("ws") if self.whitespace == "any" else self.gaps.get(sign, EMPTY))

    def follow(self, part: Any, path: str, allowed: frozenset[str]) -> Tree:
        """What a $ref points to: read once; a rule if it is long, or met again inside itself."""
        key = id(part), allowed
        if key in self.known:
            return self.known[key]
        if key in self.open:
            return self.again(key, path)
        self.open[key] = self.depth
        tree = self.read(part, path, allowed)
        del self.open[key]
        self.known[key] = (
            self.rules.add(self.names[key], tree) if key in self.names else self.rules.settle(tree, path, FEW)
        )
        return self.known[key]

    def again(self, key: Key, path: str) -> Tree:
        """A call of the rule for a part that is still being read: this is what needs a stack."""
        if self.open[key] == self.depth:
            raise refusal(path, "a $ref that comes back to itself and asks for nothing", "a type or a property between")
        if key not in self.names:
            self.names[key] = "root" if path == "#" and self.whitespace != "any" else self.rules.name(path)
        return Call(self.names[key])

    def read_part(self, schema: Any, path: str, most: int = MOST_SIGNS) -> Tree:
        """A value inside a value."""
        if isinstance(schema, dict) and "allOf" in schema and self.joiner.join(schema, path) is False:
            return NOTHING
        self.depth += 1
        tree = self.rules.settle(self.read(schema, path), path, most)
        self.depth -= 1
        return tree

    def read(self, schema: Any, path: str, allowed: frozenset[str] = ANY) -> Tree:
        """The texts of all values that a schema allows, of these kinds."""
        self.parts, self.at = self.parts + 1, path
        if self.parts > MOST_PARTS:
            raise refusal(path, f"more than {MOST_PARTS:,} parts, $ref followed", "a smaller schema")
        if schema is False:
            return NOTHING
        if schema is True:
            schema = {}
        if not isinstance(schema, dict):
            raise refusal(path, shown(schema), "a schema: an object, true or false")
        tree = self.read_keywords(schema, path, allowed & self.kinds(schema, path))
        if tree == NOTHING and allowed == ANY:  # within a narrower one it is a branch that falls away
            raise refusal(path, "keywords that no value meets together", "some value")
        return tree

    def read_keywords(self, schema: dict[str, Any], path: str, allowed: frozenset[str]) -> Tree:
        check_keywords(schema, path)
        if ("enum" in schema or "const" in schema) and not {"$ref", "allOf"} & schema.keys():
            return self.values(schema, path, allowed)
        shapes = [key for key in SHAPES if key in schema]
        if not shapes:
            return self.read_kinds(schema, path, allowed)
        beside = schema.keys() - SAYS_NOTHING - {"type", "$id", shapes[0]}
        if beside or shapes[0] == "allOf":
            return self.follow(self.joiner.join(schema, path), path, allowed)
        if shapes[0] == "$ref":
            part, found = find_part(self.root, schema["$ref"], below(path, "$ref"))
            return self.follow(part, found, allowed)
        return self.branches(schema, shapes[0], path, allowed)

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

    def read_kinds(self, schema: dict[str, Any], path: str, allowed: frozenset[str]) -> Tree:
        """All values of these kinds; any value at all is a rule of its own."""
        free = {kind for kind, words in ASKS.items() if not words & schema.keys()}
        if allowed == ANY and free == ASKS.keys():
            return self.rules.free("value", path)
        nested = [self.read_kind(kind, kind in free, schema, path) for kind in ("object", "array") if kind in allowed]
        kinds = [kind for kind in KINDS[2:] if kind in allowed and (kind != "integer" or "fraction" not in allowed)]
        scalars = either(*(self.read_kind(kind, kind in free, schema, path) for kind in kinds))
        return either(*nested, self.token(scalars))

    def read_kind(self, kind: str, free: bool, schema: dict[str, Any], path: str) -> Tree:
        """All values of one kind; of scalars without the blanks after them."""
        match kind:
            case "fraction":
                free = not ASKS["integer"] & schema.keys()
                return self.rules.free("number", path) if free else number_tree(schema, path, whole=False)
            case "boolean":
                return either(literal("true"), literal("false"))
            case "null":
                return literal("null")
        if free:
            return self.rules.free(kind, path)
        match kind:
            case "object":
                return read_object(schema, path, self)
            case "array":
                return self.read_array(schema, path)
            case "string":
                return string_tree(schema, path)
            case _:
                return number_tree(schema, path, whole=True)

    def read_array(self, schema: dict[str, Any], path: str) -> Tree:
        low, high = take_counts(schema, "minItems", "maxItems", path)
        prefix, items = schema.get("prefixItems", []), schema.get("items", True)
        if not isinstance(prefix, list | tuple):
            raise refusal(below(path, "prefixItems"), shown(prefix), "a list of schemas")
        at = below(path, "prefixItems")
        first = [self.read_part(part, below(at, place)) for place, part in enumerate(prefix[:high])]
        rest = NOTHING
        if high is None or high > len(prefix):
            rest = self.read_part(items, below(path, "items"), FEW)
        room = first.index(NOTHING) if NOTHING in first else len(first) if rest == NOTHING else high
        if room is not None and low > room:
            raise refusal(path, f"minItems {low}", f"at most {room}, as many items as fit")
        return array_tree(first[:room], rest if room == high else NOTHING, low, room, self.token)

    def branches(self, schema: dict[str, Any], shape: str, path: str, allowed: frozenset[str]) -> Tree:
        """anyOf, and oneOf whose branches share no text."""
        at = below(path, shape)
        parts = take_branches(schema, shape, path)
        trees = [self.read(part, below(at, place), allowed) for place, part in enumerate(parts)]
        if shape == "oneOf":
            self.apart.append((at, trees))
        return either(*trees)

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
        return either(*(json_text(self.ordered(value), self.token) for value in kept))

    def ordered(self, value: Any) -> Any:
        """A constant, its keys in the order of all keys if there is one."""
        if isinstance(value, list | tuple):
            return [self.ordered(item) for item in value]
        if self.order is None or not isinstance(value, dict):
            return value
        order = self.order
        return {key: self.ordered(value[key]) for key in sorted(value, key=lambda key: (key not in order, key))}

    def fitting(self, values: list[Any], rest: dict[str, Any], path: str) -> list[Any]:
        """The values that the other keywords beside them allow; those of objects and arrays cannot be asked."""
        kinds = frozenset(map(kind_of, values))
        if kinds & {"object", "array"}:
            raise refusal(path, f"an object or array beside {next(iter(rest))}", "only type beside it")
        reader = Reader({}, "compact")
        reader.rules.add("root", reader.read(rest, path, kinds))
        machine = machine_of(inline_rules(reader.rules.grammar()).rules[0].tree)
        return [value for value in values if machine.accepts(plain_text(value).encode())]
