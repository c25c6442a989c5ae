"""Classes of keys that are treated alike: each named key, and each set of other keys that match the same patterns.

{"properties": {"ab": A}, "patternProperties": {"^a": B, "b$": C}}
the key ab: A, B and C;  other keys: a..b: B and C;  a..: B;  ..b: C;  all others: anything
"""

from typing import NamedTuple

from guidedviz.errors import PatternError, nearest, quoted
from guidedviz.machines.schema.constraints import Conjunction, PropertyGoals, RequiredKeys, SomeProperty
from guidedviz.machines.schema.json_text import escape_tree, in_quotes
from guidedviz.machines.schema.places import NoValue, below, schema_error
from guidedviz.machines.schema.subschema import Goal, Subschema, goal_of, impossible, is_impossible
from guidedviz.machines.schema.text_sets import TextSet, overlap, split_texts
from guidedviz.machines.syntax import ANYTHING, NOTHING, Call, Tree, either, literal

MOST_NEXT = 500_000  # optional keys times all their characters: behind each key, every later one may come next


class KeyClass(NamedTuple):
    """Keys that are treated alike: the tree of a key, the goal of its values, and what it is a witness of."""

    name: str
    tree: Tree
    goal: Goal
    path: str
    witness: frozenset[int]  # numbers of `ObjectKeys.some`


class ObjectKeys:
    """The keys that a conjunction names, its patterns of keys, and the classes of all keys."""

    def __init__(self, row: Conjunction) -> None:
        self.row = row
        self.path = row.path
        self.keys = row.of_type(PropertyGoals)
        self.some = row.of_type(SomeProperty)
        self.required = {name: found.path for found in row.of_type(RequiredKeys) for name in found.names}
        is_admitted = any(keys.rest is not None and keys.admits for keys in self.keys)
        self.closed = not is_admitted and any(keys.closes for keys in self.keys)
        self.more = below(self.keys[-1].path if self.keys else row.path, "additionalProperties")
        named = [name for keys in self.keys for name in keys.named]
        self.names = list(dict.fromkeys((*named, *self.required)))  # the keys with a fixed position
        patterns = [pattern for keys in self.keys for pattern, _ in keys.patterns]
        self.patterns = list(dict.fromkeys((*patterns, *(some.keys for some in self.some))))
        self.check_size()
        self.named = [self.named_class(name) for name in self.names]
        self.others = self.other_classes()

    def check_size(self) -> None:
        """Raise an error if too many keys may come next."""
        free = [name for name in self.names if name not in self.required]
        if len(free) * sum(map(len, free)) > MOST_NEXT:
            seen = f"{len(self.names):,} properties, of which {len(free):,} are optional"
            raise schema_error(self.path, seen, "fewer, or more that are required")

    def class_of(self, name: str | None, inside: frozenset[TextSet], tree: Tree) -> KeyClass:
        """The class of a named key, or of all other keys that match exactly these patterns."""
        parts: list[Subschema] = []
        is_admitted = not self.closed
        for keys in self.keys:
            own = keys.goal_of_key(name, inside)
            if own is None:
                parts += keys.rest or ()
            else:
                parts += own
                is_admitted = is_admitted or keys.admits
        goal = goal_of(*parts) if is_admitted else impossible(self.path)
        path = next((below(keys.path, "properties", str(name)) for keys in self.keys if name in keys.named), self.more)
        witness = frozenset(number for number, some in enumerate(self.some) if some.keys in inside)
        return KeyClass(name or "", tree, goal, path, witness)

    def named_class(self, name: str) -> KeyClass:
        """The class of one named key."""
        return self.class_of(name, frozenset(pattern for pattern in self.patterns if pattern.has(name)), NOTHING)

    def other_classes(self) -> list[KeyClass]:
        """The classes of all other keys."""
        if not self.patterns:
            rest = self.class_of(None, frozenset(), Call("string"))
            if is_impossible(rest.goal):
                return []
            if not self.names:
                return [rest]
        trees = [pattern.tree for pattern in self.patterns]
        start: Tree = ANYTHING
        try:
            if self.names:
                start = overlap([ANYTHING], [either(*map(literal, self.names))])
            groups = split_texts(start, trees)
        except PatternError as error:
            raise schema_error(self.path, error.seen, error.expected, error.hint) from error
        found = []
        for tree, matched in groups:
            inside = frozenset(self.patterns[number] for number in matched)
            found.append(self.class_of(None, inside, in_quotes(escape_tree(tree))))
        return [each for each in found if not is_impossible(each.goal)]

    def missing(self, name: str) -> NoValue:
        """The error for a required key that cannot be there."""
        named = [name for keys in self.keys for name in keys.named]
        near = "" if name in named else nearest(name, named)
        path = below(self.required.get(name, self.path), "required")
        return NoValue(path, quoted(name), "a key that the schema allows, with some value", near)
