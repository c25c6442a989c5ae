"""What is known cheaply of the values that a schema allows: their kinds, and its constants if they are few.

Cases in which a required key has no such value are dropped before anything is built.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from guidedviz.machines.schema.document.keywords import ANY, SAYS_NOTHING, TYPES
from guidedviz.machines.schema.text.json_text import canon

FEW = 50  # a longer enum is not compared


class Known(NamedTuple):
    """The kinds of value, the constants that are allowed (None: any), and those that are not."""

    kinds: frozenset[str] = ANY
    allowed: frozenset[Any] | None = None
    banned: frozenset[Any] = frozenset()

    def is_empty(self) -> bool:
        """Whether no value is left."""
        return not self.kinds or (self.allowed is not None and self.allowed <= self.banned)

    def meet(self, other: Known) -> Known:
        """What is known of values of which both are known."""
        both = self.allowed if other.allowed is None else other.allowed
        if self.allowed is not None and other.allowed is not None:
            both = self.allowed & other.allowed
        return Known(self.kinds & other.kinds, both, self.banned | other.banned)


def known_of(schema: Any, negated: bool) -> Known:
    """What is known of a schema's values, or of the values that it refuses.

    >>> known_of({"const": 1, "minimum": 0}, negated=False).allowed == {canon(1)}
    True
    >>> known_of({"type": "array"}, negated=True).kinds == ANY - {"array"}
    True
    """
    if schema is negated or (negated and schema == {}):
        return Known(frozenset())
    values, types = constants(schema), types_of(schema)
    if not negated:
        return Known(types, None if values is None else frozenset(values))
    said = schema.keys() - SAYS_NOTHING if isinstance(schema, dict) else set()
    banned = frozenset(values) if values is not None and len(said) == 1 else frozenset[Any]()
    return Known(ANY - types if said == {"type"} else ANY, None, banned)


def types_of(schema: Any) -> frozenset[str]:
    """The kinds of value that a schema's `type` allows; all if it does not say."""
    types = schema.get("type", []) if isinstance(schema, dict) else []
    names = types if isinstance(types, list | tuple) else [types]
    known = [TYPES[name] for name in names if isinstance(name, str) and name in TYPES]
    return frozenset().union(*known) if known else ANY


def told_apart(schemas: list[Any]) -> bool:
    """Whether schemas surely share no value: they have different constants, or require a key with different ones.

    >>> told_apart([{"const": 1}, {"enum": [2, "a"]}]), told_apart([{"const": 1}, {"enum": [2, 1.0]}])
    (True, False)
    """
    if not all(isinstance(schema, dict) for schema in schemas):
        return False
    if are_apart(list(map(constants, schemas))):
        return True
    if not all(schema.get("type") == "object" and isinstance(schema.get("properties"), dict) for schema in schemas):
        return False
    names = [name for name in schemas[0]["properties"] if all(requires(schema, name) for schema in schemas)]
    return any(are_apart([constants(schema["properties"][name]) for schema in schemas]) for name in names)


def requires(schema: dict[str, Any], name: str) -> bool:
    required = schema.get("required")
    return isinstance(required, list | tuple) and name in required and name in schema["properties"]


def are_apart(found: list[set[Any] | None]) -> bool:
    """Whether all of these sets are known and share no element."""
    known = [values for values in found if values is not None]
    return len(known) == len(found) and len(set().union(*known)) == sum(map(len, known))


def constants(schema: Any) -> set[Any] | None:
    """The constants of a schema, if there are few."""
    if not isinstance(schema, dict):
        return None
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list | tuple) or len(values) > FEW:
        return None
    try:
        return set(map(canon, values))
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        return None
