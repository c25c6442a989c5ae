"""What one schema says by itself, as plain records: constraints on one type of value each.

Constraints that hold together are a conjunction. A goal is what a nested value must meet: a conjunction of subschemas.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.document import (
    ANY,
    PLAIN,
    Goal,
    Notes,
    Subschema,
    below,
    check_value,
    impossible,
    nearest,
    refusal,
    shown,
    take_count,
    take_kinds,
    take_map,
    take_names,
    take_number,
)
from guidedviz.machines.schema.numbers import Bound
from guidedviz.machines.schema.patterns import BASE64, FORMATS, NOT_REGULAR, to_python
from guidedviz.machines.schema.strings import canon, kind_of
from guidedviz.machines.tree import Tree

SIZES = (("string", "Length"), ("array", "Items"), ("object", "Properties"))
LIMITS = (("minimum", "exclusiveMinimum", True), ("maximum", "exclusiveMaximum", False))
MOST_NAMES = 5_000


@dataclass(frozen=True, eq=False)
class Size:
    """The number of characters, items or properties."""

    kind: str
    low: int
    high: int | None
    path: str

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        """Groups of constraints: one of them holds where this one does not; `both`: keys that are also required."""
        return outside(self)


@dataclass(frozen=True, eq=False)
class Matching:
    """A set of strings, before JSON escapes, to which a string belongs or not."""

    tree: Tree
    wanted: bool
    path: str
    kind: ClassVar = "string"

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        yield (replace(self, wanted=not self.wanted),)


@dataclass(frozen=True, eq=False)
class Limit:
    """A lower or an upper bound of a number."""

    bound: Bound
    lower: bool
    path: str
    kind: ClassVar = "number"

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        yield (Limit(Bound(self.bound.value, not self.bound.strict), not self.lower, self.path),)


@dataclass(frozen=True, eq=False)
class MultipleOf:
    """A number that is a multiple of the step, or is not."""

    step: Decimal
    wanted: bool
    path: str
    kind: ClassVar = "number"

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        yield (replace(self, wanted=not self.wanted),)


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

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
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

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        return outside(self)


@dataclass(frozen=True, eq=False)
class UniqueItems:
    """No two items are equal."""

    path: str
    kind: ClassVar = "array"

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        yield ()  # not enforced


@dataclass(frozen=True)
class KeyPattern:
    """A set of keys: those that match a pattern, or meet a goal as strings."""

    pattern: Hashable
    tree: Tree = field(compare=False)

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))

    def has(self, name: str) -> bool:
        return self.machine.accepts(name.encode())


@dataclass(frozen=True, eq=False)
class PropertyGoals:
    """The goals of the values: by name, by pattern, and of all other keys (None: the schema does not say)."""

    named: dict[str, Goal]
    patterns: tuple[tuple[KeyPattern, Goal], ...]
    rest: Goal | None
    path: str
    closing: bool = False  # other keys are not allowed, because this schema does not mention them
    naming: bool = False  # whether the keys become allowed beside schemas that do not mention them
    says: bool = False  # whether the keys count as evaluated
    kind: ClassVar = "object"

    def own(self, name: str | None, inside: frozenset[KeyPattern]) -> list[Goal]:
        """The goals for a key with this name that matches these patterns; [] if it is one of the rest."""
        found = [self.named[name]] if name in self.named else []
        return found + [goal for pattern, goal in self.patterns if pattern in inside]

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        for name, part in ((name, part) for name, goal in self.named.items() for part in goal):
            wrong = PropertyGoals({name: (part.flip(),)}, (), None, self.path)
            yield (wrong,) if name in both else (wrong, RequiredKeys((name,), self.path))
        for pattern, part in ((pattern, part) for pattern, goal in self.patterns for part in goal):
            yield (SomeProperty(goal_of(part.flip()), self.path, pattern=pattern),)
        for part in self.rest or ():
            yield (SomeProperty(goal_of(part.flip()), self.path, beside=self),)


@dataclass(frozen=True, eq=False)
class RequiredKeys:
    """Keys that must be there."""

    names: tuple[str, ...]
    path: str
    kind: ClassVar = "object"

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        yield from (
            (PropertyGoals({name: impossible(self.path)}, (), None, self.path),)
            for name in self.names
            if name not in both
        )


@dataclass(frozen=True, eq=False)
class KeyGoal:
    """The goal of every key, as a string."""

    goal: Goal
    path: str
    kind: ClassVar = "object"

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        yield (SomeProperty((), self.path, unlike=self.goal),)


@dataclass(frozen=True, eq=False)
class SomeProperty:
    """Some key of one class whose value meets the goal; the class is a pattern, or the rest beside other goals, or the
    keys that do not meet a goal themselves."""

    goal: Goal
    path: str
    pattern: KeyPattern | None = None
    beside: PropertyGoals | None = None
    unlike: Goal | None = None
    kind: ClassVar = "object"

    def negations(self, both: Collection[str]) -> Iterator[tuple[Constraint, ...]]:
        raise NotImplementedError  # it stands in no schema, only in a negation


Constraint = (
    Size | Matching | Limit | MultipleOf | ItemGoals | ContainsGoal | UniqueItems | PropertyGoals | RequiredKeys
    | KeyGoal | SomeProperty
)  # fmt: skip
C = TypeVar("C")


def outside(found: Size | ContainsGoal) -> Iterator[tuple[Constraint, ...]]:
    """The counts below and above those that a constraint allows."""
    if found.low:
        yield (replace(found, low=0, high=found.low - 1),)
    if found.high is not None:
        yield (replace(found, low=found.high + 1, high=None),)


@dataclass(frozen=True, eq=False)
class Conjunction:
    """Constraints that hold together, on values of some kinds, on few values (None: any), and on none of some others.

    Values are kept by their canonical form, in which 1 and 1.0 are equal.
    """

    path: str
    kinds: frozenset[str] = ANY
    values: dict[Any, Any] | None = None
    banned: dict[Any, Any] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def key(self) -> Hashable:
        values = None if self.values is None else frozenset(self.values)
        return frozenset(self.constraints), self.kinds, values, frozenset(self.banned)

    def of_type(self, kind: type[C]) -> list[C]:
        """The constraints of one type."""
        return [found for found in self.constraints if isinstance(found, kind)]

    def asks(self, kind: str) -> bool:
        """Whether a constraint is about this kind of value; "number" stands for integers and fractions."""
        return any(found.kind == kind for found in self.constraints)

    def tidy(self) -> Conjunction:
        """Without values that are banned or of another kind, and without kinds that no value has."""
        if self.values is None:
            return self
        kept = {
            key: value for key, value in self.values.items() if key not in self.banned and kind_of(value) in self.kinds
        }
        return Conjunction(self.path, frozenset(map(kind_of, kept.values())), kept, self.banned, self.constraints)


EVERYTHING = Conjunction("#")


def goal_of(*parts: Subschema) -> Goal:
    """The conjunction of subschemas without what is trivial or repeated."""
    return tuple(dict.fromkeys(part for part in parts if not part.is_true()))


def constraints_of(part: Subschema, notes: Notes) -> Conjunction:
    """All that a schema says by itself, without the schemas that it applies to the same value."""
    schema, path = part.schema, part.path
    kinds, values = take_kinds(schema, path), take_values(schema, path)
    found = (*_sizes(part), *_strings(part, notes), *_numbers(part), *_arrays(part), *_objects(part, notes))
    return Conjunction(path, kinds, values, {}, found).tidy()


def take_values(schema: dict[str, Any], path: str) -> dict[Any, Any] | None:
    """The values of enum and const, by their canonical form."""
    found: dict[Any, Any] | None = None
    for key in ("enum", "const"):
        if key in schema:
            values = schema[key] if key == "enum" else [schema[key]]
            if not isinstance(values, list | tuple) or not values:
                raise refusal(below(path, key), shown(values), "a list of values")
            check_value(schema[key], below(path, key))
            more = {canon(value): value for value in values}
            found = more if found is None else {form: value for form, value in found.items() if form in more}
    return found


def _sizes(part: Subschema) -> Iterator[Size]:
    for kind, what in SIZES:
        low, high = (take_count(part.schema, word + what, part.path) for word in ("min", "max"))
        if low or high is not None:
            yield Size(kind, low or 0, high, part.path)


def _strings(part: Subschema, notes: Notes) -> Iterator[Matching]:
    for key, read in (("pattern", read_pattern), ("format", _read_format), ("contentEncoding", _read_encoding)):
        if key in part.schema:
            tree = read(part.schema[key], below(part.path, key), notes)
            if tree is not None:
                yield Matching(tree, True, part.path)


def pattern_tree(pattern: Any, path: str) -> Tree:
    """The strings in which a regex finds a match."""
    if not isinstance(pattern, str):
        raise refusal(path, shown(pattern), "a regex")
    try:
        return parse_regex(to_python(pattern), search=True)
    except PatternError as error:
        raise refusal(path, f"{error.where}: {error.seen}", error.expected, error.hint) from error


def read_pattern(pattern: Any, path: str, notes: Notes) -> Tree | None:
    """The strings in which a regex finds a match; None if it is not regular and the caller accepts that."""
    try:
        return pattern_tree(pattern, path)
    except PatternError as error:
        if not isinstance(pattern, str):
            raise
        notes.give_up_of(error, path)
        return None


def _read_format(name: Any, path: str, notes: Notes) -> Tree | None:
    if not isinstance(name, str):
        raise refusal(path, shown(name), "the name of a format")
    if name in FORMATS:
        return parse_regex(FORMATS[name])
    if name in NOT_REGULAR:
        notes.add(path, f"the format {shown(name)} is not enforced")
    else:
        notes.ignore_format(name, path, nearest(name, FORMATS))
    return None


def _read_encoding(name: Any, path: str, notes: Notes) -> Tree | None:
    if not isinstance(name, str):
        raise refusal(path, shown(name), "the name of an encoding")
    if name.lower() == "base64":
        return parse_regex(BASE64)
    notes.add(path, f"the encoding {shown(name)} is not enforced")
    return None


def _numbers(part: Subschema) -> Iterator[Limit | MultipleOf]:
    schema, path = part.schema, part.path
    for closed, strict, lower in LIMITS:
        value, excluded = take_number(schema, closed, path), schema.get(strict)
        if value is not None:
            yield Limit(Bound(value, excluded is True), lower, path)  # a truth value in draft 4
        if not isinstance(excluded, bool) and (other := take_number(schema, strict, path)) is not None:
            yield Limit(Bound(other, strict=True), lower, path)
    step = take_number(schema, "multipleOf", path)
    if step is not None:
        if step <= 0:
            raise refusal(below(path, "multipleOf"), shown(schema["multipleOf"]), "a number above 0")
        yield MultipleOf(step.normalize() if step != 1 else Decimal(1), True, path)


def _arrays(part: Subschema) -> Iterator[Constraint]:
    schema, path = part.schema, part.path
    key, rest = (
        ("items", "additionalItems") if isinstance(schema.get("items"), list | tuple) else ("prefixItems", "items")
    )
    first = schema.get(key, [])
    if not isinstance(first, list | tuple):
        raise refusal(below(path, key), shown(first), "a list of schemas")
    if key in schema or rest in schema:
        goals = tuple(goal_of(part.at(inner, key, place)) for place, inner in enumerate(first))
        yield ItemGoals(goals, goal_of(part.at(schema.get(rest, True), rest)), path, rest in schema, part.says)
    if "contains" in schema:
        low, high = (take_count(schema, word, path) for word in ("minContains", "maxContains"))
        low = 1 if low is None else low
        yield ContainsGoal(part.at(schema["contains"], "contains"), low, high, 0, path, part.says)
    unique = schema.get("uniqueItems", False)
    if not isinstance(unique, bool):
        raise refusal(below(path, "uniqueItems"), shown(unique), "true or false")
    if unique:
        yield UniqueItems(path)


def _objects(part: Subschema, notes: Notes) -> Iterator[Constraint]:
    schema, path = part.schema, part.path
    if {"properties", "patternProperties", "additionalProperties"} & schema.keys():
        yield _properties(part, notes)
    required = schema.get("required", ())
    if names := () if isinstance(required, bool) else take_names(required, below(path, "required")):  # draft 3
        yield RequiredKeys(names, path)
    if "propertyNames" in schema and (goal := goal_of(part.at(schema["propertyNames"], "propertyNames"))):
        yield KeyGoal(goal, below(path, "propertyNames"))


def _properties(part: Subschema, notes: Notes) -> PropertyGoals:
    schema, path = part.schema, part.path
    named, patterns = (take_map(schema, key, path) for key in ("properties", "patternProperties"))
    if len(named) > MOST_NAMES:
        raise refusal(below(path, "properties"), f"{len(named):,} properties", f"at most {MOST_NAMES:,}")
    found = []
    for text, inner in patterns.items():
        tree = read_pattern(text, below(path, "patternProperties", text), notes)
        if tree is not None:
            found.append((KeyPattern(text, tree), goal_of(part.at(inner, "patternProperties", text))))
    rest: Goal | None = None if len(found) == len(patterns) else ()  # a pattern that is not enforced may have any key
    if "additionalProperties" in schema and rest is None:
        rest = goal_of(part.at(schema["additionalProperties"], "additionalProperties"))
    goals = {name: goal_of(part.at(inner, "properties", name)) for name, inner in named.items()}
    closing = rest is None and part.sign == PLAIN and notes.settings.extra_keys == "closed"
    closing = closing and "unevaluatedProperties" not in schema
    return PropertyGoals(goals, tuple(found), rest, path, closing, part.sign == PLAIN, part.says)
