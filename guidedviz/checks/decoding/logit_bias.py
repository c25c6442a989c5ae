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

TEXTS = {  # a text, whether it is JSON, and why
    "": (False, "the empty text is not JSON"),
    "{": (False, "the object is not closed"),
    "{}": (True, "an object may be empty"),
    "42": (True, "a number alone is JSON: the value need not be an object"),
    "[1]": (True, "a list is JSON: the value need not be an object"),
    "042": (False, "a number of JSON does not begin with 0"),
    "null": (True, "null alone is JSON: the value need not be an object"),
    "True": (False, "JSON writes true, not True as Python does"),
    "{} {}": (False, "two values are not one: something stands after the first"),
    "\n[]\n ": (True, "blanks and line ends around a value are allowed"),
    '"a{b"': (True, "a string alone is JSON, and it may hold any brace"),
    "Sure! {}": (False, "something stands before the JSON"),
    "{}\nDone!": (False, "something stands after the JSON"),
    "{1: true}": (False, "a key is a string"),
    '{"age"}': (False, "a key has a value"),
    '{"a": 1,}': (False, "no comma stands before the closing brace"),
    "{'age': 42}": (False, 'JSON has double quotes, ", and no single ones'),
    '{"age": 42}': (True, "this is JSON"),
    '[{"a": [-1.5e3]}]': (True, "a value may hold others"),
    '{"a": 1} {"b": 2}': (False, "two values are not one: something stands after the first"),
    '```json\n{"age": 42}\n```': (False, "a fence of backticks stands around the JSON"),
}


def check_parses(answer: Callable[[str], bool]) -> Verdict:
    """Does `answer(text)` say whether a text is valid JSON, with nothing before or after it?

    >>> check_parses(lambda text: text.startswith("{"))
    ✗ not yet right: on input 2 of 21, the smallest on which it fails
        input       '{'
        yours gave  True
        expected    False
        because     the object is not closed
    """
    cases = [Case((text,), right, why) for text, (right, why) in sorted(TEXTS.items(), key=lambda one: len(one[0]))]
    return check_function(answer, cases, lambda value, expected: value is expected)


def check_softmax(answer: Callable[[Any, float], Any]) -> Verdict:
    """Is `answer(logits, temperature)` softmax?

    >>> check_softmax(lambda logits, temperature: np.exp(logits) / np.exp(logits).sum())
    ✗ not yet right: on input 4 of 12, the smallest on which it fails
        input       [0, 1], 0.5
        yours gave  [0.2689, 0.7311]
        expected    [0.1192, 0.8808]
        because     divide by the temperature before you exponentiate
    """
    divide = "divide by the temperature before you exponentiate"
    large = "e to the power 1000 is too large for a float: first subtract the largest logit from all logits"
    small = "e to the power -1000 rounds to zero, and 0/0 is not a number: first subtract the largest logit"
    differences = "only differences count, so this gives what [1, 0] gives: subtract the largest logit, do not clip"
    largest = "what is left may still be too large: subtract the largest of the logits, not another number"
    trials: list[tuple[list[float], float, str]] = [
        ([0.0], 1.0, "one token has the whole probability"),
        ([0.0, 0.0], 1.0, "equal logits have equal probabilities, which add up to 1"),
        ([0.0, 1.0], 1.0, "e to the power of each logit, divided by the sum of these powers"),
        ([0.0, 1.0], 0.5, divide),
        ([0.0, 1.0], 2.0, divide),
        ([3.0, 1.0, 2.0, -1.0], 0.7, divide),
        ([1000.0, 0.0], 1.0, large),
        ([-1000.0, -1000.0], 1.0, small),
        ([1000.0, 999.0], 1.0, differences),
        ([3000.0, 0.0], 1.0, largest),
        ([0.0, 3000.0], 1.0, largest),
        ([2.0, 1.0], 0.001, "2 / 0.001 is 2000: first divide, then subtract the largest"),
    ]
    cases = [Case((np.array(l), t), softmax(np.array(l) / t), why) for l, t, why in trials]  # noqa: E741
    return check_function(answer, cases, close)


