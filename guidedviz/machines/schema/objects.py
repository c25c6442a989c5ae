"""The trees of objects: named keys in order, then others.

    {"properties": {"a": A, "b": B}, "required": ["b"]}       { ("a": A ,)? "b": B }

Keys that are treated alike are a class: each named key, and each set of other keys that match the same patterns. A text
may repeat other keys, because no machine of this kind remembers which keys were used. The last of equal keys counts, so
a key that must exist with a certain value comes last.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from guidedviz.errors import PatternError, nearest, quoted
from guidedviz.machines.schema.arrays import plain_items
from guidedviz.machines.schema.constraints import Conjunction, PropertyGoals, RequiredKeys, SomeProperty
from guidedviz.machines.schema.json_text import MOST_INLINE_SIGNS, JsonNotation, ReadGoal
from guidedviz.machines.schema.subschema import Goal, Subschema, goal_of, impossible, is_impossible
from guidedviz.machines.schema.text_sets import TextGroups, TextSet, every_text_but, other_texts, split_texts
from guidedviz.machines.schema.values import NoValue, below, schema_error
from guidedviz.machines.syntax import EMPTY, NOTHING, NetMoves, Tree, build_net, either
from guidedviz.machines.work import spend

MOST_NEXT = 500_000  # optional keys times all their characters: behind each key, every later one may come next


class KeyClass(NamedTuple):
    """Keys that are treated alike: the tree of a key, the goal of its values, and which keys of `some` it can be."""

    name: str
    tree: Tree
    goal: Goal
    path: str
    witness: frozenset[int]  # numbers of `ObjectReader.some`


class Slot(NamedTuple):
    """A member of an object (key, colon and value), which may be required, or come many times."""

    tree: Tree
    required: bool = False
    many: bool = False


class Choice(NamedTuple):
    """Which keys are those that must exist: named keys with more goals, and the number of one that has no name.

    {"not": {"additionalProperties": A}}    some key must exist whose value is not A: a named one, or any other
    """

    goals: Mapping[str, Goal]
    unnamed: int | None

    def with_goal(self, name: str, goal: Goal) -> Self:
        """The same with one more goal of a named key."""
        return self._replace(goals={**self.goals, name: (*self.goals.get(name, ()), *goal)})


class ObjectReader:
    """Reads the objects of one conjunction: the keys that it names, its patterns of keys, the classes of all keys."""

    def __init__(self, row: Conjunction, rules: JsonNotation, read_goal: ReadGoal) -> None:
        self.row = row
        self.rules = rules
        self.read_goal = read_goal
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
        return self.class_of(name, inside, self.rules.constant(name))

    def other_classes(self) -> list[KeyClass]:
        """The classes of all other keys."""
        if self.patterns or (self.names and not is_impossible(self.goal(None, frozenset()))):
            groups: list[tuple[Tree | None, frozenset[int]]] = [*self.other_keys()]
        else:
            groups = [(None, frozenset())]
        found = []
        for tree, matched in groups:
            inside = frozenset(self.patterns[number] for number in matched)
            if not is_impossible(self.goal(None, inside)):
                found.append(self.class_of(None, inside, self.rules.other_key(tree, bool(inside))))
        return found

    def other_keys(self) -> TextGroups:
        """The keys without a name, grouped by the patterns that they match."""
        trees = [pattern.tree for pattern in self.patterns]
        try:
            if not trees:
                return [(every_text_but(self.names), frozenset())]
            return split_texts(other_texts(self.names), trees)
        except PatternError as error:
            raise schema_error(self.path, error.seen, error.expected, error.hint) from error

    def missing(self, name: str) -> NoValue:
        """The error for a required key that cannot be there."""
        named = [key for keys in self.keys for key in keys.named]
        near = "" if name in named else nearest(name, named)
        path = below(self.required.get(name, self.path), "required")
        return NoValue(path, quoted(name), "a key that the schema allows, with some value", near)

    def read(self, choice: Choice) -> Tree:
        """All objects in which the keys that must exist are those of a choice."""
        slots = self.named_slots(choice.goals)
        must = sum(slot.required for slot in slots)
        low, high = self.row.bounds("object")
        others = self.rules.settle(self.other_members(self.others), self.rest_path)
        if others != NOTHING:
            self.check_low(low, must)
            slots.append(Slot(others, many=True))
        elif high is not None and high >= len(slots):
            high = None  # the named members alone are not more
        if choice.unnamed is not None:
            fitting = witnesses(self.others, choice.unnamed)
            slots.append(Slot(self.other_members(fitting, self.some[choice.unnamed].goal), required=True))
        net = slots_net(self.path, slots, low, high, self.rules.comma)
        if net == NOTHING:
            most = "any number of" if high is None else high
            seen = f"from {low} to {most} properties, of which {must} are required"
            raise NoValue(self.path, seen, "numbers and keys of some object")
        return self.rules.bracket("{}", net)

    def read_in_any_order(self) -> Tree:
        """All objects whose members each are allowed; which of them come, and how often, is not checked."""
        members = [self.member(key, ()) for key in (*self.named, *self.others)]
        tree = self.rules.settle(either(*members), self.path, 1)
        low, high = self.row.bounds("object")
        low = max(low, len(self.required))
        if tree == NOTHING:
            high = 0
        if high is not None and low > high:
            raise NoValue(self.path, f"at least {low} properties", f"at most {high}, as many as the schema allows")
        return self.rules.bracket("{}", plain_items([], tree, low, high, self.rules.comma))

    def named_slots(self, goals: Mapping[str, Goal]) -> list[Slot]:
        """The members with a name, of which some have more goals."""
        slots = []
        required = {*self.required, *goals}
        for key in self.named:
            tree = self.member(key, goals.get(key.name, ()))
            if tree != NOTHING:
                if len(self.named) > 1 and not required:  # it is repeated in the tree
                    tree = self.rules.settle(tree, key.path, 1)
                slots.append(Slot(tree, key.name in required))
            elif key.name in required:
                raise self.missing(key.name)
        return slots

    def other_members(self, classes: Sequence[KeyClass], more: Goal = ()) -> Tree:
        """A member whose key is of one of these classes."""
        return either(*(self.member(key, more) for key in classes))

    def member(self, key: KeyClass, more: Goal) -> Tree:
        """A key, a colon, and a value, which also meets more subschemas."""
        value = self.read_goal(goal_of(*key.goal, *more), key.path, MOST_INLINE_SIGNS)
        return self.rules.member(key.tree, value)

    def check_low(self, low: int, must: int) -> None:
        """Raise an error if keys without names would have to be counted, although a text may repeat them."""
        if low > must + 1:
            seen = f"minProperties {low} beside keys that are not named, which a text may repeat"
            expected = f"at most {must + 1}, or named properties only"
            raise schema_error(self.row.size_path("object", low), seen, expected)


def witnesses(classes: list[KeyClass], number: int) -> list[KeyClass]:
    """The keys that may be the one which must exist, by its number."""
    return [key for key in classes if number in key.witness]


MOST_CHOICES = 200
MOST_COUNTED_MEMBERS = 20_000  # members times counts
MemberPlace = tuple[int, int, bool]


def object_tree(row: Conjunction, rules: JsonNotation, read_goal: ReadGoal) -> Tree:
    """All objects that a conjunction allows."""
    reader = ObjectReader(row, rules, read_goal)
    if rules.any_order:
        return reader.read_in_any_order()
    trees = []
    errors = []
    for choice in choices(reader):
        try:
            trees.append(reader.read(choice))
        except NoValue as error:
            errors.append(error)
    if trees:
        return either(*trees)
    raise errors[0] if errors else NoValue(row.path, "a key that must exist and cannot", "some object")


def choices(keys: ObjectReader) -> list[Choice]:
    """Every way to choose the keys that must exist."""
    found = [Choice({}, None)]
    for number, some in enumerate(keys.some):
        names = [key.name for key in witnesses(keys.named, number)]
        more = [choice.with_goal(name, some.goal) for choice in found for name in names]
        if witnesses(keys.others, number):
            if any(choice.unnamed is not None for choice in found):
                raise schema_error(some.path, "several unnamed keys that must exist", "named properties")
            more += [Choice(choice.goals, number) for choice in found]
        if len(more) > MOST_CHOICES:
            raise schema_error(some.path, "too many keys that must exist", "fewer properties beside not, oneOf or if")
        found = more
    return found


def slots_net(path: str, slots: list[Slot], low: int, high: int | None, comma: Tree) -> Tree:
    """Members in order, as an automaton that counts them.

    A place: the number of the next slot, how many members came, whether the comma was read. The comma is read on the
    way to a member, so that each member occurs once where nothing is counted.
    """
    most = max(1, low, high or 0)
    visited = 0

    def moves(place: MemberPlace) -> NetMoves[MemberPlace]:
        nonlocal visited
        number, count, is_due = place
        visited += 1
        if visited > MOST_COUNTED_MEMBERS:
            raise schema_error(path, "too many counts of properties", "fewer optional properties")
        spend(10)
        if number == len(slots):
            return
        slot = slots[number]
        if is_due:
            yield slot.tree, (number if slot.many else number + 1, count, False)
            return
        if high is None or count < high:
            yield comma if count else EMPTY, (number, min(count + 1, most), True)
        if not slot.required:
            yield EMPTY, (number + 1, count, False)

    return build_net((0, 0, False), moves, lambda place: place[0] == len(slots) and place[1] >= low)
