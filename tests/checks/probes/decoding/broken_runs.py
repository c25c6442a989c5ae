"""Answers to `who_emptied` and `wider`."""

import json
from itertools import combinations

import numpy as np

from guidedviz.checks.decoding.broken_runs import SERVICE
from tests.checks.answers import repaired, who_emptied

# -- who_emptied ---------------------------------------------------------------------------------------------------


def last_one(rules):
    """Names the rule after which nothing is left, in the order of the rules."""
    left = None
    for name, ids in rules.items():
        left = ids if left is None else left & ids
        if not left:
            return {name}
    return set()


def up_to_the_last(rules):
    left, names = None, set()
    for name, ids in rules.items():
        left = ids if left is None else left & ids
        names.add(name)
        if not left:
            return names
    return set()


def pairs_only(rules):
    """Looks at pairs, and not at single rules or larger groups."""
    return next((set(pair) for pair in combinations(rules, 2) if not rules[pair[0]] & rules[pair[1]]), set())


def largest_first(rules):
    sizes = range(len(rules), 0, -1)
    groups = (group for size in sizes for group in combinations(rules, size))
    return next((set(group) for group in groups if not set.intersection(*(rules[name] for name in group))), set())


def neighbours(rules):
    names = list(rules)
    groups = (names[i:j] for i in range(len(names)) for j in range(i + 1, len(names) + 1))
    empty = [group for group in groups if not set.intersection(*(rules[name] for name in group))]
    return set(min(empty, key=len, default=[]))


def union(rules):
    groups = (group for size in range(1, len(rules) + 1) for group in combinations(rules, size))
    return next((set(group) for group in groups if not set().union(*(rules[name] for name in group))), set())


def id_0_is_nothing(rules):
    return who_emptied({name: {token for token in ids if token} for name, ids in rules.items()})


def by_intersection_update(rules):
    """Changes the sets of its input."""
    found = who_emptied(rules)
    first, *others = rules.values()
    first.intersection_update(*others)
    return found


def by_bits(rules):
    """Each group as a number, sorted by its size; the masks are arrays of bools."""
    names = list(rules)
    masks = np.array([[token in rules[name] for token in range(8)] for name in names])
    groups = sorted(range(1, 2 ** len(names)), key=int.bit_count)
    chosen = ([bool(group >> place & 1) for place in range(len(names))] for group in groups)
    found = next((one for one in chosen if not masks[one].all(axis=0).any()), [False] * len(names))
    return [name for name, taken in zip(names, found, strict=True) if taken]


def grown(rules):
    """Groups that grow breadth first, each with the ids that it still allows."""
    waiting = [((name,), ids) for name, ids in rules.items()]
    for group, ids in waiting:
        if not ids:
            return frozenset(group)
        waiting += [((*group, name), ids & rules[name]) for name in rules if name > max(group)]
    return frozenset()


# -- wider ---------------------------------------------------------------------------------------------------------

LONG = {"type": "string"}

WRONG = {
    "who_emptied": {
        "all": (set, "token 1 is legal for every rule"),
        "nobody": (lambda rules: set(), "no token is legal: grammar allows none"),
        "the last one": (last_one, r"token \d is legal for"),
        "up to the last one": (up_to_the_last, "a smaller group is enough: "),
        "pairs only": (pairs_only, "grammar allows none"),
        "the largest group": (largest_first, "a smaller group is enough"),
        "neighbours": (neighbours, "a smaller group is enough: bad words and grammar"),
        "union": (union, "no token is legal: grammar and min_tokens allow none together"),
        "id 0 is nothing": (id_0_is_nothing, "token 0 is legal for every rule"),
        "the ids": (lambda rules: set.intersection(*rules.values()), "a set of names is expected"),
        "one name as a text": (lambda rules: "grammar", "a set of names is expected"),
        "True and False": (lambda rules: not set.intersection(*rules.values()), "a set of names is expected"),
        "places, not names": (lambda rules: set(range(len(rules))), "a set of names is expected"),
        "a name of its own": (lambda rules: {"eos"}, "there is no rule 'eos'"),
        "its input changed": (by_intersection_update, "work on a copy"),
        "at most two": (
            lambda rules: who_emptied(dict(list(rules.items())[:2])),
            "no token is legal|a smaller group|is legal for",
        ),
    },
    "wider": {
        "longer names only": (repaired(price={"type": "integer", "minimum": 0}), r"\. cannot come"),
        "cents only": (repaired(product=SERVICE["properties"]["product"]), 'l cannot come: expected "'),
        "no limit": (repaired(product=LONG), "at most 30 characters"),
        "a limit of 31": (repaired(product={"type": "string", "maxLength": 31}), "at most 30 characters"),
        "a limit of 20": (repaired(product={"type": "string", "maxLength": 20}), "a cannot come"),
        "any price": (repaired(price={"type": "number"}), "must still refuse it"),
        "a price without a type": (repaired(price={}), "must still refuse it"),
        "a price as a text": (repaired(price={"type": ["number", "string"], "minimum": 0}), "must still refuse it"),
        "the price is optional": (repaired(required=["product"]), "must still refuse it"),
        "nothing is required": (repaired(required=[]), "must still refuse it"),
        "other keys": (repaired(additionalProperties=True), "must still refuse it"),
        "a typing error": (repaired(product={"type": "string", "maxlength": 30}), 'did you mean "maxLength"'),
        "any value": (True, "at most 30 characters"),
        "whole numbers of cents": (repaired(price={"type": "number", "minimum": 0, "multipleOf": 1}), "cannot come"),
        "two prices": (
            repaired(price={"enum": [3, 12.5]}, product={"type": "string", "maxLength": 40}),
            "0 cannot come",
        ),
        "a contradiction": (repaired(price={"type": "number", "minimum": 5, "maximum": 3}), "minimum"),
        "a list": ([repaired()], "expected|schema"),
        "a text that is no JSON": ("number", "JSON|schema"),
    },
}
RIGHT = {
    "who_emptied": {
        "a list by bits": by_bits,
        "a frozenset, breadth first": grown,
        "a generator": lambda r: iter(who_emptied(r)),
    },
    "wider": {
        "as JSON": json.dumps(repaired()),
        "a pattern": repaired(product={"type": "string", "pattern": "^.{0,30}$"}),
        "two kinds of price": repaired(
            price={"anyOf": [{"type": "integer", "minimum": 0}, {"type": "number", "exclusiveMinimum": 0}]}
        ),
        "closed by hand": repaired(additionalProperties=False, title="a product and its price"),
    },
}
