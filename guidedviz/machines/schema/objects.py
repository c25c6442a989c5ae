"""The tree of an object: its named keys in order, then any number of other keys.

Keys that are treated alike are one class: each named key, and every set of other keys that match the same patterns. A
text may repeat other keys, because no machine of this kind remembers which keys were used. The last of equal keys
counts, so a key that must exist with a certain value comes last.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.regular.assertions import build_net
from guidedviz.machines.schema.constraints import (
    Conjunction,
    KeyGoal,
    KeyPattern,
    PropertyGoals,
    RequiredKeys,
    SomeProperty,
    goal_of,
)
from guidedviz.machines.schema.document import Goal, below, impossible, nearest, refusal, shown
from guidedviz.machines.schema.normal_form import ReadsGoals
from guidedviz.machines.schema.scalars import NoValue, key_texts, take_range
from guidedviz.machines.schema.strings import (
    bracket,
    escape,
    in_quotes,
    key_rest,
    key_text,
    other_keys,
    plain_text,
    split_texts,
)
from guidedviz.machines.tree import EMPTY, NOTHING, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.work import spend

MOST_VARIANTS = 200
MOST_NEXT = 2_000_000  # optional keys times all their characters
MOST_LETTERS = 20_000  # of all keys
MOST_PLACES = 20_000
MOST_MOVES = 500_000  # places times the members that may come next; more cannot become a machine
MANY = 40  # optional members
KeyPlace = tuple[str, int, int]  # see `key_net`


class KeyClass(NamedTuple):
    """Keys that are treated alike: the tree of a key, the goal of its values, and what it is a witness of."""

    name: str | None
    tree: Tree
    goal: Goal
    path: str
    witness: frozenset[int]  # numbers of `ObjectKeys.some`
    allowed: bool


class Variant(NamedTuple):
    """How the keys that must exist are found: among the named ones, or by a key of their own."""

    goals: dict[str | None, Goal]  # more goals of named keys
    groups: tuple[tuple[int, ...], ...]  # for each other key what it is a witness of


class Member(NamedTuple):
    """Key, colon and value."""

    name: str
    tree: Tree
    required: bool
    rest: Tree = NOTHING  # colon and value


class Counted(NamedTuple):
    """What matters of the members so far."""

    number: int  # of the next member; behind all of them are other keys and then those that must exist
    least: int = 0  # the number of different keys that are surely there
    most: int = 0  # the number of members
    loose: bool = False  # whether another key came, which may be repeated
    due: bool = False  # whether the comma was read


class ObjectKeys:
    """The keys that a conjunction names, its patterns of keys, and the classes of all keys."""

    def __init__(self, row: Conjunction, path: str, reader: ReadsGoals) -> None:
        self.row, self.path = row, path
        self.keys, self.some = row.of_type(PropertyGoals), row.of_type(SomeProperty)
        self.required = {name: found.path for found in row.of_type(RequiredKeys) for name in found.names}
        self.closed = any(keys.closing for keys in self.keys) and not any(
            keys.rest is not None and keys.naming for keys in self.keys
        )
        self.goals: dict[Goal, KeyPattern] = {}  # goals of keys as strings; a goal that all strings meet is missing
        self.must: dict[KeyPattern, str] = {}  # all keys are in these sets
        limits = [(found.goal, found.path) for found in row.of_type(KeyGoal)]
        for goal, at in (*limits, *((some.unlike, some.path) for some in self.some if some.unlike is not None)):
            tree = key_texts(reader.normal.of_goal(goal), at)
            if tree is not None:
                self.goals[goal] = KeyPattern(goal, tree)
        self.must = {self.goals[goal]: at for goal, at in limits if goal in self.goals}
        inside = (*self.keys, *(some.beside for some in self.some if some.beside))
        patterns = [*(pattern for keys in inside for pattern, _ in keys.patterns)]
        patterns += [some.pattern for some in self.some if some.pattern]
        self.patterns = list(dict.fromkeys((*patterns, *self.goals.values())))
        self.names = list(dict.fromkeys(self._names()))

    def _names(self) -> Iterator[str]:
        """The keys with a fixed position."""
        for found in self.row.constraints:
            if isinstance(found, PropertyGoals):
                yield from found.named
            elif isinstance(found, SomeProperty) and found.beside:
                yield from found.beside.named  # they are not of the rest
            elif isinstance(found, RequiredKeys):
                yield from found.names

    def class_of(self, name: str | None, inside: frozenset[KeyPattern], tree: Tree) -> KeyClass:
        """The class of a named key, or of all other keys that match exactly these patterns."""
        own = [(keys, keys.own(name, inside)) for keys in self.keys]
        allowed = inside.issuperset(self.must) and (not self.closed or any(keys.naming and g for keys, g in own))
        goal = goal_of(*(part for keys, goals in own for each in goals or [keys.rest or ()] for part in each))
        witness = frozenset(n for n, some in enumerate(self.some) if self.is_witness(some, name, inside))
        goal = goal if allowed else impossible(self.path)
        return KeyClass(name, tree, goal, self.path_of(name, inside), witness, allowed)

    def is_witness(self, some: SomeProperty, name: str | None, inside: frozenset[KeyPattern]) -> bool:
        """Whether a key is of the class in which one must exist."""
        if some.pattern:
            return some.pattern in inside
        if some.beside:
            return not some.beside.own(name, inside)
        return some.unlike in self.goals and self.goals[some.unlike] not in inside

    def path_of(self, name: str | None, inside: frozenset[KeyPattern]) -> str:
        """The path of a class of keys, for rule names and errors."""
        for keys in self.keys:
            if name in keys.named:
                return below(keys.path, "properties", str(name))
            for pattern in (pattern for pattern, _ in keys.patterns if pattern in inside):
                return below(keys.path, "patternProperties", str(pattern.pattern))
        if name is None:
            return below(self.keys[-1].path if self.keys else self.path, "additionalProperties")
        if self.must and not inside.issuperset(self.must):
            return next(iter(self.must.values()))
        return below(self.required.get(name, self.path), "required" if self.closed else "additionalProperties")

    def named(self) -> list[KeyClass]:
        """The classes of the named keys."""
        found = []
        for name in self.names:
            inside = frozenset(pattern for pattern in self.patterns if pattern.has(name))
            found.append(self.class_of(name, inside, literal(plain_text(name))))
        return found

    def others(self) -> list[KeyClass]:
        """The classes of all other keys."""
        if not self.patterns:
            rest = self.class_of(None, frozenset(), NOTHING)
            closed = any(part.is_false() for part in rest.goal)
            return [] if closed else [rest._replace(tree=other_keys(self.names))]
        trees = [either(*map(literal, self.names)), *(pattern.tree for pattern in self.patterns)]
        try:
            split = split_texts(trees)
        except PatternError as error:
            raise refusal(self.path, error.seen, error.expected, error.hint) from error
        insides = [(tree, frozenset(self.patterns[n - 1] for n in of)) for tree, of in split if 0 not in of]
        found = [self.class_of(None, inside, in_quotes(escape(tree))) for tree, inside in insides]
        return [each for each in found if not any(part.is_false() for part in each.goal)]

    def missing(self, key: KeyClass) -> NoValue:
        """The error for a required key that cannot be there."""
        name = str(key.name)
        if self.closed and not self.must and not key.allowed:
            known = [known for keys in self.keys for known in keys.named if keys.naming]
            at = below(self.required.get(name, self.path), "required")
            return NoValue(at, shown(name), "one of properties", nearest(name, known))
        return NoValue(key.path, "a required property that no value fits", "a schema with some value")


def object_tree(row: Conjunction, path: str, reader: ReadsGoals) -> Tree:
    """All objects that a conjunction allows."""
    keys = ObjectKeys(row, path, reader)
    check_size(keys, letters=not reader.spelled)
    named, others = keys.named(), keys.others()
    trees, errors = [], []
    for variant in variants(keys, named, others, reader):
        try:
            trees.append(read_variant(keys, named, others, variant, reader))
        except NoValue as error:
            errors.append(error)
    if not trees:
        raise errors[0] if errors else NoValue(path, "a key that must exist and cannot", "some object")
    return either(*trees)


def check_size(keys: ObjectKeys, letters: bool) -> None:
    """Refuse what is surely too large: behind each key, every later optional key may come next."""
    free = [name for name in keys.names if name not in keys.required]
    size = sum(map(len, keys.names))
    if len(free) * sum(map(len, free)) > MOST_NEXT and not (letters and size <= MOST_LETTERS):
        seen = f"{len(keys.names):,} properties, of which {len(free):,} are optional"
        raise refusal(keys.path, seen, "fewer, or more that are required")


def variants(keys: ObjectKeys, named: list[KeyClass], others: list[KeyClass], reader: ReadsGoals) -> Iterator[Variant]:
    """Every way to find the keys that must exist."""
    found = [Variant({}, ())]
    for place, some in enumerate(keys.some):
        more: list[Variant] = []
        for goals, groups in found:
            at = [key.name for key in named if place in key.witness]
            more += [Variant({**goals, name: (*goals.get(name, ()), *some.goal)}, groups) for name in at]
            joined = [(*groups[:n], (*group, place), *groups[n + 1 :]) for n, group in enumerate(groups)]
            more += [Variant(goals, each) for each in (*joined, (*groups, (place,)))]
        found = [each for each in more if all(any(key.witness.issuperset(g) for key in others) for g in each.groups)]
        if len(found) > MOST_VARIANTS:
            raise refusal(some.path, "too many keys that must exist", "fewer properties beside not, oneOf or if")
    for goals, groups in found:
        asking = [group for group in groups if any(keys.some[place].goal for place in group)]
        if len(asking) > 1:
            seen = "several unnamed keys that must exist with certain values"
            reader.normal.notes.give_up(keys.some[0].path, seen, "named properties")
            groups, asking = groups[:1], asking[:1] if groups[0] in asking else []
        yield Variant(goals, (*(group for group in groups if group not in asking), *asking))


def read_variant(
    keys: ObjectKeys, named: list[KeyClass], others: list[KeyClass], variant: Variant, reader: ReadsGoals
) -> Tree:
    """All objects in which the keys that must exist are found in one way."""
    members: list[Member] = []
    required = {*keys.required, *variant.goals}
    for key in named:
        value = reader.read_goal(goal_of(*key.goal, *variant.goals.get(key.name, ())), key.path)
        if value == NOTHING:
            if key.name in required:
                raise keys.missing(key)
            continue
        tree = concat(key_text(str(key.name), reader.token), value)
        if len(named) > 1 and not required:  # it is repeated in the tree
            tree = reader.settle(tree, key.path, 1, "member")
        members.append(Member(str(key.name), tree, key.name in required, concat(key_rest(reader.token), value)))
    rest = below(keys.keys[-1].path if keys.keys else keys.path, "additionalProperties")
    other = reader.settle(either(*(other_member(key, key.goal, reader) for key in others)), rest)
    witnesses = [witness(keys, others, group, reader) for group in variant.groups]
    return count_members(keys, members, other, witnesses, reader)


def other_member(key: KeyClass, goal: Goal, reader: ReadsGoals) -> Tree:
    """A key of a class, colon, value."""
    value = reader.read_goal(goal, key.path)
    return concat(reader.token(key.tree), reader.token(literal(":"), ":"), value)


def witness(keys: ObjectKeys, others: list[KeyClass], group: tuple[int, ...], reader: ReadsGoals) -> Tree:
    """A key that must exist, with its value."""
    asked = [part for place in group for part in keys.some[place].goal]
    fitting = [key for key in others if key.witness.issuperset(group)]
    tree = either(*(other_member(key, goal_of(*key.goal, *asked), reader) for key in fitting))
    if tree == NOTHING:
        raise NoValue(keys.path, "a key that must exist and cannot", "some object")
    return tree


def count_members(
    keys: ObjectKeys, members: list[Member], other: Tree, witnesses: list[Tree], reader: ReadsGoals
) -> Tree:
    """The members, then other keys; minProperties and maxProperties count both."""
    path = keys.path
    low, high = take_range(keys.row, "object")
    must, room = sum(member.required for member in members), len(members) + len(witnesses)
    if high is not None and high < must + len(witnesses):
        raise NoValue(below(path, "maxProperties"), f"maxProperties {high}", f"at least {must}, which are required")
    if other == NOTHING and low > room:
        seen = f"minProperties {low}"
        raise NoValue(below(path, "minProperties"), seen, f"at most {room}, as many as there are keys")
    repeats = low > must + 1 and other != NOTHING and (high is None or high > must + 1)
    if repeats:
        seen = f"minProperties {low} beside keys that are not named, which a text may repeat"
        reader.normal.notes.give_up(below(path, "minProperties"), seen, f"at most {must + 1}, or named properties only")
    if other == NOTHING and high is not None and high >= room:
        high = None
    comma = reader.token(literal(","), ",")
    if witnesses or high is not None or (low > must and low != 1):
        return bracket("{}", counted_net(path, members, other, witnesses, (low, high), repeats, comma), reader.token)
    low = max(0, low - must)
    rest = NOTHING if other == NOTHING else concat(other, Repeat(concat(comma, other), 0, None))
    row = [] if other == NOTHING else [Member("", rest, False)]
    if not reader.spelled and len(members) - must >= MANY:
        inside = key_net(members, rest, comma, low)
    elif must:
        inside = members_row([*members, *row], comma)
    elif len(members) + len(row) < 2:
        inside = concat(*(member.tree for member in (*members, *row)))
        inside = inside if low else optional(inside)
    else:
        inside = counted_net(path, [*members, *row], NOTHING, [], (low, None), False, comma)
    return bracket("{}", inside, reader.token)


def members_row(members: Sequence[Member], comma: Tree) -> Tree:
    """Members in order, of which one at least is required; optional ones may be missing."""
    must = next(place for place, member in enumerate(members) if member.required)
    before = [optional(concat(member.tree, comma)) for member in members[:must]]
    after = [
        concat(comma, member.tree) if member.required else optional(concat(comma, member.tree))
        for member in members[must + 1 :]
    ]
    return concat(*before, members[must].tree, *after)


def counted_net(
    path: str,
    members: Sequence[Member],
    other: Tree,
    witnesses: Sequence[Tree],
    bounds: tuple[int, int | None],
    repeats: bool,
    comma: Tree,
) -> Tree:
    """Members in order, some optional, then other keys and witnesses, between low and high in total.

    The comma is read on the way to a member, so that each member occurs once where nothing is counted. `repeats`: other
    keys are counted as if they never repeat.
    """
    (low, high), end = bounds, len(members)
    trees, visited = [*(member.tree for member in members), other, *witnesses], 0

    def moves(place: Counted) -> Iterator[tuple[Tree, Counted]]:
        nonlocal visited
        visited += 1
        if visited > 2 * MOST_PLACES or visited * len(members) > 2 * MOST_MOVES:
            raise refusal(path, "too many counts of properties", "fewer optional properties")
        spend(10)
        here = place.number
        tree = trees[here] if here < len(trees) else NOTHING
        if place.due:
            yield tree, place._replace(number=here + (here != end), due=False)
            return
        if tree != NOTHING and (high is None or place.most < high):
            sure = repeats or here < end or not (place.loose if here == end else here > end + 1)
            least = min(place.least + (sure and (here != end or repeats or not witnesses)), low)
            most = min(place.most + 1, max(1, high or 0))
            loose = place.loose or (here == end and not repeats)
            yield comma if place.most else EMPTY, Counted(here, least, most, loose, due=True)
        if here == end or (here < end and not members[here].required):
            yield EMPTY, place._replace(number=here + 1)

    def may_end(place: Counted) -> bool:
        return not place.due and place.number == end + 1 + len(witnesses) and place.least >= low

    net = build_net(Counted(0), moves, may_end)
    if net == NOTHING:
        raise NoValue(path, "counts of properties that no object meets", "some object")
    return net


class KeyTrie:
    """The trie of the keys of members: which members begin with a text, and the letters that follow it."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.texts = [plain_text(member.name) for member in members]
        self.under: dict[str, list[int]] = defaultdict(list)
        self.following: dict[str, dict[str, None]] = defaultdict(dict)
        for number, text in enumerate(self.texts):
            for size, char in enumerate(text):
                self.under[text[:size]].append(number)
                self.following[text[:size]][char] = None
            self.under[text].append(number)

    def letters(self, text: str, first: int, last: int) -> Iterator[tuple[Tree, KeyPlace]]:
        """The letters that may follow the beginning of a key of the members from first to last."""
        for char in self.following[text]:
            known = self.under[text + char]
            start, stop = bisect_left(known, first), bisect_right(known, last) - 1
            if start <= stop:
                whole = text + char == self.texts[known[start]]
                yield literal(char), (":", known[start], 0) if whole else (text + char, known[start], known[stop])


