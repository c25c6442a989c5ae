"""A right answer to every check, and wrong ones.

The right functions are the solutions in the sources of the labs. A wrong one is mostly a solution with one change: a
row has a fragment of its source, and each of the texts that replace it. Other right ways to write an answer have
rows, too.
"""

import json
import re
from itertools import combinations

import numpy as np

import guidedviz as gv
from guidedviz.commands.exercises import read_exercises
from guidedviz.machines.earley.items import Item
from guidedviz.machines.machine import read
from tests.checks.answers import functions, machines, turns, walks
from tests.labs.sources import NAMES

SPACE = {
    **{"np": np, "json": json, "re": re, "gv": gv, "combinations": combinations, "Item": Item, "read": read},
    "LEAVES": {kind: gv.machines.schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")},
}
SOLVED = {one.name: one for name in NAMES for one in read_exercises(name)}
ROOMS = (functions, machines, turns, walks)
VALUES = machines.VALUES


def changed(name, old="", new=""):
    """The solution of an exercise with a fragment of its source replaced."""
    code = SOLVED[name].solved
    space = dict(SPACE)
    assert old in code, f"{old!r} is not in\n{code}"
    exec(code.replace(old, new).partition("\nprint(")[0], space)
    return space[SOLVED[name].answer]


FUNCTIONS = {name: changed(name) for name in SOLVED if name not in VALUES}
RIGHT = FUNCTIONS | VALUES


def rows(kind):
    """The names and the answers of the rows."""
    found = []
    for room in ROOMS:
        for name, some in getattr(room, kind).items():
            for row in some:
                old, *news = row if isinstance(row, tuple) else (row,)
                answers = [(name, changed(name, old, new)) for new in news]
                found += answers or [(name, row)]
    return found


WRONG = rows("WRONG")
UNUSUAL = rows("UNUSUAL")


def check(name, answer):
    second = (machines.TOY,) if name == "only_answers" else ()
    return getattr(gv.checks, name)(answer, *second)
