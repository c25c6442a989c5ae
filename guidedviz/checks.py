"""Answers for students: is it right, on which input is it wrong, or is it not done yet.

A check runs the student's own code on inputs from small to large and stops at the first that disagrees. It never
raises for an answer, however wrong: a crash is shown with its input, as a wrong value would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from itertools import chain
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal

import numpy as np

from guidedviz.decoding.loop import Model
from guidedviz.decoding.sampling import apply_logit_bias, softmax
from guidedviz.errors import GuidedVizError
from guidedviz.machines.visible import visible_bytes

SIGNS = {
    "right": ("✓", "right", "#0b6e4f"),
    "wrong": ("✗", "not yet right", "#b3400a"),
    "open": ("○", "not done yet", "#5a6472"),
}
REASONS = ("because", "but")
BARD = "\n !$&',-.3:;?" + ascii_uppercase + ascii_lowercase  # NanoGPT's order: the index is the id

Same = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Verdict:
    """What a check found. `facts` are named lines: the input, what the answer gave, what was expected.

    >>> Verdict("wrong", "on the smallest of 2 inputs", (("input", "3"), ("yours gave", "4")))
    ✗ not yet right: on the smallest of 2 inputs
        input       3
        yours gave  4
    """

    result: Literal["right", "wrong", "open"]
    said: str
    facts: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return self.result == "right"

    def __repr__(self) -> str:
        icon, word, _ = SIGNS[self.result]
        return "\n".join([f"{icon} {word}: {self.said}", *(f"    {name:<10}  {value}" for name, value in self.facts)])

    def _repr_html_(self) -> str:
        icon, word, colour = SIGNS[self.result]
        rows = "".join(
            f"<tr><td style='text-align:left;padding:1px 14px 1px 0;opacity:.75'>{escape(name)}</td>"
            f"<td style='text-align:left;padding:1px 0'>{_cell(name, value)}</td></tr>"
            for name, value in self.facts
        )
        return (
            f"<div role='status' style='border-left:5px solid {colour};padding:6px 12px;margin:4px 0;max-width:60em'>"
            f"<span style='background:{colour};color:#fff;border-radius:3px;padding:1px 8px;font-weight:600'>"
            f"{icon} {word}</span> {escape(self.said)}"
            + (f"<table style='margin:6px 0 0'>{rows}</table>" if rows else "")
            + "</div>"
        )


def _cell(name: str, value: str) -> str:
    """A value as code, a reason as prose."""
    return escape(value) if name in REASONS else f"<code style='white-space:pre-wrap'>{escape(value)}</code>"


@dataclass(frozen=True)
class Case:
    """Arguments and the right answer; an exception class as the answer means that it has to be raised."""

    arguments: tuple[Any, ...]
    expected: Any
    why: str = ""  # one sentence for whoever fails here


# -- comparing -----------------------------------------------------------------------------------------------------


def check_function(answer: object, cases: Sequence[Case], same: Same) -> Verdict:
    """A function against cases, smallest first.

    >>> check_function(lambda x: abs(x), [Case((1,), 1), Case((-2,), -2)], lambda a, b: a == b)
    ✗ not yet right: on input 2 of 2, the smallest on which it fails
        input       -2
        yours gave  2
        expected    -2
    """
    if answer is None or answer is ...:
        return Verdict("open", "write the function, run its cell, then run this one")
    if not callable(answer):
        return Verdict("wrong", "a function is asked for", (("yours is", show(answer)),))
    gave = [_call(answer, case.arguments) for case in cases]
    if all(value is None or value is ... or isinstance(value, NotImplementedError) for value, _ in gave):
        return Verdict("open", "the function returns nothing so far; if you did write it, is a return missing?")
    for number, (case, (value, touched)) in enumerate(zip(cases, gave, strict=True), 1):
        if touched or not _agrees(value, case.expected, same):
            return _failure(f"on input {number} of {len(cases)}, the smallest on which it fails", case, value, touched)
    return Verdict("right", f"agrees on all {len(cases)} inputs")


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, bool]:
    """What a function gives, or the exception it raises; and whether it changed what it was given."""
    given = deepcopy(arguments)
    try:
        value = function(*given)
        if isinstance(value, Iterable) and not isinstance(value, Mapping | Sequence | set | frozenset | np.ndarray):
            value = list(value)
    except Exception as error:  # a student's crash is an answer
        value = error
    return value, any(_differs(a, b) for a, b in zip(arguments, given, strict=True))


def _differs(before: Any, after: Any) -> bool:
    try:
        return not np.array_equal(before, after) if isinstance(before, np.ndarray) else bool(before != after)
    except Exception:  # values that cannot be compared were certainly changed
        return True


def _agrees(value: Any, expected: Any, same: Same) -> bool:
    if isinstance(expected, type) and issubclass(expected, Exception):
        return isinstance(value, expected)
    try:
        return not isinstance(value, Exception) and bool(same(value, expected))
    except Exception:  # a value of a wrong kind
        return False


def _failure(said: str, case: Case, value: Any, touched: bool) -> Verdict:
    facts = [("input", ", ".join(show(a) for a in case.arguments)), ("yours gave", show(value))]
    if touched and not isinstance(value, Exception):
        return Verdict("wrong", said, (*facts, ("but", "it changed its input; work on a copy")))
    facts += [("expected", show(case.expected))]
    return Verdict("wrong", said, (*facts, *([("because", case.why)] if case.why else [])))


def show(value: Any) -> str:
    """A value as a student would write it, short.

    >>> show(np.array([0.5, -np.inf])), show({3, 1}), show(ValueError("no")), show(ValueError)
    ('[0.5, -inf]', '{1, 3}', 'ValueError: no', 'a ValueError')
    """
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}".rstrip(": ")
    if isinstance(value, type):
        return f"a {value.__name__}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    try:
        return _cut(_spell(value))
    except Exception:  # a student's class whose repr fails
        return f"a {type(value).__name__}"


def _spell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.4g}"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(map(_spell, sorted(value))) + "}" if value else "set()"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spell, value)) + "]"
    return repr(value)


def _cut(text: str, width: int = 160) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _close(value: Any, expected: Any) -> bool:
    numbers = np.asarray(value, dtype=float)
    return numbers.shape == np.shape(expected) and np.allclose(numbers, expected, rtol=1e-6, atol=1e-9)


def _same_set(value: Any, expected: Any) -> bool:
    return isinstance(value, Iterable) and {int(token) for token in value} == expected


# -- lab 00 --------------------------------------------------------------------------------------------------------


def check_parses(answer: Callable[[str], bool]) -> Verdict:
    """Lab 00: does `answer(text)` say whether a text is JSON and nothing but JSON?

    >>> check_parses(lambda text: text.startswith("{"))
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        input       '{'
        yours gave  True
        expected    False
    """
    yes = ["{}", "[1]", '{"age": 42}']
    no = ["", "{", "Sure! {}", "{}\nDone!", "{'age': 42}", '```json\n{"age": 42}\n```']
    cases = [Case((text,), text in yes) for text in sorted(yes + no, key=lambda text: (len(text), text not in yes))]
    return check_function(answer, cases, lambda value, expected: value is expected)


# -- lab 01 --------------------------------------------------------------------------------------------------------


def check_softmax(answer: Callable[[Any, float], Any]) -> Verdict:
    """Lab 01: is `answer(logits, temperature)` softmax?

    >>> check_softmax(lambda logits, temperature: np.exp(logits) / np.exp(logits).sum())
    ✗ not yet right: on input 4 of 8, the smallest on which it fails
        input       [0, 1], 0.5
        yours gave  [0.2689, 0.7311]
        expected    [0.1192, 0.8808]
        because     divide by the temperature before you exponentiate
    """
    divide = "divide by the temperature before you exponentiate"
    large = "e to the 1000 is too large for a float: subtract the largest logit from all of them first"
    small = "e to the -1000 is zero to a float, and 0/0 is no number: subtract the largest logit first"
    trials: list[tuple[list[float], float, str]] = [
        ([0.0], 1.0, ""),
        ([0.0, 0.0], 1.0, ""),
        ([0.0, 1.0], 1.0, ""),
        ([0.0, 1.0], 0.5, divide),
        ([0.0, 1.0], 2.0, divide),
        ([3.0, 1.0, 2.0, -1.0], 0.7, divide),
        ([1000.0, 0.0], 1.0, large),
        ([-1000.0, -1000.0], 1.0, small),
    ]
    cases = [Case((np.array(l), t), softmax(np.array(l) / t), why) for l, t, why in trials]  # noqa: E741
    with np.errstate(all="ignore"):
        return check_function(answer, cases, _close)


def check_spellings(answer: Callable[[Sequence[bytes], str], Iterable[int]]) -> Verdict:
    """Lab 01: does `answer(pieces, word)` find every id whose piece spells the word, blanks around it and case aside?

    >>> check_spellings(lambda pieces, word: [i for i, p in enumerate(pieces) if p == word.encode()])
    ✗ not yet right: on input 4 of 8, the smallest on which it fails
        input       [b' yes'], 'yes'
        yours gave  []
        expected    {0}
        because     a space in front is part of the piece
    """
    trials: list[tuple[list[bytes], set[int], str]] = [
        ([b"no"], set(), ""),
        ([b"yes"], {0}, ""),
        ([b"no", b"yes"], {1}, "ids are positions in the list of pieces"),
        ([b" yes"], {0}, "a space in front is part of the piece"),
        ([b"Yes"], {0}, "a capital makes another piece of the same word"),
        ([b"yesterday", b"eyes"], set(), "these pieces hold the word but spell another"),
        ([b"\xe2", b"yes"], {1}, "byte E2 alone is no text: decode with errors='replace', or compare bytes"),
        ([b"yes", b" no", b" YES", b"ye", b"yes\n", b" Yes"], {0, 2, 4, 5}, ""),
    ]
    cases = [Case((pieces, "yes"), expected, why) for pieces, expected, why in trials]
    return check_function(answer, cases, _same_set)


YES_OR_NO = (
    "Is 3 greater than 12?\nYes or no:\n",
    "Hi! Is 31 greater than 12?\nYes or no:\n",
    "The bag holds a lamp, a spoon and a kite. Is there a drum in it?\nYes or no:\n",
)


def check_only_answers(bias: Any, model: Model) -> Verdict:
    """Lab 01: under this bias, is the first token `yes` or `no` and nothing else, in the model's own ratio?

    >>> from guidedviz.decoding.toy import ToyModel
    >>> pieces = [*(bytes([i]) for i in range(256)), b"yes", b"no"]
    >>> check_only_answers({0: 100}, ToyModel(pieces, lambda tokens: [0.0] * 258))
    ✗ not yet right: on prompt 1 of 3
        input       'Is 3 greater than 12?\\nYes or no:\\n'
        yours gave  ␀ 100.0%, ␁ 0.0%, ␂ 0.0%
        expected    yes and no together at least 99.9%
    """
    if bias is None or bias is ... or bias == {}:
        return Verdict("open", "the bias is empty so far: give it token ids and numbers from -100 to 100")
    words = [token for word in (b"yes", b"no") for token in model.vocabulary.ids(word)]
    for number, prompt in enumerate(YES_OR_NO, 1):
        said = f"on prompt {number} of {len(YES_OR_NO)}"
        try:
            logits = np.asarray(model.logits(model.encode(prompt)), dtype=float)
            before, after = softmax(logits), softmax(apply_logit_bias(logits, bias))
        except (GuidedVizError, TypeError, ValueError, AttributeError) as error:
            return Verdict("wrong", "it cannot be used as a bias", (("yours is", show(bias)), ("because", str(error))))
        facts = (("input", show(prompt)), ("yours gave", _likeliest(model, after)))
        if after[words].sum() < 0.999:
            return Verdict("wrong", said, (*facts, ("expected", "yes and no together at least 99.9%")))
        own = before[words] / before[words].sum()
        if not np.allclose(after[words], own, atol=0.005):
            expected = ", ".join(
                f"{model.vocabulary.display(t)} {share:.1%}" for t, share in zip(words, own, strict=True)
            )
            because = "unequal biases on the two answer for the model"
            return Verdict("wrong", said, (*facts, ("expected", expected), ("because", because)))
    return Verdict("right", f"yes or no on all {len(YES_OR_NO)} prompts, in the model's own ratio")


def _likeliest(model: Model, probabilities: Any) -> str:
    best = np.argsort(-probabilities, kind="stable")[:3]
    return ", ".join(f"{model.vocabulary.display(int(t))} {probabilities[t]:.1%}" for t in best)


# -- lab 02 --------------------------------------------------------------------------------------------------------


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
    return check_function(answer, cases, _close)


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
    value, _ = _call(answer, (letters,))
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
