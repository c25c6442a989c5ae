"""What is unevaluated: `unevaluatedProperties` and `unevaluatedItems` as additional keys and items of a conjunction."""

from dataclasses import replace
from typing import Any

from guidedviz.machines.schema.constraints import EVERYTHING, Conjunction, ContainsGoal, ItemGoals, PropertyGoals
from guidedviz.machines.schema.keywords import UNEVALUATED
from guidedviz.machines.schema.subschema import PLAIN, Goal, Subschema, goal_of
from guidedviz.machines.schema.text_sets import TextSet


def says_unevaluated(schema: Any) -> bool:
    """Whether the schema restricts what other keywords have not evaluated."""
    return any(key in schema and schema[key] is not True and schema[key] != {} for key in UNEVALUATED)


def close_keys(row: Conjunction, part: Subschema) -> Conjunction:
    """The keys that no schema of this row names meet the subschema."""
    found = [keys for keys in row.of_type(PropertyGoals) if keys.says]
    if any(keys.rest is not None for keys in found):
        return EVERYTHING  # every key is evaluated
    named: dict[str, Goal] = {name: () for keys in found for name in keys.named}
    patterns: dict[TextSet, Goal] = {pattern: () for keys in found for pattern, _ in keys.patterns}
    keys = PropertyGoals(
        named, tuple(patterns.items()), goal_of(part), part.path, naming=part.sign == PLAIN, says=part.says
    )
    return Conjunction(part.path, constraints=(keys,))


def close_items(row: Conjunction, part: Subschema) -> Conjunction:
    """The items that no schema of this row speaks of meet the subschema."""
    found = [items for items in row.of_type(ItemGoals) if items.says]
    if any(items.every for items in found):
        return EVERYTHING
    first = max((len(items.first) for items in found), default=0)
    inside = [contains.part for contains in row.of_type(ContainsGoal) if contains.says]
    goal = goal_of(part)
    if inside and goal:
        paths = [each.path for each in inside]
        goal = (part.at({"anyOf": [each.schema for each in inside] + [part.schema]}, *paths),)
    items = ItemGoals(((),) * first, goal, part.path, every=True, says=part.says)
    return Conjunction(part.path, constraints=(items,))


CLOSED = dict(zip(UNEVALUATED, (close_keys, close_items), strict=True))


def silent(row: Conjunction) -> Conjunction:
    """The same row, of which no key or item counts as evaluated for the schemas around it."""

    speaking = ItemGoals | ContainsGoal | PropertyGoals
    hushed = (replace(found, says=False) if isinstance(found, speaking) else found for found in row.constraints)
    return replace(row, constraints=tuple(hushed))
