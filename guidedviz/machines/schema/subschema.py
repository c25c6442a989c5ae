"""A schema at a place of the document, with its sign: whether it must hold, or must not.

{"not": {"not": A, "required": ["x"]}}      the whole is PLAIN, the inner object NEGATED, and A is TWICE_NEGATED
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.schema.places import below, schema_error
from guidedviz.machines.schema.values import EVERY_KIND, KINDS_OF_TYPE, exact, take_text


class Sign(StrEnum):
    """Whether a schema must hold, and what goes with it.

    ============= ===== ===================== ============================ ==================================
    sign          holds extra_keys="closed"   its keys count as evaluated  where
    ============= ===== ===================== ============================ ==================================
    PLAIN         yes   applies               yes                          as written
    OPEN          yes   does not              yes                          a question: the schema after `if`
    NEGATED       no    does not              no                           below `not`
    TWICE_NEGATED yes   does not              no                           below `not` in `not`
    ============= ===== ===================== ============================ ==================================
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
ANNOTATIONS = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentEncoding contentMediaType contentSchema then else".split()
)

Scope = tuple[tuple[str, str], ...]  # a $dynamicAnchor, the base of the outermost resource that has it


@dataclass(frozen=True)
class Subschema:
    """A schema at a place of the document, with a sign."""

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
        return self.schema is False if self.sign == Sign.NEGATED else allows_all(self.schema)

    def is_false(self) -> bool:
        return allows_all(self.schema) if self.sign == Sign.NEGATED else self.schema is False

    def check(self) -> None:
        """Raise an error if this is no schema."""
        if not isinstance(self.schema, dict | bool):
            raise schema_error(self.path, quoted(self.schema), "a schema: an object, true or false")

    def wrong(self, key: str, expected: str) -> PatternError:
        """The error for a keyword with another value."""
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
    """The schemas directly inside a schema."""
    for key, found in part.schema.items():
        if isinstance(found, dict):
            if key in HOLD_ONE:
                yield part.at(found, key)
            elif key in HOLD_MAP:
                yield from (part.at(inner, key, name) for name, inner in found.items() if isinstance(inner, dict))
        elif isinstance(found, list | tuple) and key in HOLD_LIST:
            yield from (part.at(inner, key, place) for place, inner in enumerate(found))
