"""Whether some value may meet a goal: a search of bounded depth, which says yes where it cannot tell."""

from __future__ import annotations

from typing import Protocol

from guidedviz.errors import PatternError
from guidedviz.machines.schema.kinds.empty import Empty, take_range
from guidedviz.machines.schema.kinds.scalars import fitting_scalars, number_tree, string_texts
from guidedviz.machines.schema.logic.cases import Case
from guidedviz.machines.schema.logic.facts import Goal, Items, Keys, Required, goal_of
from guidedviz.machines.schema.logic.ways import Ways
from guidedviz.machines.tree import NOTHING
from guidedviz.machines.work import spend

DEEPEST = 3
NUMBERS = frozenset(("integer", "fraction"))


class Holder(Protocol):
    """Has the cases of a schema."""

    ways: Ways


class Possible:
    """Searches for a kind of value that a goal may allow."""

    def __init__(self, holder: Holder) -> None:
        self.holder, self.depth = holder, 0

    def of(self, goal: Goal) -> bool:
        """Whether some value may meet the goal."""
        if any(part.is_false() for part in goal):
            return False
        spend(100)
        if self.depth >= DEEPEST:
            return True
        ways = self.holder.ways
        opened, ways.open = ways.open, {}
        self.depth += 1
        try:
            return any(self.of_case(case) for case in ways.of_goal(goal))
        finally:
            self.depth -= 1
            ways.open = opened

    def of_case(self, case: Case) -> bool:
        if case.values is not None:
            return self.of_values(case)
        return any(self.of_kind(kind, case) for kind in case.kinds)

    def of_values(self, case: Case) -> bool:
        try:
            return bool(fitting_scalars(case, "#"))
        except Empty:
            return any(isinstance(value, dict | list | tuple) for value in (case.values or {}).values())

    def of_kind(self, kind: str, case: Case) -> bool:
        try:
            if kind == "string":
                return string_texts(case, "#", tick=True) != NOTHING
            if kind in NUMBERS:
                return number_tree(case, "#", frozenset((kind,))) != NOTHING
            if kind == "object":
                return self.of_object(case)
            return kind != "array" or self.of_array(case)
        except Empty:
            return False
        except PatternError:
            return True  # too large to tell

    def of_object(self, case: Case) -> bool:
        take_range(case, "object")
        keys = case.facts(Keys)
        for name in {name for fact in case.facts(Required) for name in fact.names}:
            if not self.of(goal_of(part for fact in keys for goal in fact.goals(name) for part in goal)):
                return False
        return True

    def of_array(self, case: Case) -> bool:
        low, _ = take_range(case, "array")
        items = case.facts(Items)
        first = max((len(fact.first) for fact in items), default=0)
        return all(
            self.of(goal_of(part for fact in items for part in fact.at(place))) for place in range(min(low, first + 1))
        )
