"""What one schema says by itself, as plain records: constraints on one type of value each.

Constraints that hold together are a conjunction. A goal is what a nested value must meet: a conjunction of subschemas.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from guidedviz.errors import PatternError, nearest, quoted
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema import document, scalars
from guidedviz.machines.schema.document import Goal, NotEnforced, Notes, NoValue, Subschema, below, goal_of, refusal
from guidedviz.machines.schema.patterns import FORMATS, NOT_ENFORCED, to_python
from guidedviz.machines.schema.scalars import Matching, MultipleOf, NumberBound, TextSet
from guidedviz.machines.syntax import ANYTHING, Times, Tree, either, literal

WORDS = {"string": "Length", "array": "Items", "object": "Properties"}
LIMITS = (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1))
MOST_WORDS = 4_000  # of an enum


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
        others = TextSet(self, lambda: scalars.overlap([ANYTHING], trees))
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
            yield (PropertyGoals({name: document.impossible(self.path)}, (), None, self.path),)


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
    kinds: frozenset[str] = document.ANY
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
        return scalars.string_texts(self.of_type(Matching), self.bounds("string"), tick)

    def numbers(self) -> Tree:
        """The numbers, as JSON text."""
        return scalars.number_tree([*self.of_type(NumberBound), *self.of_type(MultipleOf)], self.kinds, self.path)

    def allowed_values(self) -> list[Any]:
        """The values that the constraints on strings, numbers and sizes allow."""
        return [value for value in (self.values or {}).values() if self._allows(value)]

    def _allows(self, value: Any) -> bool:
        kind = document.kind_of(value)
        if kind in document.NUMBERS:
            kind, value = "number", document.exact(value, self.path)
        own = (found for found in self.constraints if isinstance(found, Scalar))
        return all(found.allows(value) for found in own if found.kind == kind)

    def tidy(self) -> Conjunction:
        """Without values of another kind, and without kinds that no value has."""
        if self.values is None:
            return self
        kept = {key: value for key, value in self.values.items() if document.kind_of(value) in self.kinds}
        return replace(self, kinds=frozenset(map(document.kind_of, kept.values())), values=kept)


EVERYTHING = Conjunction("#")


def constraints_of(part: Subschema, notes: Notes, key_texts: Callable[[Goal], Tree]) -> Conjunction:
    """All that a schema says by itself, without the schemas that it applies to the same value."""
    schema, path = part.schema, part.path
    if notes.ignored:
        schema = {key: value for key, value in schema.items() if below(path, key) not in notes.ignored}
        part = replace(part, schema=schema)
    kinds, values = part.kinds(), take_values(part)
    found = (*_sizes(part), *_strings(part, notes), *_numbers(part), *_arrays(part), *_objects(part, notes, key_texts))
    return Conjunction(path, kinds, values, found).tidy()


def take_values(part: Subschema) -> dict[Any, Any] | None:
    """The values of enum and const, by their canonical form."""
    found: list[dict[Any, Any]] = []
    if "enum" in part.schema:
        at, values = below(part.path, "enum"), part.listed("enum", "values")
        if len(values) > MOST_WORDS:
            raise refusal(at, f"{len(values):,} values", f"at most {MOST_WORDS:,}")
        found.append({document.canon(value, below(at, place)): value for place, value in enumerate(values)})
    if "const" in part.schema:
        value = part.schema["const"]
        found.append({document.canon(value, below(part.path, "const")): value})
    return {form: value for form, value in found[0].items() if form in found[-1]} if found else None


def _sizes(part: Subschema) -> Iterator[Size]:
    for kind, what in WORDS.items():
        low, high = (part.count(word + what) for word in ("min", "max"))
        if low or high is not None:
            yield Size(kind, low or 0, high, part.path)


def _strings(part: Subschema, notes: Notes) -> Iterator[Matching]:
    if "pattern" in part.schema:
        yield Matching(matching_texts(part.schema["pattern"], below(part.path, "pattern")), True, part.path)
    if "format" in part.schema:
        name, path = part.schema["format"], below(part.path, "format")
        if not isinstance(name, str):
            raise refusal(path, quoted(name), "the name of a format")
        if name in FORMATS:
            yield Matching(TextSet(name, lambda: parse_regex(FORMATS[name])), True, part.path)
        elif name in NOT_ENFORCED:
            notes.add(path, f"the format {name} is not enforced")
        else:
            notes.ignore("format", path, nearest(name, FORMATS))


def matching_texts(pattern: Any, path: str, fails: Callable[..., PatternError] = NotEnforced) -> TextSet:
    """The strings in which a regex finds a match."""
    if not isinstance(pattern, str):
        raise refusal(path, quoted(pattern), "a regex")
    try:
        tree = parse_regex(to_python(pattern), search=True)
    except PatternError as error:
        raise fails(path, f"{error.where}: {error.seen}", error.expected, error.hint) from error
    return TextSet(pattern, lambda: tree)


def _numbers(part: Subschema) -> Iterator[NumberBound | MultipleOf]:
    schema, path = part.schema, part.path
    for closed, strict, sign in LIMITS:
        value, excluded = part.number(closed), schema.get(strict)
        if value is not None:
            signs = {sign} if excluded is True else {0, sign}  # a truth value in draft 4
            yield NumberBound(value, frozenset(signs), path)
        if not isinstance(excluded, bool) and (other := part.number(strict)) is not None:
            yield NumberBound(other, frozenset((sign,)), path)
    step = part.number("multipleOf")
    if step is not None:
        if step <= 0:
            raise refusal(below(path, "multipleOf"), quoted(schema["multipleOf"]), "a number above 0")
        yield MultipleOf(step, True, path)


def _arrays(part: Subschema) -> Iterator[Constraint]:
    schema, path = part.schema, part.path
    old = isinstance(schema.get("items"), list | tuple)
    key, rest = ("items", "additionalItems") if old else ("prefixItems", "items")
    if key in schema or rest in schema:
        first = part.listed(key) if schema.get(key) else []
        goals = tuple(goal_of(part.at(inner, key, place)) for place, inner in enumerate(first))
        yield ItemGoals(goals, goal_of(part.at(schema.get(rest, True), rest)), path, rest in schema, part.says)
    if "contains" in schema:
        low, high = (part.count(word) for word in ("minContains", "maxContains"))
        low = 1 if low is None else low
        yield ContainsGoal(part.at(schema["contains"], "contains"), low, high, 0, path, part.says)
    unique = schema.get("uniqueItems", False)
    if not isinstance(unique, bool):
        raise refusal(below(path, "uniqueItems"), quoted(unique), "true or false")
    if unique:
        yield UniqueItems(path)


def _objects(part: Subschema, notes: Notes, key_texts: Callable[[Goal], Tree]) -> Iterator[Constraint]:
    schema, path = part.schema, part.path
    if {"properties", "patternProperties", "additionalProperties"} & schema.keys():
        yield _properties(part, notes.settings.extra_keys == "closed")
    required = schema.get("required", ())
    if names := () if isinstance(required, bool) else document.take_names(required, below(path, "required")):  # draft 3
        yield RequiredKeys(names, path)
    if "propertyNames" in schema:  # no key is one of the others
        others = part.at(schema["propertyNames"], "propertyNames").flip()
        if not others.is_false():
            texts = TextSet(others, lambda: key_texts((others,)))
            yield PropertyGoals({}, ((texts, document.impossible(others.path)),), None, path)


def _properties(part: Subschema, closed: bool) -> PropertyGoals:
    schema, path = part.schema, part.path
    named, patterns = (part.mapped(key) for key in ("properties", "patternProperties"))
    found = []
    for text, inner in patterns.items():
        texts = matching_texts(text, below(path, "patternProperties", text), refusal)
        found.append((texts, goal_of(part.at(inner, "patternProperties", text))))
    more = "additionalProperties"
    rest = goal_of(part.at(schema[more], more)) if more in schema else None
    goals = {name: goal_of(part.at(inner, "properties", name)) for name, inner in named.items()}
    closing = closed and rest is None and part.sign == document.PLAIN and "unevaluatedProperties" not in schema
    return PropertyGoals(goals, tuple(found), rest, path, closing, part.sign == document.PLAIN, part.says)
