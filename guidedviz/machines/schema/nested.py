"""The trees of objects and arrays: named keys in order, then others; items in order, their number, what they contain.

Keys that are treated alike are one class: each named key, and every set of other keys that match the same patterns. A
text may repeat other keys, because no machine of this kind remembers which keys were used. The last of equal keys
counts, so a key that must exist with a certain value comes last.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import add, ge, le
from typing import Any, NamedTuple, Protocol

from guidedviz.errors import PatternError, nearest, quoted
from guidedviz.machines import syntax
from guidedviz.machines.regular.nfa import count_states
from guidedviz.machines.schema import constraints, document
from guidedviz.machines.schema.document import Goal, NotEnforced, NoValue, Subschema, below, goal_of, refusal
from guidedviz.machines.schema.normal_form import NormalForms
from guidedviz.machines.schema.scalars import TextSet, bracket, escape, in_quotes, key_text, overlap, split_texts
from guidedviz.machines.syntax import ANYTHING, EMPTY, NOTHING, Call, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.work import spend

MOST_VARIANTS = 200
MOST_NEXT = 500_000  # optional keys times all their characters: behind each key, every later one may come next
MOST_PLACES = 20_000  # members times counts
Variant = tuple[dict[str, Goal], int | None]  # more goals of named keys, and which other key must exist, of `some`
MOST_STATES = 30_000  # of all items that are counted
FEW, MANY = 4, 8  # signs; counts: an item that is longer, or that is counted in so many ways, is a rule of its own
CONSTANTS = {"true": True, "false": False, "null": None}
Counts = tuple[int, ...]  # for each `contains`


class ReadsGoals(Protocol):
    """What reading an object or an array needs from the reader of the whole schema."""

    normal: NormalForms

    def token(self, tree: Tree, sign: str = "") -> Tree: ...
    def read_goal(self, goal: Goal, path: str, most: int = ...) -> Tree: ...
    def settle(self, tree: Tree, path: str, most: int = ...) -> Tree: ...


# --- objects --------------------------------------------------------------------------------------------------------


class KeyClass(NamedTuple):
    """Keys that are treated alike: the tree of a key, the goal of its values, and what it is a witness of."""

    name: str
    tree: Tree
    goal: Goal
    path: str
    witness: frozenset[int]  # numbers of `ObjectKeys.some`


class Slot(NamedTuple):
    """A member of an object (key, colon and value), which may be required, or come many times."""

    tree: Tree
    required: bool = False
    many: bool = False


class ObjectKeys:
    """The keys that a conjunction names, its patterns of keys, and the classes of all keys."""

    def __init__(self, row: constraints.Conjunction) -> None:
        self.row, self.path = row, row.path
        self.keys, self.some = row.of_type(constraints.PropertyGoals), row.of_type(constraints.SomeProperty)
        self.required = {name: found.path for found in row.of_type(constraints.RequiredKeys) for name in found.names}
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
            goal = document.impossible(self.path)
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


def object_tree(row: constraints.Conjunction, reader: ReadsGoals) -> Tree:
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
        at = next(size.path for size in keys.row.of_type(constraints.Size) if size.kind == "object" and size.low == low)
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


# --- arrays ---------------------------------------------------------------------------------------------------------


class ItemReader:
    """Reads the items of one conjunction."""

    def __init__(self, row: constraints.Conjunction, reader: ReadsGoals) -> None:
        self.row, self.reader = row, reader
        self.items = row.of_type(constraints.ItemGoals)
        self.low, self.high = row.bounds("array")
        self.first = max((len(found.first) for found in self.items), default=0)
        contains = row.of_type(constraints.ContainsGoal)
        self.contains = [found for found in contains if found.low or found.high is not None]
        self.contains += [] if self.high in (0, 1) else self.once_each()
        self.at = self.items[-1].path if self.items else row.path

    def goal(self, place: int) -> Goal:
        return goal_of(*(part for found in self.items for part in found.at(place)))

    def once_each(self) -> Iterator[constraints.ContainsGoal]:
        """uniqueItems of items that have one of a few values: at most one item has each value."""
        for unique in self.row.of_type(constraints.UniqueItems):
            at, values = below(unique.path, "uniqueItems"), dict[Any, Any]()
            for row in (row for place in range(self.first + 1) for row in self.reader.normal.of_goal(self.goal(place))):
                if row.values is None and not row.kinds <= CONSTANTS.keys():
                    seen = "uniqueItems of items that are not one of a few values"
                    raise NotEnforced(at, seen, "items with an enum")
                few = {("constant", CONSTANTS[kind]): CONSTANTS[kind] for kind in row.kinds & CONSTANTS.keys()}
                values |= few if row.values is None else row.values
            for form, value in values.items():
                part = Subschema(below(at, repr(form)), {"const": value}, document.OPEN)
                yield constraints.ContainsGoal(part, 0, 1, 0, at)

    def read(self, place: int, *more: Subschema) -> Tree:
        """The tree of an item that also meets these subschemas."""
        path = below(self.at, "items") if place >= self.first else below(self.at, "prefixItems", place)
        return self.reader.read_goal(goal_of(*self.goal(place), *more), path, FEW if len(self.contains) < MANY else 0)

    def options(self, place: int) -> Iterator[tuple[Tree, Counts]]:
        """The items that may stand at a place, and for which of `contains` they count."""
        choices: list[tuple[Counts, Goal]] = [((), ())]
        for found in self.contains:
            ways = [(0, () if found.high is None or place < found.start else (found.part.flip(),))]
            ways += [(1, (found.part,))] if place >= found.start else []
            more = (((*inside, one), (*goal, *part)) for inside, goal in choices for one, part in ways)
            may_hold = self.reader.normal.may_hold
            choices = [choice for choice in more if may_hold(goal_of(*self.goal(place), *choice[1]))]
        trees = ((self.read(place, *goal), inside) for inside, goal in reversed(choices))
        return (option for option in trees if option[0] != NOTHING)


def array_tree(row: constraints.Conjunction, reader: ReadsGoals) -> Tree:
    """All arrays that a conjunction allows."""
    items = ItemReader(row, reader)
    if items.contains:
        return bracket("[]", items_net(items), reader.token)
    first = [items.read(place) for place in range(items.first)[: items.high]]
    rest = NOTHING if items.high is not None and items.high <= items.first else items.read(items.first)
    room = first.index(NOTHING) if NOTHING in first else len(first) if rest == NOTHING else items.high
    if room is not None and items.low > room:
        raise NoValue(row.path, f"minItems {items.low}", f"at most {room}, as many items as fit")
    rest = rest if room == items.high else NOTHING
    inside = plain_items(first[:room], rest, items.low, room, reader.token(literal(","), ","))
    return bracket("[]", inside, reader.token)


def plain_items(first: Sequence[Tree], rest: Tree, low: int, high: int | None, comma: Tree) -> Tree:
    """Items: those of `first` in order, then `rest`; between low and high items in total."""
    row = ([*first] or [rest])[:high]
    inside = EMPTY
    if high is None or high > len(row):
        inside = Repeat(concat(comma, rest), max(0, low - len(row)), None if high is None else high - len(row))
    for place in reversed(range(len(row))):
        inside = concat(comma if place else EMPTY, row[place], inside)
        inside = inside if place < low else optional(inside)
    return inside


def items_net(items: ItemReader) -> Tree:
    """Items as a net: a place for each number of items and of what they contain, as far as these matter."""
    comma = items.reader.token(literal(","), ",")
    start = max([items.first, *(found.start for found in items.contains)])
    limit = max(start, items.low, items.high or 0, 1)
    least = [found.low for found in items.contains]
    most = [found.low if found.high is None else found.high for found in items.contains]
    options: dict[int, list[tuple[Tree, Counts]]] = {}
    states = 0

    def moves(place: tuple[int, Counts]) -> Iterator[tuple[Tree, tuple[int, Counts]]]:
        nonlocal states
        size, counts = place
        if items.high is not None and size >= items.high:
            return
        at = min(size, start)
        if at not in options:
            options[at] = list(items.options(at))
        for tree, inside in options[at]:
            after = tuple(map(add, counts, inside))
            if all(map(le, after, most)):
                states += count_states(tree) + 2
                if states > MOST_STATES:
                    raise too_many_counts(items)
                yield concat(comma, tree) if size else tree, (min(size + 1, limit), after)

    def may_end(place: tuple[int, Counts]) -> bool:
        return place[0] >= items.low and all(map(ge, place[1], least))

    net = syntax.build_net((0, (0,) * len(items.contains)), moves, may_end)
    if net == NOTHING:
        raise NoValue(items.row.path, "contains, minItems or uniqueItems that no array meets", "some array")
    return net


def too_many_counts(items: ItemReader) -> PatternError:
    """The error for a net of items that is too large."""
    for unique in items.row.of_type(constraints.UniqueItems):
        seen, expected = f"uniqueItems of {len(items.contains)} values", "fewer values, or a small maxItems"
        return NotEnforced(below(unique.path, "uniqueItems"), seen, expected)
    return refusal(items.row.path, f"contains with counts that take more than {MOST_STATES:,} states", "smaller counts")
