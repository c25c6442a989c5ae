"""Keywords that apply schemas to the same value, as disjunctions of clauses; a clause is a conjunction of subschemas.

{"allOf": [A, B]}              A and B                               one clause of two
{"anyOf": [A, B]}              A, or B                               two clauses of one
{"if": A, "then": B}           A and B, or not A                     (else is true)
{"not": {"anyOf": [A, B]}}     not A and not B                       De Morgan's law
{"not": {"oneOf": [A, B]}}     not A and not B, or A and B
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from guidedviz.machines.schema.subschema import Sign, Subschema
from guidedviz.machines.schema.values import take_names

REFERENCES = ("$ref", "$recursiveRef", "$dynamicRef")
DEPENDENCIES = ("dependentSchemas", "dependentRequired", "dependencies")
APPLIED = (*REFERENCES, "allOf", "anyOf", "oneOf", "not", "if", *DEPENDENCIES)
Disjunction = list[list[Subschema]]  # of conjunctions
Overlaps = dict[Subschema, list[Subschema]]  # each branch of a oneOf, and those that are not disjoint from it


def branches_of(part: Subschema, key: str) -> list[Subschema]:
    """The schemas of allOf, anyOf or oneOf; they have the sign of the whole."""
    return [part.at(inner, key, place) for place, inner in enumerate(part.listed(key))]


def if_then_else(condition: Subschema, then: Subschema, other: Subschema) -> Disjunction:
    """If the condition holds, so does the second schema, else the third. The condition itself is never negated."""
    sign = Sign.OPEN if condition.evaluates else Sign.TWICE_NEGATED
    condition = replace(condition, sign=sign)
    return [[condition, then], [condition.negated(), other]]


def read_if(part: Subschema) -> Disjunction:
    """The keywords if, then and else."""
    condition, then, other = (part.at(part.schema.get(word, True), word) for word in ("if", "then", "else"))
    return if_then_else(condition, then, other)


def read_dependent(part: Subschema, key: str) -> Iterator[Disjunction]:
    """Schemas that apply if a key is there; a list of names requires these keys."""
    for name, inner in part.mapped(key, "schemas or lists of names").items():
        goal = part.at(inner, key, name)
        if key == "dependentRequired" or (key == "dependencies" and isinstance(inner, list | tuple)):
            goal = replace(goal, schema={"required": list(take_names(inner, goal.path))})
        has_key = goal.at({"type": "object", "required": [name]}, "there")
        yield if_then_else(has_key, goal, goal.at(True, "missing"))


def none_or_two(branches: list[Subschema]) -> Disjunction:
    """What the negation of oneOf says: all its negated branches hold, or two of the branches."""
    pairs = combinations(branches, 2)
    return [branches, *([one.negated(), two.negated()] for one, two in pairs)]


def only_one(overlaps: Overlaps) -> Disjunction:
    """What oneOf says: a branch holds, and none of those that are not disjoint from it."""
    return [[branch, *(other.negated() for other in others)] for branch, others in overlaps.items()]
