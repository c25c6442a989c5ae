"""Classes of keys that are treated alike: each named key, and each set of other keys that match the same patterns."""

from typing import NamedTuple

from guidedviz.errors import PatternError, nearest, quoted
from guidedviz.machines.schema.constraints import Conjunction, PropertyGoals, RequiredKeys, SomeProperty
from guidedviz.machines.schema.json_text import escape, in_quotes
from guidedviz.machines.schema.places import NoValue, below, refusal
from guidedviz.machines.schema.subschema import Goal, goal_of, impossible
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
        self.row, self.path = row, row.path
        self.keys, self.some = row.of_type(PropertyGoals), row.of_type(SomeProperty)
        self.required = {name: found.path for found in row.of_type(RequiredKeys) for name in found.names}
        closing = any(keys.closing for keys in self.keys)
        self.closed = closing and not any(keys.rest is not None and keys.naming for keys in self.keys)
        named = [name for found in self.keys for name in found.named]
        self.names = list(dict.fromkeys((*named, *self.required)))  # the keys with a fixed position
        patterns = [pattern for keys in self.keys for pattern, _ in keys.patterns]
        self.patterns = list(dict.fromkeys((*patterns, *(some.keys for some in self.some))))
        self.more = below(self.keys[-1].path if self.keys else row.path, "additionalProperties")
        free = [name for name in self.names if name not in self.required]
        if len(free) * sum(map(len, free)) > MOST_NEXT:
            seen = f"{len(self.names):,} properties, of which {len(free):,} are optional"
            raise refusal(row.path, seen, "fewer, or more that are required")
        self.named, self.others = self.find_named(), self.find_others()

    def class_of(self, name: str | None, inside: frozenset[TextSet], tree: Tree) -> KeyClass:
        """The class of a named key, or of all other keys that match exactly these patterns."""
        own = [(keys, keys.own(name, inside)) for keys in self.keys]
        goal = goal_of(*(part for keys, goals in own for each in goals or [keys.rest or ()] for part in each))
        if self.closed and not any(keys.naming and goals for keys, goals in own):
            goal = impossible(self.path)
        witness = frozenset(n for n, some in enumerate(self.some) if some.keys in inside)
        at = next((below(keys.path, "properties", str(name)) for keys in self.keys if name in keys.named), self.more)
        return KeyClass(name or "", tree, goal, at, witness)

    def find_named(self) -> list[KeyClass]:
        """The classes of the named keys."""
        insides = (frozenset(pattern for pattern in self.patterns if pattern.has(name)) for name in self.names)
        return [self.class_of(name, inside, NOTHING) for name, inside in zip(self.names, insides, strict=True)]

    def find_others(self) -> list[KeyClass]:
        """The classes of all other keys."""
        if not self.patterns and any(part.is_false() for part in self.class_of(None, frozenset(), NOTHING).goal):
            return []
        if not self.patterns and not self.names:
            return [self.class_of(None, frozenset(), Call("string"))]
        trees = [pattern.tree for pattern in self.patterns]
        try:
            start = overlap([ANYTHING], [either(*map(literal, self.names))]) if self.names else ANYTHING
            split = split_texts(start, trees)
        except PatternError as error:
            raise refusal(self.path, error.seen, error.expected, error.hint) from error
        insides = [(tree, frozenset(self.patterns[n] for n in of)) for tree, of in split]
        found = [self.class_of(None, inside, in_quotes(escape(tree))) for tree, inside in insides]
        return [each for each in found if not any(part.is_false() for part in each.goal)]

    def missing(self, name: str) -> NoValue:
        """The error for a required key that cannot be there."""
        known = [name for keys in self.keys for name in keys.named]
        near = "" if name in known else nearest(name, known)
        at = below(self.required.get(name, self.path), "required")
        return NoValue(at, quoted(name), "a key that the schema allows, with some value", near)
