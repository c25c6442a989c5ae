"""Constraints: plain records, each about one kind of value.

    {"minItems": 2, "items": A, "minimum": 3}     Size("array", 2, None), ItemGoals((), (A,)), NumberBound(3, {0, 1})

A goal is what a nested value must meet: a conjunction of subschemas. The negation of a constraint is a disjunction of
groups of constraints: at least 2 and at most 5 items becomes at most 1, or at least 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from guidedviz.machines.schema.numbers import MultipleOf, NumberBound
from guidedviz.machines.schema.places import NotEnforced, below
from guidedviz.machines.schema.subschema import Goal, Subschema, goal_of, impossible
from guidedviz.machines.schema.text_sets import Matching, TextSet, overlap
from guidedviz.machines.syntax import ANYTHING, Tree, either, literal


@dataclass(frozen=True, eq=False)
class Size:
    """The number of characters, items or properties."""

    kind: str
    low: int
    high: int | None
    path: str

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        return outside(self)

    def allows(self, value: str | list[Any] | dict[str, Any]) -> bool:
        return self.low <= len(value) and (self.high is None or len(value) <= self.high)


@dataclass(frozen=True, eq=False)
class ItemGoals:
    """The goals of the first items and of the rest."""

    first: tuple[Goal, ...]
    rest: Goal
    path: str
    evaluated: int | None = 0  # so many items count as evaluated; None: all
    kind: ClassVar = "array"

    def at(self, place: int) -> Goal:
        return self.first[place] if place < len(self.first) else self.rest

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        for place, goal in enumerate(self.first):
            for part in goal:
                wrong = ItemGoals((*free_items(place), (part.negated(),)), (), self.path)
                yield wrong, Size("array", place + 1, None, self.path)
        for part in self.rest:
            yield (ContainsGoal(part.negated(), 1, None, len(self.first), self.path),)


@dataclass(frozen=True, eq=False)
class ContainsGoal:
    """How many items from a place on meet a subschema."""

    part: Subschema
    low: int
    high: int | None
    start: int
    path: str
    evaluates: bool = False  # whether these items count as evaluated
    kind: ClassVar = "array"

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        return outside(self)


@dataclass(frozen=True, eq=False)
class UniqueItems:
    """No two items are equal."""

    path: str
    kind: ClassVar = "array"

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        seen = "uniqueItems that must not hold"
        raise NotEnforced(below(self.path, "uniqueItems"), seen, "uniqueItems without not, oneOf or if")


@dataclass(frozen=True, eq=False)
class PropertyGoals:
    """The goals of the values: by name, by sets of keys, and of all other keys (None: the schema does not say)."""

    named: dict[str, Goal]
    patterns: tuple[tuple[TextSet, Goal], ...]
    rest: Goal | None
    path: str
    closes: bool = False  # other keys are not allowed, because this schema does not mention them
    admits: bool = False  # its keys are allowed beside schemas that close
    evaluates: bool = False  # its keys count as evaluated
    kind: ClassVar = "object"

    def goal_of_key(self, name: str | None, inside: frozenset[TextSet]) -> Goal | None:
        """What a key with this name that matches these patterns asks of its value; None if it is one of the rest."""
        goals = [goal for pattern, goal in self.patterns if pattern in inside]
        if name in self.named:
            goals.insert(0, self.named[name])
        if not goals:
            return None
        return tuple(part for goal in goals for part in goal)

    def other_keys(self) -> Tree:
        """The keys that are neither named nor match a pattern."""
        return overlap([ANYTHING], [either(*map(literal, self.named)), *(pattern.tree for pattern, _ in self.patterns)])

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        for name, goal in self.named.items():
            for part in goal:
                wrong = PropertyGoals({name: (part.negated(),)}, (), None, self.path)
                yield wrong, RequiredKeys((name,), self.path)
        others = TextSet(self, self.other_keys)
        for pattern, goal in (*self.patterns, (others, self.rest or ())):
            for part in goal:
                yield (SomeProperty(pattern, goal_of(part.negated()), self.path),)


@dataclass(frozen=True, eq=False)
class RequiredKeys:
    """Keys that must be there."""

    names: tuple[str, ...]
    path: str
    kind: ClassVar = "object"

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        for name in self.names:
            yield (PropertyGoals({name: impossible(self.path)}, (), None, self.path),)


@dataclass(frozen=True, eq=False)
class SomeProperty:
    """Some key of a set whose value meets the goal."""

    keys: TextSet
    goal: Goal
    path: str
    kind: ClassVar = "object"

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        raise NotImplementedError  # it stands in no schema, only in a negation


Scalar = Size | Matching | NumberBound | MultipleOf  # says of a value whether it is allowed
Constraint = Scalar | ItemGoals | ContainsGoal | UniqueItems | PropertyGoals | RequiredKeys | SomeProperty


def free_items(size: int) -> tuple[Goal, ...]:
    """The goals of so many items that may be anything."""
    return tuple(() for _ in range(size))


def outside(found: Size | ContainsGoal) -> Iterator[tuple[Constraint, ...]]:
    """The counts below and above those that a constraint allows."""
    if found.low:
        yield (replace(found, low=0, high=found.low - 1),)
    if found.high is not None:
        yield (replace(found, low=found.high + 1, high=None),)
