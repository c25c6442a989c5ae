"""The ways in which what one schema says by itself does not hold: each is an atom, and one of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from guidedviz.machines.schema.document.keywords import ANY, Notes
from guidedviz.machines.schema.logic.cases import Atom
from guidedviz.machines.schema.logic.facts import (
    OPEN,
    Contains,
    Count,
    Depends,
    Exists,
    Fact,
    Goal,
    Items,
    Keys,
    Limit,
    Names,
    Part,
    Required,
    Step,
    Text,
    Unique,
    goal_of,
    kind_of_fact,
)
from guidedviz.machines.schema.text.numerals import Bound

NUMBERS = frozenset(("integer", "fraction"))


def deny(atom: Atom, key: Any, notes: Notes) -> Iterator[Atom]:
    """The ways in which an atom does not hold; enum and const are denied apart."""
    ways: list[tuple[frozenset[str], tuple[Fact, ...]]] = []
    if atom.kinds != ANY:
        ways.append((ANY - atom.kinds, ()))
    required = {name for fact in atom.facts if isinstance(fact, Required) for name in fact.names}
    limited = {name for fact in atom.facts if isinstance(fact, Keys) for name, goal in fact.named.items() if goal}
    for fact in atom.facts:
        kind = kind_of_fact(fact)
        kinds = NUMBERS if kind == "number" else frozenset((kind,))
        ways += [(kinds, facts) for facts in deny_fact(fact, required & limited, notes)]
    for number, (kinds, facts) in enumerate(ways):
        yield Atom((key, "not", number), atom.path, kinds, facts=facts)


def deny_fact(fact: Fact, both: set[str], notes: Notes) -> Iterator[tuple[Fact, ...]]:
    """The ways in which a fact does not hold; `both` are the keys that are required and have a goal."""
    match fact:
        case Count() | Contains():
            if fact.low:
                yield (replace(fact, low=0, high=fact.low - 1),)
            if fact.high is not None:
                yield (replace(fact, low=fact.high + 1, high=None),)
        case Text() | Step():
            yield (replace(fact, wanted=not fact.wanted),)
        case Limit(bound, lower, path):
            yield (Limit(Bound(bound.value, not bound.strict), not lower, path),)
        case Unique(path):
            notes.give_up(path, "uniqueItems that must not hold", "uniqueItems without not, oneOf or if")
            yield ()
        case Items():
            yield from deny_items(fact)
        case Keys():
            yield from deny_keys(fact, both)
        case _:
            yield from deny_names(fact, both)


def deny_items(items: Items) -> Iterator[tuple[Fact, ...]]:
    """Some item does not meet its goal."""
    for place, goal in enumerate(items.first):
        for part in goal:
            wrong = Items((*[()] * place, (part.flip(),)), (), items.path)
            yield wrong, Count("array", place + 1, None, items.path)
    for part in items.rest:
        yield (Contains(part.flip(), 1, None, len(items.first), items.path),)


def deny_keys(keys: Keys, both: set[str]) -> Iterator[tuple[Fact, ...]]:
    """The value of some key does not meet its goal, or a required key is missing."""
    for name, goal in keys.named.items():
        for part in goal:
            wrong = keys_of({name: (part.flip(),)}, keys.path)
            yield (wrong,) if name in both else (wrong, Required((name,), keys.path))
    for family, goal in keys.families:
        for part in goal:
            yield (Exists(goal_of([part.flip()]), keys.path, family=family),)
    for part in keys.rest or ():
        yield (Exists(goal_of([part.flip()]), keys.path, keys=keys),)


def deny_names(fact: Fact, both: set[str]) -> Iterator[tuple[Fact, ...]]:
    """A key is missing, or one is there that must not be."""
    match fact:
        case Required(names, path):
            yield from ((without(name, path),) for name in names if name not in both)
        case Names(goal, path):
            yield (Exists((), path, names=goal),)
        case Depends(name, names, path):
            for other in names:
                yield Required((name,), path), without(other, path)


def keys_of(named: dict[str, Goal], path: str, rest: Goal | None = None) -> Keys:
    """Goals for some keys, which do not become allowed by that."""
    return Keys(named, (), rest, path)


def without(name: str, path: str) -> Keys:
    """The key is missing."""
    return keys_of({name: (Part(False, path, OPEN),)}, path)


def constant_facts(value: Any, goals: list[Goal], path: str) -> tuple[Fact, ...]:
    """An object or array with exactly these values, whose goals are given in order."""
    no: Goal = (Part(False, path, OPEN),)
    if isinstance(value, dict):
        named = dict(zip(value, goals, strict=True))
        return Keys(named, (), no, path), Required(tuple(value), path)
    return Items(tuple(goals), no, path), Count("array", len(value), None, path)
