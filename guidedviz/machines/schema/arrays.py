"""The tree of an array: items in order, their number, what it must contain, and items that must differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from guidedviz.machines.regular.assertions import build_net
from guidedviz.machines.regular.nfa import count_states
from guidedviz.machines.schema.constraints import Conjunction, ContainsGoal, ItemGoals, UniqueItems, goal_of
from guidedviz.machines.schema.document import OPEN, Goal, Subschema, below, refusal
from guidedviz.machines.schema.normal_form import MOST_SIGNS, NormalForms, ReadsGoals
from guidedviz.machines.schema.scalars import NoValue, take_range
from guidedviz.machines.schema.strings import bracket, canon
from guidedviz.machines.tree import EMPTY, NOTHING, Repeat, Tree, concat, literal, optional

MOST_PLACES = 5_000
MOST_EDGES = 40_000
MOST_SIZE = 30_000  # states of the items on all edges
MANY = 8  # values that must differ: each becomes a rule, because it is repeated in the tree
FEW = 4  # signs of an item that is not a rule of its own
Values = dict[Any, Any]  # canonical form -> value


class ItemPlace(NamedTuple):
    """What matters of the items so far."""

    size: int  # the number of items, up to a limit
    counts: tuple[int, ...]  # for each `contains`
    used: frozenset[Any]  # the values that may not come again


class TooManyPlaces(Exception):
    """The net of the items is too large."""


class ItemReader:
    """Reads the items of one conjunction."""

    def __init__(self, row: Conjunction, path: str, reader: ReadsGoals) -> None:
        self.row, self.path, self.reader = row, path, reader
        self.items = row.of_type(ItemGoals)
        self.low, self.high = take_range(row, "array")
        self.contains = [found for found in row.of_type(ContainsGoal) if found.low or found.high is not None]
        self.first = max((len(found.first) for found in self.items), default=0)
        self.most = MOST_SIGNS  # an item with more signs becomes a rule
        self.at = self.items[-1].path if self.items else path

    def goal(self, place: int) -> Goal:
        return goal_of(*(part for found in self.items for part in found.at(place)))

    def read(self, place: int, *more: Subschema) -> Tree:
        """The tree of an item that also meets these subschemas."""
        beyond = place >= self.first
        path = below(self.at, *(("items",) if beyond else ("prefixItems", place)))
        goal = goal_of(*self.goal(place), *more)
        return self.reader.read_goal(goal, path, FEW if beyond and not more else self.most)


def array_tree(row: Conjunction, path: str, reader: ReadsGoals) -> Tree:
    """All arrays that a conjunction allows."""
    items = ItemReader(row, path, reader)
    values = unique_values(items)
    if items.contains or values is not None:
        items.most = 0 if len(values or ()) >= MANY else MOST_SIGNS
        return bracket("[]", counted_items(items, values), reader.token)
    first = [items.read(place) for place in range(items.first)[: items.high]]
    rest = NOTHING if items.high is not None and items.high <= items.first else items.read(items.first)
    room = first.index(NOTHING) if NOTHING in first else len(first) if rest == NOTHING else items.high
    if room is not None and items.low > room:
        raise NoValue(path, f"minItems {items.low}", f"at most {room}, as many items as fit")
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


def unique_values(items: ItemReader) -> Values | None:
    """The values of which each may come once; None if items need not differ."""
    unique = items.row.of_type(UniqueItems)
    if not unique or items.high in (0, 1):
        return None
    found: Values = {}
    for place in range(items.first + 1):
        values = finite_values(items.goal(place), items.reader.normal)
        if values is None:
            if place == items.first and items.read(place) == NOTHING:
                break
            seen = "uniqueItems of items that are not one of a few values"
            items.reader.normal.notes.give_up(below(unique[0].path, "uniqueItems"), seen, "items with an enum")
            return None
        found |= values
    return found


def finite_values(goal: Goal, normal: NormalForms) -> Values | None:
    """All values that may meet a goal, if they are constants, truth values or null; else None."""
    found: Values = {}
    for row in normal.of_goal(goal):
        if row.values is None and not row.kinds <= {"boolean", "null"}:
            return None
        few = [True, False] * ("boolean" in row.kinds) + [None] * ("null" in row.kinds)
        found |= {canon(value): value for value in few} if row.values is None else row.values
    return found


def counted_items(items: ItemReader, values: Values | None) -> Tree:
    """Items as a net: a place for each number of items, of each `contains`, and each set of used values."""
    try:
        net = items_net(items, values)
    except TooManyPlaces:
        if values is None:
            seen = f"contains with more than {MOST_PLACES:,} counts"
            raise refusal(items.path, seen, "smaller counts") from None
        at, seen = items.row.of_type(UniqueItems)[0].path, f"uniqueItems of {len(values)} values"
        items.reader.normal.notes.give_up(below(at, "uniqueItems"), seen, "fewer values, or a small maxItems")
        return counted_items(items, None)
    if net == NOTHING:
        raise NoValue(items.path, "contains, minItems or uniqueItems that no array meets", "some array")
    return net


def items_net(items: ItemReader, values: Values | None) -> Tree:
    comma = items.reader.token(literal(","), ",")
    start = max([items.first, *(found.start for found in items.contains)])
    limit = max(start, items.low, items.high or 0, 1)
    options: dict[int, list[tuple[Tree, tuple[int, ...], Any]]] = {}
    places = edges = size = 0

    def moves(place: ItemPlace) -> Iterator[tuple[Tree, ItemPlace]]:
        nonlocal places, edges, size
        places += 1
        if items.high is not None and place.size >= items.high:
            return
        at = min(place.size, start)
        if at not in options:
            options[at] = list(item_options(items, at, values))
        for tree, inside, value in options[at]:
            counts = add_counts(items.contains, place.counts, inside)
            if counts is None or value in place.used:
                continue
            edges, size = edges + 1, size + count_states(tree) + 2
            if places > MOST_PLACES or edges > MOST_EDGES or size > MOST_SIZE:
                raise TooManyPlaces
            used = place.used if value is None else place.used | {value}
            target = ItemPlace(min(place.size + 1, limit), counts, used)
            yield concat(comma, tree) if place.size else tree, target

    def may_end(place: ItemPlace) -> bool:
        enough = all(count >= found.low for count, found in zip(place.counts, items.contains, strict=True))
        return enough and place.size >= items.low

    return build_net(ItemPlace(0, (0,) * len(items.contains), frozenset()), moves, may_end)


def add_counts(
    contains: Sequence[ContainsGoal], counts: tuple[int, ...], inside: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The counts after one more item; None beyond a maximum, or where no more are needed."""
    for count, one, found in zip(counts, inside, contains, strict=True):
        if one and count >= (found.low if found.high is None else found.high):
            return None
    return tuple(count + one for count, one in zip(counts, inside, strict=True))


def item_options(items: ItemReader, at: int, values: Values | None) -> Iterator[tuple[Tree, tuple[int, ...], Any]]:
    """The items that may stand at a place: tree, the `contains` that they count for, the form of their value."""
    constants: list[tuple[Any, tuple[Subschema, ...]]] = [(None, ())]
    if values is not None:
        path = below(items.path, "uniqueItems")
        constants = [
            (form, (Subschema(below(path, repr(form)), {"const": value}, OPEN),)) for form, value in values.items()
        ]
    choices = [(1, 0) if at >= found.start else (0,) for found in items.contains]
    for (form, constant), inside in product(constants, product(*choices)):
        parts = list(constant)
        for found, one in zip(items.contains, inside, strict=True):
            if one:
                parts.append(found.part)
            elif found.high is not None and at >= found.start:
                parts.append(found.part.flip())
        tree = items.read(at, *parts)
        if tree != NOTHING:
            yield tree, inside, form
