"""The disjunctive normal form of a schema: conjunctions of which at least one must hold.

The keywords that apply schemas to the same value become and, or, not (De Morgan's laws push a negation inwards).
`unevaluatedProperties` and `unevaluatedItems` are additional properties and items of each conjunction.
"""

import json
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.schema.constraints import (
    EVERYTHING,
    Conjunction,
    Constraint,
    ItemGoals,
    PropertyGoals,
    RequiredKeys,
)
from guidedviz.machines.schema.document import Document
from guidedviz.machines.schema.keywords import APPLIED, REFS, UNEVALUATED
from guidedviz.machines.schema.notes import Notes
from guidedviz.machines.schema.numbers import SIGNS, NumberBound
from guidedviz.machines.schema.own_constraints import constraints_of
from guidedviz.machines.schema.places import NoValue, below, refusal
from guidedviz.machines.schema.subschema import NOT, OPEN, TWICE, Goal, Subschema, goal_of
from guidedviz.machines.schema.text_sets import Matching, TextSet
from guidedviz.machines.schema.unevaluated import CLOSED, says_unevaluated, silent
from guidedviz.machines.schema.values import ANY, NUMBERS, exact, kind_of, take_names
from guidedviz.machines.syntax import Tree, either, literal
from guidedviz.machines.work import spend

Rows = list[Conjunction]  # at least one of them holds
Clause = list[Subschema]  # all of them hold
MOST_ROWS = 2_000
MOST_SIGNS = 12  # a longer part becomes a rule of its own
DEEPEST = 3  # levels of a value that are searched for a contradiction
LOOP = ("a $ref that leads back to itself without a constraint", "a type or a property between")