def key_net(members: Sequence[Member], other: Tree, comma: Tree, low: int) -> Tree:
    """Many optional members in order: the next key is found letter by letter, along the trie of the keys.

    A place inside a key knows which keys it may become: those that begin so far, from the next member on. Such places
    are about as many as all keys have letters, where a choice of all later keys behind each member would be quadratic.
    The places: behind a member or before the first ("", next member, how many came: 0 or 1), inside a key (its
    beginning, first and last member that it may be), behind a key (":", member, 0), the end ("end", 0, 0).
    """
    trie, end = KeyTrie(members), ("end", 0, 0)
    must = [number for number, member in enumerate(members) if member.required]

    def moves(place: KeyPlace) -> Iterator[tuple[Tree, KeyPlace]]:
        text, first, last = place
        if text == ":":
            yield members[first].rest, ("", first + 1, 1)
        elif text:
            yield from trie.letters(text, first, last) if place != end else ()
        else:
            after = next((number for number in must if number >= first), None)
            between = comma if last else EMPTY
            for part, target in trie.letters("", first, len(members) - 1 if after is None else after):
                yield concat(between, part), target
            if after is None and last >= low:
                yield EMPTY, end
            if after is None and other != NOTHING:
                yield concat(between, other), end

    return build_net(("", 0, 0), moves, lambda place: place == end)
