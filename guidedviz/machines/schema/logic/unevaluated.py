"""`unevaluatedProperties` and `unevaluatedItems`: in a case they are additional properties and items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from guidedviz.machines.schema.logic.cases import EVERYTHING, Atom, Case
from guidedviz.machines.schema.logic.facts import PLAIN, Contains, Fact, Goal, Items, Keys, Part, goal_of

KEYS = ("unevaluatedProperties", "unevaluatedItems")


class Keeper(Protocol):
    """Keeps new schemas alive."""

    constants: list[Any]


def says_unevaluated(schema: Any) -> bool:
    """Whether the schema restricts what other keywords have not evaluated."""
    return any(key in schema and schema[key] is not True and schema[key] != {} for key in KEYS)


def close_keys(case: Case, part: Part, keeper: Keeper) -> Case:
    """The keys that no schema of this case names meet the part."""
    found = [fact for fact in case.facts(Keys) if fact.says]
    if any(fact.rest is not None for fact in found):
        return EVERYTHING  # every key is evaluated
    named: dict[str, Goal] = {name: () for fact in found for name in fact.named}
    families = {family.pattern: (family, ()) for fact in found for family, _ in fact.families}
    keys = Keys(named, tuple(families.values()), goal_of([part]), part.path, naming=part.sign == PLAIN, says=part.says)
    return one_case(case, part, keys)


def close_items(case: Case, part: Part, keeper: Keeper) -> Case:
    """The items that no schema of this case speaks of meet the part."""
    found = [fact for fact in case.facts(Items) if fact.says]
    if any(fact.every for fact in found):
        return EVERYTHING
    first = max((len(fact.first) for fact in found), default=0)
    inside = [fact.part for fact in case.facts(Contains) if fact.says]
    goal = goal_of([part])
    if inside and goal:
        either = {"anyOf": [inner.schema for inner in inside] + [part.schema]}
        keeper.constants.append(either)
        goal = (part._replace(schema=either),)
    return one_case(case, part, Items(tuple([()] * first), goal, part.path, every=True, says=part.says))


def silent(case: Case) -> Case:
    """The same case, of which no key or item counts as evaluated for the schemas around it."""

    def hush(fact: Fact) -> Fact:
        return replace(fact, says=False) if isinstance(fact, Keys | Items | Contains) else fact

    atoms = (replace(atom, key=("silent", atom.key), facts=tuple(map(hush, atom.facts))) for atom in case.atoms)
    return replace(case, atoms=tuple(atoms))


def one_case(case: Case, part: Part, fact: Keys | Items) -> Case:
    atom = Atom((part.key, "unevaluated", case.key), part.path, facts=(fact,))
    return Case((atom,), atom.kinds, None, {})
