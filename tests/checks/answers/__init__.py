"""A right answer to every check, wrong ones with what is said about them, and unusual right ones.

Most of them are the right answer with one change: a row has a fragment of its source, what replaces it, and the reason.
"""

from inspect import getsource
from types import FunctionType

import guidedviz as gv
from tests.checks.answers import decoding, machines, parsers, production, tokens, walks

ROOMS = (decoding, machines, parsers, production, tokens, walks)
RIGHT = {name: answer for room in ROOMS for name, answer in room.RIGHT.items()}
FUNCTIONS = {name: answer for name, answer in RIGHT.items() if isinstance(answer, FunctionType)}
VALUES = {name: answer for name, answer in RIGHT.items() if name not in FUNCTIONS}


def changed(right, old, new):
    """The right answer with a fragment of its source replaced."""
    source = getsource(right)
    assert old in source, f"{old!r} is not in\n{source}"
    space = dict(right.__globals__)
    exec(source.replace(old, new), space)
    return space[right.__name__]


def answer_of(name, *given):
    """The answer of a row without its reason: a value, or a change to the right answer."""
    return changed(RIGHT[name], *given) if len(given) == 2 else given[0]


WRONG = [
    (name, answer_of(name, *row), reason) for room in ROOMS for name in room.WRONG for *row, reason in room.WRONG[name]
]
UNUSUAL = [(name, answer_of(name, *row)) for room in ROOMS for name in room.UNUSUAL for row in room.UNUSUAL[name]]


def check(name, answer):
    second = {"only_answers": (decoding.TOY,), "machine": (machines.NUMBER,)}.get(name, ())
    return getattr(gv.checks, name)(answer, *second)
