"""Whether some value may meet a goal: a search of bounded depth, which says yes where it cannot tell.

    {"minimum": 3}, {"maximum": 2}                       numbers: no; but a string meets both
    {"required": ["a"]}, {"properties": {"a": false}}    objects: no

Rows without a value would only make a normal form longer, and branches without a common value are disjoint.
"""

from collections.abc import Callable
from dataclasses import replace

from guidedviz.errors import PatternError
from guidedviz.machines.schema.constraints import Conjunction
from guidedviz.machines.schema.subschema import Goal, is_impossible
from guidedviz.machines.schema.values import NUMBER_KINDS, NoValue
from guidedviz.machines.work import spend

DEEPEST_SEARCH = 3  # levels of a value that are searched for a contradiction


class Satisfiability:
    """Searches for values that meet goals, each goal once; `rows_of` finds the normal form of a goal."""

    def __init__(self, rows_of: Callable[[Goal], list[Conjunction]]) -> None:
        self.rows_of = rows_of
        self.known: dict[Goal, bool] = {}
        self.depth = 0

    def may_hold(self, goal: Goal) -> bool:
        """Whether some value may meet the goal."""
        if goal in self.known:
            return self.known[goal]
        if is_impossible(goal):
            return False
        if self.depth >= DEEPEST_SEARCH or not goal:
            return True
        spend(20)
        self.depth += 1
        try:
            self.known[goal] = any(map(self.may_have_value, self.rows_of(goal)))
        finally:
            self.depth -= 1
        return self.known[goal]

    def may_have_value(self, row: Conjunction) -> bool:
        if row.values is not None:
            return bool(row.allowed_values())
        return any(self.may_have_kind(row, kind) for kind in row.kinds)

    def may_have_kind(self, row: Conjunction, kind: str) -> bool:
        try:
            if kind == "string":
                row.texts(may_count=True)
            elif kind in NUMBER_KINDS and row.constrains("number"):
                replace(row, kinds=frozenset((kind,))).numbers()
            elif kind == "object":
                row.bounds(kind)
                return all(map(self.may_hold, row.required_goals()))
            elif kind == "array":
                low, _ = row.bounds(kind)
                return all(map(self.may_hold, row.first_goals(low)))
        except NoValue:
            return False
        except PatternError:
            pass  # too large to tell
        return True
