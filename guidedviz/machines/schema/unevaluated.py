"""What is unevaluated: `unevaluatedProperties` and `unevaluatedItems` as additional keys and items of a conjunction.

    {"properties": {"a": A}, "unevaluatedProperties": false}     of a row that names a: no other key

Each row of a full normal form (see `normal_form.py`) says which subschemas hold, so it tells what they evaluate.
"""

from dataclasses import replace
from typing import Any

from guidedviz.machines.schema.constraints import EVERYTHING, Conjunction, ContainsGoal, ItemGoals, PropertyGoals
from guidedviz.machines.schema.subschema import UNEVALUATED, Goal, Sign, Subschema, allows_all, goal_of
from guidedviz.machines.schema.text_sets import TextSet


def restricts_unevaluated(schema: Any) -> bool:
    """Whether the schema restricts what other keywords have not evaluated."""
    return any(key in schema and not allows_all(schema[key]) for key in UNEVALUATED)


def close_keys(row: Conjunction, part: Subschema) -> Conjunction:
    """The keys that no schema of this row names meet the subschema."""
    named: dict[str, Goal] = {}
    patterns: dict[TextSet, Goal] = {}
    for keys in row.of_type(PropertyGoals):
        if not keys.evaluates:
            continue
        if keys.rest is not None:
            return EVERYTHING  # every key is evaluated
        named |= dict.fromkeys(keys.named, ())
        patterns |= {pattern: () for pattern, _ in keys.patterns}
    admits = part.sign == Sign.PLAIN
    closed = PropertyGoals(named, tuple(patterns.items()), goal_of(part), part.path, admits=admits, evaluates=True)
    return Conjunction(part.path, constraints=(closed,))


def close_items(row: Conjunction, part: Subschema) -> Conjunction:
    """The items that no schema of this row speaks of meet the subschema."""
    first = 0
    for items in row.of_type(ItemGoals):
        if items.evaluated is None:
            return EVERYTHING
        first = max(first, items.evaluated)
    rest = part
    contained = [contains.part for contains in row.of_type(ContainsGoal) if contains.evaluates]
    if contained and not part.is_true():
        branches = [*(each.schema for each in contained), part.schema]
        rest = part.at({"anyOf": branches}, *(each.path for each in contained))
    closed = ItemGoals(tuple(() for _ in range(first)), goal_of(rest), part.path, evaluated=None)
    return Conjunction(part.path, constraints=(closed,))


CLOSE_ROW = {"unevaluatedProperties": close_keys, "unevaluatedItems": close_items}


def without_evaluation(row: Conjunction) -> Conjunction:
    """The same row, of which no key or item counts as evaluated for the schemas around it."""
    found = []
    for constraint in row.constraints:
        if isinstance(constraint, ItemGoals):
            constraint = replace(constraint, evaluated=0)
        elif isinstance(constraint, ContainsGoal | PropertyGoals):
            constraint = replace(constraint, evaluates=False)
        found.append(constraint)
    return replace(row, constraints=tuple(found))
