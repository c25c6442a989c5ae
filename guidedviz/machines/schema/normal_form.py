"""The disjunctive normal form of a schema: conjunctions of constraints, of which at least one must hold.

    {"anyOf": [{"maximum": 3}, {"type": "string"}], "not": {"const": 2}}
    at most 3 and not 2, or a string and not 2                          two rows; a row is a conjunction of constraints

A keyword that applies schemas to the same value says a disjunction of *clauses* (`subschema.py`), or several that must
all hold. The disjunctions of a schema are multiplied out:

    made of           all of these hold              one of these holds
    constraints       a row: `Conjunction`           a normal form: `Rows`
    subschemas        a clause, or a `Goal`          `Disjunction`

In the full normal form each row also says which branches of anyOf hold: A and B, A and not B, or not A and B. Only
`unevaluatedProperties` and `unevaluatedItems` need it, since they depend on the branches that hold.
"""

from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.schema.constraints import (
    CLOSE_ROW,
    EVERYTHING,
    Conjunction,
    Constraint,
    ValuesByForm,
    restricts_unevaluated,
    without_evaluation,
)
from guidedviz.machines.schema.document import Document
from guidedviz.machines.schema.numbers import NOT_EQUAL, NumberBound
from guidedviz.machines.schema.own_constraints import Notes, constraints_of
from guidedviz.machines.schema.subschema import (
    DEPENDENCIES,
    REFERENCES,
    UNEVALUATED,
    Disjunction,
    Goal,
    Overlaps,
    Sign,
    Subschema,
    applied_keywords,
    branches_of,
    is_impossible,
    none_or_two,
    only_one,
    read_dependent,
    read_if,
    spell_out,
)
from guidedviz.machines.schema.text_sets import Matching, TextSet
from guidedviz.machines.schema.values import EVERY_KIND, NUMBER_KINDS, NoValue, exact, kind_of, schema_error
from guidedviz.machines.syntax import Tree, either, literal
from guidedviz.machines.work import spend

Rows = list[Conjunction]  # a normal form: at least one of them holds
MOST_CONJUNCTIONS = 2_000
DEEPEST_SEARCH = 3  # levels of a value that are searched for a contradiction
LOOP = ("a $ref that leads back to itself without a constraint", "a type or a property between")


