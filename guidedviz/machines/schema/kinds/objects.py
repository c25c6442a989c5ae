"""The tree of an object: its named keys in order, then any number of other keys, by class.

A text may repeat other keys, because no machine of this kind remembers which keys were used. The last of equal keys
counts, so a key that must exist with a certain value comes last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from guidedviz.errors import PatternError
from guidedviz.machines.schema.document.keywords import Notes
from guidedviz.machines.schema.document.paths import below, refusal
from guidedviz.machines.schema.kinds.empty import Empty, take_range
from guidedviz.machines.schema.kinds.keys import Class, ObjectKeys
from guidedviz.machines.schema.kinds.members import Member, Members, braced, counted_members, object_tree
from guidedviz.machines.schema.kinds.next_key import MANY, KeyNet
from guidedviz.machines.schema.logic.cases import Case
from guidedviz.machines.schema.logic.facts import Depends, Exists, Goal, Names, goal_of
from guidedviz.machines.schema.rules import Rules
from guidedviz.machines.schema.text.json_text import key_rest, key_text
from guidedviz.machines.tree import NOTHING, Repeat, Tree, concat, either, literal

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
