"""Is a value the expected one, and if not, what is wrong with it in words?

Numbers may be rounded, ids may come in any collection, and a list may stand for a tuple: a student's answer is judged
by what it says, not by the types in which it says it. True is never 1, because a mask is no set of ids.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from guidedviz.checks.values import Failed
from guidedviz.checks.verdict import show

Same = Callable[[Any, Any], bool]
EXPECTED_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "True or False is"),
    (int, "a whole number is"),
    ((float, int), "a number is"),
    (str, "a text is"),
    (bytes, "bytes are"),
    (dict, "a dictionary is"),
    ((list, tuple), "a list or tuple is"),
)


def alike(value: Any, expected: Any) -> bool:
    """Are two values the same?

    >>> alike([1, [0.3]], (True, [0.1 + 0.2])), alike([1, [0.3]], (1, [0.1 + 0.2])), alike([2, 1, 2], {1, 2})
    (False, True, True)
    """
    if isinstance(expected, float | np.ndarray):
        return _same_numbers(value, expected)
    if isinstance(expected, set):
        return not isinstance(value, str | bytes) and _typed(value) == _typed(expected)
    if isinstance(expected, dict):
        return isinstance(value, dict) and _same_entries(value, expected)
    if isinstance(expected, list | tuple):
        same_length = isinstance(value, list | tuple) and len(value) == len(expected)
        return same_length and all(map(alike, value, expected))
    return bool(value == expected) and isinstance(value, bool) == isinstance(expected, bool)


def _same_numbers(value: Any, expected: Any) -> bool:
    numbers = np.asarray(value, dtype=float)
    return numbers.shape == np.shape(expected) and np.allclose(numbers, expected, rtol=1e-5, atol=1e-9)


def _typed(values: Iterable[Any]) -> set[tuple[type, Any]]:
    """The values as a set in which True is not 1."""
    return {(type(one), one) for one in values}


def _same_entries(value: dict[Any, Any], expected: dict[Any, Any]) -> bool:
    same_keys = alike([*value], {*expected})
    return same_keys and all(alike(value[key], expected[key]) for key in expected)


def agrees(value: Any, expected: Any, same: Same) -> bool:
    """Is a value the expected one? A value of a wrong kind is not."""
    if isinstance(value, Failed):
        return isinstance(expected, type) and expected.__name__ in value.kinds
    try:
        return bool(same(value, expected))
    except Exception:  # a value of a wrong kind
        return False


def say_kind(value: Any, expected: Any) -> str:
    """Why a value is not of the kind that is expected; empty if it is.

    >>> say_kind(1, True), say_kind([0.1], np.array([0.1, 0.9])), say_kind({2}, {3})
    ('True or False is expected', 'an array of shape (2,) is expected, and this has shape (1,)', '')
    """
    if value is None and not isinstance(expected, type):
        return "it returns None here: is a return missing on some path?"
    if isinstance(expected, set):
        return say_not_ids(value)
    if isinstance(expected, np.ndarray):
        shape = np.asarray(value, dtype=object).shape
        right = f"an array of shape {expected.shape} is expected, and this has shape {shape}"
        return "" if shape == expected.shape else right
    for kinds, words in EXPECTED_KINDS:
        if isinstance(expected, kinds) and not isinstance(value, kinds):
            return f"{words} expected"
    return ""


def say_not_ids(value: Any) -> str:
    """Why a value is not a set of ids; empty if it is one.

    >>> say_not_ids([True, False]), say_not_ids({0, 2})
    ('ids are expected, and this is a mask of True and False: np.flatnonzero(mask) gives them', '')
    """
    if not is_collection(value):
        return "a set is expected"
    if any(isinstance(one, bool) for one in value):
        return "ids are expected, and this is a mask of True and False: np.flatnonzero(mask) gives them"
    return ""


def is_collection(value: Any) -> bool:
    """Does a value consist of items? A text does not."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def say_difference(value: Any, expected: Iterable[Any], name: Callable[[Any], str] = show) -> str:
    """The first item that is missing or too many; empty if the value is no collection.

    >>> say_difference([1, 2], {2, 3})
    '3 is missing'
    """
    if not is_collection(value):
        return ""
    for one in expected:
        if one not in value:
            return f"{name(one)} is missing"
    for one in value:
        if one not in expected:
            return f"{name(one)} is too many"
    return ""
