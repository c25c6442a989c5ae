"""The arguments of a call as XML: what a schema of an object allows, in the style of a model.

    {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
    <parameter=city>Paris</parameter><parameter=days>3</parameter>

The schema is read as for JSON (`reader.py`); only the members of the outermost object are written otherwise, and in
styles that nest those of objects inside, and items.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from guidedviz.machines.free_text import free_text
from guidedviz.machines.graph import grouped
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.arrays import array_tree
from guidedviz.machines.schema.constraints import Conjunction
from guidedviz.machines.schema.json_text import MOST_INLINE_SIGNS
from guidedviz.machines.schema.objects import object_tree
from guidedviz.machines.schema.reader import NO_VALUE, SchemaReader
from guidedviz.machines.schema.subschema import Goal, is_impossible
from guidedviz.machines.schema.text_sets import overlap
from guidedviz.machines.schema.values import JSON_KINDS, NoValue, schema_error
from guidedviz.machines.schema.xml_styles import XmlStyle
from guidedviz.machines.syntax import ANYTHING, EMPTY, NOTHING, Tree, concat, either, has_ticks, literal

NESTED = frozenset(("object", "array"))
Kinds = frozenset[str]


class XmlArguments:
    """Reads a schema with a reader of JSON, and writes members as XML: it is a `JsonNotation`."""

    def __init__(self, json: SchemaReader, style: XmlStyle) -> None:
        self.json = json
        self.style = style
        self.any_order = json.rules.any_order
        self.blank = json.rules.blank
        self.comma = EMPTY
        self.stop = style.marker or style.end  # no string contains it
        self.free_string = free_text({}, excludes=[self.stop, *json.rules.excludes])

    def read_root(self) -> None:
        """Add the rule of the whole schema, of which only the objects are meant."""
        root = self.json.document.enter(self.json.document.root)
        rows = [row for row in self.json.normal.of(root) if "object" in row.kinds and row.values is None]
        if not rows:
            raise schema_error("#", "a schema that no object meets", "the object of the arguments")
        tree = either(*map(self.read_object, rows))
        if tree == NOTHING:
            raise schema_error("#", *NO_VALUE)
        self.json.rules.add("root", tree)

    # --- how members are written ------------------------------------------------------------------------------------

    def constant(self, value: str) -> Tree:
        """The key with this name."""
        escaped = "".join(self.style.escapes.get(char, char) for char in value)
        return self.json.rules.without_excluded(literal(escaped))

    def other_key(self, texts: Tree | None = None, matched: bool = False) -> Tree:
        """A key of these texts; if they match no pattern, one that looks like a name."""
        if not self.style.other_keys:
            self.json.notes.add(self.json.path, "this style cannot write keys that have no name")
            return NOTHING
        known = parse_regex(self.style.other_keys)
        if texts is not None:
            known = texts if matched else overlap([known, texts])
        return self.json.rules.without_excluded(known)

    def member(self, key: Tree, value: Tree) -> Tree:
        """A member with this key; the value begins behind the key."""
        before, after = self.style.key.split("{key}")
        end = concat(literal(self.style.end), key, literal(">")) if self.style.key_in_end else EMPTY
        return concat(literal(self.style.before), literal(before), key, literal(after), value, end, self.blank)

    def bracket(self, signs: str, inside: Tree) -> Tree:
        """Members, or items."""
        return inside if signs == "[]" and self.style.padded else concat(self.blank, inside)

    def settle(self, tree: Tree, path: str, most: int = MOST_INLINE_SIGNS) -> Tree:
        """The tree itself, or a call of a new rule if the tree is long."""
        return self.json.rules.settle(tree, path, most)

    # --- values -----------------------------------------------------------------------------------------------------

    def read_goal(self, goal: Goal, path: str, most: int) -> Tree:
        """A value that meets a goal, with what stands between it and the key, and the end."""
        if is_impossible(goal):
            return NOTHING
        self.json.depth += 1
        tree = self.json.once(("xml", goal), path, lambda: self.read(goal), most)
        self.json.depth -= 1
        return tree

    def read(self, goal: Goal) -> Tree:
        """The same, for each type that the value may have."""
        rows = self.json.normal.of_goal(goal)
        kinds = [kind for kind in JSON_KINDS if any(kind in row.kinds for row in rows)]
        types = grouped((self.style.types.get(kind, ""), kind) for kind in kinds)
        if self.style.any_type and len(types) > 1:
            return self.typed(self.style.any_type, self.value(rows, frozenset(kinds)))
        return either(*(self.typed([name], self.value(rows, frozenset(of_type))) for name, of_type in types.items()))

    def typed(self, types: Iterable[str], value: Tree) -> Tree:
        """A value behind its key, with one of these types."""
        parts = []
        for piece in self.style.after:
            parts += [either(*(literal(piece.replace("{type}", name)) for name in types)), self.blank]
        end = EMPTY if self.style.key_in_end else literal(self.style.end)
        return concat(*parts[:-1], value, end)

    def value(self, rows: list[Conjunction], kinds: Kinds) -> Tree:
        """The values of these kinds."""
        trees = []
        for row in rows:
            if "string" in row.kinds & kinds:
                trees.append(self.string(row))
            rest = replace(row, kinds=row.kinds & kinds - {"string"}).tidy()
            if rest.kinds:
                trees.append(self.padded(self.other_value(rest)))
        is_any_text = self.free_string in trees and self.style.item is None
        return self.free_string if is_any_text else either(*trees)

    def padded(self, tree: Tree, where: bool = True) -> Tree:
        """A tree that may have blanks around it, where the style allows them."""
        return concat(self.blank, tree, self.blank) if self.style.padded and where else tree

    def string(self, row: Conjunction) -> Tree:
        """A string, as it is."""
        if row.values is not None:
            words = [self.stop, *self.json.rules.excludes]
            values = [value for value in row.allowed_values() if isinstance(value, str)]
            fitting = [literal(value) for value in values if not any(word in value for word in words)]
            return self.padded(either(*fitting), self.style.padded_strings)
        if not row.constrains("string") or self.json.is_only_filtered(row):
            return self.free_string
        try:
            tree = row.texts(may_count=True, refused=[concat(ANYTHING, literal(self.stop), ANYTHING)])
        except NoValue:
            return NOTHING
        if has_ticks(tree):
            tree = self.json.rules.add(self.json.rules.name(row.path), tree)
        return self.padded(tree, self.style.padded_strings)

    def other_value(self, row: Conjunction) -> Tree:
        """A value that is no string: JSON, or members and items in a style that nests."""
        if self.style.item is None or row.values is not None:
            return self.json.once(row.key, row.path, lambda: self.json.read_kinds(row, []))
        scalars = replace(row, kinds=row.kinds - NESTED)
        trees = [self.json.read_kinds(scalars, [])]
        if "object" in row.kinds:
            trees.append(self.read_object(row))
        if "array" in row.kinds:
            with suppress(NoValue):
                trees.append(array_tree(row, self, self.json.normal, self.read_item))
        return either(*trees)

    def read_object(self, row: Conjunction) -> Tree:
        """The members of an object."""
        with suppress(NoValue):
            return object_tree(row, self, self.read_goal)
        return NOTHING

    def read_item(self, goal: Goal, path: str, most: int) -> Tree:
        """An item of an array."""
        value = self.read_goal(goal, path, most)
        if self.style.item:
            return self.member(literal(self.style.item), value)
        return concat(literal(self.style.before), value)
