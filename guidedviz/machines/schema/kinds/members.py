"""Members of an object between braces: in order, some optional, counted, some only beside others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.schema.kinds.empty import Empty
from guidedviz.machines.schema.logic.facts import Depends
from guidedviz.machines.schema.text.json_text import Spaced
from guidedviz.machines.tree import EMPTY, NOTHING, Net, Tree, concat, literal, optional

MOST_PLACES = 20_000
MOST_WAYS = 500_000  # places times the members that may come next; more cannot become a machine


class Member(NamedTuple):
    """Key, colon and value."""

    name: str
    tree: Tree
    required: bool
    rest: Tree = NOTHING  # colon and value


class Members(NamedTuple):
    """How many members there must be and may be; `repeats`: other keys are counted as if they never repeat."""

    low: int
    high: int | None
    repeats: bool = False


def braced(inside: Tree, token: Spaced) -> Tree:
    return concat(token(literal("{"), ""), inside, token(literal("}"), ""))


def object_tree(members: Sequence[Member], token: Spaced, low: int = 0) -> Tree:
    """Members in order; optional ones may be missing (all of them if low is 0)."""
    must = next((place for place, member in enumerate(members) if member.required), None)
    comma = token(literal(","), ",")
    if must is None:
        return braced(any_of(members, comma, low), token)
    before = [optional(concat(member.tree, comma)) for member in members[:must]]
    after = [
        concat(comma, member.tree) if member.required else optional(concat(comma, member.tree))
        for member in members[must + 1 :]
    ]
    return braced(concat(*before, members[must].tree, *after), token)


def any_of(members: Sequence[Member], comma: Tree, low: int) -> Tree:
    """Any subset of the members in order. The net's state says whether a comma is due, so each member occurs once."""
    if len(members) < 2:
        return optional(members[0].tree) if members and not low else concat(*(member.tree for member in members))
    edges: list[tuple[int, Tree, int]] = []
    for number, member in enumerate(members):
        fresh = 3 * number  # no member yet
        after, now = fresh + 1, fresh + 2  # some member before; this member next
        edges += [(fresh, EMPTY, now), (after, comma, now), (now, member.tree, after + 3)]
        edges += [(fresh, EMPTY, fresh + 3), (after, EMPTY, after + 3)]
    last = 3 * len(members)
    return Net(last + 2, tuple(edges if low else [*edges, (last, EMPTY, last + 1)]))


class Place(NamedTuple):
    """What matters of the members so far."""

    number: int  # of the next member; behind all of them are other keys and then those that must exist
    least: int  # the number of different keys that are surely there
    most: int  # the number of members
    must: frozenset[int] = frozenset()  # later members that must come
    never: frozenset[int] = frozenset()  # later members that must not come


class Count(NamedTuple):
    """The settings of one walk along the members."""

    members: Sequence[Member]
    other: Tree
    shown: Sequence[Tree]
    needs: dict[int, frozenset[int]]  # member -> the members it depends on
    counted: Members


def counted_members(
    members: Sequence[Member],
    other: Tree,
    shown: Sequence[Tree],
    depends: Sequence[Depends],
    counted: Members,
    token: Spaced,
) -> Tree:
    """Members in order, between low and high in total, and none without those that it depends on."""
    names = {member.name: place for place, member in enumerate(members)}
    needs: dict[int, frozenset[int]] = {}
    for fact in depends:
        if fact.name in names:
            number = names[fact.name]
            needs[number] = needs.get(number, frozenset()) | {names.get(name, -1) for name in fact.names}
    walk = Count(members, other, shown, needs, counted)
    queue = [Place(0, 0, 0)]
    numbers, edges, comma = {queue[0]: 0}, list[tuple[int, Tree, int]](), token(literal(","), ",")
    for place in queue:
        for tree, target in steps(walk, place):
            if target not in numbers:
                numbers[target] = len(numbers)
                queue.append(target)
            edges.append(
                (numbers[place], concat(comma, tree) if place.most and tree != EMPTY else tree, numbers[target])
            )
        if len(numbers) > MOST_PLACES or len(numbers) * len(members) > MOST_WAYS:
            raise PatternError("machine", seen="too many counts of properties", expected="fewer optional properties")
    last, final = len(numbers), len(members) + 1 + len(shown)
    ends = [
        (number, EMPTY, last)
        for place, number in numbers.items()
        if place.number == final and place.least >= counted.low
    ]
    if not ends:
        raise Empty("#", "counts and dependencies that no object meets", "some object")
    return braced(Net(last + 1, (*edges, *ends)), token)


def steps(walk: Count, place: Place) -> Iterator[tuple[Tree, Place]]:
    """The members that may come next, each with the place after it; EMPTY if none comes."""
    here, end = place.number, len(walk.members)
    high = walk.counted.high
    full = high is not None and place.most >= high
    if here > end:
        if here <= end + len(walk.shown) and not full:
            first = here == end + 1
            yield walk.shown[here - end - 1], added(walk, place, here + 1, sure=first or walk.counted.repeats)
    elif here == end:
        yield EMPTY, place._replace(number=here + 1)
        if not full and walk.other != NOTHING:
            sure = walk.counted.repeats or (not walk.shown and not place.never)
            target = added(walk, place, here, sure=sure)
            yield walk.other, target if walk.counted.repeats else target._replace(never=frozenset((-2,)))
    else:
        yield from member_steps(walk, place, full)


def member_steps(walk: Count, place: Place, full: bool) -> Iterator[tuple[Tree, Place]]:
    """The next named member comes or does not."""
    here = place.number
    later = place.must - {here}, place.never - {here}
    needs = walk.needs.get(here, frozenset())
    if here not in place.never and not full and -1 not in needs:
        must = later[0] | {other for other in needs if other > here}
        target = added(walk, place, here + 1, sure=True)
        if not must & later[1]:
            yield walk.members[here].tree, target._replace(must=must, never=later[1])
    if here not in place.must and not walk.members[here].required:
        never = later[1] | {other for other, needed in walk.needs.items() if other > here and here in needed}
        if not never & later[0]:
            yield EMPTY, place._replace(number=here + 1, must=later[0], never=never)


def added(walk: Count, place: Place, number: int, sure: bool) -> Place:
    """The place after one more member; counts stop where they no longer matter."""
    low, high = walk.counted.low, walk.counted.high
    least = min(place.least + sure, low)
    return place._replace(number=number, least=least, most=min(place.most + 1, max(1, high or 0)))
