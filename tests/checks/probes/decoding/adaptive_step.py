"""Answers to `adaptive`."""

from fractions import Fraction

import numpy as np

from tests.checks.answers import adaptive


def first(order, legal):
    return next((token for token in order if token in legal), None)


def popped(order, chances, legal):
    while order and order[0] not in legal:
        order.pop(0)
    return adaptive(order, chances, legal)


def no_left(order, chances, legal):
    token = first(order, legal)
    return None if token is None else (token, 1.0 if order[-1] in legal else chances[token])


def never_more(order, chances, legal):
    token = first(order, legal)
    return None if token is None else (token, chances[token])


def always_more(order, chances, legal):
    token = first(order, legal)
    return None if token is None else (token, 1 - sum(chances[one] for one in order[: order.index(token)]))


def share_of_one(order, chances, legal):
    found = adaptive(order, chances, legal)
    if found is None:
        return None
    place, token = order.index(found[0]), found[0]
    left = 1 - sum(chances[one] for one in order[:place])
    more = order[place + 1] in legal if place + 1 < len(order) else 0
    return token, left * (chances[token] + (1 - chances[token]) * more)


def true_mass(order, chances, legal):
    token = first(order, legal)
    return None if token is None else (token, sum(chances[one] for one in legal))


WRONG = {
    "adaptive": {
        "the first token": (lambda order, chances, legal: (order[0], 1.0), "left is 1|first legal"),
        "the likeliest legal token": (
            lambda order, chances, legal: (max(legal, key=chances.get), 1.0) if legal else None,
            "left is 1|first legal|estimate",
        ),
        "left stays 1": (no_left, "left|next token|what was left"),
        "never more": (never_more, "the estimate is 1"),
        "always more": (always_more, "left is 1|next token"),
        "share of 1": (share_of_one, "left|divided"),
        "the true Z": (true_mass, "next token"),
        "an error if none is legal": (
            lambda order, chances, legal: adaptive(order, chances, legal) or chances[None],
            "None",
        ),
        "0 if none is legal": (lambda order, chances, legal: adaptive(order, chances, legal) or 0, "a pair|None"),
        "the token only": (lambda order, chances, legal: first(order, legal), "a pair is expected"),
        "reversed": (
            lambda order, chances, legal: (adaptive(order, chances, legal) or (None, None))[::-1],
            "first legal|None",
        ),
        "its input changed": (popped, "work on a copy|left"),
    }
}
RIGHT = {
    "adaptive": {
        "a list": lambda order, chances, legal: list(adaptive(order, chances, legal) or []) or None,
        "NumPy": lambda order, chances, legal: (
            (found[0], np.float64(found[1])) if (found := adaptive(order, chances, legal)) else None
        ),
        "fractions": lambda order, chances, legal: (
            (found[0], Fraction(found[1])) if (found := adaptive(order, chances, legal)) else None
        ),
    }
}