class NormalForms:
    """Finds the normal form of subschemas, each once."""

    def __init__(self, document: Document, notes: Notes) -> None:
        self.document = document
        self.notes = notes
        self.possible: dict[Goal, bool] = {(): True}  # whether some value may meet a goal
        self.depth = 0  # of the search for such a value: how many levels of nested values it is in
        self.own: dict[Subschema, Conjunction] = {}  # what each says by itself
        self._rows: dict[tuple[Subschema, bool], Rows] = {}
        self._goals: dict[Goal, Rows] = {(): [EVERYTHING]}
        self._open: set[tuple[Subschema, bool]] = set()  # whose normal form is being found

    def of_goal(self, goal: Goal) -> Rows:
        """The normal form of a conjunction of subschemas."""
        if goal not in self._goals:
            last = goal[-1]
            self._goals[goal] = self.conjunction(self.of_goal(goal[:-1]), self.of(last), last.path)
        return self._goals[goal]

    def of(self, part: Subschema, full: bool = False) -> Rows:
        """The normal form of a subschema, or its full normal form."""
        if part.is_true():
            return [EVERYTHING]
        if part.is_false():
            return []
        part.check()
        part = self.document.enter(part)
        full = full and part.evaluates
        key = part, full
        if key not in self._rows:
            if key in self._open:
                raise schema_error(part.path, *LOOP)
            self._open.add(key)
            try:
                self.notes.check(part)
                self._rows[key] = self.negative(part) if part.sign == Sign.NEGATED else self.positive(part, full)
            finally:
                self._open.discard(key)
        return self._rows[key]

    def own_constraints(self, part: Subschema) -> Conjunction:
        """What the subschema says by itself."""
        if part not in self.own:
            self.own[part] = constraints_of(part, self.notes, self.key_texts)
        return self.own[part]

    def key_texts(self, goal: Goal) -> Tree:
        """The strings that meet a goal, before JSON escapes."""
        trees = []
        for row in self.of_goal(goal):
            if "string" not in row.kinds:
                continue
            if row.values is not None:
                trees += [literal(value) for value in row.allowed_values() if isinstance(value, str)]
            else:
                with suppress(NoValue):
                    trees.append(row.texts())
        return either(*trees)

    # --- conjunction and disjunction --------------------------------------------------------------------------------

    def conjunction(self, one: Rows, other: Rows, path: str) -> Rows:
        """Every row of one with every row of the other; impossible rows are left out."""
        spend(8 * len(one) * len(other))
        joined = (self.conjoin(first, second) for first in one for second in other)
        return self.disjunction((row for row in joined if row.kinds), path)

    def disjunction(self, rows: Iterable[Conjunction], path: str) -> Rows:
        """The rows, each once; constraints are the same only if they are one object."""
        found: dict[Hashable, Conjunction] = {}
        for row in rows:
            found.setdefault(row.key, row)
            if len(found) > MOST_CONJUNCTIONS:
                raise schema_error(path, f"more than {MOST_CONJUNCTIONS:,} combinations of branches", "fewer branches")
        return list(found.values())

    def conjoin(self, one: Conjunction, other: Conjunction) -> Conjunction:
        """Both conjunctions together; without kinds if no value can meet both."""
        if one is EVERYTHING:
            return other
        if other is EVERYTHING:
            return one
        constraints = tuple(dict.fromkeys((*one.constraints, *other.constraints)))
        spend(len(constraints) // 2)
        values = common_values(one.values, other.values)
        row = Conjunction(one.path, one.kinds & other.kinds, values, constraints).tidy()
        # if one row has all constraints of the other, there is no new contradiction
        is_new = len(constraints) > max(len(one.constraints), len(other.constraints))
        if is_new and "object" in row.kinds and not self.may_have_required_keys(row):
            return replace(row, kinds=row.kinds - {"object"}).tidy()
        return row

    def may_have_required_keys(self, row: Conjunction) -> bool:
        """Whether the row may have the keys that it requires: the subschemas of no key contradict each other."""
        goals = row.required_goals()  # a single subschema contradicts no other, but it may be false
        return all(self.may_hold(goal) for goal in goals if len(goal) > 1 or is_impossible(goal))

    # --- whether some value meets all --------------------------------------------------------------------------------

    def may_hold(self, goal: Goal) -> bool:
        """Whether some value may meet a goal: a search of bounded depth, which says yes where it cannot tell.

        {"minimum": 3}, {"maximum": 2}                       yes: no number meets both, but a string does
        {"required": ["a"]}, {"properties": {"a": false}}    yes: no object meets both, but a number does
        the latter two and {"type": "object"}                no

        A wrong yes does no harm: it keeps a row that no value meets, or calls disjoint branches of a oneOf overlapping.
        A yes that was found at the depth limit is kept, too.
        """
        if goal in self.possible:
            return self.possible[goal]
        if is_impossible(goal):
            return False
        if self.depth >= DEEPEST_SEARCH:
            return True
        spend(20)
        around = self._open
        self._open = set()  # of a nested value, a reference to a schema around it is no loop
        self.depth += 1
        try:
            self.possible[goal] = any(map(self.may_have_value, self.of_goal(goal)))
        finally:
            self.depth -= 1
            self._open = around
        return self.possible[goal]

    def may_have_value(self, row: Conjunction) -> bool:
        """Whether some value may meet a row."""
        if row.values is not None:
            return bool(row.allowed_values())
        return any(self.may_have_kind(row, kind) for kind in row.kinds)

    def may_have_kind(self, row: Conjunction, kind: str) -> bool:
        """Whether some value of one kind may meet a row."""
        goals = []
        try:
            if kind == "string":
                row.texts(may_count=True)
            elif kind in NUMBER_KINDS and row.constrains("number"):
                replace(row, kinds=frozenset((kind,))).numbers()
            elif kind == "object":
                row.bounds(kind)
                goals = row.required_goals()
            elif kind == "array":
                low, _ = row.bounds(kind)
                some = min(low, 1 + row.listed_items())  # all items after the listed ones have the same goal
                goals = [row.item_goal(place) for place in range(some)]
            return all(map(self.may_hold, goals))
        except NoValue:
            return False
        except PatternError:
            return True  # too large to tell

    # --- a subschema that holds -------------------------------------------------------------------------------------

    def positive(self, part: Subschema, full: bool) -> Rows:
        """The normal form of a subschema that holds."""
        unevaluated = [key for key in UNEVALUATED if key in part.schema]
        if not unevaluated:
            return self.of_keywords(part, full)
        if not part.evaluates:  # twice negated: the schema holds, but nothing that it names counts as evaluated
            return [without_evaluation(row) for row in self.of(part.opened(), full=True)]
        rows = self.of_keywords(part, full or restricts_unevaluated(part.schema))
        for key in unevaluated:
            inner = part.at(part.schema[key], key)
            rows = self.disjunction((self.conjoin(row, CLOSE_ROW[key](row, inner)) for row in rows), part.path)
        return rows

    def of_keywords(self, part: Subschema, full: bool) -> Rows:
        """What all keywords say, without `unevaluatedProperties` and `unevaluatedItems`."""
        rows = [self.own_constraints(part)]
        for key in applied_keywords(part):
            if key == "anyOf" and full:
                rows = self.conjunction(rows, self.full_any_of(part), part.path)
                continue
            for clauses in self.disjunctions(part, key):
                more = self.of_clauses(clauses, full, part.path)
                rows = self.conjunction(rows, more, part.path)
        return [row for row in rows if row.kinds]

    def of_clauses(self, clauses: Disjunction, full: bool, path: str) -> Rows:
        """The normal form of a disjunction: of the clauses, one holds."""
        if len(clauses) == 1:
            return self.of_clause(clauses[0], full, path)
        return self.disjunction((row for clause in clauses for row in self.of_clause(clause, full, path)), path)

    def of_clause(self, clause: Iterable[Subschema], full: bool, path: str) -> Rows:
        rows = [EVERYTHING]
        for part in clause:
            rows = self.conjunction(rows, self.of(part, full), path)
        return rows

    def full_any_of(self, part: Subschema) -> Rows:
        """The full normal form of anyOf: each row says of each branch whether it holds."""
        path = part.path
        branches = branches_of(part, "anyOf")
        if len(branches) == 1:
            return self.of(branches[0], full=True)
        some_hold: Rows = []
        none_holds = [EVERYTHING]
        for branch in branches:
            holds = self.of(branch, full=True)
            fails = self.of(branch.negated())
            some_hold = [
                *self.conjunction(some_hold, holds, path),
                *self.conjunction(some_hold, fails, path),
                *self.conjunction(none_holds, holds, path),
            ]
            none_holds = self.conjunction(none_holds, fails, path)
        return self.disjunction(some_hold, path)

    # --- a subschema that does not hold -----------------------------------------------------------------------------

    def negative(self, part: Subschema) -> Rows:
        """The normal form of a subschema that does not hold: one of its keywords does not.

        A constraint of its own fails, a keyword that applies schemas fails, or all these hold, and what they have not
        evaluated does not meet its schema.
        """
        return self.disjunction([*self.negated_keywords(part), *self.negated_unevaluated(part)], part.path)

    def negated_keywords(self, part: Subschema) -> Iterator[Conjunction]:
        """The rows in which a keyword, not one for what is unevaluated, does not hold."""
        for key in applied_keywords(part):
            [clauses] = self.disjunctions(part, key)  # one, because a single failure is enough
            yield from self.of_clauses(clauses, False, part.path)
        own = self.own_constraints(part.negated())  # twice negated: what must not hold
        yield from own.negations()
        if own.values is not None:
            yield from self.other_values(own, own.values)

    def negated_unevaluated(self, part: Subschema) -> Iterator[Conjunction]:
        """The rows in which the other keywords hold, and what they have not evaluated does not meet its schema."""
        if not restricts_unevaluated(part.schema):
            return
        holds = part.opened()
        rows = self.of_keywords(holds, full=True)
        for key in UNEVALUATED:
            if key not in part.schema:
                continue
            inner = holds.at(part.schema[key], key)
            for row in rows:
                for denied in CLOSE_ROW[key](row, inner).negations():
                    negated = self.conjoin(without_evaluation(row), denied)
                    if negated.kinds:
                        yield negated

    def other_values(self, own: Conjunction, values: ValuesByForm) -> Rows:
        """The normal form of all values that are not listed by enum or const."""
        kinds = set(EVERY_KIND)
        found: list[Constraint] = []
        texts = []
        nested = []
        for value in values.values():
            kind = kind_of(value)
            if kind in NUMBER_KINDS:
                found.append(NumberBound(exact(value, own.path), NOT_EQUAL, own.path))
            elif kind == "string":
                texts.append(value)
            elif kind in ("object", "array"):
                nested.append(value)
            else:
                kinds.discard(kind)
        if texts:
            found.append(Matching(TextSet(tuple(texts), lambda: either(*map(literal, texts))), False, own.path))
        rows = [Conjunction(own.path, frozenset(kinds), constraints=tuple(found))]
        for value in nested:
            rows = self.conjunction(rows, self.of(spell_out(value, own.path).negated()), own.path)
        return rows

    # --- the keywords that apply schemas to the same value ----------------------------------------------------------

    def disjunctions(self, part: Subschema, key: str) -> list[Disjunction]:
        """What a keyword says as disjunctions that must all hold; of a negated subschema what its failure says.

        {"anyOf": [A, B]}                            A or B
        {"not": {"anyOf": [A, B]}}                   not A and not B: a single clause
        {"dependentSchemas": {"x": A, "y": B}}       x and A, or no x. y and B, or no y: two disjunctions
        its failure                                  x and not A, or y and not B: one disjunction
        """
        if key in DEPENDENCIES:
            dependent = read_dependent(part, key)
            return [[*chain.from_iterable(dependent)]] if part.sign == Sign.NEGATED else [*dependent]
        return [self.clauses(part, key)]

    def clauses(self, part: Subschema, key: str) -> Disjunction:
        """What a keyword other than a dependency says, or what its failure says: one of these clauses holds."""
        is_negated = part.sign == Sign.NEGATED
        if key in REFERENCES:
            return [[self.document.target(part, key)]]
        if key == "not":
            return [[part.at(part.schema[key], key).negated()]]
        if key == "if":
            return read_if(part)
        branches = branches_of(part, key)
        if key == "oneOf":
            return none_or_two(branches) if is_negated else only_one(self.overlapping(branches))
        if key == ("anyOf" if is_negated else "allOf"):  # if not any holds, all fail
            return [branches]
        return [[branch] for branch in branches]

    def overlapping(self, branches: list[Subschema]) -> Overlaps:
        """Each branch of a oneOf with the branches that are not disjoint from it, as far as that can be told."""
        overlaps: Overlaps = {branch: [] for branch in branches}
        if not self.have_own_values(branches):
            for one, other in combinations(branches, 2):
                if self.may_hold((one.opened(), other.opened())):
                    overlaps[one].append(other)
                    overlaps[other].append(one)
        return overlaps

    def have_own_values(self, branches: list[Subschema]) -> bool:
        """Whether each branch lists its values, and no value is listed twice."""
        rows = [row for branch in branches for row in self.of(branch)]
        seen = set[Any]()
        for row in rows:
            if row.values is None or not seen.isdisjoint(row.values):
                return False
            seen.update(row.values)
        return True


def common_values(one: ValuesByForm | None, other: ValuesByForm | None) -> ValuesByForm | None:
    """The values of both; None stands for any value."""
    if one is None:
        return other
    if other is None:
        return one
    return {key: value for key, value in one.items() if key in other}
