"""Which texts are JSON, softmax, the tokens of a word, and a logit bias that leaves two answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from guidedviz.checks.guard import safe_copy
from guidedviz.checks.judge import Case, check_function, close, same_set
from guidedviz.checks.verdict import Verdict, show
from guidedviz.decoding.sampling import apply_bias, softmax
from guidedviz.errors import GuidedVizError
from guidedviz.models.model import Model


def check_parses(answer: Callable[[str], bool]) -> Verdict:
    """Does `answer(text)` say whether a text is valid JSON, with nothing before or after it?

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


def check_softmax(answer: Callable[[Any, float], Any]) -> Verdict:
    """Is `answer(logits, temperature)` softmax?

    >>> check_softmax(lambda logits, temperature: np.exp(logits) / np.exp(logits).sum())
    ✗ not yet right: on input 4 of 8, the smallest on which it fails
        input       [0, 1], 0.5
        yours gave  [0.2689, 0.7311]
        expected    [0.1192, 0.8808]
        because     divide by the temperature before you exponentiate
    """
    divide = "divide by the temperature before you exponentiate"
    large = "e to the power 1000 is too large for a float: first subtract the largest logit from all logits"
    small = "e to the power -1000 rounds to zero, and 0/0 is not a number: first subtract the largest logit"
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
    return check_function(answer, cases, close)


def check_spellings(answer: Callable[[Sequence[bytes], str], Iterable[int]]) -> Verdict:
    """Does `answer(pieces, word)` find every id whose piece is the word, ignoring case and surrounding blanks?

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
        ([b"Yes"], {0}, "a capital letter makes another piece for the same word"),
        ([b"yesterday", b"eyes"], set(), "these pieces contain the word but are other words"),
        ([b"\xe2", b"yes"], {1}, "byte E2 alone cannot be decoded: use errors='replace', or compare bytes"),
        ([b"yes", b" no", b" YES", b"ye", b"yes\n", b" Yes"], {0, 2, 4, 5}, ""),
    ]
    cases = [Case((pieces, "yes"), expected, why) for pieces, expected, why in trials]
    return check_function(answer, cases, same_set)


YES_OR_NO = (
    "Is 3 greater than 12?\nYes or no:\n",
    "Hi! Is 31 greater than 12?\nYes or no:\n",
    "The bag holds a lamp, a spoon and a kite. Is there a drum in it?\nYes or no:\n",
)


def check_only_answers(bias: Any, model: Model) -> Verdict:
    """Under this bias, is the first token always `yes` or `no`, in the model's own ratio?

    >>> pieces = [*(bytes([i]) for i in range(256)), b"yes", b"no"]
    >>> check_only_answers({0: 100}, gv.ToyModel(pieces, lambda tokens: [0.0] * 258))
    ✗ not yet right: on prompt 1 of 3
        input       'Is 3 greater than 12?\\nYes or no:\\n'
        yours gave  <0x00> 100.0%, <0x01> 0.0%, <0x02> 0.0%
        expected    yes and no together at least 99.9%
    """
    bias = safe_copy(bias)
    if bias is None or bias is ... or bias == {}:
        return Verdict("open", "the bias is empty so far: give it token ids and numbers from -100 to 100")
    words = [token for word in (b"yes", b"no") for token in model.vocabulary.ids(word)]
    for number, prompt in enumerate(YES_OR_NO, 1):
        said = f"on prompt {number} of {len(YES_OR_NO)}"
        try:
            logits = np.asarray(model.logits(model.encode(prompt)), dtype=float)
            before, after = softmax(logits), softmax(apply_bias(logits, bias))
        except (GuidedVizError, TypeError, ValueError, AttributeError) as error:
            return Verdict("wrong", "it cannot be used as a bias", (("yours is", show(bias)), ("because", str(error))))
        likeliest = np.argsort(-after, kind="stable")[:3]
        facts = (("input", show(prompt)), ("yours gave", _say(model, likeliest, after[likeliest])))
        if after[words].sum() < 0.999:
            return Verdict("wrong", said, (*facts, ("expected", "yes and no together at least 99.9%")))
        own = before[words] / before[words].sum()
        if not np.allclose(after[words], own, atol=0.005):
            because = "unequal biases on the two words change the ratio of the model"
            return Verdict("wrong", said, (*facts, ("expected", _say(model, words, own)), ("because", because)))
    return Verdict("right", f"yes or no on all {len(YES_OR_NO)} prompts, in the model's own ratio")


def _say(model: Model, tokens: Iterable[int], shares: Iterable[float]) -> str:
    return ", ".join(f"{model.vocabulary.display(int(t))} {share:.1%}" for t, share in zip(tokens, shares, strict=True))
