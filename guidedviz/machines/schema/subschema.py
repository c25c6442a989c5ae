"""A schema at a place of the document, with a sign: it holds, or it does not hold."""

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Self

from guidedviz.errors import quoted
from guidedviz.machines.schema.places import below, refusal
from guidedviz.machines.schema.values import ANY, TYPES, exact, take_text

PLAIN, OPEN = "+", "o"  # as written; the same, but open for other keys
NOT, TWICE = "-", "="  # negated, and negated twice; both are open for other keys
FLIPPED = {PLAIN: NOT, OPEN: NOT, TWICE: NOT, NOT: TWICE}

Scope = tuple[tuple[str, str], ...]  # a $dynamicAnchor, the base of the outermost resource that has it


@dataclass(frozen=True)
class Subschema:
    """A schema at a place of the document, with a sign."""

    path: str
    schema: Any = field(compare=False)
    sign: str = PLAIN
    scope: Scope = ()  # of $dynamicRef
    base: str = field(default="", compare=False)  # the URI of its resource

    def at(self, schema: Any, *keys: str | int) -> Self:
        """A schema below this one, with the same sign."""
        return replace(self, path=below(self.path, *keys), schema=schema)

    def flip(self) -> Self:
        """The negated subschema."""
        return replace(self, sign=FLIPPED[self.sign])

    @property
    def says(self) -> bool:
        """Whether the keys and items that it names count as evaluated."""
        return self.sign in (PLAIN, OPEN)

    def is_true(self) -> bool:
        return self.schema is False if self.sign == NOT else self.schema is True or self.schema == {}

    def is_false(self) -> bool:
        return self.schema is True or self.schema == {} if self.sign == NOT else self.schema is False

    def check(self) -> None:
        """Raise an error if this is no schema."""
        if not isinstance(self.schema, dict | bool):
            raise refusal(self.path, quoted(self.schema), "a schema: an object, true or false")

    def number(self, key: str) -> Decimal | None:
        """The exact number of a keyword; None if the keyword is missing."""
        return exact(self.schema[key], below(self.path, key)) if key in self.schema else None

    def count(self, key: str) -> int | None:
        """The count of a keyword such as minLength; 2.0 is accepted."""
        number = self.number(key)
        if number is not None and (number < 0 or number != int(number)):
            raise refusal(below(self.path, key), quoted(self.schema[key]), "an integer from 0 on")
        return None if number is None else int(number)

    def listed(self, key: str, what: str = "schemas") -> list[Any]:
        """The value of a keyword that is a list with something in it, such as anyOf or enum."""
        found = self.schema[key]
        if not isinstance(found, list | tuple) or not found:
            raise refusal(below(self.path, key), quoted(found), f"a list of {what}")
        return list(found)

    def mapped(self, key: str, what: str = "schemas") -> dict[str, Any]:
        """The value of a keyword that is an object of schemas; empty if it is missing."""
        found = self.schema.get(key, {})
        if not isinstance(found, dict):
            raise refusal(below(self.path, key), quoted(found), f"an object of {what}")
        return {take_text(name, below(self.path, key)): inner for name, inner in found.items()}

    def kinds(self) -> frozenset[str]:
        """The kinds of value that `type` allows."""
        if "type" not in self.schema:
            return ANY
        names = self.listed("type", "types") if isinstance(self.schema["type"], list | tuple) else [self.schema["type"]]
        for name in names:
            if not isinstance(name, str) or name not in TYPES:
                raise refusal(below(self.path, "type"), quoted(name), f"a type: {', '.join(sorted(TYPES))}")
        return frozenset().union(*(TYPES[name] for name in names))


Goal = tuple[Subschema, ...]  # a conjunction


def goal_of(*parts: Subschema) -> Goal:
    """The conjunction of subschemas without what is trivial or repeated."""
    return tuple(dict.fromkeys(part for part in parts if not part.is_true()))


def impossible(path: str) -> Goal:
    """The goal that no value meets."""
    return (Subschema(below(path, "false"), False, OPEN),)
