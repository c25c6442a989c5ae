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
from guidedviz.machines.schema.text_sets import TextGroups, TextSet, overlap, split_texts
from guidedviz.machines.schema.values import plain_text
from guidedviz.machines.syntax import ANYTHING, Call, Tree, either, literal

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
        names: dict[str, None] = {}
        patterns: dict[TextSet, None] = {}
        for keys in self.keys:
            names |= dict.fromkeys(keys.named)
            patterns |= dict.fromkeys(pattern for pattern, _ in keys.patterns)
        names |= dict.fromkeys(self.required)
        patterns |= dict.fromkeys(some.keys for some in self.some)
        self.patterns = list(patterns)
        self.names = list(names)  # in their order in a text
        self.rest_path = below(self.keys[-1].path if self.keys else row.path, "additionalProperties")
        self.check_size()
        self.named = [self.named_class(name) for name in self.names]
        self.others = self.other_classes()

    def check_size(self) -> None:
        """Raise an error if too many keys may come next."""
        free = [name for name in self.names if name not in self.required]
        if len(free) * sum(map(len, free)) > MOST_NEXT:
            seen = f"{len(self.names):,} properties, of which {len(free):,} are optional"
            raise schema_error(self.path, seen, "fewer, or more that are required")

    def goal(self, name: str | None, inside: frozenset[TextSet]) -> Goal:
        """What the value of a key must meet: a named one, or one that matches exactly these patterns."""
        parts: list[Subschema] = []
        is_admitted = not any(keys.closes for keys in self.keys)
        for keys in self.keys:
            goal = keys.goal_of_key(name, inside)
            if goal is not None:
                parts += goal
                is_admitted = is_admitted or keys.admits
        return goal_of(*parts) if is_admitted else impossible(self.path)

    def class_of(self, name: str | None, inside: frozenset[TextSet], tree: Tree) -> KeyClass:
        """The class of a named key, or of all other keys that match exactly these patterns."""
        paths = [below(keys.path, "properties", str(name)) for keys in self.keys if name in keys.named]
        witness = frozenset(number for number, some in enumerate(self.some) if some.keys in inside)
        return KeyClass(name or "", tree, self.goal(name, inside), [*paths, self.rest_path][0], witness)

    def named_class(self, name: str) -> KeyClass:
        """The class of one named key."""
        inside = frozenset(pattern for pattern in self.patterns if pattern.has(name))
        return self.class_of(name, inside, literal(plain_text(name)))

    def other_classes(self) -> list[KeyClass]:
        """The classes of all other keys."""
        if not self.patterns:
            rest = self.class_of(None, frozenset(), Call("string"))
            if is_impossible(rest.goal):
                return []
            if not self.names:
                return [rest]
        found = []
        for tree, matched in self.other_keys():
            inside = frozenset(self.patterns[number] for number in matched)
            found.append(self.class_of(None, inside, in_quotes(escape_tree(tree))))
        return [each for each in found if not is_impossible(each.goal)]

    def other_keys(self) -> TextGroups:
        """The keys without a name, grouped by the patterns that they match."""
        trees = [pattern.tree for pattern in self.patterns]
        try:
            return split_texts(overlap([ANYTHING], [either(*map(literal, self.names))]), trees)
        except PatternError as error:
            raise schema_error(self.path, error.seen, error.expected, error.hint) from error

    def missing(self, name: str) -> NoValue:
        """The error for a required key that cannot be there."""
        named = [name for keys in self.keys for name in keys.named]
        near = "" if name in named else nearest(name, named)
        path = below(self.required.get(name, self.path), "required")
        return NoValue(path, quoted(name), "a key that the schema allows, with some value", near)


def witnesses(classes: list[KeyClass], number: int) -> list[KeyClass]:
    """The keys that may be the one which must exist, by its number."""
    return [key for key in classes if number in key.witness]
