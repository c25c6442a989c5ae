"""The trees of arrays: items in order, their number, what they contain."""

from collections.abc import Iterator, Sequence
from operator import add, ge, le
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines import syntax
from guidedviz.machines.regular.nfa import count_states
from guidedviz.machines.schema.constraints import Conjunction, ContainsGoal, ItemGoals, UniqueItems
from guidedviz.machines.schema.json_text import bracket
from guidedviz.machines.schema.objects import ReadsGoals
from guidedviz.machines.schema.places import NotEnforced, NoValue, below, refusal
from guidedviz.machines.schema.subschema import OPEN, Goal, Subschema, goal_of
from guidedviz.machines.syntax import EMPTY, NOTHING, Repeat, Tree, concat, literal, optional

MOST_STATES = 30_000  # of all items that are counted
FEW, MANY = 4, 8  # signs; counts: an item that is longer, or that is counted in so many ways, is a rule of its own
CONSTANTS = {"true": True, "false": False, "null": None}
Counts = tuple[int, ...]  # for each `contains`


class ItemReader:
    """Reads the items of one conjunction."""

    def __init__(self, row: Conjunction, reader: ReadsGoals) -> None:
        self.row, self.reader = row, reader
        self.items = row.of_type(ItemGoals)
        self.low, self.high = row.bounds("array")
        self.first = max((len(found.first) for found in self.items), default=0)
        contains = row.of_type(ContainsGoal)
        self.contains = [found for found in contains if found.low or found.high is not None]
        self.contains += [] if self.high in (0, 1) else self.once_each()
        self.at = self.items[-1].path if self.items else row.path

    def goal(self, place: int) -> Goal:
        return goal_of(*(part for found in self.items for part in found.at(place)))

    def once_each(self) -> Iterator[ContainsGoal]:
        """uniqueItems of items that have one of a few values: at most one item has each value."""
        for unique in self.row.of_type(UniqueItems):
            at, values = below(unique.path, "uniqueItems"), dict[Any, Any]()
            for row in (row for place in range(self.first + 1) for row in self.reader.normal.of_goal(self.goal(place))):
                if row.values is None and not row.kinds <= CONSTANTS.keys():
                    seen = "uniqueItems of items that are not one of a few values"
                    raise NotEnforced(at, seen, "items with an enum")
                few = {("constant", CONSTANTS[kind]): CONSTANTS[kind] for kind in row.kinds & CONSTANTS.keys()}
                values |= few if row.values is None else row.values
            for form, value in values.items():
                part = Subschema(below(at, repr(form)), {"const": value}, OPEN)
                yield ContainsGoal(part, 0, 1, 0, at)

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


def array_tree(row: Conjunction, reader: ReadsGoals) -> Tree:
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
    for unique in items.row.of_type(UniqueItems):
        seen, expected = f"uniqueItems of {len(items.contains)} values", "fewer values, or a small maxItems"
        return NotEnforced(below(unique.path, "uniqueItems"), seen, expected)
    return refusal(items.row.path, f"contains with counts that take more than {MOST_STATES:,} states", "smaller counts")