def check_spellings(answer: Callable[[Sequence[bytes], str], Iterable[int]]) -> Verdict:
    """Does `answer(pieces, word)` find every id whose piece is the word, ignoring case and surrounding blanks?

    >>> check_spellings(lambda pieces, word: [i for i, p in enumerate(pieces) if p == word.encode()])
    ✗ not yet right: on input 4 of 11, the smallest on which it fails
        input       [b' yes'], 'yes'
        yours gave  []
        expected    {0}
        because     a space in front is part of the piece
    """
    trials: list[tuple[list[bytes], set[int], str]] = [
        ([b"no"], set(), "no piece spells the word"),
        ([b"yes"], {0}, "this piece spells the word: pieces are bytes, so compare with word.encode()"),
        ([b"no", b"yes"], {1}, "ids are positions in the list of pieces"),
        ([b" yes"], {0}, "a space in front is part of the piece"),
        ([b"Yes"], {0}, "a capital letter makes another piece for the same word"),
        ([b"yesterday", b"eyes"], set(), "these pieces contain the word but are other words"),
        ([b"\xe2", b"yes"], {1}, "byte E2 alone cannot be decoded: use errors='replace', or compare bytes"),
        ([b"yes.", b"oh yes"], set(), "these pieces have more in them than the word and blanks"),
        ([b"yes\xe2"], set(), "this piece has a byte more: use errors='replace', not 'ignore'"),
        ([b"yes", b" no", b" YES", b"ye", b"yes\n", b" Yes"], {0, 2, 4, 5}, "a line end is a blank, too"),
    ]
    cases = [Case((pieces, "yes"), expected, why) for pieces, expected, why in trials]
    cases.append(Case(([b"yes", b" No"], "no"), {1}, "the word is given: it is no here, not yes"))
    return check_function(answer, cases, same_set)


YES_OR_NO = (
    "Is 3 greater than 12?\nYes or no:\n",
    "Hi! Is 31 greater than 12?\nYes or no:\n",
    "The bag holds a lamp, a spoon and a kite. Is there a drum in it?\nYes or no:\n",
)
AHEAD = 20  # as much as a model's logits usually differ


def check_only_answers(bias: Any, model: Model) -> Verdict:
    """Under this bias, is the first token always `yes` or `no`, in the model's own ratio?

    >>> pieces = [*(bytes([i]) for i in range(256)), b"yes", b"no"]
    >>> check_only_answers({0: 100}, gv.ToyModel(pieces, lambda tokens: [0.0] * 258))
    ✗ not yet right: on prompt 1 of 4
        input       'Is 3 greater than 12?\\nYes or no:\\n'
        yours gave  <0x00> 100.0%, <0x01> 0.0%, <0x02> 0.0%
        expected    yes and no together at least 99.9%
        because     <0x00> has a bias, too: prefer the ids of yes and of no, and nothing else
    """
    bias = safe_copy(bias)
    if bias is None or bias is ... or bias == {}:
        return Verdict("open", "the bias is empty so far: give it token ids and numbers from -100 to 100")
    words = [token for word in (b"yes", b"no") for token in model.vocabulary.ids(word)]
    asked = [(show(prompt), np.asarray(model.logits(model.encode(prompt)), dtype=float)) for prompt in YES_OR_NO]
    asked.append((f"a prompt after which all other logits are {AHEAD} larger", _others_ahead(model, words)))
    for number, (prompt, logits) in enumerate(asked, 1):
        said = f"on prompt {number} of {len(asked)}"
        try:
            before, after = softmax(logits), softmax(apply_bias(logits, bias))
        except (GuidedVizError, TypeError, ValueError, AttributeError) as error:
            return Verdict("wrong", "it cannot be used as a bias", (("yours is", show(bias)), ("because", str(error))))
        likeliest = np.argsort(-after, kind="stable")[:3]
        facts = (("input", prompt), ("yours gave", _say(model, likeliest, after[likeliest])))
        if after[words].sum() < 0.999:
            because = "the bias is too small for a prompt after which the model prefers other tokens"
            preferred = [token for token in likeliest if token not in words and bias.get(int(token), 0) > 0]
            if preferred:
                name = model.vocabulary.display(int(preferred[0]))
                because = f"{name} has a bias, too: prefer the ids of yes and of no, and nothing else"
            expected = "yes and no together at least 99.9%"
            return Verdict("wrong", said, (*facts, ("expected", expected), ("because", because)))
        own = before[words] / before[words].sum()
        if not np.allclose(after[words], own, atol=0.005):
            because = "unequal biases on the two words change the ratio of the model"
            return Verdict("wrong", said, (*facts, ("expected", _say(model, words, own)), ("because", because)))
    return Verdict("right", f"yes or no on all {len(asked)} prompts, in the model's own ratio")


def _others_ahead(model: Model, words: Sequence[int]) -> Any:
    """Logits by which every token but the words is preferred, and the first word to the others."""
    logits = np.full(len(model.vocabulary), float(AHEAD))
    logits[words] = -1.0
    logits[words[0]] = 0.0
    return logits


def _say(model: Model, tokens: Iterable[int], shares: Iterable[float]) -> str:
    return ", ".join(f"{model.vocabulary.display(int(t))} {share:.1%}" for t, share in zip(tokens, shares, strict=True))
