"""The keys of an object in a case: those with a fixed position, and the classes of all others."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.schema.constraints import (
    OPEN,
    Case,
    Depends,
    Exists,
    Family,
    Goal,
    Keys,
    Names,
    Part,
    Required,
    goal_of,
)
from guidedviz.machines.schema.document import Notes, below, nearest, refusal, shown
from guidedviz.machines.schema.rules import Rules
from guidedviz.machines.schema.scalars import Empty, take_range
from guidedviz.machines.schema.strings import Spaced, escape, in_quotes, key_rest, key_text, other_keys, split_texts
from guidedviz.machines.tree import EMPTY, NOTHING, Net, Repeat, Tree, concat, either, literal, optional


@dataclass(frozen=True)
class Look:
    """The strings that `propertyNames` allows as keys."""

    tree: Tree
    path: str

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))


@dataclass(frozen=True)
class Class:
    """Keys that are treated alike: the tree of a key, the goal of its values, and what it is a witness of."""

    tree: Tree
    goal: Goal
    path: str
    exists: frozenset[int]


class ObjectKeys:
    """The keys of one case."""

    def __init__(self, case: Case, path: str, looks: dict[int, Tree | None]) -> None:
        self.case, self.path = case, path
        self.keys = case.facts(Keys)
        self.exists = case.facts(Exists)
        self.closed = any(fact.closing for fact in self.keys) and not any(
            fact.rest is not None and fact.naming for fact in self.keys
        )
        self.looks = [Look(tree, fact.path) for fact in case.facts(Names) if (tree := looks[id(fact.goal)]) is not None]
        self.unlike = {  # exists -> the strings that its key is not
            place: Look(tree, fact.path)
            for place, fact in enumerate(self.exists)
            if fact.names is not None and (tree := looks[id(fact.names)]) is not None
        }
        self.required = dict.fromkeys(name for fact in case.facts(Required) for name in fact.names)
        self.asked = {name: fact.path for fact in case.facts(Required) for name in fact.names}

    @cached_property
    def names(self) -> list[str]:
        """The keys with a fixed position."""
        found: dict[str, None] = {}
        for atom in self.case.atoms:
            for fact in atom.facts:
                if isinstance(fact, Keys):
                    found.update(dict.fromkeys(fact.named))
                elif isinstance(fact, Exists) and fact.keys is not None:
                    found.update(dict.fromkeys(fact.keys.named))  # they are not of the rest
                elif isinstance(fact, Required):
                    found.update(dict.fromkeys(fact.names))
                elif isinstance(fact, Depends):
                    found.update(dict.fromkeys((fact.name, *fact.names)))
        return list(found)

    def allowed(self, name: str) -> bool:
        """Whether the key may be there at all."""
        return all(look.machine.accepts(name.encode()) for look in self.looks) and not (
            self.closed and not any(fact.naming and fact.own(name) is not None for fact in self.keys)
        )

    def goal(self, name: str) -> Goal:
        """The goal of the value of a named key."""
        if not self.allowed(name):
            return (Part(False, self.path, OPEN),)
        return goal_of(part for fact in self.keys for goal in fact.goals(name) for part in goal)

    def path_of(self, name: str) -> str:
        """The path of a named key, for rule names and errors."""
        for fact in self.keys:
            if name in fact.named:
                return below(below(fact.path, "properties"), name)
            for family, _ in fact.families:
                if family.has(name):
                    return below(below(fact.path, "patternProperties"), family.pattern)
        if not self.allowed(name) and self.looks:
            return self.looks[0].path
        return below(self.asked.get(name, self.path), "required" if self.closed else "additionalProperties")

    def missing(self, name: str) -> Empty:
        """The error for a required key that cannot be there."""
        if self.closed and not self.allowed(name) and not self.looks:
            known = [known for fact in self.keys for known in fact.named if fact.naming]
            at = below(self.asked.get(name, self.path), "required")
            return Empty(at, shown(name), "one of properties", nearest(name, known))
        return Empty(self.path_of(name), "a required property that no value fits", "a schema with some value")

    def may_show(self, place: int, name: str) -> bool:
        """Whether a named key is of the class in which a key must exist."""
        fact = self.exists[place]
        if fact.family is not None:
            return fact.family.has(name)
        if fact.keys is not None:
            return fact.keys.own(name) is None
        return place in self.unlike and not self.unlike[place].machine.accepts(name.encode())

    def classes(self, names: list[str]) -> list[Class]:
        """The other keys, grouped by what applies to them."""
        families = self.families()
        at = below(self.keys[-1].path if self.keys else self.path, "additionalProperties")
        if not families and not self.looks and not self.unlike:
            every = frozenset(place for place, fact in enumerate(self.exists) if fact.keys is not None)
            goal = self.rest(set())
            return [] if goal is None else [Class(other_keys(names), goal, at, every)]
        looks = [*self.looks, *self.unlike.values()]
        trees = [either(*map(literal, names)), *(family.tree for family in families), *(look.tree for look in looks)]
        try:
            split = split_texts(trees)
        except PatternError as error:
            raise refusal(self.path, error.seen, error.expected, error.hint) from error
        start = 1 + len(families)
        must = range(start, start + len(self.looks))
        found = []
        for tree, of in split:
            if 0 in of or any(place not in of for place in must):
                continue
            inside = {families[place - 1].pattern for place in of if 0 < place < start}
            goal = self.rest(inside)
            if goal is not None:
                where = self.place_of(inside) or at
                found.append(
                    Class(in_quotes(escape(tree)), goal, where, self.shown(inside, of, start + len(self.looks)))
                )
        return found

    def families(self) -> list[Family]:
        """The patterns of all schemas, each once."""
        found = {family.pattern: family for fact in self.keys for family, _ in fact.families}
        found.update({fact.family.pattern: fact.family for fact in self.exists if fact.family})
        for fact in self.exists:
            found.update({family.pattern: family for family, _ in (fact.keys.families if fact.keys else ())})
        return list(found.values())

    def place_of(self, inside: set[str]) -> str:
        places = [
            below(below(fact.path, "patternProperties"), family.pattern)
            for fact in self.keys
            for family, _ in fact.families
            if family.pattern in inside
        ]
        return places[-1] if places else ""

    def rest(self, inside: set[str]) -> Goal | None:
        """The goal of a key that matches exactly these patterns and is not named; None if there is no such key."""
        parts: list[Part] = []
        named = not self.closed
        for fact in self.keys:
            own = [goal for family, goal in fact.families if family.pattern in inside]
            named = named or bool(own and fact.naming)
            parts += [part for goal in own or [fact.rest or ()] for part in goal]
        goal = goal_of(parts)
        return goal if named and not any(part.is_false() for part in goal) else None

    def shown(self, inside: set[str], of: frozenset[int], start: int) -> frozenset[int]:
        """The facts of which a key of a class is a witness."""
        found = set()
        for place, fact in enumerate(self.exists):
            if fact.family is not None:
                hit = fact.family.pattern in inside
            elif fact.keys is not None:
                hit = not any(family.pattern in inside for family, _ in fact.keys.families)
            else:
                hit = place in self.unlike and start + list(self.unlike).index(place) not in of
            if hit:
                found.add(place)
        return frozenset(found)


# --- Members of an object between braces: in order, some optional, counted, some only beside others.


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


# --- Many optional members in order: the next key is found letter by letter, along the trie of the keys.


MANY = 40  # optional members
KeyPlace = tuple[str, int, int]  # see `KeyNet`


class Keyed(Protocol):
    """A member that has a key, and its value."""

    @property
    def name(self) -> str: ...
    @property
    def rest(self) -> Tree: ...
    @property
    def required(self) -> bool: ...


class KeyNet:
    """Any subset of the members in order that has the required ones; `other` members, if any, come last.

    The places: behind a member or before the first ("", next member, how many came: 0 or 1), inside a key (its
    beginning, first and last member that it may be), behind a key (":", member, 0), the end ("end", 0, 0).
    """

    def __init__(self, members: Sequence[Keyed], other: Tree | None, comma: Tree, low: int) -> None:
        self.members, self.other, self.comma, self.low = members, other, comma, low
        self.texts = [json.dumps(member.name, ensure_ascii=False) for member in members]
        self.under: dict[str, list[int]] = defaultdict(list)  # the beginning of keys -> these members
        self.next: dict[str, dict[str, None]] = defaultdict(dict)  # the letters that follow it
        for number, text in enumerate(self.texts):
            for size, char in enumerate(text):
                self.under[text[:size]].append(number)
                self.next[text[:size]][char] = None
            self.under[text].append(number)
        must = [number for number, member in enumerate(members) if member.required]
        self.last = [must[at] if (at := bisect_left(must, n)) < len(must) else None for n in range(len(members) + 1)]

    def net(self) -> Net:
        """The members as a net."""
        numbers: dict[KeyPlace, int] = {("", 0, 0): 0}
        edges: list[tuple[KeyPlace, Tree, KeyPlace]] = []
        for place in (queue := [*numbers]):
            for part, target in self.ways(place):
                edges.append((place, part, target))
                if target not in numbers:
                    numbers[target] = len(numbers)
                    queue.append(target)
        end = ("end", 0, 0)
        numbers[end] = len(numbers)  # the last place; its first number stays unused
        return Net(len(numbers) + 1, tuple((numbers[source], part, numbers[to]) for source, part, to in edges))

    def ways(self, place: KeyPlace) -> Iterator[tuple[Tree, KeyPlace]]:
        """What may come at a place, and the place behind it."""
        text, first, last = place
        if text == "":
            yield from self.behind(first, last)
        elif text == ":":
            yield self.members[first].rest, ("", first + 1, 1)
        elif text != "end":
            yield from self.letters(text, first, last)

    def behind(self, number: int, some: int) -> Iterator[tuple[Tree, KeyPlace]]:
        """The next member, other members, or the end."""
        must = self.last[number]
        comma = self.comma if some else EMPTY
        if number < len(self.members):
            last = len(self.members) - 1 if must is None else must
            for part, target in self.letters("", number, last):
                yield concat(comma, part), target
        if must is None:
            end = ("end", 0, 0)
            if some >= self.low:
                yield EMPTY, end
            if self.other is not None:
                yield concat(comma, self.other), end

    def letters(self, text: str, first: int, last: int) -> Iterator[tuple[Tree, KeyPlace]]:
        """The letters with which a key may go on."""
        for char in self.next[text]:
            under = self.under[text + char]
            low, high = bisect_left(under, first), bisect_right(under, last) - 1
            if low <= high:
                whole = text + char == self.texts[under[low]]
                yield literal(char), (":", under[low], 0) if whole else (text + char, under[low], under[high])


# --- The tree of an object: its named keys in order, then any number of other keys, by class.


MOST_VARIANTS = 200
MOST_NEXT = 2_000_000  # optional keys times all their characters
MOST_LETTERS = 20_000  # of all keys


class Reader(Protocol):
    """What reading an object needs from the reader of the whole schema."""

    rules: Rules
    notes: Notes
    spelled: bool

    def token(self, tree: Tree, sign: str = "") -> Tree: ...
    def read_goal(self, goal: Goal, path: str, most: int = ...) -> Tree: ...
    def key_texts(self, goal: Goal, path: str) -> Tree | None: ...


class Variant(NamedTuple):
    """How the keys that must exist are found: among the named ones, or by a key of their own."""

    named: dict[str, list[int]]  # named key -> the facts of which it is the witness
    others: tuple[tuple[int, ...], ...]  # the facts of which each other key is the witness


def read_object(case: Case, path: str, reader: Reader) -> Tree:
    """All objects that a case allows."""
    goals = [(fact.goal, fact.path) for fact in case.facts(Names)]
    goals += [(fact.names, fact.path) for fact in case.facts(Exists) if fact.names is not None]
    keys = ObjectKeys(case, path, {id(goal): reader.key_texts(goal, at) for goal, at in goals})
    check_size(keys, letters=not reader.spelled)
    classes = keys.classes(keys.names)
    trees, errors = [], []
    for variant in variants(keys, classes, reader):
        try:
            trees.append(read_variant(keys, classes, variant, reader))
        except Empty as empty:
            errors.append(empty)
    if not trees:
        raise errors[0] if errors else Empty(path, "a key that must exist and cannot", "some object")
    return either(*trees)


def check_size(keys: ObjectKeys, letters: bool) -> None:
    """Refuse what is surely too large: behind each key, every later optional key may come next."""
    optional = [name for name in keys.names if name not in keys.required]
    size = sum(map(len, keys.names))
    if len(optional) * sum(map(len, optional)) > MOST_NEXT and not (letters and size <= MOST_LETTERS):
        seen = f"{len(keys.names):,} properties, of which {len(optional):,} are optional"
        raise refusal(keys.path, seen, "fewer, or more that are required")


def variants(keys: ObjectKeys, classes: list[Class], reader: Reader) -> Iterator[Variant]:
    """Every way to find the keys that must exist."""
    found = [Variant({}, ())]
    for place, fact in enumerate(keys.exists):
        more: list[Variant] = []
        for named, others in found:
            more += [
                Variant({**named, name: [*named.get(name, []), place]}, others)
                for name in keys.names
                if keys.may_show(place, name)
            ]
            more += [Variant(named, (*others[:n], (*group, place), *others[n + 1 :])) for n, group in enumerate(others)]
            more.append(Variant(named, (*others, (place,))))
        found = [variant for variant in more if all(has_class(group, classes) for group in variant.others)]
        if len(found) > MOST_VARIANTS:
            raise refusal(fact.path, "too many keys that must exist", "fewer properties beside not, oneOf or if")
    for variant in found:
        asking = [group for group in variant.others if any(keys.exists[place].goal for place in group)]
        if len(asking) > 1:
            at = keys.exists[0].path
            reader.notes.give_up(at, "several unnamed keys that must exist with certain values", "named properties")
            variant = Variant(variant.named, variant.others[:1])
        free = [group for group in variant.others if group not in asking]
        yield Variant(variant.named, (*free, *(group for group in variant.others if group in asking)))


def has_class(group: tuple[int, ...], classes: list[Class]) -> bool:
    return any(set(group) <= found.exists for found in classes)


def read_variant(keys: ObjectKeys, classes: list[Class], variant: Variant, reader: Reader) -> Tree:
    """All objects in which the keys that must exist are found in one way."""
    names = keys.names
    required = {*keys.required, *variant.named}
    members: list[Member] = []
    for name in names:
        goal, at = keys.goal(name), keys.path_of(name)
        asked = [part for place in variant.named.get(name, ()) for part in keys.exists[place].goal]
        value = NOTHING if not keys.allowed(name) else reader.read_goal(goal_of((*goal, *asked)), at)
        if value == NOTHING and name in required:
            raise keys.missing(name)
        tree = concat(key_text(name, reader.token), value)
        if value != NOTHING and len(names) > 1 and not required:  # it is repeated in the tree
            tree = reader.rules.settle(tree, at, 1, "member")
        members.append(Member(name, tree, name in required, concat(key_rest(reader.token), value)))
    rest = below(keys.keys[-1].path if keys.keys else keys.path, "additionalProperties")
    others = [other_member(found, found.goal, reader) for found in classes]
    other = reader.rules.settle(either(*others), rest)
    shown = [witness(keys, classes, group, reader) for group in variant.others]
    return count_members(keys, [member for member in members if member.tree != NOTHING], other, shown, reader)


def other_member(found: Class, goal: Goal, reader: Reader) -> Tree:
    """A key of a class, colon, value."""
    value = reader.read_goal(goal, found.path)
    return concat(reader.token(found.tree), reader.token(literal(":"), ":"), value)


def witness(keys: ObjectKeys, classes: list[Class], group: tuple[int, ...], reader: Reader) -> Tree:
    """A key that must exist, with its value."""
    asked = [part for place in group for part in keys.exists[place].goal]
    fitting = [found for found in classes if set(group) <= found.exists]
    tree = either(*(other_member(found, goal_of((*found.goal, *asked)), reader) for found in fitting))
    if tree == NOTHING:
        raise Empty(keys.path, "a key that must exist and cannot", "some object")
    return tree


def count_members(
    keys: ObjectKeys, members: Sequence[Member], other: Tree, shown: Sequence[Tree], reader: Reader
) -> Tree:
    """The members, then other keys; minProperties and maxProperties count both."""
    case, path = keys.case, keys.path
    low, high = take_range(case, "object")
    depends = case.facts(Depends)
    must, room = sum(member.required for member in members), len(members) + len(shown)
    if high is not None and high < must + len(shown):
        raise Empty(below(path, "maxProperties"), f"maxProperties {high}", f"at least {must}, which are required")
    if other == NOTHING and low > room:
        raise Empty(below(path, "minProperties"), f"minProperties {low}", f"at most {room}, as many as there are keys")
    if low > must + 1 and other != NOTHING and (high is None or high > must + 1):
        seen = f"minProperties {low} beside keys that are not named, which a text may repeat"
        reader.notes.give_up(below(path, "minProperties"), seen, f"at most {must + 1}, or named properties only")
        counted = Members(low, high, repeats=True)
    else:
        counted = Members(low, high)
    if other == NOTHING and high is not None and high >= room:
        counted = counted._replace(high=None)
    if not depends and not shown and counted.high is None and (counted.low <= must or low == 1):
        if not reader.spelled and len(members) - must >= MANY:
            rest = None if other == NOTHING else repeated(other, reader)
            comma = reader.token(literal(","), ",")
            return braced(KeyNet(members, rest, comma, min(1, counted.low)).net(), reader.token)
        row = [] if other == NOTHING else [Member("", repeated(other, reader), required=False)]
        if low == 1 and len(members) == must == 0 and row:
            row = [row[0]._replace(required=True)]
        return object_tree([*members, *row], reader.token, min(1, max(0, counted.low - must)))
    try:
        return counted_members(members, other, shown, depends, counted, reader.token)
    except PatternError as error:
        raise refusal(path, error.seen, error.expected) from error


def repeated(other: Tree, reader: Reader) -> Tree:
    """Other keys, at least one."""
    return concat(other, Repeat(concat(reader.token(literal(","), ","), other), 0, None))
