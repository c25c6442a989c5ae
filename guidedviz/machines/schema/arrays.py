"""The tree of an array: items in order, their number, what it must contain, and items that must differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, Protocol

from guidedviz.machines.regular.nfa import count_states
from guidedviz.machines.schema.constraints import Case, Contains, Goal, Items, Part, Unique, goal_of
from guidedviz.machines.schema.document import Notes, below, refusal
from guidedviz.machines.schema.normal_form import Ways
from guidedviz.machines.schema.rules import MOST_SIGNS
from guidedviz.machines.schema.scalars import Empty, take_range
from guidedviz.machines.schema.strings import Spaced, canon
from guidedviz.machines.tree import EMPTY, NOTHING, Net, Repeat, Tree, concat, literal, optional

MOST_PLACES = 5_000
MOST_EDGES = 40_000
MANY = 8  # values that must differ: each becomes a rule, because it is repeated in the tree
MOST_SIZE = 30_000  # states of the items on all edges
FEW = 4  # signs of an item that is not a rule of its own


class Reader(Protocol):
    """What reading an array needs from the reader of the whole schema."""

    notes: Notes
    ways: Ways

    def token(self, tree: Tree, sign: str = "") -> Tree: ...
    def read_goal(self, goal: Goal, path: str, most: int = ...) -> Tree: ...


class Place(NamedTuple):
    """What matters of the items so far."""

    size: int  # the number of items, up to a limit
    counts: tuple[int, ...]  # for each `contains`
    used: frozenset[int]  # the numbers of the values that may not come again


class Row:
    """The items of one case."""

    def __init__(self, case: Case, path: str, reader: Reader) -> None:
        self.case, self.path, self.reader = case, path, reader
        self.items = case.facts(Items)
        self.low, self.high = take_range(case, "array")
        self.contains = [fact for fact in case.facts(Contains) if fact.low or fact.high is not None]
        self.first = max((len(fact.first) for fact in self.items), default=0)
        self.signs = MOST_SIGNS  # an item with more of them becomes a rule
        self.at = self.items[-1].path if self.items else path

    def goal(self, place: int) -> Goal:
        return goal_of(part for fact in self.items for part in fact.at(place))

    def read(self, place: int, *more: Part) -> Tree:
        """The tree of an item that also meets these parts."""
        keys = ("items",) if place >= self.first else ("prefixItems", place)
        path = self.at
        for key in keys:
            path = below(path, key)
        goal = goal_of((*self.goal(place), *more))
        few = place >= self.first and not more
        return self.reader.read_goal(goal, path, FEW if few else self.signs)


def array_tree(case: Case, path: str, reader: Reader) -> Tree:
    """All arrays that a case allows."""
    row = Row(case, path, reader)
    values = unique_values(row)
    if row.contains or values is not None:
        row.signs = 0 if len(values or ()) >= MANY else MOST_SIGNS
        return bracketed(counted_row(row, values), reader.token)
    first = [row.read(place) for place in range(row.first)[: row.high]]
    rest = NOTHING if row.high is not None and row.high <= row.first else row.read(row.first)
    room = first.index(NOTHING) if NOTHING in first else len(first) if rest == NOTHING else row.high
    if room is not None and row.low > room:
        raise Empty(path, f"minItems {row.low}", f"at most {room}, as many items as fit")
    rest = rest if room == row.high else NOTHING
    return bracketed(plain_row(first[:room], rest, row.low, room, reader.token), reader.token)


def bracketed(inside: Tree, token: Spaced) -> Tree:
    return concat(token(literal("["), ""), inside, token(literal("]"), ""))


def plain_row(first: Sequence[Tree], rest: Tree, low: int, high: int | None, token: Spaced) -> Tree:
    """Items: those of `first` in order, then `rest`; between low and high items in total."""
    comma = token(literal(","), ",")
    row = ([*first] or [rest])[:high]
    inside = EMPTY
    if high is None or high > len(row):
        inside = Repeat(concat(comma, rest), max(0, low - len(row)), None if high is None else high - len(row))
    for place in reversed(range(len(row))):
        inside = concat(comma if place else EMPTY, row[place], inside)
        inside = inside if place < low else optional(inside)
    return inside


def unique_values(row: Row) -> list[Any] | None:
    """The values of which each may come once; None if items need not differ."""
    facts = row.case.facts(Unique)
    if not facts or row.high == 0 or row.high == 1:
        return None
    found: dict[Any, Any] = {}
    for place in range(row.first + 1):
        values = finite_values(row.goal(place), row.reader.ways)
        if values is None:
            if place == row.first and row.read(place) == NOTHING:
                break
            seen = "uniqueItems of items that are not one of a few values"
            row.reader.notes.give_up(below(facts[0].path, "uniqueItems"), seen, "items with an enum")
            return None
        found.update(values)
    return list(found.values())


def finite_values(goal: Goal, ways: Ways) -> dict[Any, Any] | None:
    """All values that may meet a goal, if they are constants, truth values or null; else None."""
    found: dict[Any, Any] = {}
    for case in ways.of_goal(goal):
        if case.values is not None:
            found.update(case.values)
        elif case.kinds <= {"boolean", "null"}:
            few = [True, False] * ("boolean" in case.kinds) + [None] * ("null" in case.kinds)
            found.update({canon(value): value for value in few})
        else:
            return None
    return found


def counted_row(row: Row, values: list[Any] | None) -> Tree:
    """Items as a net: a place for each number of items, of each `contains`, and each set of used values."""
    comma = row.reader.token(literal(","), ",")
    start = max([row.first, *(fact.start for fact in row.contains)])
    limit = max(start, row.low, row.high or 0)
    queue = [Place(0, (0,) * len(row.contains), frozenset())]
    numbers: dict[Place, int] = {queue[0]: 0}
    edges: list[tuple[int, Tree, int]] = []
    size = 0
    options: dict[int, list[tuple[Tree, tuple[int, ...], int | None]]] = {}
    for place in queue:
        if row.high is not None and place.size >= row.high:
            continue
        at = min(place.size, start)
        if at not in options:
            options[at] = list(item_options(row, at, values))
        for tree, inside, value in options[at]:
            target = follow(row, place, inside, value, limit)
            if target is None:
                continue
            if target not in numbers:
                numbers[target] = len(numbers)
                queue.append(target)
            edges.append((numbers[place], concat(comma, tree) if place.size else tree, numbers[target]))
            size += count_states(tree) + 2
        if len(numbers) > MOST_PLACES or len(edges) > MOST_EDGES or size > MOST_SIZE:
            if values is None:
                raise refusal(row.path, f"contains with more than {MOST_PLACES:,} counts", "smaller counts")
            at_path = below(row.case.facts(Unique)[0].path, "uniqueItems")
            seen = f"uniqueItems of {len(values)} values"
            row.reader.notes.give_up(at_path, seen, "fewer values, or a small maxItems")
            return counted_row(row, None)
    last = len(numbers)
    ends = [(number, EMPTY, last) for place, number in numbers.items() if ends_at(row, place)]
    if not ends:
        raise Empty(row.path, "contains, minItems or uniqueItems that no array meets", "some array")
    return Net(last + 1, (*edges, *ends))


def ends_at(row: Row, place: Place) -> bool:
    """Whether the array may end."""
    enough = all(count >= fact.low for count, fact in zip(place.counts, row.contains, strict=True))
    return enough and place.size >= row.low


def follow(row: Row, place: Place, inside: tuple[int, ...], value: int | None, limit: int) -> Place | None:
    """The place after one more item; None if a count is exceeded or the value was used."""
    if value in place.used:
        return None
    counts = []
    for count, one, fact in zip(place.counts, inside, row.contains, strict=True):
        if count + one > (fact.low if fact.high is None else fact.high) and one:
            return None  # beyond the maximum, or one more than needed: the item is read without it
        counts.append(count + one if fact.high is not None else min(count + one, fact.low))
    used = place.used if value is None else place.used | {value}
    return Place(min(place.size + 1, max(limit, 1)), tuple(counts), used)


def item_options(row: Row, at: int, values: list[Any] | None) -> Iterator[tuple[Tree, tuple[int, ...], int | None]]:
    """The items that may stand at a place: tree, the `contains` that they count for, the number of their value."""
    constants: list[tuple[int | None, tuple[Part, ...]]] = [(None, ())]
    if values is not None:
        constants = [(n, (row.reader.ways.constant(value, row.path),)) for n, value in enumerate(values)]
    choices = [(1, 0) if at >= fact.start else (0,) for fact in row.contains]
    for (number, constant), inside in product(constants, product(*choices)):
        parts = list(constant)
        for fact, one in zip(row.contains, inside, strict=True):
            if one:
                parts.append(fact.part)
            elif fact.high is not None and at >= fact.start:
                parts.append(fact.part.flip())
        tree = row.read(at, *parts)
        if tree != NOTHING:
            yield tree, inside, number
