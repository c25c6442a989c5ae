"""The trees of arrays: items in order, their number, what they contain.

    {"prefixItems": [A, B], "items": C, "minItems": 1}      "[" A ("," B ("," C)*)? "]"

With `contains` (or `uniqueItems` of a few values), an automaton counts the items that match.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from operator import add, ge, gt

from guidedviz.errors import PatternError
from guidedviz.machines.schema.constraints import Conjunction, ContainsGoal, ItemGoals, UniqueItems, ValuesByForm
from guidedviz.machines.schema.json_text import MOST_SHARED_SIGNS, JsonNotation, ReadGoal
from guidedviz.machines.schema.normal_form import NormalForms
from guidedviz.machines.schema.subschema import Goal, Sign, Subschema, goal_of
from guidedviz.machines.schema.values import CONSTANT_KINDS, NoValue, below, schema_error
from guidedviz.machines.syntax import EMPTY, NOTHING, NetMoves, Repeat, Tree, build_net, concat, optional

MOST_ITEM_STATES = 30_000  # of all items that are counted
MANY_CONTAINS = 8  # an item that is counted in so many ways is a rule of its own
MatchCounts = tuple[int, ...]  # for each `contains`: how many items match
Option = tuple[Tree, MatchCounts]
ItemPlace = tuple[int, MatchCounts]  # how many items came, how many of them match


class ItemReader:
    """Reads the items of one conjunction."""

    def __init__(self, row: Conjunction, normal: NormalForms, read_goal: ReadGoal) -> None:
        self.row = row
        self.normal = normal
        self.read_goal = read_goal
        self.low, self.high = row.bounds("array")
        self.listed = row.listed_items()
        self.contains = [each for each in row.of_type(ContainsGoal) if each.low or each.high is not None]
        if self.high not in (0, 1):
            self.contains += self.once_each()
        items = row.of_type(ItemGoals)
        self.path = items[-1].path if items else row.path

    def once_each(self) -> Iterator[ContainsGoal]:
        """uniqueItems of items that have one of a few values: at most one item has each value."""
        for unique in self.row.of_type(UniqueItems):
            path = below(unique.path, "uniqueItems")
            for form, value in self.few_values(path).items():
                part = Subschema(below(path, repr(form)), {"const": value}, Sign.OPEN)
                yield ContainsGoal(part, 0, 1, 0, path)

    def few_values(self, path: str) -> ValuesByForm:
        """All values that the items may have, by their canonical form."""
        values: ValuesByForm = {}
        for place in range(self.listed + 1):
            for row in self.normal.of_goal(self.row.item_goal(place)):
                if row.values is not None:
                    values |= row.values
                elif row.kinds <= CONSTANT_KINDS:
                    values |= {("constant", json.loads(kind)): json.loads(kind) for kind in sorted(row.kinds)}
                else:
                    seen = "uniqueItems of items that are not one of a few values"
                    raise schema_error(path, seen, "items with an enum")
        return values

    def read(self, place: int, *more: Subschema) -> Tree:
        """The tree of an item that also meets these subschemas."""
        path = below(self.path, "prefixItems", place) if place < self.listed else below(self.path, "items")
        most = MOST_SHARED_SIGNS if len(self.contains) < MANY_CONTAINS else 0
        return self.read_goal(goal_of(*self.row.item_goal(place), *more), path, most)

    def options(self, place: int) -> Iterator[Option]:
        """The items that may stand at a place, and for which of `contains` they count."""
        choices: list[tuple[MatchCounts, Goal]] = [((), ())]
        for contains in self.contains:
            more = []
            for counts, goal in choices:
                for matches, part in match_or_not(contains, place):
                    if self.normal.may_hold(goal_of(*self.row.item_goal(place), *goal, *part)):
                        more.append(((*counts, matches), (*goal, *part)))
            choices = more
        for counts, goal in reversed(choices):
            tree = self.read(place, *goal)
            if tree != NOTHING:
                yield tree, counts


def match_or_not(contains: ContainsGoal, place: int) -> list[tuple[int, Goal]]:
    """How many matches an item at a place adds, and what it must then meet; one of many may also match uncounted."""
    if place < contains.start:
        return [(0, ())]
    misses = () if contains.high is None else (contains.part.negated(),)
    return [(0, misses), (1, (contains.part,))]


def array_tree(row: Conjunction, rules: JsonNotation, normal: NormalForms, read_goal: ReadGoal) -> Tree:
    """All arrays that a conjunction allows."""
    items = ItemReader(row, normal, read_goal)
    if items.contains:
        return rules.bracket("[]", items_net(items, rules.comma))
    first = [items.read(place) for place in range(items.listed)[: items.high]]
    rest = NOTHING
    if items.high is None or items.high > items.listed:
        rest = items.read(items.listed)
    room = items.high
    if NOTHING in first:
        room = first.index(NOTHING)
        rest = NOTHING
    elif rest == NOTHING:
        room = len(first)
    if room is not None and items.low > room:
        raise NoValue(row.path, f"minItems {items.low}", f"at most {room}, as many items as fit")
    return rules.bracket("[]", plain_items(first[:room], rest, items.low, room, rules.comma))


def plain_items(first: Sequence[Tree], rest: Tree, low: int, high: int | None, comma: Tree) -> Tree:
    """Items: those of `first` in order, then `rest`; between low and high items in total."""
    row = [*first]
    if not row and high != 0:
        row.append(rest)
    inside = EMPTY
    more = None if high is None else high - len(row)
    if more != 0:
        inside = Repeat(concat(comma, rest), max(0, low - len(row)), more)
    for place in reversed(range(len(row))):
        inside = concat(comma if place else EMPTY, row[place], inside)
        if place >= low:
            inside = optional(inside)
    return inside


def items_net(items: ItemReader, comma: Tree) -> Tree:
    """Items as a net: a place for each number of items and of what they contain, as far as these matter."""
    start = max([items.listed, *(contains.start for contains in items.contains)])  # from here on all items are alike
    most_items = max(start, items.low, items.high or 0, 1)
    least = [contains.low for contains in items.contains]
    most = [contains.low if contains.high is None else contains.high for contains in items.contains]
    options_at = cache(lambda number: [*items.options(number)])
    states = 0

    def moves(place: ItemPlace) -> NetMoves[ItemPlace]:
        nonlocal states
        size, counts = place
        if items.high is not None and size >= items.high:
            return
        for tree, matches in options_at(min(size, start)):
            after = tuple(map(add, counts, matches))
            if any(map(gt, after, most)):
                continue
            states += tree.weight.states + 2
            if states > MOST_ITEM_STATES:
                raise too_many_counts(items)
            yield concat(comma, tree) if size else tree, (min(size + 1, most_items), after)

    def may_end(place: ItemPlace) -> bool:
        size, counts = place
        return size >= items.low and all(map(ge, counts, least))

    net = build_net((0, tuple(0 for _ in items.contains)), moves, may_end)
    if net == NOTHING:
        raise NoValue(items.row.path, "contains, minItems or uniqueItems that no array meets", "some array")
    return net


def too_many_counts(items: ItemReader) -> PatternError:
    """The error for a net of items that is too large."""
    for unique in items.row.of_type(UniqueItems):
        seen = f"uniqueItems of {len(items.contains)} values"
        return schema_error(below(unique.path, "uniqueItems"), seen, "fewer values, or a small maxItems")
    seen = f"contains with counts that take more than {MOST_ITEM_STATES:,} states"
    return schema_error(items.row.path, seen, "smaller counts")
