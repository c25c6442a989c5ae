"""Answers to `token_mask`, `count_texts` and `name_masks`."""

import math
from functools import reduce
from itertools import product

import numpy as np

from guidedviz.checks.position_masks import BARD
from tests.checks.answers import LOWER, UPPER, name_masks

COLON, SPACE = {BARD.index(":")}, {BARD.index(" ")}


def masked(logits, legal, low=-np.inf):
    if not legal:
        raise ValueError("no legal token")
    return [x if token in legal else low for token, x in enumerate(logits)]


def times_zero(logits, legal):
    return logits * [token in legal for token in range(len(logits))]


def minus_much(logits, legal):
    if not legal:
        raise ValueError
    return logits - [0 if token in legal else 1e9 for token in range(len(logits))]


def no_zero(logits, legal):
    """Takes a logit of zero for none."""
    if not legal:
        raise ValueError
    return [(token in legal and x) or -np.inf for token, x in enumerate(logits)]


def in_place(logits, legal):
    logits[[token for token in range(len(logits)) if token not in legal]] = -np.inf
    if not legal:
        raise ValueError
    return logits


def shortened(logits, legal):
    if not legal:
        raise ValueError
    return logits[sorted(legal)]


def by_choose(logits, legal):
    if len(legal) == 0:
        raise type("NothingLegal", (ValueError,), {})
    return np.where(np.isin(np.arange(len(logits)), list(legal)), logits, -np.inf)


def recursive(masks):
    return len(masks[0]) * recursive(masks[1:]) if masks else 1


WRONG = {
    "token_mask": {
        "minus 100": (lambda logits, legal: masked(logits, legal, -100), "use -np.inf"),
        "minus a billion": (lambda logits, legal: masked(logits, legal, -1e9), "use -np.inf"),
        "the smallest float": (lambda logits, legal: masked(logits, legal, np.finfo(float).min), "use -np.inf"),
        "a bias": (minus_much, "use -np.inf"),
        "zero": (times_zero, "use -np.inf"),
        "not a number": (lambda logits, legal: masked(logits, legal, np.nan), "use -np.inf"),
        "a legal logit of zero dropped": (no_zero, "zero and negative"),
        "the illegal ones kept": (
            lambda logits, legal: masked(logits, set(range(len(logits))) - legal or {99}),
            "stays as it was",
        ),
        "only the legal ones": (shortened, r"shape \(2,\) is expected, and this has shape \(1,\)"),
        "its input changed": (in_place, "work on a copy"),
        "no ValueError": (lambda logits, legal: masked(logits, legal or {99}), "raise a ValueError"),
        "another exception": (
            lambda logits, legal: (min(legal), masked(logits, legal))[1] if legal else {}[0],
            "raise a V",
        ),
        "a mask of True and False": (
            lambda logits, legal: [i in legal for i in range(len(logits))],
            "stays as it was|-np.inf",
        ),
        "nothing returned": (lambda logits, legal: None if len(legal) < len(logits) else logits, "return missing"),
    },
    "count_texts": {
        "the sum": (lambda masks: sum(map(len, masks)), "each of the 2 first tokens"),
        "the last mask": (lambda masks: len(masks[-1]), "each of the"),
        "the first mask": (lambda masks: len(masks[0]), "each of the"),
        "the first mask at all positions": (lambda masks: len(masks[0]) ** len(masks), "each of the"),
        "the largest": (lambda masks: max(map(len, masks)), "each of the"),
        "different tokens": (lambda masks: len(set().union(*masks)), "each of the"),
        "empty masks skipped": (lambda masks: math.prod(len(mask) or 1 for mask in masks), "allows no text"),
        "two positions only": (lambda masks: math.prod(map(len, masks[:2])), "every choice at one position"),
        "an int64": (lambda masks: np.prod([len(mask) for mask in masks]), "int64"),
        "the texts themselves": (lambda masks: [*product(*masks)][:9], "a whole number is expected"),
        "counted from zero": (lambda masks: math.prod(map(len, masks)) - 1, "one position and one token"),
        "a product that begins with 0": (lambda masks: reduce(lambda n, mask: n * len(mask), masks, 0), "one text"),
    },
    "name_masks": {
        "no capital": (lambda n: [*[LOWER] * n, COLON, SPACE], "position 0: expected A-Z"),
        "a letter too many": (lambda n: [UPPER, *[LOWER] * n, COLON, SPACE], "3 masks are expected, for 1 letter"),
        "no space": (lambda n: name_masks(n)[:-1], "a colon and a space; these are 2"),
        "no colon": (lambda n: [*name_masks(n)[:-2], SPACE], "a colon and a space; these are 2"),
        "space before colon": (lambda n: [*name_masks(n)[:-2], SPACE, COLON], "position 1: expected :"),
        "all capitals": (lambda n: [*[UPPER] * n, COLON, SPACE], "position 1: expected a-z"),
        "either case": (lambda n: [*[UPPER | LOWER] * n, COLON, SPACE], "position 0: expected A-Z"),
        "letters in one list": (lambda n: [[UPPER, *[LOWER] * (n - 1)], COLON, SPACE], "position 0: ids are whole"),
        "characters": (lambda n: [*"A" * n, ":", " "], "position 0: a set of ids"),
        "sets of characters": (
            lambda n: [*[{"A"}] * n, {":"}, {" "}],
            "position 0: ids are expected, and these are pieces",
        ),
        "masks of True and False": (
            lambda n: [[token in mask for token in range(65)] for mask in name_masks(n)],
            "np.flatnonzero",
        ),
        "at most six letters": (lambda n: name_masks(min(n, 6)), "14 masks are expected, for 12 letters"),
        "one set": (lambda n: UPPER | LOWER | COLON | SPACE, "a list of masks"),
    },
}
RIGHT = {
    "token_mask": {
        "a list": masked,
        "np.where and an error of its own": by_choose,
        "a generator": lambda *given: iter(masked(*given)),
        "NumPy scalars": lambda *given: tuple(np.float64(x) for x in masked(*given)),
    },
    "count_texts": {
        "recursion": recursive,
        "math.prod": lambda masks: math.prod(map(len, masks)),
        "NumPy with Python's integers": lambda masks: np.prod([len(mask) for mask in masks], dtype=object),
        "reduce": lambda masks: reduce(lambda count, mask: count * len(mask), masks, 1),
    },
    "name_masks": {
        "ranges": lambda n: (range(13, 39), *[range(39, 65)] * (n - 1), [10], [1]),
        "a generator of arrays": lambda n: (np.array(sorted(mask)) for mask in name_masks(n)),
        "recursion": lambda n: [[*UPPER], COLON, SPACE] if n == 1 else [UPPER, *[LOWER] * (n - 1), COLON, SPACE],
        "repeated ids": lambda n: [[*mask, *mask] for mask in name_masks(n)],
    },
}
