"""Constraints: each is a plain record about one type of value. Constraints that hold together are a conjunction.

A goal is what a nested value must meet: a conjunction of subschemas.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from guidedviz.machines.schema.numbers import MultipleOf, NumberBound, number_tree
from guidedviz.machines.schema.places import NotEnforced, NoValue, below
from guidedviz.machines.schema.subschema import Goal, Subschema, goal_of, impossible
from guidedviz.machines.schema.text_sets import Matching, TextSet, overlap, string_texts
from guidedviz.machines.schema.values import ANY, NUMBERS, exact, kind_of
from guidedviz.machines.syntax import ANYTHING, Times, Tree, either, literal

WORDS = {"string": "Length", "array": "Items", "object": "Properties"}


@dataclass(frozen=True, eq=False)
class Size:
    """The number of characters, items or properties."""

    kind: str
    low: int
    high: int | None
    path: str

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        """Groups of constraints: one of them holds where this one does not."""
        return outside(self)

    def allows(self, value: str | list[Any] | dict[str, Any]) -> bool:
        return self.low <= len(value) and (self.high is None or len(value) <= self.high)


@dataclass(frozen=True, eq=False)
class ItemGoals:
    """The goals of the first items and of the rest."""

    first: tuple[Goal, ...]
    rest: Goal
    path: str
    every: bool = False  # whether the schema says something about each item
    says: bool = False  # whether the items count as evaluated
    kind: ClassVar = "array"

    def at(self, place: int) -> Goal:
        return self.first[place] if place < len(self.first) else self.rest

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        for place, part in ((place, part) for place, goal in enumerate(self.first) for part in goal):
            wrong = ItemGoals((*[()] * place, (part.flip(),)), (), self.path)
            yield wrong, Size("array", place + 1, None, self.path)
        for part in self.rest:
            yield (ContainsGoal(part.flip(), 1, None, len(self.first), self.path),)


@dataclass(frozen=True, eq=False)
class ContainsGoal:
    """How many items from a place on meet a subschema."""

    part: Subschema
    low: int
    high: int | None
    start: int
    path: str
    says: bool = False  # whether the items count as evaluated
    kind: ClassVar = "array"

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        return outside(self)


@dataclass(frozen=True, eq=False)
class UniqueItems:
    """No two items are equal."""

    path: str
    kind: ClassVar = "array"

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        seen, expected = "uniqueItems that must not hold", "uniqueItems without not, oneOf or if"
        raise NotEnforced(below(self.path, "uniqueItems"), seen, expected)


@dataclass(frozen=True, eq=False)
class PropertyGoals:
    """The goals of the values: by name, by sets of keys, and of all other keys (None: the schema does not say)."""

    named: dict[str, Goal]
    patterns: tuple[tuple[TextSet, Goal], ...]
    rest: Goal | None
    path: str
    closing: bool = False  # other keys are not allowed, because this schema does not mention them
    naming: bool = False  # whether the keys become allowed beside schemas that do not mention them
    says: bool = False  # whether the keys count as evaluated
    kind: ClassVar = "object"

    def own(self, name: str | None, inside: frozenset[TextSet]) -> list[Goal]:
        """The goals for a key with this name that matches these patterns; [] if it is one of the rest."""
        found = [self.named[name]] if name in self.named else []
        return found + [goal for pattern, goal in self.patterns if pattern in inside]

    def negations(self) -> Iterator[tuple[Constraint, ...]]:
        for name, part in ((name, part) for name, goal in self.named.items() for part in goal):
            wrong = PropertyGoals({name: (part.flip(),)}, (), None, self.path)
            yield wrong, RequiredKeys((name,), self.path)
        for pattern, part in ((pattern, part) for pattern, goal in self.patterns for part in goal):
            yield (SomeProperty(pattern, goal_of(part.flip()), self.path),)
        trees = [either(*map(literal, self.named)), *(pattern.tree for pattern, _ in self.patterns)]
        others = TextSet(self, lambda: overlap([ANYTHING], trees))
        for part in self.rest or ():
            yield (SomeProperty(others, goal_of(part.flip()), self.path),)


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
C = TypeVar("C")


def outside(found: Size | ContainsGoal) -> Iterator[tuple[Constraint, ...]]:
    """The counts below and above those that a constraint allows."""
    if found.low:
        yield (replace(found, low=0, high=found.low - 1),)
    if found.high is not None:
        yield (replace(found, low=found.high + 1, high=None),)


@dataclass(frozen=True, eq=False)
class Conjunction:
    """Constraints that hold together, on values of some kinds, or on few values (None: any).

    Values are kept by their canonical form, in which 1 and 1.0 are equal.
    """

    path: str
    kinds: frozenset[str] = ANY
    values: dict[Any, Any] | None = None
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def key(self) -> Hashable:
        return frozenset(self.constraints), self.kinds, None if self.values is None else frozenset(self.values)

    def of_type(self, kind: type[C]) -> list[C]:
        """The constraints of one type."""
        return [found for found in self.constraints if isinstance(found, kind)]

    def asks(self, kind: str) -> bool:
        """Whether a constraint is about this kind of value; "number" stands for integers and fractions."""
        return any(found.kind == kind for found in self.constraints)

    def bounds(self, kind: str) -> Times:
        """The lowest and the highest number of characters, items or properties."""
        sizes = [size for size in self.of_type(Size) if size.kind == kind]
        low = max((size.low for size in sizes), default=0)
        high = min((size.high for size in sizes if size.high is not None), default=None)
        if high is not None and low > high:
            at = next(size.path for size in sizes if size.low == low)
            raise NoValue(below(at, f"min{WORDS[kind]}"), f"{low}", f"at most max{WORDS[kind]}, which is {high}")
        return low, high

    def texts(self, tick: bool = False) -> Tree:
        """The strings, before JSON escapes."""
        return string_texts(self.of_type(Matching), self.bounds("string"), tick)

    def numbers(self) -> Tree:
        """The numbers, as JSON text."""
        return number_tree([*self.of_type(NumberBound), *self.of_type(MultipleOf)], self.kinds, self.path)

    def allowed_values(self) -> list[Any]:
        """The values that the constraints on strings, numbers and sizes allow."""
        return [value for value in (self.values or {}).values() if self._allows(value)]

    def _allows(self, value: Any) -> bool:
        kind = kind_of(value)
        if kind in NUMBERS:
            kind, value = "number", exact(value, self.path)
        own = (found for found in self.constraints if isinstance(found, Scalar))
        return all(found.allows(value) for found in own if found.kind == kind)

    def tidy(self) -> Conjunction:
        """Without values of another kind, and without kinds that no value has."""
        if self.values is None:
            return self
        kept = {key: value for key, value in self.values.items() if kind_of(value) in self.kinds}
        return replace(self, kinds=frozenset(map(kind_of, kept.values())), values=kept)


EVERYTHING = Conjunction("#")
