"""The mask of one step, and masks by position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from guidedviz.checks.judge import Case, Mistake, check_function, close, same_set, say_not_ids
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.visible import counted, visible_bytes

BARD = "\n !$&',-.3:;?" + ascii_uppercase + ascii_lowercase  # in NanoGPT's order: the index is the id


def check_token_mask(answer: Callable[[Any, set[int]], Any]) -> Verdict:
    """Does `answer(logits, legal)` put minus infinity at every id outside the set, and nothing else?

    >>> check_token_mask(lambda logits, legal: [x if i in legal else x - 100 for i, x in enumerate(logits)])
    ✗ not yet right: on input 3 of 7, the smallest on which it fails
        input       [1, 2], {0}
        yours gave  [1, -98]
        expected    [1, -inf]
        because     no finite number is low enough for all logits: use -np.inf
    """
    away, out = -np.inf, "no finite number is low enough for all logits: use -np.inf"
    trials: list[tuple[list[float], set[int], Any, str]] = [
        ([1.0], {0}, [1.0], "a legal logit stays as it was"),
        ([0.0, -7.0], {0, 1}, [0.0, -7.0], "a legal logit stays as it was, zero and negative ones too"),
        ([1.0, 2.0], {0}, [1.0, away], out),
        ([1.0, 1e30, 2.0], {0, 2}, [1.0, away, 2.0], out),
        ([-1e30, 0.0], {0}, [-1e30, away], out),
        ([0.5, 0.25, 4.0, 3.0], {3}, [away, away, away, 3.0], "the logits stay at the places of their ids"),
        ([1.0, 2.0], set(), ValueError, "with no legal token nothing can be drawn: raise a ValueError"),
    ]
    cases = [Case((np.array(l), legal), e if e is ValueError else np.array(e), why) for l, legal, e, why in trials]  # noqa: E741
    return check_function(answer, cases, close)


def check_count_texts(answer: Callable[[Sequence[set[int]]], int]) -> Verdict:
    """Does `answer(masks)` count the texts that masks by position allow?

    >>> check_count_texts(lambda masks: sum(map(len, masks)))
    ✗ not yet right: on input 3 of 8, the smallest on which it fails
        input       [{0, 1}, {5}]
        yours gave  3
        expected    2
        because     each of the 2 first tokens can be followed by each of the 1 second ones
    """
    pairs = "each of the {} first tokens can be followed by each of the {} second ones"
    many = "every choice at one position goes with every choice at the next"
    large = "this is more than an int64 of NumPy holds: use Python's integers, as math.prod does"
    cases = [
        Case(([{0}],), 1, "one position and one token: one text"),
        Case(([{0, 1}],), 2, "one position and two tokens: two texts"),
        Case(([{0, 1}, {5}],), 2, pairs.format(2, 1)),
        Case(([{0, 1}, {1, 2, 3}],), 6, pairs.format(2, 3)),
        Case(([{0, 1}, set()],), 0, "an empty mask allows no text"),
        Case(([{0, 1}, {2}, {3, 4, 5}],), 6, many),
        Case(([set(range(26))] * 5 + [{0}],), 26**5, many),
        Case(([set(range(65))] * 12,), 65**12, large),
    ]
    return check_function(answer, cases)


def check_name_masks(answer: Callable[[int], Sequence[Iterable[int]]]) -> Verdict:
    """Does `answer(letters)` give the masks of `Name: ` for a name of that many letters?

    >>> lower, upper = range(39, 65), range(13, 39)
    >>> check_name_masks(lambda letters: [upper, *[lower] * letters, {10}, {1}])
    ✗ not yet right: on input 1 of 4, the smallest on which it fails
        input       1
        yours gave  A-Z | a-z | : | ␣
        expected    A-Z | : | ␣
        because     3 masks are expected, for 1 letter, a colon and a space; these are 4
    """
    upper, lower, colon, space = (
        {BARD.index(c) for c in letters} for letters in (ascii_uppercase, ascii_lowercase, ":", " ")
    )
    cases = [Case((n,), [upper, *[lower] * (n - 1), colon, space]) for n in (1, 2, 5, 12)]
    return check_function(answer, cases, _same_masks, _name_mistake)


def _same_masks(value: Any, expected: Any) -> bool:
    return len(value) == len(expected) and all(map(same_set, value, expected))


def _name_mistake(case: Case, value: Any) -> Mistake:
    try:
        gave = masks_in_words(value)
    except (TypeError, ValueError, IndexError):  # no masks of ids
        gave = show(value)
    because = _say_masks(value, case.expected)
    return Mistake(because, gave=(("yours gave", gave), ("expected", masks_in_words(case.expected))))


def _say_masks(value: Any, expected: Any) -> str:
    """The first reason why some masks are not those of a name."""
    if not isinstance(value, list | tuple):
        return "a list of masks is expected, one per position"
    if len(value) != len(expected):
        letters = counted(len(expected) - 2, "letter")
        return f"{len(expected)} masks are expected, for {letters}, a colon and a space; these are {len(value)}"
    for place, (mask, right) in enumerate(zip(value, expected, strict=True)):
        if because := say_not_ids(mask) or ("" if same_set(mask, right) else f"expected {masks_in_words([right])}"):
            return f"position {place}: {because}"
    return ""


def masks_in_words(masks: Iterable[Iterable[int]]) -> str:
    """Masks over bard's characters, one character class per position.

    >>> masks_in_words([range(13, 39), {10}, {1, 0}])
    'A-Z | : | ↵ ␣'
    """
    return " | ".join(visible_bytes({ord(BARD[token]) for token in mask}) for mask in masks)
