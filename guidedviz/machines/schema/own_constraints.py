"""What one schema says by itself, without the schemas that it applies to the same value."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from guidedviz.errors import PatternError, nearest, quoted
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.constraints import (
    WORDS,
    Conjunction,
    Constraint,
    ContainsGoal,
    ItemGoals,
    PropertyGoals,
    RequiredKeys,
    Size,
    UniqueItems,
)
from guidedviz.machines.schema.formats import FORMATS, NOT_ENFORCED
from guidedviz.machines.schema.notes import Notes
from guidedviz.machines.schema.numbers import MultipleOf, NumberBound
from guidedviz.machines.schema.patterns import to_python
from guidedviz.machines.schema.places import NotEnforced, below, refusal
from guidedviz.machines.schema.subschema import PLAIN, Goal, Subschema, goal_of, impossible
from guidedviz.machines.schema.text_sets import Matching, TextSet
from guidedviz.machines.schema.values import canon, take_names
from guidedviz.machines.syntax import Tree

LIMITS = (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1))
MOST_WORDS = 4_000  # of an enum


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
        found.append({canon(value, below(at, place)): value for place, value in enumerate(values)})
    if "const" in part.schema:
        value = part.schema["const"]
        found.append({canon(value, below(part.path, "const")): value})
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
    if names := () if isinstance(required, bool) else take_names(required, below(path, "required")):  # draft 3
        yield RequiredKeys(names, path)
    if "propertyNames" in schema:  # no key is one of the others
        others = part.at(schema["propertyNames"], "propertyNames").flip()
        if not others.is_false():
            texts = TextSet(others, lambda: key_texts((others,)))
            yield PropertyGoals({}, ((texts, impossible(others.path)),), None, path)


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
    closing = closed and rest is None and part.sign == PLAIN and "unevaluatedProperties" not in schema
    return PropertyGoals(goals, tuple(found), rest, path, closing, part.sign == PLAIN, part.says)
