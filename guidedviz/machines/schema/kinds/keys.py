"""The keys of an object in a case: those with a fixed position, and the classes of all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.schema.document.paths import below, nearest, refusal, shown
from guidedviz.machines.schema.kinds.empty import Empty
from guidedviz.machines.schema.logic.cases import Case
from guidedviz.machines.schema.logic.facts import (
    OPEN,
    Depends,
    Exists,
    Family,
    Goal,
    Keys,
    Names,
    Part,
    Required,
    goal_of,
)
from guidedviz.machines.schema.text.intersect import split_texts
from guidedviz.machines.schema.text.json_text import escape, quoted
from guidedviz.machines.schema.text.other_keys import other_keys
from guidedviz.machines.tree import Tree, either, literal


@dataclass(frozen=True)
class Look:
    """The strings that `propertyNames` allows as keys."""

    tree: Tree
    path: str

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))


@dataclass(frozen=True)
class Class:
    """Keys that are treated alike: the tree of a key, the goal of its values, and what it is a witness of."""

    tree: Tree
    goal: Goal
    path: str
    exists: frozenset[int]


class ObjectKeys:
    """The keys of one case."""

    def __init__(self, case: Case, path: str, looks: dict[int, Tree | None]) -> None:
        self.case, self.path = case, path
        self.keys = case.facts(Keys)
        self.exists = case.facts(Exists)
        self.closed = any(fact.closing for fact in self.keys) and not any(
            fact.rest is not None and fact.naming for fact in self.keys
        )
        self.looks = [Look(tree, fact.path) for fact in case.facts(Names) if (tree := looks[id(fact.goal)]) is not None]
        self.unlike = {  # exists -> the strings that its key is not
            place: Look(tree, fact.path)
            for place, fact in enumerate(self.exists)
            if fact.names is not None and (tree := looks[id(fact.names)]) is not None
        }
        self.required = dict.fromkeys(name for fact in case.facts(Required) for name in fact.names)
        self.asked = {name: fact.path for fact in case.facts(Required) for name in fact.names}

    @cached_property
    def names(self) -> list[str]:
        """The keys with a fixed position."""
        found: dict[str, None] = {}
        for atom in self.case.atoms:
            for fact in atom.facts:
                if isinstance(fact, Keys):
                    found.update(dict.fromkeys(fact.named))
                elif isinstance(fact, Exists) and fact.keys is not None:
                    found.update(dict.fromkeys(fact.keys.named))  # they are not of the rest
                elif isinstance(fact, Required):
                    found.update(dict.fromkeys(fact.names))
                elif isinstance(fact, Depends):
                    found.update(dict.fromkeys((fact.name, *fact.names)))
        return list(found)

    def allowed(self, name: str) -> bool:
        """Whether the key may be there at all."""
        return all(look.machine.accepts(name.encode()) for look in self.looks) and not (
            self.closed and not any(fact.naming and fact.own(name) is not None for fact in self.keys)
        )

    def goal(self, name: str) -> Goal:
        """The goal of the value of a named key."""
        if not self.allowed(name):
            return (Part(False, self.path, OPEN),)
        return goal_of(part for fact in self.keys for goal in fact.goals(name) for part in goal)

    def path_of(self, name: str) -> str:
        """The path of a named key, for rule names and errors."""
        for fact in self.keys:
            if name in fact.named:
                return below(below(fact.path, "properties"), name)
            for family, _ in fact.families:
                if family.has(name):
                    return below(below(fact.path, "patternProperties"), family.pattern)
        if not self.allowed(name) and self.looks:
            return self.looks[0].path
        return below(self.asked.get(name, self.path), "required" if self.closed else "additionalProperties")

    def missing(self, name: str) -> Empty:
        """The error for a required key that cannot be there."""
        if self.closed and not self.allowed(name) and not self.looks:
            known = [known for fact in self.keys for known in fact.named if fact.naming]
            at = below(self.asked.get(name, self.path), "required")
            return Empty(at, shown(name), "one of properties", nearest(name, known))
        return Empty(self.path_of(name), "a required property that no value fits", "a schema with some value")

    def may_show(self, place: int, name: str) -> bool:
        """Whether a named key is of the class in which a key must exist."""
        fact = self.exists[place]
        if fact.family is not None:
            return fact.family.has(name)
        if fact.keys is not None:
            return fact.keys.own(name) is None
        return place in self.unlike and not self.unlike[place].machine.accepts(name.encode())

    def classes(self, names: list[str]) -> list[Class]:
        """The other keys, grouped by what applies to them."""
        families = self.families()
        at = below(self.keys[-1].path if self.keys else self.path, "additionalProperties")
        if not families and not self.looks and not self.unlike:
            every = frozenset(place for place, fact in enumerate(self.exists) if fact.keys is not None)
            goal = self.rest(set())
            return [] if goal is None else [Class(other_keys(names), goal, at, every)]
        looks = [*self.looks, *self.unlike.values()]
        trees = [either(*map(literal, names)), *(family.tree for family in families), *(look.tree for look in looks)]
        try:
            split = split_texts(trees)
        except PatternError as error:
            raise refusal(self.path, error.seen, error.expected, error.hint) from error
        start = 1 + len(families)
        must = range(start, start + len(self.looks))
        found = []
        for tree, of in split:
            if 0 in of or any(place not in of for place in must):
                continue
            inside = {families[place - 1].pattern for place in of if 0 < place < start}
            goal = self.rest(inside)
            if goal is not None:
                where = self.place_of(inside) or at
                found.append(Class(quoted(escape(tree)), goal, where, self.shown(inside, of, start + len(self.looks))))
        return found

    def families(self) -> list[Family]:
        """The patterns of all schemas, each once."""
        found = {family.pattern: family for fact in self.keys for family, _ in fact.families}
        found.update({fact.family.pattern: fact.family for fact in self.exists if fact.family})
        for fact in self.exists:
            found.update({family.pattern: family for family, _ in (fact.keys.families if fact.keys else ())})
        return list(found.values())

    def place_of(self, inside: set[str]) -> str:
        places = [
            below(below(fact.path, "patternProperties"), family.pattern)
            for fact in self.keys
            for family, _ in fact.families
            if family.pattern in inside
        ]
        return places[-1] if places else ""

    def rest(self, inside: set[str]) -> Goal | None:
        """The goal of a key that matches exactly these patterns and is not named; None if there is no such key."""
        parts: list[Part] = []
        named = not self.closed
        for fact in self.keys:
            own = [goal for family, goal in fact.families if family.pattern in inside]
            named = named or bool(own and fact.naming)
            parts += [part for goal in own or [fact.rest or ()] for part in goal]
        goal = goal_of(parts)
        return goal if named and not any(part.is_false() for part in goal) else None

    def shown(self, inside: set[str], of: frozenset[int], start: int) -> frozenset[int]:
        """The facts of which a key of a class is a witness."""
        found = set()
        for place, fact in enumerate(self.exists):
            if fact.family is not None:
                hit = fact.family.pattern in inside
            elif fact.keys is not None:
                hit = not any(family.pattern in inside for family, _ in fact.keys.families)
            else:
                hit = place in self.unlike and start + list(self.unlike).index(place) not in of
            if hit:
                found.add(place)
        return frozenset(found)
