"""Constraints: plain records, each about one kind of value; and conjunctions of constraints that hold together.

    {"minItems": 2, "items": A, "minimum": 3}     Size("array", 2, None), ItemGoals((), (A,)), NumberBound(3, {0, 1})
    {"type": "string", "maxLength": 5}            a conjunction on strings: Size("string", 0, 5)
    {"enum": [1, "a"]}                            a conjunction on the values 1 and "a", an integer and a string

The negation of a constraint is a disjunction of groups of constraints: 2 to 5 items becomes at most 1, or at least 6.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from guidedviz.errors import PatternError
from guidedviz.machines.schema.numbers import MultipleOf, NumberBound, number_tree
from guidedviz.machines.schema.subschema import UNEVALUATED, Goal, Sign, Subschema, allows_all, goal_of, impossible
from guidedviz.machines.schema.text_sets import Matching, TextSet, overlap
from guidedviz.machines.schema.values import EVERY_KIND, NUMBER_KINDS, NoValue, below, exact, kind_of, schema_error
from guidedviz.machines.syntax import ANY_CHARACTER, ANYTHING, NOTHING, Repeat, Times, Tree, either, literal

SIZE_WORDS = {"string": "Length", "array": "Items", "object": "Properties"}  # of minLength, maxItems and so on
C = TypeVar("C")
ValuesByForm = dict[Any, Any]  # the canonical form of a value, in which 1 and 1.0 are equal -> the value


@dataclass(frozen=True, eq=False)
class Size:
    """The number of characters, items or properties."""

    kind: str
    low: int
    high: int | None
    path: str

    def negations(self) -> Negation:
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

    def negations(self) -> Negation:
        for place, goal in enumerate(self.first):
            before = tuple(() for _ in range(place))
            for part in goal:
                wrong = ItemGoals((*before, (part.negated(),)), (), self.path)
                yield wrong, Size("array", place + 1, None, self.path)
        for part in self.rest:
            yield (ContainsGoal(part.negated(), 1, None, len(self.first), self.path),)


@dataclass(frozen=True, eq=False)
class ContainsGoal:
    """How many items from `start` on meet a subschema."""

    part: Subschema
    low: int
    high: int | None
    start: int
    path: str
    evaluates: bool = False  # whether these items count as evaluated
    kind: ClassVar = "array"

    def negations(self) -> Negation:
        return outside(self)


@dataclass(frozen=True, eq=False)
class UniqueItems:
    """No two items are equal."""

    path: str
    kind: ClassVar = "array"

    def negations(self) -> Negation:
        seen = "uniqueItems that must not hold"
        raise schema_error(below(self.path, "uniqueItems"), seen, "uniqueItems without not, oneOf or if")


@dataclass(frozen=True, eq=False)
class PropertyGoals:
    """The goals of the values: by name, by sets of keys, and of all other keys (None: the schema does not say)."""

    named: dict[str, Goal]
    patterns: tuple[tuple[TextSet, Goal], ...]
    rest: Goal | None
    path: str
    closes: bool = False  # other keys are not allowed, because this schema does not mention them
    admits: bool = False  # its keys are allowed although another schema closes
    evaluates: bool = False  # its keys count as evaluated
    kind: ClassVar = "object"

    def goal_of_key(self, name: str | None, inside: frozenset[TextSet]) -> Goal | None:
        """The goal for a key with this name that matches these patterns; None if the schema does not say."""
        goals = [goal for pattern, goal in self.patterns if pattern in inside]
        if name in self.named:
            goals.insert(0, self.named[name])
        if not goals:
            return self.rest
        return tuple(part for goal in goals for part in goal)

    def other_keys(self) -> Tree:
        """The keys that are neither named nor match a pattern."""
        return overlap([ANYTHING], [either(*map(literal, self.named)), *(pattern.tree for pattern, _ in self.patterns)])

    def negations(self) -> Negation:
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

    def negations(self) -> Negation:
        for name in self.names:
            yield (PropertyGoals({name: impossible(self.path)}, (), None, self.path),)


@dataclass(frozen=True, eq=False)
class SomeProperty:
    """Some key of a set whose value meets the goal."""

    keys: TextSet
    goal: Goal
    path: str
    kind: ClassVar = "object"

    def negations(self) -> Negation:
        raise NotImplementedError  # it stands in no schema, only in a negation


Scalar = Size | Matching | NumberBound | MultipleOf  # says of a value whether it is allowed
Constraint = Scalar | ItemGoals | ContainsGoal | UniqueItems | PropertyGoals | RequiredKeys | SomeProperty
Negation = Iterator[tuple[Constraint, ...]]  # a disjunction of groups of constraints


def outside(found: Size | ContainsGoal) -> Negation:
    """The counts below and above those that a constraint allows."""
    if found.low:
        yield (replace(found, low=0, high=found.low - 1),)
    if found.high is not None:
        yield (replace(found, low=found.high + 1, high=None),)


@dataclass(frozen=True, eq=False)
class Conjunction:
    """Constraints that hold together, on all values of some kinds, or only on those that `values` lists."""

    path: str  # of the first of the schemas that were joined
    kinds: frozenset[str] = EVERY_KIND
    values: ValuesByForm | None = None
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

    def tidy(self) -> Conjunction:
        """Without listed values of another kind, and without kinds that no listed value has."""
        if self.values is None:
            return self
        kept = {key: value for key, value in self.values.items() if kind_of(value) in self.kinds}
        return replace(self, kinds=frozenset(map(kind_of, kept.values())), values=kept)

    def negations(self) -> Iterator[Conjunction]:
        """The conjunctions of which one holds where a constraint or the kind of this one does not.

        Listed values are denied elsewhere (`NormalForms.other_values`).
        """
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

    def texts(self, may_count: bool = False, refused: Sequence[Tree] = ()) -> Tree:
        """The strings, before JSON escapes, without the refused ones.

        `may_count`: a large length beside a pattern may be counted; the tree must then be a rule of its own.
        """
        found = self.of_type(Matching)
        low, high = self.bounds("string")
        wanted = [each.texts.tree for each in found if each.wanted]
        banned = [*refused, *(each.texts.tree for each in found if not each.wanted)]
        if low or not wanted:
            wanted.append(Repeat(ANY_CHARACTER, low, None))
        path = found[0].path if found else self.path
        try:
            tree = overlap(wanted, banned, high, may_count)
        except PatternError as error:
            raise schema_error(path, error.seen, error.expected, error.hint) from error
        if tree == NOTHING:
            raise NoValue(path, "a pattern, format or length that no string meets", "some string")
        return tree

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
        """What the values of required keys must meet, as far as this is known without a look at patterns."""
        names = dict.fromkeys(name for found in self.of_type(RequiredKeys) for name in found.names)
        goals = []
        for name in names:
            parts: list[Subschema] = []
            for keys in self.of_type(PropertyGoals):
                if name in keys.named or not keys.patterns:
                    parts += keys.goal_of_key(name, frozenset()) or ()
            goals.append(goal_of(*parts))
        return goals

    def listed_items(self) -> int:
        """How many items have goals of their own."""
        return max((len(found.first) for found in self.of_type(ItemGoals)), default=0)

    def item_goal(self, place: int) -> Goal:
        """What the item at a place must meet."""
        return goal_of(*(part for found in self.of_type(ItemGoals) for part in found.at(place)))


EVERYTHING = Conjunction("#")


def restricts_unevaluated(schema: Any) -> bool:
    """Whether the schema restricts what other keywords have not evaluated."""
    return any(key in schema and not allows_all(schema[key]) for key in UNEVALUATED)


def close_keys(row: Conjunction, part: Subschema) -> Conjunction:
    """A row that says: the keys that no schema of this row names meet the subschema."""
    named: dict[str, Goal] = {}
    patterns: dict[TextSet, Goal] = {}
    for keys in row.of_type(PropertyGoals):
        if not keys.evaluates:
            continue
        if keys.rest is not None:
            return EVERYTHING  # every key is evaluated
        named |= dict.fromkeys(keys.named, ())
        patterns |= {pattern: () for pattern, _ in keys.patterns}
    admits = part.sign == Sign.PLAIN
    closed = PropertyGoals(named, tuple(patterns.items()), goal_of(part), part.path, admits=admits, evaluates=True)
    return Conjunction(part.path, constraints=(closed,))


def close_items(row: Conjunction, part: Subschema) -> Conjunction:
    """A row that says: the items that no schema of this row speaks of meet the subschema."""
    evaluated = 0
    for items in row.of_type(ItemGoals):
        if items.evaluated is None:
            return EVERYTHING
        evaluated = max(evaluated, items.evaluated)
    rest = part
    contained = [contains.part for contains in row.of_type(ContainsGoal) if contains.evaluates]
    if contained and not part.is_true():
        branches = [*(each.schema for each in contained), part.schema]
        rest = part.at({"anyOf": branches}, *(each.path for each in contained))  # a path that no other schema has
    closed = ItemGoals(tuple(() for _ in range(evaluated)), goal_of(rest), part.path, evaluated=None)
    return Conjunction(part.path, constraints=(closed,))


CLOSE_ROW = {"unevaluatedProperties": close_keys, "unevaluatedItems": close_items}


def without_evaluation(row: Conjunction) -> Conjunction:
    """The same row, of which no key or item counts as evaluated for the schemas around it."""
    found = []
    for constraint in row.constraints:
        if isinstance(constraint, ItemGoals):
            constraint = replace(constraint, evaluated=0)
        elif isinstance(constraint, ContainsGoal | PropertyGoals):
            constraint = replace(constraint, evaluates=False)
        found.append(constraint)
    return replace(row, constraints=tuple(found))
