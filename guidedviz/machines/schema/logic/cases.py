"""Cases: atoms that hold together. An atom is what one schema says by itself, or one way in which it does not hold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from guidedviz.machines.schema.document.keywords import ANY
from guidedviz.machines.schema.logic.facts import NOT, Fact, Keys, Required, kind_of_fact
from guidedviz.machines.schema.logic.known import Known, known_of
from guidedviz.machines.schema.text.json_text import canon, kind_of
from guidedviz.machines.work import spend

F = TypeVar("F")


@dataclass(frozen=True, eq=False)
class Atom:
    """What one schema says by itself, or one way in which it does not hold."""

    key: Any
    path: str
    kinds: frozenset[str] = ANY
    values: tuple[Any, ...] | None = None  # of enum and const
    banned: tuple[Any, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def says_nothing(self) -> bool:
        return self.kinds == ANY and self.values is None and not self.banned and not self.facts


@dataclass(frozen=True, eq=False)
class Case:
    """Atoms that hold together."""

    atoms: tuple[Atom, ...]
    kinds: frozenset[str]
    values: dict[Any, Any] | None  # canonical form -> value
    banned: dict[Any, Any]
    required: frozenset[str] = frozenset()
    known: dict[str, Known] = field(default_factory=dict)  # of the values of named keys

    @cached_property
    def key(self) -> frozenset[Any]:
        return frozenset(atom.key for atom in self.atoms)

    def facts(self, kind: type[F]) -> list[F]:
        """The facts of one type."""
        return [fact for atom in self.atoms for fact in atom.facts if isinstance(fact, kind)]

    def asks(self, kind: str) -> bool:
        """Whether a fact is about this kind of value."""
        return any(kind_of_fact(fact) == kind for atom in self.atoms for fact in atom.facts)

    def only(self, kinds: frozenset[str]) -> Case:
        """The case for values of these kinds."""
        return self if self.kinds <= kinds else tidy(replace(self, kinds=self.kinds & kinds))


EVERYTHING = Case((), ANY, None, {})


def case_of(*atoms: Atom) -> Case | None:
    """The case of these atoms; None if they are known to contradict each other."""
    case: Case | None = EVERYTHING
    for atom in atoms:
        if atom.says_nothing:
            continue
        values = None if atom.values is None else {canon(value): value for value in atom.values}
        banned = {canon(value): value for value in atom.banned}
        required = frozenset(name for fact in atom.facts if isinstance(fact, Required) for name in fact.names)
        known: dict[str, Known] = {}
        for name, goal in (
            (name, fact.named[name]) for fact in atom.facts if isinstance(fact, Keys) for name in fact.named
        ):
            for part in goal:
                known[name] = known.get(name, Known()).meet(known_of(part.schema, part.sign == NOT))
        case = case and join(case, tidy(Case((atom,), atom.kinds, values, banned, required, known)))
    return case


def tidy(case: Case) -> Case:
    """The case without values that are banned or of another kind, and without kinds that no value has."""
    if case.values is None:
        return case
    values = {
        key: value for key, value in case.values.items() if key not in case.banned and kind_of(value) in case.kinds
    }
    kinds = frozenset(map(kind_of, values.values()))
    return replace(case, values=values, kinds=kinds)


def join(one: Case, other: Case) -> Case | None:
    """Both cases together; None if no value is of the kinds, or equal to the constants, of both."""
    if one is EVERYTHING:
        return other if other.kinds else None
    atoms = {atom.key: atom for atom in (*one.atoms, *other.atoms)}
    if len(atoms) == len(one.atoms):
        return one
    banned, values = {**one.banned, **other.banned}, one.values
    spend((len(atoms) + len(banned)) // 2 + len(one.known) + len(other.known))
    if values is None or other.values is None:
        values = other.values if values is None else values
    else:
        values = {key: value for key, value in values.items() if key in other.values}
    known = {**one.known}
    for name, more in other.known.items():
        known[name] = known[name].meet(more) if name in known else more
    both = Case(tuple(atoms.values()), one.kinds & other.kinds, values, banned, one.required | other.required, known)
    if no_object(both, other.required | (both.required & other.known.keys())):
        both = replace(both, kinds=both.kinds - {"object"})
    case = tidy(both)
    return case if case.kinds else None


def without(case: Case, kind: type[Fact]) -> Case:
    """The case without the facts of one type."""
    kept = (
        replace(atom, facts=tuple(fact for fact in atom.facts if not isinstance(fact, kind))) for atom in case.atoms
    )
    return replace(case, atoms=tuple(kept))


def no_object(case: Case, required: frozenset[str]) -> bool:
    """Whether one of these required keys is known to have no value."""
    return any(case.known[name].is_empty() for name in required if name in case.known)