class NormalForms:
    """Finds the normal form of subschemas, each once."""

    def __init__(self, document: Document, notes: Notes) -> None:
        self.document, self.notes = document, notes
        self.rows: dict[tuple[Subschema, bool], Rows] = {}
        self.goals: dict[Goal, Rows] = {(): [EVERYTHING]}
        self.own: dict[Subschema, Conjunction] = {}
        self.held: dict[Goal, bool] = {}
        self.open: dict[tuple[Subschema, bool], None] = {}
        self.depth = 0

    def of_goal(self, goal: Goal) -> Rows:
        """The normal form of a conjunction of subschemas."""
        if goal not in self.goals:
            self.goals[goal] = self.both(self.of_goal(goal[:-1]), self.of(goal[-1]), goal[-1].path)
        return self.goals[goal]

    def of(self, part: Subschema, full: bool = False) -> Rows:
        """The normal form of a subschema. If `full`, each row says which branches of an anyOf hold."""
        if part.is_true() or part.is_false():
            return [EVERYTHING] if part.is_true() else []
        part.check()
        part = self.document.enter(part)
        key = part, full
        if key not in self.rows:
            if key in self.open:
                raise refusal(part.path, *LOOP)
            self.open[key] = None
            try:
                self.notes.check(part)
                self.rows[key] = self.negative(part) if part.sign == NOT else self.positive(part, full)
            finally:
                del self.open[key]
        return self.rows[key]

    def constraints(self, part: Subschema) -> Conjunction:
        """What the subschema says by itself."""
        if part not in self.own:
            self.own[part] = constraints_of(part, self.notes, self.key_texts)
        return self.own[part]

    def key_texts(self, goal: Goal) -> Tree:
        """The strings that meet a goal, before JSON escapes."""
        trees: list[Tree] = []
        for row in (row for row in self.of_goal(goal) if "string" in row.kinds):
            if row.values is not None:
                trees += [literal(value) for value in row.allowed_values() if isinstance(value, str)]
                continue
            with suppress(NoValue):
                trees.append(row.texts())
        return either(*trees)

    def applied(self, part: Subschema) -> list[str]:
        """The keywords that apply schemas to the same value."""
        return ["$ref"] if self.document.stands_alone(part) else [key for key in part.schema if key in APPLIED]

    # --- conjunction and disjunction --------------------------------------------------------------------------------

    def both(self, one: Rows, other: Rows, path: str) -> Rows:
        """Every row of one with every row of the other."""
        spend(8 * len(one) * len(other))
        joined = (self.join(first, second) for first in one for second in other)
        return self.some((row for row in joined if row.kinds), path)

    def some(self, rows: Iterable[Conjunction], path: str) -> Rows:
        """The rows, each once."""
        found: dict[Hashable, Conjunction] = {}
        for row in rows:
            found.setdefault(row.key, row)
            if len(found) > MOST_ROWS:
                raise refusal(path, f"more than {MOST_ROWS:,} combinations of branches", "fewer branches")
        return list(found.values())

    def join(self, one: Conjunction, other: Conjunction) -> Conjunction:
        """Both conjunctions together; without kinds if no value can meet both."""
        if one is EVERYTHING or other is EVERYTHING:
            return other if one is EVERYTHING else one
        joined = tuple(dict.fromkeys((*one.constraints, *other.constraints)))
        spend(len(joined) // 2)
        values = other.values if one.values is None else one.values
        if one.values is not None and other.values is not None:
            values = {key: value for key, value in one.values.items() if key in other.values}
        row = Conjunction(one.path, one.kinds & other.kinds, values, joined).tidy()
        if "object" in row.kinds and len(joined) > max(len(one.constraints), len(other.constraints)):
            goals = [goal for goal in required_goals(row) if len(goal) > 1 or any(part.is_false() for part in goal)]
            if not all(map(self.may_hold, goals)):
                row = replace(row, kinds=row.kinds - {"object"}).tidy()
        return row

    # --- whether some value may meet a goal: a search of bounded depth, which says yes where it cannot tell ---------

    def may_hold(self, goal: Goal) -> bool:
        """Whether some value may meet the goal."""
        if goal not in self.held:
            if any(part.is_false() for part in goal):
                return False
            if self.depth >= DEEPEST or not goal:
                return True
            spend(20)
            opened, self.open, self.depth = self.open, {}, self.depth + 1
            try:
                self.held[goal] = any(map(self.may_have_value, self.of_goal(goal)))
            finally:
                self.open, self.depth = opened, self.depth - 1
        return self.held[goal]

    def may_have_value(self, row: Conjunction) -> bool:
        if row.values is not None:
            return bool(row.allowed_values())
        return any(self.may_have_kind(row, kind) for kind in row.kinds)

    def may_have_kind(self, row: Conjunction, kind: str) -> bool:
        try:
            if kind == "string":
                row.texts(tick=True)
            elif kind in NUMBERS and row.asks("number"):
                replace(row, kinds=frozenset((kind,))).numbers()
            elif kind == "object":
                row.bounds(kind)
                return all(map(self.may_hold, required_goals(row)))
            elif kind == "array":
                return all(map(self.may_hold, first_goals(row, row.bounds(kind)[0])))
        except NoValue:
            return False
        except PatternError:
            pass  # too large to tell
        return True

    # --- the keywords that apply schemas to the same value ----------------------------------------------------------

    def positive(self, part: Subschema, full: bool) -> Rows:
        """The normal form of a subschema that holds."""
        if self.document.stands_alone(part) or not any(key in part.schema for key in UNEVALUATED):
            return self.evaluated(part, full)
        if not part.says:
            return [silent(row) for row in self.of(replace(part, sign=OPEN), True)]
        rows = self.evaluated(part, full or says_unevaluated(part.schema))
        for key in (key for key in UNEVALUATED if key in part.schema):
            inner = part.at(part.schema[key], key)
            rows = self.some((self.join(row, CLOSED[key](row, inner)) for row in rows), part.path)
        return rows

    def evaluated(self, part: Subschema, full: bool) -> Rows:
        """What all keywords say but those about what is unevaluated."""
        alone = self.document.stands_alone(part)
        rows = [EVERYTHING if alone else self.constraints(part)]
        for key in self.applied(part):
            for clauses in self.clauses(part, key):
                rows = self.both(rows, self.of_clauses(clauses, key == "anyOf" and full, full, part.path), part.path)
        return [row for row in rows if row.kinds]

    def negative(self, part: Subschema) -> Rows:
        """The normal form of a subschema that does not hold: one of its keywords does not."""
        if says_unevaluated(part.schema) and not self.document.stands_alone(part):
            return self.some(self.left_over(part), part.path)
        return self.some(self.refuted(part), part.path)

    def refuted(self, part: Subschema) -> Iterator[Conjunction]:
        """Each keyword that is not about what is unevaluated does not hold."""
        for key in self.applied(part):
            for clauses in self.clauses(part, key):
                yield from self.of_clauses(clauses, False, False, part.path)
        if not self.document.stands_alone(part):
            own = self.constraints(part.flip())
            yield from negate(own)
            if own.values is not None:
                yield from self.no_value(own)

    def of_clauses(self, clauses: list[Clause], every: bool, full: bool, path: str) -> Rows:
        """The normal form of clauses of which one holds; with `every`, each row says which of them hold."""
        if len(clauses) == len(clauses[0]) == 1:
            return self.of(clauses[0][0], full and clauses[0][0].says)
        if not every:
            return self.some((row for clause in clauses for row in self.of_clause(clause, full, path)), path)
        held, missed = list[Conjunction](), [EVERYTHING]
        for clause in clauses:
            holds, fails = self.of_clause(clause, full, path), self.of(clause[0].flip())
            held = [*self.both(held, holds, path), *self.both(held, fails, path), *self.both(missed, holds, path)]
            missed = self.both(missed, fails, path)
        return self.some(held, path)

    def of_clause(self, clause: Clause, full: bool, path: str) -> Rows:
        forms = (self.of(each, full and each.says) for each in clause)
        return reduce(lambda rows, more: self.both(rows, more, path), forms, [EVERYTHING])

    def clauses(self, part: Subschema, key: str) -> Iterator[list[Clause]]:
        """What a keyword says: one of its clauses holds. What is inside a negated subschema is negated too."""
        schema, negated = part.schema, part.sign == NOT
        if key in REFS:
            yield [[self.document.target(part, key)]]
        elif key == "not":
            yield [[part.at(schema[key], key).flip()]]
        elif key == "if":
            asked, then, other = (part.at(schema.get(word, True), word) for word in ("if", "then", "else"))
            yield if_else(asked, then, other)
        elif key in (
            "dependentSchemas",
            "dependentRequired",
            "dependencies",
        ):  # schemas that apply if a key is there; a list of names requires these keys
            for name, inner in part.mapped(key, "schemas or lists of names").items():
                goal = part.at(inner, key, name)
                if key == "dependentRequired" or (key == "dependencies" and isinstance(inner, list | tuple)):
                    goal = replace(goal, schema={"required": list(take_names(inner, goal.path))})
                there = goal.at({"type": "object", "required": [name]}, "there")
                yield if_else(there, goal, goal.at(True, "missing"))
        else:
            branches = [part.at(inner, key, place) for place, inner in enumerate(part.listed(key))]
            if key == "oneOf" and negated:
                yield [branches, *([one.flip(), two.flip()] for one, two in combinations(branches, 2))]
            elif key == "oneOf":
                yield [[branch, *(other.flip() for other in others)] for branch, others in self.exclusive(branches)]
            else:
                yield [branches] if (key == "allOf") != negated else [[branch] for branch in branches]

    def exclusive(self, branches: list[Subschema]) -> list[tuple[Subschema, list[Subschema]]]:
        """Each branch of a oneOf with the branches that may share a value with it."""
        shared: dict[Subschema, list[Subschema]] = {branch: [] for branch in branches}
        values = [row.values for branch in branches for row in self.of(branch)]
        if None in values or len(set().union(*values)) < sum(map(len, values)):  # type: ignore[arg-type]
            for one, other in combinations(branches, 2):
                if self.may_hold((replace(one, sign=OPEN), replace(other, sign=OPEN))):
                    shared[one].append(other)
                    shared[other].append(one)
        return list(shared.items())

    # --- constants --------------------------------------------------------------------------------------------------

    def no_value(self, own: Conjunction) -> Rows:
        """The normal form of values that are none of a conjunction's."""
        kinds, found, texts, nested = set(ANY), list[Constraint](), list[str](), list[Any]()
        for value in (own.values or {}).values():
            kind = kind_of(value)
            if kind in NUMBERS:
                found.append(NumberBound(exact(value, own.path), SIGNS - {0}, own.path))
            elif kind == "string":
                texts.append(value)
            elif kind in ("object", "array"):
                nested.append(value)
            else:
                kinds.discard(kind)
        if texts:
            found.append(Matching(TextSet("", lambda: either(*map(literal, texts))), False, own.path))
        rows = [Conjunction(own.path, frozenset(kinds), constraints=tuple(found))]
        for value in nested:
            rows = self.both(rows, self.of(spelled_out(value, own.path).flip()), own.path)
        return rows

    # --- what is unevaluated ----------------------------------------------------------------------------------------

    def left_over(self, part: Subschema) -> Iterator[Conjunction]:
        """The other keywords do not hold, or they do and what they have not evaluated does not meet its schema."""
        yield from self.refuted(part)
        holds = replace(part, sign=OPEN)
        for key in (key for key in UNEVALUATED if key in part.schema):
            for row in self.evaluated(holds, True):
                for denied in negate(CLOSED[key](row, holds.at(part.schema[key], key))):
                    if (both := self.join(silent(row), denied)).kinds:
                        yield both


def if_else(asked: Subschema, then: Subschema, other: Subschema) -> list[Clause]:
    """If the first one holds, or would without its negation, so does the second, else the third."""
    asked = replace(asked, sign=OPEN if asked.says else TWICE)
    return [[asked, then], [asked.flip(), other]]


def required_goals(row: Conjunction) -> list[Goal]:
    """What the values of required keys must meet, as far as no pattern is needed to say so."""
    goals = []
    for name in dict.fromkeys(name for found in row.of_type(RequiredKeys) for name in found.names):
        keys = [each for each in row.of_type(PropertyGoals) if name in each.named or not each.patterns]
        goals.append(goal_of(*(part for each in keys for part in each.named.get(name, each.rest or ()))))
    return goals


def first_goals(row: Conjunction, low: int) -> list[Goal]:
    """What the items must meet that an array must have, without repeats of the last goal."""
    items = row.of_type(ItemGoals)
    places = range(min(low, 1 + max((len(found.first) for found in items), default=0)))
    return [goal_of(*(part for found in items for part in found.at(place))) for place in places]


def spelled_out(value: Any, path: str) -> Subschema:
    """An object or array as a schema of its parts."""
    if isinstance(value, dict):
        parts = {key: {"const": item} for key, item in value.items()}
        schema = {"type": "object", "properties": parts, "required": list(value), "additionalProperties": False}
    else:
        items = [{"const": item} for item in value]
        schema = {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    return Subschema(below(path, json.dumps(value, default=str)), schema, OPEN)


def negate(row: Conjunction) -> Iterator[Conjunction]:
    """The conjunctions of which one holds where a constraint or the kind of a row does not."""
    if row.values is None and row.kinds != ANY:
        yield Conjunction(row.path, ANY - row.kinds)
    for found in row.constraints:
        kinds = NUMBERS if found.kind == "number" else frozenset((found.kind,))
        for group in found.negations():
            yield Conjunction(row.path, kinds, constraints=group)
