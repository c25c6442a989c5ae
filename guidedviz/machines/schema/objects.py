"""The trees of objects: named keys in order, then others.

A text may repeat other keys, because no machine of this kind remembers which keys were used. The last of equal keys
counts, so a key that must exist with a certain value comes last.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from guidedviz.machines import syntax
from guidedviz.machines.schema.constraints import Conjunction, Size
from guidedviz.machines.schema.json_text import bracket, key_text
from guidedviz.machines.schema.key_classes import KeyClass, ObjectKeys
from guidedviz.machines.schema.normal_form import NormalForms
from guidedviz.machines.schema.places import NotEnforced, NoValue, below, refusal
from guidedviz.machines.schema.subschema import Goal, Subschema, goal_of
from guidedviz.machines.syntax import EMPTY, NOTHING, Tree, concat, either, literal
from guidedviz.machines.work import spend

MOST_VARIANTS = 200

MOST_PLACES = 20_000  # members times counts
Variant = tuple[dict[str, Goal], int | None]  # more goals of named keys, and which other key must exist, of `some`


class ReadsGoals(Protocol):
    """What reading an object or an array needs from the reader of the whole schema."""

    normal: NormalForms

    def token(self, tree: Tree, sign: str = "") -> Tree: ...
    def read_goal(self, goal: Goal, path: str, most: int = ...) -> Tree: ...
    def settle(self, tree: Tree, path: str, most: int = ...) -> Tree: ...


class Slot(NamedTuple):
    """A member of an object (key, colon and value), which may be required, or come many times."""

    tree: Tree
    required: bool = False
    many: bool = False


def object_tree(row: Conjunction, reader: ReadsGoals) -> Tree:
    """All objects that a conjunction allows."""
    keys = ObjectKeys(row)
    trees, errors = [], []
    for variant in variants(keys):
        try:
            trees.append(read_variant(keys, variant, reader))
        except NoValue as error:
            errors.append(error)
    if not trees:
        raise errors[0] if errors else NoValue(row.path, "a key that must exist and cannot", "some object")
    return either(*trees)


def variants(keys: ObjectKeys) -> Iterable[Variant]:
    """Every way to find the keys that must exist."""
    found: list[Variant] = [({}, None)]
    for place, some in enumerate(keys.some):
        at = [key.name for key in keys.named if place in key.witness]
        more = [({**goals, name: (*goals.get(name, ()), *some.goal)}, other) for goals, other in found for name in at]
        if any(place in key.witness for key in keys.others):
            if any(other is not None for _, other in found):
                raise refusal(some.path, "several unnamed keys that must exist", "named properties")
            more += [(goals, place) for goals, _ in found]
        found = more
        if len(found) > MOST_VARIANTS:
            raise refusal(some.path, "too many keys that must exist", "fewer properties beside not, oneOf or if")
    return found


def read_variant(keys: ObjectKeys, variant: Variant, reader: ReadsGoals) -> Tree:
    """All objects in which the keys that must exist are found in one way."""
    (goals, unnamed), slots = variant, list[Slot]()
    required = {*keys.required, *goals}
    for key in keys.named:
        value = reader.read_goal(goal_of(*key.goal, *goals.get(key.name, ())), key.path)
        if value != NOTHING:
            tree = concat(key_text(key.name, reader.token), value)
            if len(keys.named) > 1 and not required:  # it is repeated in the tree
                tree = reader.settle(tree, key.path, 1)
            slots.append(Slot(tree, key.name in required))
        elif key.name in required:
            raise keys.missing(key.name)
    low, high = keys.row.bounds("object")
    other = reader.settle(other_members(keys.others, (), reader), keys.more)
    if other == NOTHING and high is not None and high >= len(slots):
        high = None
    must = sum(slot.required for slot in slots)
    if other != NOTHING and low > must + 1:
        seen = f"minProperties {low} beside keys that are not named, which a text may repeat"
        at = next(size.path for size in keys.row.of_type(Size) if size.kind == "object" and size.low == low)
        raise NotEnforced(below(at, "minProperties"), seen, f"at most {must + 1}, or named properties only")
    slots += [Slot(other, many=True)] if other != NOTHING else []
    if unnamed is not None:
        fitting = [key for key in keys.others if unnamed in key.witness]
        slots.append(Slot(other_members(fitting, keys.some[unnamed].goal, reader), required=True))
    net = slots_net(keys.path, slots, low, high, reader.token(literal(","), ","))
    if net == NOTHING:
        seen = f"from {low} to {'any number of' if high is None else high} properties, of which {must} are required"
        raise NoValue(keys.path, seen, "numbers and keys of some object")
    return bracket("{}", net, reader.token)


def other_members(classes: Sequence[KeyClass], more: Sequence[Subschema], reader: ReadsGoals) -> Tree:
    """A key of some classes, colon, value, which also meets more subschemas."""
    colon = reader.token(literal(":"), ":")
    values = [reader.read_goal(goal_of(*key.goal, *more), key.path) for key in classes]
    return either(*(concat(reader.token(key.tree), colon, value) for key, value in zip(classes, values, strict=True)))


def slots_net(path: str, slots: list[Slot], low: int, high: int | None, comma: Tree) -> Tree:
    """Members in order, as an automaton that counts them.

    A place: the number of the next slot, how many members came, whether the comma was read. The comma is read on the
    way to a member, so that each member occurs once where nothing is counted.
    """
    most, visited = max(1, low, high or 0), 0

    def moves(place: tuple[int, int, bool]) -> Iterator[tuple[Tree, tuple[int, int, bool]]]:
        nonlocal visited
        number, count, due = place
        visited += 1
        if visited > MOST_PLACES:
            raise refusal(path, "too many counts of properties", "fewer optional properties")
        spend(10)
        if number < len(slots):
            slot = slots[number]
            if due:
                yield slot.tree, (number + (not slot.many), count, False)
            elif high is None or count < high:
                yield comma if count else EMPTY, (number, min(count + 1, most), True)
            if not due and not slot.required:
                yield EMPTY, (number + 1, count, False)

    return syntax.build_net((0, 0, False), moves, lambda place: place[0] == len(slots) and place[1] >= low)
