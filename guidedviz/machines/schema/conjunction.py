"""A conjunction: constraints that hold together, on values of some kinds, or on a few values.

{"type": ["string", "null"], "maxLength": 5}     kinds string and null; Size("string", 0, 5)
{"enum": [1, "a"]}                               the values 1 and "a", of the kinds integer and string
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from guidedviz.machines.schema.constraints import Constraint, ItemGoals, PropertyGoals, RequiredKeys, Scalar, Size
from guidedviz.machines.schema.numbers import MultipleOf, NumberBound, number_tree
from guidedviz.machines.schema.places import NoValue, below
from guidedviz.machines.schema.subschema import Goal, goal_of
from guidedviz.machines.schema.text_sets import Matching, string_texts
from guidedviz.machines.schema.values import EVERY_KIND, NUMBER_KINDS, exact, kind_of
from guidedviz.machines.syntax import Times, Tree

SIZE_WORDS = {"string": "Length", "array": "Items", "object": "Properties"}  # of minLength, maxItems and so on
C = TypeVar("C")


@dataclass(frozen=True, eq=False)
class Conjunction:
    """Constraints that hold together, on values of some kinds, or on few values (None: any).

    Values are kept by their canonical form, in which 1 and 1.0 are equal.
    """

    path: str
    kinds: frozenset[str] = EVERY_KIND
    values: dict[Any, Any] | None = None
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def key(self) -> Hashable:
        return frozenset(self.constraints), self.kinds, None if self.values is None else frozenset(self.values)

    def of_type(self, kind: type[C]) -> list[C]:
        """The constraints of one type."""
        return [found for found in self.constraints if isinstance(found, kind)]

    def constrains(self, kind: str) -> bool:
        """Whether a constraint is about this kind of value; "number" stands for integers and fractions."""
        return any(found.kind == kind for found in self.constraints)

    def without_kind(self, kind: str) -> Conjunction:
        return replace(self, kinds=self.kinds - {kind}).tidy()

    def tidy(self) -> Conjunction:
        """Without values of another kind, and without kinds that no value has."""
        if self.values is None:
            return self
        kept = {key: value for key, value in self.values.items() if kind_of(value) in self.kinds}
        return replace(self, kinds=frozenset(map(kind_of, kept.values())), values=kept)

    def negations(self) -> Iterator[Conjunction]:
        """The conjunctions of which one holds where a constraint or the kind of this one does not."""
        if self.values is None and self.kinds != EVERY_KIND:
            yield Conjunction(self.path, EVERY_KIND - self.kinds)
        for found in self.constraints:
            kinds = NUMBER_KINDS if found.kind == "number" else frozenset((found.kind,))
            for group in found.negations():
                yield Conjunction(self.path, kinds, constraints=group)

    # --- strings, numbers and sizes ---------------------------------------------------------------------------------

    def size_path(self, kind: str, low: int) -> str:
        """The path of the keyword for the lowest number of characters, items or properties."""
        at = next(size.path for size in self.of_type(Size) if size.kind == kind and size.low == low)
        return below(at, f"min{SIZE_WORDS[kind]}")

    def bounds(self, kind: str) -> Times:
        """The lowest and the highest number of characters, items or properties."""
        sizes = [size for size in self.of_type(Size) if size.kind == kind]
        low = max((size.low for size in sizes), default=0)
        high = min((size.high for size in sizes if size.high is not None), default=None)
        if high is not None and low > high:
            expected = f"at most max{SIZE_WORDS[kind]}, which is {high}"
            raise NoValue(self.size_path(kind, low), f"{low}", expected)
        return low, high

    def texts(self, may_count: bool = False) -> Tree:
        """The strings, before JSON escapes."""
        return string_texts(self.of_type(Matching), self.bounds("string"), may_count)

    def numbers(self) -> Tree:
        """The numbers, as JSON text."""
        return number_tree([*self.of_type(NumberBound), *self.of_type(MultipleOf)], self.kinds, self.path)

    def allowed_values(self) -> list[Any]:
        """The values that the constraints on strings, numbers and sizes allow."""
        return [value for value in (self.values or {}).values() if self._allows(value)]

    def _allows(self, value: Any) -> bool:
        kind = kind_of(value)
        if kind in NUMBER_KINDS:
            kind = "number"
            value = exact(value, self.path)
        own = (found for found in self.constraints if found.kind == kind)
        return all(found.allows(value) for found in own if isinstance(found, Scalar))

    # --- what nested values must meet -------------------------------------------------------------------------------

    def required_goals(self) -> list[Goal]:
        """What the values of required keys must meet, as far as no pattern is needed to say so."""
        goals: dict[str, Goal] = {}
        for required in self.of_type(RequiredKeys):
            for name in required.names:
                goals[name] = ()
        for keys in self.of_type(PropertyGoals):
            for name in goals:
                if name in keys.named:
                    goals[name] += keys.named[name]
                elif not keys.patterns:
                    goals[name] += keys.rest or ()
        return [goal_of(*goal) for goal in goals.values()]

    def listed_items(self) -> int:
        """How many items have goals of their own."""
        return max((len(found.first) for found in self.of_type(ItemGoals)), default=0)

    def item_goal(self, place: int) -> Goal:
        """What the item at a place must meet."""
        return goal_of(*(part for found in self.of_type(ItemGoals) for part in found.at(place)))

    def first_goals(self, size: int) -> list[Goal]:
        """What the first items must meet, without repeats of the goal of all others."""
        return [self.item_goal(place) for place in range(min(size, 1 + self.listed_items()))]


EVERYTHING = Conjunction("#")
