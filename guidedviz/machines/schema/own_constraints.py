"""What one schema says by itself: its keywords as constraints, without the schemas that it applies to the same value.

{"minimum": 3, "exclusiveMaximum": 5, "anyOf": [...]}     NumberBound(3, {0, 1}), NumberBound(5, {-1})

A keyword outside every vocabulary is an annotation: it is ignored and noted. A standard keyword that could constrain
and is not supported is an error.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from guidedviz.errors import PatternError, SchemaWarning, nearest, quoted
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.constraints import (
    SIZE_WORDS,
    Conjunction,
    Constraint,
    ContainsGoal,
    ItemGoals,
    PropertyGoals,
    RequiredKeys,
    Size,
    UniqueItems,
    ValuesByForm,
)
from guidedviz.machines.schema.numbers import MultipleOf, NumberBound
from guidedviz.machines.schema.patterns import FORMAT_REGEXES, FORMATS_NOT_ENFORCED, to_python
from guidedviz.machines.schema.settings import SchemaSettings
from guidedviz.machines.schema.subschema import (
    ANNOTATIONS,
    APPLIED,
    HOLD_LIST,
    HOLD_MAP,
    HOLD_ONE,
    Goal,
    Sign,
    Subschema,
    goal_of,
    impossible,
)
from guidedviz.machines.schema.text_sets import Matching, TextSet
from guidedviz.machines.schema.values import below, canon, schema_error, show_path, take_names
from guidedviz.machines.syntax import Tree

KEYWORDS = ANNOTATIONS.union(APPLIED, HOLD_ONE, HOLD_LIST, HOLD_MAP).union(
    "type enum const required minProperties maxProperties minItems maxItems minContains maxContains uniqueItems "
    "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
LIKE_A_KEYWORD = 0.85  # of difflib's ratio: `propertes` is a near miss of `properties`


@dataclass
class Notes:
    """What a schema says that the machine does not enforce. Each note begins with the path of its part."""

    settings: SchemaSettings
    texts: dict[str, None] = field(default_factory=dict)

    def add(self, path: str, text: str) -> bool:
        """Whether the note is new."""
        note = f"{show_path(path)}: {text}"
        is_new = note not in self.texts
        self.texts[note] = None
        return is_new

    def check(self, part: Subschema) -> None:
        """Note the keywords that are outside JSON Schema."""
        for key in part.schema:
            if key in KEYWORDS:
                continue
            near = ""
            if not str(key).startswith(("_", "$", "x-")):
                near = nearest(str(key), KEYWORDS - ANNOTATIONS, LIKE_A_KEYWORD)
            self.ignore("keyword", below(part.path, key), near)

    def ignore(self, what: str, path: str, near: str) -> None:
        """A keyword or format that JSON Schema does not have; warn of one that looks like a mistake."""
        hint = f"did you mean {near}?" if near else ""
        if self.settings.unknown == "error":
            raise schema_error(path, f"a {what} that JSON Schema does not have", "one that it has", hint)
        text = f"not a {what} of JSON Schema, ignored"
        if hint:
            text += f"; {hint}"
        is_new = self.add(path, text)
        if is_new and hint:
            warnings.warn(f"schema, {show_path(path)}: {text}", SchemaWarning, stacklevel=2)


MOST_ENUM_VALUES = 4_000  # of an enum
KeyTexts = Callable[[Goal], Tree]  # the strings that meet a goal


def constraints_of(part: Subschema, notes: Notes, key_texts: KeyTexts) -> Conjunction:
    """All that a schema says by itself."""
    kinds = part.kinds()
    values = take_values(part)
    found: list[Constraint] = [*size_constraints(part), *string_constraints(part, notes), *number_constraints(part)]
    found += array_constraints(part)
    found += object_constraints(part, notes, key_texts)
    return Conjunction(part.path, kinds, values, tuple(found)).tidy()


def take_values(part: Subschema) -> ValuesByForm | None:
    """The values of enum and const, by their canonical form."""
    values = None
    if "enum" in part.schema:
        path = below(part.path, "enum")
        listed = part.listed("enum", "values")
        if len(listed) > MOST_ENUM_VALUES:
            raise schema_error(path, f"{len(listed):,} values", f"at most {MOST_ENUM_VALUES:,}")
        values = {canon(value, below(path, place)): value for place, value in enumerate(listed)}
    if "const" in part.schema:
        value = part.schema["const"]
        form = canon(value, below(part.path, "const"))
        if values is None:
            return {form: value}
        return {form: values[form]} if form in values else {}
    return values


def size_constraints(part: Subschema) -> Iterator[Size]:
    for kind, what in SIZE_WORDS.items():
        low = part.count(f"min{what}") or 0
        high = part.count(f"max{what}")
        if low or high is not None:
            yield Size(kind, low, high, part.path)


def string_constraints(part: Subschema, notes: Notes) -> Iterator[Matching]:
    if "pattern" in part.schema:
        yield Matching(matching_texts(part.schema["pattern"], below(part.path, "pattern")), True, part.path)
    if "format" in part.schema:
        name = part.schema["format"]
        path = below(part.path, "format")
        if not isinstance(name, str):
            raise part.wrong("format", "the name of a format")
        if name in FORMAT_REGEXES:
            yield Matching(TextSet(name, lambda: parse_regex(FORMAT_REGEXES[name])), True, part.path)
        elif name in FORMATS_NOT_ENFORCED:
            notes.add(path, f"the format {name} is not enforced")
        else:
            notes.ignore("format", path, nearest(name, FORMAT_REGEXES))


def matching_texts(pattern: Any, path: str) -> TextSet:
    """The strings in which a regex finds a match."""
    if not isinstance(pattern, str):
        raise schema_error(path, quoted(pattern), "a regex")
    try:
        tree = parse_regex(to_python(pattern), search=True)
    except PatternError as error:
        raise schema_error(path, f"{error.where}: {error.seen}", error.expected, error.hint) from error
    return TextSet(pattern, lambda: tree)


def number_constraints(part: Subschema) -> Iterator[NumberBound | MultipleOf]:
    yield from number_bounds(part, "minimum", "exclusiveMinimum", 1)
    yield from number_bounds(part, "maximum", "exclusiveMaximum", -1)
    step = part.number("multipleOf")
    if step is not None:
        if step <= 0:
            raise part.wrong("multipleOf", "a number above 0")
        yield MultipleOf(step, True, part.path)


def number_bounds(part: Subschema, keyword: str, exclusive: str, side: int) -> Iterator[NumberBound]:
    """The bounds on one side. In draft 4, exclusiveMinimum is a truth value that changes what minimum means."""
    bound = part.number(keyword)
    flag = part.schema.get(exclusive)
    if bound is not None:
        signs = {side} if flag is True else {0, side}
        yield NumberBound(bound, frozenset(signs), part.path)
    if not isinstance(flag, bool):
        bound = part.number(exclusive)
        if bound is not None:
            yield NumberBound(bound, frozenset((side,)), part.path)


def array_constraints(part: Subschema) -> Iterator[Constraint]:
    schema = part.schema
    if isinstance(schema.get("items"), list | tuple):  # before draft 2020-12
        yield item_goals(part, "items", "additionalItems")
    elif "prefixItems" in schema or "items" in schema:
        yield item_goals(part, "prefixItems", "items")
    if "contains" in schema:
        low = part.count("minContains")
        high = part.count("maxContains")
        inner = part.at(schema["contains"], "contains")
        yield ContainsGoal(inner, 1 if low is None else low, high, 0, part.path, part.evaluates)
    unique = schema.get("uniqueItems", False)
    if not isinstance(unique, bool):
        raise part.wrong("uniqueItems", "true or false")
    if unique:
        yield UniqueItems(part.path)


def item_goals(part: Subschema, key: str, rest: str) -> ItemGoals:
    """The goals of the first items, which one keyword lists, and of the rest."""
    listed = part.listed(key) if part.schema.get(key) else []
    first = tuple(goal_of(part.at(inner, key, place)) for place, inner in enumerate(listed))
    evaluated: int | None = 0
    if part.evaluates:
        evaluated = None if rest in part.schema else len(first)
    return ItemGoals(first, goal_of(part.at(part.schema.get(rest, True), rest)), part.path, evaluated)


def object_constraints(part: Subschema, notes: Notes, key_texts: KeyTexts) -> Iterator[Constraint]:
    schema = part.schema
    if {"properties", "patternProperties", "additionalProperties"} & schema.keys():
        yield property_goals(part, notes.settings.extra_keys == "closed")
    required = schema.get("required", ())
    if not isinstance(required, bool):  # as in draft 3
        names = take_names(required, below(part.path, "required"))
        if names:
            yield RequiredKeys(names, part.path)
    if "propertyNames" in schema:  # no key is one of the others
        others = part.at(schema["propertyNames"], "propertyNames").negated()
        if not others.is_false():
            texts = TextSet(others, lambda: key_texts((others,)))
            yield PropertyGoals({}, ((texts, impossible(others.path)),), None, part.path)


def property_goals(part: Subschema, closed: bool) -> PropertyGoals:
    """The goals of named keys, of keys that match a pattern, and of all others."""
    schema = part.schema
    named = {name: goal_of(part.at(inner, "properties", name)) for name, inner in part.mapped("properties").items()}
    patterns = []
    for text, inner in part.mapped("patternProperties").items():
        texts = matching_texts(text, below(part.path, "patternProperties", text))
        patterns.append((texts, goal_of(part.at(inner, "patternProperties", text))))
    rest = None
    if "additionalProperties" in schema:
        rest = goal_of(part.at(schema["additionalProperties"], "additionalProperties"))
    is_plain = part.sign == Sign.PLAIN
    closes = closed and is_plain and rest is None and "unevaluatedProperties" not in schema
    return PropertyGoals(named, tuple(patterns), rest, part.path, closes, is_plain, part.evaluates)
