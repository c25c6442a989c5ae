"""A schema at a place of the document, with its sign (whether it must hold, or must not), and the schemas inside it.

{"not": {"not": A, "required": ["x"]}}      the whole is PLAIN, the inner object NEGATED, and A is TWICE_NEGATED
{"anyOf": [A, B]}                           A, or B: two clauses; a clause is a conjunction of subschemas
{"not": {"oneOf": [A, B]}}                  not A and not B, or A and B
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from itertools import combinations
from typing import Any, Self

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.schema.values import (
    EVERY_KIND,
    KINDS_OF_TYPE,
    below,
    exact,
    schema_error,
    take_names,
    take_text,
)


class Sign(StrEnum):
    """Whether a schema must hold, and what goes with it.

    ============= ===== ===================== ============================ =======================================
    sign          holds extra_keys="closed"   its keys count as evaluated  where
    ============= ===== ===================== ============================ =======================================
    PLAIN         yes   applies               yes                          as written
    OPEN          yes   does not              yes                          made by us, or asked about (after `if`)
    NEGATED       no    does not              no                           below `not`
    TWICE_NEGATED yes   does not              no                           below `not` in `not`
    ============= ===== ===================== ============================ =======================================
    """

    PLAIN = "plain"
    OPEN = "open"
    NEGATED = "negated"
    TWICE_NEGATED = "twice negated"


UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
# where schemas stand: the value of a keyword is one, a list or an object of them
HOLD_ONE = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then".split()
).union(UNEVALUATED)
HOLD_LIST = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
HOLD_MAP = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
# keywords that say nothing by themselves
ANNOTATIONS = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentEncoding contentMediaType contentSchema then else".split()
)

Scope = tuple[tuple[str, str], ...]  # a $dynamicAnchor, the base of the outermost resource that has it


@dataclass(frozen=True)
class Subschema:
    """A schema at a place of the document, with a sign.

    Two are equal if path, sign and scope are, so a path always has the same schema. A schema that we put beside those
    of the document has a path of its own, such as the path of a dependency followed by "there".
    """

    path: str
    schema: Any = field(compare=False)
    sign: Sign = Sign.PLAIN
    scope: Scope = ()  # of $dynamicRef
    base: str = field(default="", compare=False)  # the URI of its resource

    def at(self, schema: Any, *keys: str | int) -> Self:
        """A schema below this one, with the same sign."""
        return replace(self, path=below(self.path, *keys), schema=schema)

    def negated(self) -> Self:
        """The negated subschema."""
        return replace(self, sign=Sign.TWICE_NEGATED if self.sign == Sign.NEGATED else Sign.NEGATED)

    def opened(self) -> Self:
        """The subschema where it holds, open for other keys."""
        return replace(self, sign=Sign.OPEN)

    @property
    def evaluates(self) -> bool:
        """Whether the keys and items that it names count as evaluated."""
        return self.sign in (Sign.PLAIN, Sign.OPEN)

    def is_true(self) -> bool:
        """Whether every value meets it, as far as that is seen at once."""
        return self.schema is False if self.sign == Sign.NEGATED else allows_all(self.schema)

    def is_false(self) -> bool:
        """Whether no value meets it, as far as that is seen at once."""
        return allows_all(self.schema) if self.sign == Sign.NEGATED else self.schema is False

    def check(self) -> None:
        """Raise an error if this is no schema."""
        if not isinstance(self.schema, dict | bool):
            raise schema_error(self.path, quoted(self.schema), "a schema: an object, true or false")

    def wrong(self, key: str, expected: str) -> PatternError:
        """The error for a keyword whose value is of the wrong kind."""
        return schema_error(below(self.path, key), quoted(self.schema[key]), expected)

    def number(self, key: str) -> Decimal | None:
        """The exact number of a keyword; None if the keyword is missing."""
        if key not in self.schema:
            return None
        return exact(self.schema[key], below(self.path, key))

    def count(self, key: str) -> int | None:
        """The count of a keyword such as minLength; 2.0 is accepted."""
        number = self.number(key)
        if number is None:
            return None
        if number < 0 or number != int(number):
            raise self.wrong(key, "an integer from 0 on")
        return int(number)

    def listed(self, key: str, what: str = "schemas") -> list[Any]:
        """The value of a keyword that is a list with something in it, such as anyOf or enum."""
        found = self.schema[key]
        if not isinstance(found, list | tuple) or not found:
            raise self.wrong(key, f"a list of {what}")
        return list(found)

    def mapped(self, key: str, what: str = "schemas") -> dict[str, Any]:
        """The value of a keyword that is an object of schemas; empty if it is missing."""
        found = self.schema.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(key, f"an object of {what}")
        return {take_text(name, below(self.path, key)): inner for name, inner in found.items()}

    def kinds(self) -> frozenset[str]:
        """The kinds of value that `type` allows."""
        if "type" not in self.schema:
            return EVERY_KIND
        names = [self.schema["type"]]
        if isinstance(names[0], list | tuple):
            names = self.listed("type", "types")
        kinds = frozenset[str]()
        for name in names:
            if not isinstance(name, str) or name not in KINDS_OF_TYPE:
                expected = f"a type: {', '.join(sorted(KINDS_OF_TYPE))}"
                raise schema_error(below(self.path, "type"), quoted(name), expected)
            kinds |= KINDS_OF_TYPE[name]
        return kinds


Goal = tuple[Subschema, ...]  # a conjunction of subschemas: what a nested value must meet


def allows_all(schema: Any) -> bool:
    """Whether every value meets a schema, as far as that is seen at once."""
    return schema is True or schema == {}


def goal_of(*parts: Subschema) -> Goal:
    """The conjunction of subschemas without what is trivial or repeated."""
    return tuple(dict.fromkeys(part for part in parts if not part.is_true()))


def impossible(path: str) -> Goal:
    """The goal that no value meets."""
    return (Subschema(below(path, "false"), False, Sign.OPEN),)


def is_impossible(goal: Goal) -> bool:
    """Whether one of the subschemas is false."""
    return any(part.is_false() for part in goal)


def spell_out(value: Any, path: str) -> Subschema:
    """An object or array as a schema of its parts.

    >>> spell_out([1], "#").schema
    {'type': 'array', 'prefixItems': [{'const': 1}], 'items': False, 'minItems': 1}
    """
    if isinstance(value, dict):
        parts = {key: {"const": item} for key, item in value.items()}
        schema = {"type": "object", "properties": parts, "required": list(value), "additionalProperties": False}
    else:
        items = [{"const": item} for item in value]
        schema = {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    return Subschema(below(path, json.dumps(value, default=str)), schema, Sign.OPEN)


def subschemas(part: Subschema) -> Iterator[Subschema]:
    """The schemas directly inside a schema; true and false only from lists."""
    for key, found in part.schema.items():
        if isinstance(found, dict):
            if key in HOLD_ONE:
                yield part.at(found, key)
            elif key in HOLD_MAP:
                yield from (part.at(inner, key, name) for name, inner in found.items() if isinstance(inner, dict))
        elif isinstance(found, list | tuple) and key in HOLD_LIST:
            yield from (part.at(inner, key, place) for place, inner in enumerate(found))


REFERENCES = ("$ref", "$recursiveRef", "$dynamicRef")
DEPENDENCIES = ("dependentSchemas", "dependentRequired", "dependencies")
APPLIED = (*REFERENCES, "allOf", "anyOf", "oneOf", "not", "if", *DEPENDENCIES)
Disjunction = list[list[Subschema]]  # of conjunctions
Overlaps = dict[Subschema, list[Subschema]]  # each branch of a oneOf, and those that are not disjoint from it


def applied_keywords(part: Subschema) -> list[str]:
    """The keywords that apply schemas to the same value."""
    return [key for key in part.schema if key in APPLIED]


def branches_of(part: Subschema, key: str) -> list[Subschema]:
    """The schemas of allOf, anyOf or oneOf; they have the sign of the whole."""
    return [part.at(inner, key, place) for place, inner in enumerate(part.listed(key))]


def if_then_else(condition: Subschema, then: Subschema, otherwise: Subschema) -> Disjunction:
    """If the condition holds, so does the second schema, else the third.

    The condition does not take the sign of the whole: it holds in the first clause, and fails in the second.
    """
    sign = Sign.OPEN if condition.evaluates else Sign.TWICE_NEGATED
    condition = replace(condition, sign=sign)
    return [[condition, then], [condition.negated(), otherwise]]


def read_if(part: Subschema) -> Disjunction:
    """The keywords if, then and else."""
    condition, then, other = (part.at(part.schema.get(word, True), word) for word in ("if", "then", "else"))
    return if_then_else(condition, then, other)


def read_dependent(part: Subschema, key: str) -> Iterator[Disjunction]:
    """Schemas that apply if a key is there; a list of names requires these keys."""
    for name, inner in part.mapped(key, "schemas or lists of names").items():
        goal = part.at(inner, key, name)
        if key == "dependentRequired" or (key == "dependencies" and isinstance(inner, list | tuple)):
            goal = replace(goal, schema={"required": list(take_names(inner, goal.path))})
        has_key = goal.at({"type": "object", "required": [name]}, "there")
        yield if_then_else(has_key, goal, goal.at(True, "missing"))


def none_or_two(branches: list[Subschema]) -> Disjunction:
    """What the negation of oneOf says: no branch holds, or two do. The branches come negated."""
    pairs = combinations(branches, 2)
    return [branches, *([one.negated(), two.negated()] for one, two in pairs)]


def only_one(overlaps: Overlaps) -> Disjunction:
    """What oneOf says: a branch holds, and none of those that are not disjoint from it."""
    return [[branch, *(other.negated() for other in others)] for branch, others in overlaps.items()]
