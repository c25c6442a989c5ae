"""Answers to `faults`."""

import numpy as np

from guidedviz.machines.machine import read
from tests.checks.answers import faults


def by_last_byte(machine, state, pieces, allowed):
    """Asks about the last byte only."""
    legal = {token for token, piece in enumerate(pieces) if machine.step(state, piece[-1]) is not None}
    return legal - allowed, allowed - legal


def by_whole_text(machine, state, pieces, allowed):
    """Takes a token as legal only if the text may end after it."""
    after = {token: read(machine, piece, state) for token, piece in enumerate(pieces)}
    legal = {token for token, here in after.items() if here is not None and machine.is_accepting(here)}
    return legal - allowed, allowed - legal


def takes_off(machine, state, pieces, allowed):
    missing, extra = faults(machine, state, pieces, allowed)
    allowed -= extra
    return missing, extra


def by_piece(machine, state, pieces, allowed):
    """Looks a token up by its piece, so that two ids of one piece are one."""
    missing, extra = faults(machine, state, pieces, allowed)
    return {pieces.index(pieces[token]) for token in missing}, extra


def loops(machine, state, pieces, allowed):
    missing, extra = [], []
    for token, piece in enumerate(pieces):
        here = state
        for byte in piece:
            here = None if here is None else machine.step(here, byte)
        if (here is not None) != (token in allowed):
            (extra if token in allowed else missing).append(token)
    return missing, extra


WRONG = {
    "faults": {
        "nothing": (lambda *given: (set(), set()), "token 0, a, is legal, and the engine omits it, so it is missing"),
        "the other way round": (lambda *given: faults(*given)[::-1], "so it is not|so it is missing"),
        "missing only": (
            lambda *given: (faults(*given)[0], set()),
            "b, is illegal, and the engine allows it, so it is extra",
        ),
        "extra only": (lambda *given: (set(), faults(*given)[1]), "token 0, a, is legal"),
        "from the start": (lambda m, state, *given: faults(m, m.initial, *given), "so it is not missing"),
        "the last byte": (by_last_byte, "token"),
        "whole texts": (by_whole_text, "token"),
        "one id per piece": (by_piece, "token 0, a, is legal, and the engine allows it"),
        "all wrong ids in one set": (lambda *given: set.union(*faults(*given)), "two sets of ids are expected"),
        "masks": (lambda *given: tuple([t in one for t in range(6)] for one in faults(*given)), "np.flatnonzero"),
        "pieces": (lambda m, s, pieces, allowed: ({*pieces}, set()), "these are pieces"),
        "None for none": (lambda *given: tuple(one or None for one in faults(*given)), "a set of ids is expected"),
        "the mask changed": (takes_off, "work on a copy"),
    }
}
RIGHT = {
    "faults": {
        "loops and lists": loops,
        "frozen sets in a list": lambda *given: [frozenset(one) for one in faults(*given)],
        "NumPy arrays": lambda *given: tuple(np.array(sorted(one), dtype=np.int64) for one in faults(*given)),
    }
}
