"""What a schema says about a value, as plain records: a case is a conjunction of atoms, an atom a list of facts.

A part is a schema with a sign, a goal is a conjunction of parts. The cases of a goal are its disjunctive normal form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.schema.document.references import Scope
from guidedviz.machines.schema.text.numerals import Bound
from guidedviz.machines.tree import Tree

PLAIN, OPEN = "+", "o"  # as written; the same, but open for other keys
NOT, TWICE = "-", "="  # negated, and negated twice; both are open for other keys
FLIPPED = {PLAIN: NOT, OPEN: NOT, TWICE: NOT, NOT: TWICE}


class Part(NamedTuple):
    """A schema with its path and its sign."""

    schema: Any
    path: str
    sign: str = PLAIN
    scope: Scope = ()  # of $dynamicRef

    @property
    def key(self) -> tuple[Any, str, Scope]:
        schema = self.schema
        return (schema if isinstance(schema, bool) else id(schema)), self.sign, self.scope

    def flip(self) -> Part:
        """The negated part."""
        return self._replace(sign=FLIPPED[self.sign])

    @property
    def says(self) -> bool:
        """Whether the keys and items that it speaks of count as evaluated."""
        return self.sign in (PLAIN, OPEN)

    def is_true(self) -> bool:
        return self.schema is False if self.sign == NOT else self.schema is True or self.schema == {}

    def is_false(self) -> bool:
        return self.schema is True or self.schema == {} if self.sign == NOT else self.schema is False


Goal = tuple[Part, ...]


def goal_of(parts: Iterable[Part]) -> Goal:
    """The conjunction of parts without what is trivial or repeated."""
    return tuple({part.key: part for part in parts if not part.is_true()}.values())


@dataclass(frozen=True, eq=False)
class Count:
    """The number of characters, items or properties."""

    kind: str
    low: int
    high: int | None
    path: str


@dataclass(frozen=True, eq=False)
class Text:
    """A set of strings, before JSON escapes, to which a string belongs or not."""

    tree: Tree
    wanted: bool
    path: str


@dataclass(frozen=True, eq=False)
class Limit:
    """A lower or an upper bound of a number."""

    bound: Bound
    lower: bool
    path: str


@dataclass(frozen=True, eq=False)
class Step:
    """A number that is a multiple of the step, or is not."""

    step: Decimal
    wanted: bool
    path: str


@dataclass(frozen=True, eq=False)
class Items:
    """The goals of the first items and of the rest."""

    first: tuple[Goal, ...]
    rest: Goal
    path: str
    every: bool = False  # whether the schema says something about each item
    says: bool = False  # whether the items count as evaluated

    def at(self, place: int) -> Goal:
        return self.first[place] if place < len(self.first) else self.rest


@dataclass(frozen=True, eq=False)
class Contains:
    """How many items from a place on meet a part."""

    part: Part
    low: int
    high: int | None
    start: int
    path: str
    says: bool = False  # whether the items count as evaluated


@dataclass(frozen=True, eq=False)
class Unique:
    """No two items are equal."""

    path: str


@dataclass(frozen=True)
class Family:
    """The keys that match one pattern."""

    pattern: str
    tree: Tree

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))

    def has(self, name: str) -> bool:
        return self.machine.accepts(name.encode())


@dataclass(frozen=True, eq=False)
class Keys:
    """The goals of the values: by name, by pattern, and of all other keys (None: the schema does not say)."""

    named: dict[str, Goal]
    families: tuple[tuple[Family, Goal], ...]
    rest: Goal | None
    path: str
    closing: bool = False  # other keys are not allowed, because this schema does not mention them
    naming: bool = False  # whether the keys become allowed beside schemas that do not mention them
    says: bool = False  # whether the keys count as evaluated

    def own(self, name: str) -> list[Goal] | None:
        """The goals for this key; None if the key is one of the rest."""
        found = [self.named[name]] if name in self.named else []
        found += [goal for family, goal in self.families if family.has(name)]
        return found or None

    def goals(self, name: str) -> list[Goal]:
        """The goals for the value of this key."""
        return self.own(name) or [self.rest or ()]


@dataclass(frozen=True, eq=False)
class Required:
    """Keys that must be there."""

    names: tuple[str, ...]
    path: str


@dataclass(frozen=True, eq=False)
class Names:
    """The goal of every key, as a string."""

    goal: Goal
    path: str


@dataclass(frozen=True, eq=False)
class Exists:
    """Some key of one class whose value meets the goal; the class is a pattern, or the rest beside `keys`, or keys that
    are not `names`."""

    goal: Goal
    path: str
    family: Family | None = None
    keys: Keys | None = None
    names: Goal | None = None


@dataclass(frozen=True, eq=False)
class Depends:
    """If the key is there, the other keys are too."""

    name: str
    names: tuple[str, ...]
    path: str


Fact = Count | Text | Limit | Step | Items | Contains | Unique | Keys | Required | Names | Exists | Depends
KIND_OF_FACT = {
    **dict.fromkeys((Items, Contains, Unique), "array"),
    **dict.fromkeys((Keys, Required, Names, Exists, Depends), "object"),
    **dict.fromkeys((Limit, Step), "number"),
    Text: "string",
}


def kind_of_fact(fact: Fact) -> str:
    """The kind of value that a fact is about; "number" for integers and fractions."""
    return fact.kind if isinstance(fact, Count) else KIND_OF_FACT[type(fact)]
