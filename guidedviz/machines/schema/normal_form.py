"""`unevaluatedProperties` and `unevaluatedItems`: in a case they are additional properties and items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, Protocol

from guidedviz.machines.schema.constraints import (
    EVERYTHING,
    NOT,
    OPEN,
    PLAIN,
    Atom,
    Case,
    Contains,
    Fact,
    Goal,
    Items,
    Keys,
    Local,
    Part,
    Required,
    case_of,
    constant_facts,
    deny,
    goal_of,
    join,
    missing_key,
    told_apart,
)
from guidedviz.machines.schema.document import (
    ANY,
    APPLIED,
    REFS,
    SAYS_NOTHING,
    Notes,
    References,
    below,
    check_key,
    refusal,
    shown,
    take_branches,
    take_map,
)
from guidedviz.machines.schema.strings import kind_of
from guidedviz.machines.work import spend

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


# --- All cases in which a part holds: the keywords that apply schemas to the same value become and, or, not.


Rows = list[Case]
CLOSE = {"unevaluatedProperties": close_keys, "unevaluatedItems": close_items}
MOST_CASES = 2_000
MOST_REFS = 20


class Ways:
    """Finds the cases of parts. `possible` says whether a value may meet a goal."""

    def __init__(self, references: References, notes: Notes, possible: Callable[[Goal], bool]) -> None:
        self.references, self.notes, self.possible = references, notes, possible
        self.known: dict[Any, Rows] = {}
        self.atoms: dict[Any, Atom] = {}
        self.open: dict[Any, None] = {}
        self.apart: dict[Any, bool] = {}
        self.bare: dict[int, dict[str, Any]] = {}  # id of a schema -> it without unevaluated keywords
        self.constants: list[Any] = []  # keeps new schemas alive, so that their ids are not used again

    def of_goal(self, goal: Goal) -> Rows:
        """The cases of a conjunction of parts."""
        rows = [EVERYTHING]
        for part in goal:
            rows = self.both(rows, self.of(part), part.path)
        return rows

    def of(self, part: Part, full: bool = False) -> Rows:
        """The cases of a part. If `full`, no two branches of an anyOf hold in one case unless the case says so."""
        if part.is_true():
            return [EVERYTHING]
        if part.is_false():
            return []
        if not isinstance(part.schema, dict):
            raise refusal(part.path, shown(part.schema), "a schema: an object, true or false")
        part = self.enter(part)
        key = part.key, full
        if key not in self.known:
            if key in self.open:
                expected = "a type or a property between"
                raise refusal(part.path, "a $ref that leads back to itself without a constraint", expected)
            self.open[key] = None
            try:
                self.notes.check(part.schema, part.path)
                self.known[key] = self.negative(part) if part.sign == NOT else self.positive(part, full)
            finally:
                del self.open[key]
        return self.known[key]

    def enter(self, part: Part) -> Part:
        """The part in the scope of $dynamicRef that holds inside it."""
        return part._replace(scope=self.references.enter(part.schema, part.scope))

    def both(self, one: Rows, other: Rows, path: str) -> Rows:
        """Every case of one with every case of the other."""
        spend(8 * len(one) * len(other))
        joined = (join(first, second) for first in one for second in other)
        return self.some((case for case in joined if case), path)

    def some(self, cases: Iterable[Case], path: str) -> Rows:
        """The cases, each once."""
        found: dict[Any, Case] = {}
        for case in cases:
            found.setdefault((case.key, case.kinds), case)
            if len(found) > MOST_CASES:
                raise refusal(path, f"more than {MOST_CASES:,} combinations of branches", "fewer branches")
        return list(found.values())

    def local(self, part: Part) -> Atom:
        """What the part says by itself."""
        if part.key not in self.atoms:
            self.atoms[part.key] = Local(part, self.notes).atom()
        return self.atoms[part.key]

    def inner(self, part: Part, schema: Any, *steps: str | int) -> Part:
        path = part.path
        for step in steps:
            path = below(path, step)
        return part._replace(schema=schema, path=path)

    def target(self, part: Part, key: str) -> Part:
        """The part that a reference means."""
        schema, path = self.references.find(part.schema, key, part.path, part.scope)
        return part._replace(schema=schema, path=path)

    def applied(self, part: Part) -> list[str]:
        """The keywords that apply schemas to the same value; before draft 2019-09 a $ref stands alone."""
        if self.alone(part):
            return ["$ref"]
        return [key for key in part.schema if key in APPLIED]

    def alone(self, part: Part) -> bool:
        """Whether keywords beside a $ref have no effect."""
        return "$ref" in part.schema and self.references.draft <= 7

    def branches(self, part: Part, key: str) -> list[Part]:
        return [self.inner(part, branch, key, n) for n, branch in enumerate(take_branches(part.schema, key, part.path))]

    # --- a part that holds ------------------------------------------------------------------------------------------

    def positive(self, part: Part, full: bool) -> Rows:
        schema = part.schema
        if says_unevaluated(schema) and not part.says and not self.alone(part):
            return [silent(case) for case in self.of(part._replace(sign=OPEN), True)]
        full = full or says_unevaluated(schema)
        applied, alone = self.applied(part), self.alone(part)
        rows, local = [EVERYTHING], None if alone else case_of(self.local(part))
        for key in ["$ref"] if alone else schema:
            if key == "properties" and local:
                rows = self.both(rows, [local], part.path)
            elif key in applied:
                rows = self.both(rows, self.apply(part, key, full), part.path)
        if not alone:
            rows = self.both(rows, [local] if local else [], part.path)
        for key, close in CLOSE.items():
            if key in schema and not alone:
                inner = self.inner(part, schema[key], key)
                rows = self.some((case for row in rows if (case := join(row, close(row, inner, self)))), part.path)
        return rows

    def apply(self, part: Part, key: str, full: bool) -> Rows:
        """The cases of one keyword that applies schemas to the same value."""
        schema = part.schema
        if key in REFS:
            return self.of(self.target(part, key), full)
        if key == "allOf":
            rows = [EVERYTHING]
            for branch in self.branches(part, key):
                rows = self.both(rows, self.of(branch, full), part.path)
            return rows
        if key == "anyOf":
            return self.any_of(self.branches(part, key), full, part.path)
        if key == "oneOf":
            return self.some(self.one_of(self.branches(part, key), full, below(part.path, key)), part.path)
        if key == "not":
            return self.of(self.inner(part, schema[key], key).flip())
        if key == "if":
            asked = self.inner(part, schema["if"], "if")._replace(sign=OPEN)
            then, other = (self.inner(part, schema.get(word, True), word) for word in ("then", "else"))
            holds = self.both(self.of(asked, full), self.of(then, full), part.path)
            return self.some([*holds, *self.both(self.of(asked.flip()), self.of(other, full), part.path)], part.path)
        rows = [EVERYTHING]
        for name, present, inner in self.dependent(part, key):
            there = self.both([present], self.of(inner, full), part.path)
            missing = case_of(self.missing(part, key, name))
            rows = self.both(rows, [*there, missing] if missing else there, part.path)
        return rows

    def dependent(self, part: Part, key: str) -> Iterator[tuple[str, Case, Part]]:
        """The schemas that apply if a key is there, each with the case that it is."""
        for name, schema in take_map(part.schema, key, part.path).items():
            check_key(name, below(part.path, key))
            if key == "dependentSchemas" or not isinstance(schema, list | tuple):
                kinds, facts = frozenset(("object",)), (Required((name,), part.path),)
                present = case_of(Atom((part.key[0], key, name), part.path, kinds, facts=facts))
                if present:
                    yield name, present, self.inner(part, schema, key, name)

    def missing(self, part: Part, key: str, name: str) -> Atom:
        """The key is missing, or the value is no object."""
        return Atom((part.key[0], key, name, "no"), part.path, facts=(missing_key(name, part.path),))

    def any_of(self, branches: list[Part], full: bool, path: str) -> Rows:
        if not full:
            return self.some((case for branch in branches for case in self.of(branch)), path)
        rows = [(EVERYTHING, False)]
        for branch in branches:
            more = [(case, True) for case in self.of(branch, full)] + [(case, False) for case in self.of(branch.flip())]
            spend(8 * len(rows) * len(more))
            joined = ((join(one, case), held or holds) for one, held in rows for case, holds in more)
            rows = [(case, held) for case, held in joined if case]
            if len(rows) > MOST_CASES:
                raise refusal(path, f"more than {MOST_CASES:,} combinations of branches", "fewer branches")
        return self.some((case for case, held in rows if held), path)

    def one_of(self, branches: list[Part], full: bool, path: str) -> Iterator[Case]:
        """Each branch without the values of the others. Where two share no value, nothing need be said."""
        for branch, others in self.exclusive(branches, path):
            rows = self.of(branch, full)
            for other in others:
                rows = self.both(rows, self.of(other.flip()), path)
            yield from rows

    def exclusive(self, branches: list[Part], path: str) -> list[tuple[Part, list[Part]]]:
        """Each branch of a oneOf with the branches that may share a value with it."""
        if told_apart([self.resolved(branch).schema for branch in branches]):
            return [(branch, []) for branch in branches]
        shared: dict[int, list[Part]] = {place: [] for place in range(len(branches))}
        for one, other in combinations(range(len(branches)), 2):
            if self.may_share(branches[one], branches[other]):
                shared[one].append(branches[other])
                shared[other].append(branches[one])
        return [(branch, shared[place]) for place, branch in enumerate(branches)]

    def resolved(self, part: Part) -> Part:
        """The part that a reference means, if the part is nothing else."""
        for _ in range(MOST_REFS):
            if not isinstance(part.schema, dict) or part.schema.keys() - SAYS_NOTHING != {"$ref"}:
                break
            part = self.target(part, "$ref")
        return part

    def may_share(self, one: Part, other: Part) -> bool:
        """Whether a value may meet both parts, other keys allowed."""
        key = one.key, other.key
        if key not in self.apart:
            goal = one._replace(sign=OPEN), other._replace(sign=OPEN)
            self.apart[key] = self.possible(goal)
        return self.apart[key]

    # --- a part that does not hold ----------------------------------------------------------------------------------

    def negative(self, part: Part) -> Rows:
        """One keyword does not hold; `inner` parts of a negated part are negated too."""
        rows: Rows = []
        if says_unevaluated(part.schema) and not self.alone(part):
            return self.some(self.left_over(part), part.path)
        for key in self.applied(part):
            rows += self.refute(part, key)
        if not self.alone(part):
            atom = self.local(part.flip())
            rows += [case for denied in deny(atom, part.key, self.notes) if (case := case_of(denied))]
            rows += self.no_value(atom) if atom.values is not None else []
        return self.some(rows, part.path)

    def left_over(self, part: Part) -> Iterator[Case]:
        """The other keywords do not hold, or they do and what they have not evaluated does not meet its schema."""
        schema = part.schema
        if id(schema) not in self.bare:  # kept, so that its id stays its own
            bare = self.bare[id(schema)] = {key: value for key, value in schema.items() if key not in CLOSE}
            self.references.bases[id(bare)] = self.references.bases.get(id(schema), "")
        rest = part._replace(schema=self.bare[id(schema)])
        yield from self.of(rest)
        holds = rest._replace(sign=OPEN)
        for key in (key for key in CLOSE if key in schema):
            inner = self.inner(holds, schema[key], key)
            for row in self.of(holds, full=True):
                for atom in CLOSE[key](row, inner, self).atoms:
                    denied = map(case_of, deny(atom, (part.key, key, row.key), self.notes))
                    yield from (both for case in denied if case and (both := join(silent(row), case)))

    def refute(self, part: Part, key: str) -> Rows:
        """The cases in which one keyword that applies schemas does not hold."""
        schema = part.schema
        if key in REFS:
            return self.of(self.target(part, key))
        if key == "allOf":
            return [case for branch in self.branches(part, key) for case in self.of(branch)]
        if key in ("anyOf", "oneOf"):
            branches = self.branches(part, key)
            rows = self.of_goal(tuple(branches))
            pairs = combinations([branch.flip() for branch in branches], 2) if key == "oneOf" else ()
            return [*rows, *(case for pair in pairs for case in self.of_goal(pair))]
        if key == "not":
            return self.of(self.inner(part, schema[key], key).flip())
        if key == "if":
            asked, then, other = (self.inner(part, schema.get(word, True), word) for word in ("if", "then", "else"))
            failed = self.both(self.of(asked.flip()), self.of(then), part.path)
            return [*failed, *self.both(self.of(asked), self.of(other), part.path)]
        found = self.dependent(part, key)
        return [case for _, present, inner in found for case in self.both([present], self.of(inner), part.path)]

    # --- constants --------------------------------------------------------------------------------------------------

    def constant(self, value: Any, path: str, sign: str = OPEN) -> Part:
        """The part that allows only this value."""
        schema = {"const": value}
        self.constants.append(schema)
        return Part(schema, path, sign)

    def facts_of(self, value: Any, path: str) -> Atom:
        """What an object or array says of its values, as an atom without `const`."""
        items = list(value.values()) if isinstance(value, dict) else list(value)
        goals: list[Goal] = [(self.constant(item, path),) for item in items]
        self.constants.append(goals)
        kinds = frozenset((kind_of(value),))
        return Atom(("const", id(goals)), path, kinds, facts=constant_facts(value, goals, path))

    def no_value(self, atom: Atom) -> Rows:
        """The cases in which a value is none of an atom's."""
        key = atom.key, "other"
        scalars = tuple(value for value in atom.values or () if not isinstance(value, dict | list | tuple))
        rows = [case for case in [case_of(Atom(key, atom.path, ANY, banned=scalars))] if case]
        for value in atom.values or ():
            if isinstance(value, dict | list | tuple):
                facts = self.facts_of(value, atom.path)
                denied = [case_of(one) for one in deny(facts, facts.key, self.notes)]
                rows = self.both(rows, [case for case in denied if case], atom.path)
        return rows
