"""Lab 02: the mask, and masks by position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from guidedviz.checks.verdict import Case, Verdict, call, check_function, close
from guidedviz.machines.visible import visible_bytes

BARD = "\n !$&',-.3:;?" + ascii_uppercase + ascii_lowercase  # NanoGPT's order: the index is the id


def check_token_mask(answer: Callable[[Any, set[int]], Any]) -> Verdict:
    """Lab 02: does `answer(logits, legal)` put minus infinity at every id outside the set, and nothing else?

    >>> check_token_mask(lambda logits, legal: [x if i in legal else x - 100 for i, x in enumerate(logits)])
    ✗ not yet right: on input 2 of 7, the smallest on which it fails
        input       [1, 2], {0}
        yours gave  [1, -98]
        expected    [1, -inf]
    """
    away, out = -np.inf, "no finite number is low enough for every logit: take -np.inf"
    trials: list[tuple[list[float], set[int], Any, str]] = [
        ([1.0], {0}, [1.0], ""),
        ([1.0, 2.0], {0}, [1.0, away], ""),
        ([-5.0, -7.0], {0, 1}, [-5.0, -7.0], ""),
        ([1.0, 1e30, 2.0], {0, 2}, [1.0, away, 2.0], out),
        ([-1e30, 0.0], {0}, [-1e30, away], out),
        ([0.5, 0.25, 4.0, 3.0], {3}, [away, away, away, 3.0], ""),
        ([1.0, 2.0], set(), ValueError, "with no legal token there is nothing to draw: raise a ValueError"),
    ]
    cases = [Case((np.array(l), legal), e if e is ValueError else np.array(e), why) for l, legal, e, why in trials]  # noqa: E741
    return check_function(answer, cases, close)


def check_count_texts(answer: Callable[[Sequence[set[int]]], int]) -> Verdict:
    """Lab 02: does `answer(masks)` count the texts that position masks let through?

    >>> check_count_texts(lambda masks: sum(map(len, masks)))
    ✗ not yet right: on input 3 of 6, the smallest on which it fails
        input       [{0, 1}, {5}]
        yours gave  3
        expected    2
        because     each of the 2 first tokens can be followed by each of the 1 second ones
    """
    pairs = "each of the {} first tokens can be followed by each of the {} second ones"
    cases = [
        Case(([{0}],), 1),
        Case(([{0, 1}],), 2),
        Case(([{0, 1}, {5}],), 2, pairs.format(2, 1)),
        Case(([{0, 1}, {1, 2, 3}],), 6, pairs.format(2, 3)),
        Case(([{0, 1}, set()],), 0, "an empty mask lets nothing through"),
        Case(([set(range(26))] * 5 + [{0}],), 26**5),
    ]
    return check_function(answer, cases, lambda value, expected: bool(value == expected))


def check_name_masks(answer: Callable[[int], Sequence[Iterable[int]]]) -> Verdict:
    """Lab 02: does `answer(letters)` give the masks of `Name: ` for a name of so many letters?

    >>> lower, upper = range(39, 65), range(13, 39)
    >>> check_name_masks(lambda letters: [upper, *[lower] * letters, {10}, {1}])
    ✗ not yet right: on input 1 of 3, the smallest on which it fails
        input       1
        yours gave  A-Z | a-z | : | ␣
        expected    A-Z | : | ␣
    """
    upper, lower = ({BARD.index(c) for c in letters} for letters in (ascii_uppercase, ascii_lowercase))
    rest = [{BARD.index(":")}, {BARD.index(" ")}]
    verdict = check_function(
        answer, [Case((n,), [upper, *[lower] * (n - 1), *rest]) for n in (1, 2, 5)],
        lambda value, expected: [set(map(int, mask)) for mask in value] == expected,
    )  # fmt: skip
    if verdict.result != "wrong" or not callable(answer):
        return verdict
    return _with_masks_in_words(verdict, answer, [upper], [lower], rest)


def _with_masks_in_words(
    verdict: Verdict, answer: Callable[[int], Any], upper: list[set[int]], lower: list[set[int]], rest: list[set[int]]
) -> Verdict:
    """The facts of a failure with character classes for sets of ids."""
    facts = dict(verdict.facts)
    letters = int(facts["input"])
    value, _ = call(answer, (letters,))
    if _is_masks(value):
        facts["yours gave"] = masks_in_words(value)
    return Verdict(
        "wrong",
        verdict.said,
        tuple((facts | {"expected": masks_in_words([*upper, *lower * (letters - 1), *rest])}).items()),
    )


def _is_masks(value: Any) -> bool:
    try:
        return all(0 <= int(token) < len(BARD) for token in chain.from_iterable(value))
    except (TypeError, ValueError):
        return False


def masks_in_words(masks: Sequence[Iterable[int]]) -> str:
    """Position masks over bard's characters, as a person writes them.

    >>> masks_in_words([range(13, 39), {10}, {1, 0}])
    'A-Z | : | ↵ ␣'
    """
    return " | ".join(visible_bytes(ord(BARD[int(token)]) for token in mask) for mask in masks)
