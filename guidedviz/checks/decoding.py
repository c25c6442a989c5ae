"""Exercises on decoding: what JSON is, softmax, a bias, masks, the distribution of masked decoding, drafts, windows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.checks.guard import safe_copy
from guidedviz.checks.verdict import Case, Verdict, cases_of, check_function, form, is_pair, say_not_ids, show
from guidedviz.decoding.sampling import Floats, apply_bias, apply_mask, sample, softmax
from guidedviz.errors import GuidedVizError
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible
from guidedviz.models.model import Model
from guidedviz.tokens.vocabulary import Vocabulary

Chances = Mapping[str, float]

# -- texts and JSON ------------------------------------------------------------------------------------------------

JSON_TEXTS = (
    ("", False, "the empty text is not JSON"),
    ("{", False, "the object is not closed"),
    ("{}", True, "an object may be empty"),
    ("42", True, "a number alone is JSON: the value need not be an object"),
    ("[1]", True, "a list is JSON: the value need not be an object"),
    ("042", False, "a number of JSON does not begin with 0"),
    ("null", True, "null alone is JSON: the value need not be an object"),
    ("True", False, "JSON writes true, not True as Python does"),
    ("{} {}", False, "two values are not one: something stands after the first"),
    ("\n[]\n ", True, "blanks and line ends around a value are allowed"),
    ('"a{b"', True, "a string alone is JSON, and it may hold any brace"),
    ('{"age"}', False, "a key has a value"),
    ("Sure! {}", False, "something stands before the JSON"),
    ("{}\nDone!", False, "something stands after the JSON"),
    ("{1: true}", False, "a key is a string"),
    ('{"a": 1,}', False, "no comma stands before the closing brace"),
    ("{'age': 42}", False, 'JSON has double quotes, ", and no single ones'),
    ('{"age": 42}', True, "this is JSON"),
    ('[{"a": [-1.5e3]}]', True, "a value may hold others"),
    ('{"a": 1} {"b": 2}', False, "two values are not one: something stands after the first"),
    ('```json\n{"age": 42}\n```', False, "a fence of backticks stands around the JSON"),
)
PROSE_TEXTS = (
    ("{}", "an empty object is an object: {}"),
    ("", "there is no object: None"),
    ("[1]", "a list is no object: None"),
    ("{", "the object is not closed: None"),
    ('{"a": 1}', "the text itself is an object"),
    ('Sure: {"a": 1}', "prose before the object is skipped"),
    ('{"a": 1}\nDone!', "what comes after the object is ignored"),
    ('{x} {"a": 1}', "a brace that begins no JSON is skipped; go on with the next one"),
    ('{"a": 1} {"b": 2}', "the first object is wanted"),
    ('{"a": {"b": 2}}', "the outer object begins first"),
    ('{"a": "}"}', "a brace inside a string closes nothing"),
    ('```json\n{"a": [1, {"b": null}]}\n```', "a fence is prose, too"),
    ('{\'a\': 1} or {"a": "{"}', "single quotes are not JSON, and the second brace begins an object"),
    ('{"a": {"b": 2}', "the outer object is not closed; the inner one is the first that is"),
    ("{" * 2000, "two thousand braces, and none begins an object: None"),
)


def check_parses(answer: Callable[[str], bool]) -> Verdict:
    """Does `answer(text)` say whether a text is valid JSON, with nothing before or after it?

    >>> check_parses(lambda text: text.startswith("{"))
    ✗ not yet right: on input 2 of 21, the smallest on which it fails
        input       '{'
        yours gave  True
        expected    False
        because     the object is not closed
    """
    return check_function(answer, [Case((text,), right, why) for text, right, why in JSON_TEXTS])


def check_cut_out(answer: Callable[[str], Any]) -> Verdict:
    """Does `answer(text)` give the value of the first JSON object in the text, or None?

    >>> check_cut_out(lambda text: json.loads(text) if text[:1] == "{" else None).facts[-1][1]
    'the object is not closed: None'
    """
    its_text = form(lambda value: not isinstance(value, str), "the value is expected, not its text")
    return check_function(answer, cases_of(cut_object, PROSE_TEXTS), its_text)


def cut_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text.

    >>> cut_object('Sure: {"a": 1}!')
    {'a': 1}
    """
    for place, char in enumerate(text):
        if char == "{":
            try:
                found: dict[str, Any] = json.JSONDecoder().raw_decode(text, place)[0]
            except ValueError:
                continue
            return found
    return None


# -- softmax and a bias --------------------------------------------------------------------------------------------

YES_OR_NO = (
    "Is 3 greater than 12?\nYes or no:\n",
    "Hi! Is 31 greater than 12?\nYes or no:\n",
    "The bag holds a lamp, a spoon and a kite. Is there a drum in it?\nYes or no:\n",
)
AHEAD = 20  # as much as a model's logits usually differ


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
        ([0], 1.0, "one token has the whole probability"),
        ([0, 0], 1.0, "equal logits have equal probabilities, which add up to 1"),
        ([0, 1], 1.0, "e to the power of each logit, divided by the sum of these powers"),
        ([0, 1], 0.5, divide),
        ([0, 1], 2.0, divide),
        ([3, 1, 2, -1], 0.7, divide),
        ([1000, 0], 1.0, large),
        ([-1000, -1000], 1.0, small),
        ([1000, 999], 1.0, differences),
        ([3000, 0], 1.0, largest),
        ([0, 3000], 1.0, largest),
        ([2, 1], 0.001, "2 / 0.001 is 2000: first divide, then subtract the largest"),
    ]
    arrays = [(np.array(logits, float), temperature, why) for logits, temperature, why in trials]
    return check_function(answer, cases_of(lambda logits, temperature: softmax(logits / temperature), arrays))


def check_spellings(answer: Callable[[Sequence[bytes], str], Iterable[int]]) -> Verdict:
    """Does `answer(pieces, word)` find every id whose piece is the word, ignoring case and surrounding blanks?

    >>> check_spellings(lambda pieces, word: [i for i, p in enumerate(pieces) if p == word.encode()])
    ✗ not yet right: on input 4 of 11, the smallest on which it fails
        input       [b' yes'], 'yes'
        yours gave  []
        expected    {0}
        because     a space in front is part of the piece
    """
    trials = [
        ([b"no"], "yes", "no piece spells the word"),
        ([b"yes"], "yes", "this piece spells the word: pieces are bytes, so compare with word.encode()"),
        ([b"no", b"yes"], "yes", "ids are positions in the list of pieces"),
        ([b" yes"], "yes", "a space in front is part of the piece"),
        ([b"Yes"], "yes", "a capital letter makes another piece for the same word"),
        ([b"yesterday", b"eyes"], "yes", "these pieces contain the word but are other words"),
        ([b"\xe2", b"yes"], "yes", "byte E2 alone cannot be decoded: use errors='replace', or compare bytes"),
        ([b"yes.", b"oh yes"], "yes", "these pieces have more in them than the word and blanks"),
        ([b"yes\xe2"], "yes", "this piece has a byte more: use errors='replace', not 'ignore'"),
        ([b"yes", b" no", b" YES", b"ye", b"yes\n", b" Yes"], "yes", "a line end is a blank, too"),
        ([b"yes", b" No"], "no", "the word is given: it is no here, not yes"),
    ]

    def reference(pieces: list[bytes], word: str) -> set[int]:
        return {token for token, piece in enumerate(pieces) if piece.strip().lower() == word.encode()}

    return check_function(answer, cases_of(reference, trials))


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
    ahead = np.full(len(model.vocabulary), float(AHEAD))
    ahead[words] = -1.0
    ahead[words[0]] = 0.0
    asked = [(show(prompt), np.asarray(model.logits(model.encode(prompt)), dtype=float)) for prompt in YES_OR_NO]
    asked.append((f"a prompt after which all other logits are {AHEAD} larger", ahead))
    for number, (prompt, logits) in enumerate(asked, 1):
        try:
            before, after = softmax(logits), softmax(apply_bias(logits, bias))
        except (GuidedVizError, TypeError, ValueError, AttributeError) as error:
            return Verdict("wrong", "it cannot be used as a bias", (("yours is", show(bias)), ("because", str(error))))
        likeliest = np.argsort(-after, kind="stable")[:3]
        own = before[words] / before[words].sum()
        if after[words].sum() < 0.999:
            expected = "yes and no together at least 99.9%"
            because = "the bias is too small for a prompt after which the model prefers other tokens"
            preferred = [token for token in likeliest if token not in words and bias.get(int(token), 0) > 0]
            if preferred:
                name = model.vocabulary.display(int(preferred[0]))
                because = f"{name} has a bias, too: prefer the ids of yes and of no, and nothing else"
        elif not np.allclose(after[words], own, atol=0.005):
            expected = _say_shares(model, words, own)
            because = "unequal biases on the two words change the ratio of the model"
        else:
            continue
        gave = ("yours gave", _say_shares(model, likeliest, after[likeliest]))
        facts = (("input", prompt), gave, ("expected", expected), ("because", because))
        return Verdict("wrong", f"on prompt {number} of {len(asked)}", facts)
    return Verdict("right", f"yes or no on all {len(asked)} prompts, in the model's own ratio")


def _say_shares(model: Model, tokens: Iterable[int], shares: Iterable[float]) -> str:
    return ", ".join(f"{model.vocabulary.display(int(t))} {share:.1%}" for t, share in zip(tokens, shares, strict=True))


# -- the mask of a step, and the loop ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FiveTokens:
    """A model of five tokens. Its logits depend on all tokens so far; the likeliest token is not always legal."""

    vocabulary: Vocabulary
    ahead: float = 0.0  # of the logit of token 3

    def logits(self, tokens: Sequence[int]) -> Floats:
        """One logit per token."""
        told = 7 * sum(tokens) + 3 * len(tokens)
        return np.array([(told + 5 * token) % 11 / 4 - self.ahead * (token != 3) for token in range(5)])


TOY = FiveTokens(Vocabulary([b"a", b"b", b"c", b"d", b"</s>"], eos={4}))


def check_token_mask(answer: Callable[[Any, set[int]], Any]) -> Verdict:
    """Does `answer(logits, legal)` put minus infinity at every id outside the set, and nothing else?

    >>> check_token_mask(lambda logits, legal: [x if i in legal else x - 100 for i, x in enumerate(logits)])
    ✗ not yet right: on input 3 of 7, the smallest on which it fails
        input       [1, 2], {0}
        yours gave  [1, -98]
        expected    [1, -inf]
        because     no finite number is low enough for all logits: use -np.inf
    """
    out = "no finite number is low enough for all logits: use -np.inf"
    trials: list[tuple[list[float], set[int], str]] = [
        ([1.0], {0}, "a legal logit stays as it was; to index an array, use list(legal), not the set"),
        ([0.0, -7.0], {0, 1}, "a legal logit stays as it was, zero and negative ones too"),
        ([1.0, 2.0], {0}, out),
        ([1.0, 1e30, 2.0], {0, 2}, out),
        ([-1e30, 0.0], {0}, out),
        ([0.5, 0.25, 4.0, 3.0], {3}, "the logits stay at the places of their ids"),
    ]
    cases = cases_of(apply_mask, [(np.array(logits), legal, why) for logits, legal, why in trials])
    none = Case(
        (np.array([1.0, 2.0]), set()), ValueError, "with no legal token nothing can be drawn: raise a ValueError"
    )
    return check_function(answer, [*cases, none])


def check_masked_loop(answer: Callable[[FiveTokens, Sequence[int], Sequence[set[int]], int], Sequence[int]]) -> Verdict:
    """Does `answer(model, tokens, masks, seed)` give the tokens that masked decoding writes after these tokens?

    >>> check_masked_loop(lambda model, tokens, masks, seed: [min(legal) for legal in masks])
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        tokens      [0]
        masks       [{0, 1}]
        seed        1
        yours gave  [0]
        expected    [1]
        because     the token is drawn: gv.sampling.sample(probabilities, seed, position)
    """
    drawn = "the token is drawn: gv.sampling.sample(probabilities, seed, position)"
    seen = "the model reads all tokens so far, the new ones too"
    stop = "an EOS token is written and ends the loop: stop if token in model.vocabulary.eos"
    far = "the logit of an illegal token can be far larger than all others: only -np.inf excludes it"
    loud = FiveTokens(TOY.vocabulary, ahead=400)
    trials: list[tuple[FiveTokens, list[int], list[set[int]], int, str]] = [
        (TOY, [0], [{2}], 0, "only this token is legal: mask the logits, then the softmax gives it probability 1"),
        (TOY, [0], [{0, 1}], 1, drawn),
        (TOY, [0], [{0, 1}], 3, drawn),
        (TOY, [3], [{0, 1}, {2, 3}], 0, "each position has its own mask"),
        (TOY, [1], [{0, 1, 2, 3}] * 6, 5, seen),
        (TOY, [2, 1], [{0, 1}, {2, 3}] * 4, 3, seen),
        (TOY, [0], [{4}, {0, 1}, {2}], 0, stop),
        (TOY, [0], [{0, 1, 4}] * 12, 7, stop),
        (loud, [0], [{0, 1}, {1, 2}], 2, far),
    ]
    return check_function(answer, cases_of(masked_loop, trials, "", "tokens", "masks", "seed"), _say_loop)


def masked_loop(model: FiveTokens, tokens: Sequence[int], masks: Sequence[set[int]], seed: int) -> list[int]:
    """The new tokens of masked decoding, until EOS or the last mask."""
    written: list[int] = []
    for position, legal in enumerate(masks):
        logits = apply_mask(model.logits([*tokens, *written]), legal)
        written.append(sample(softmax(logits), seed, position))
        if written[-1] in model.vocabulary.eos:
            break
    return written


def _say_loop(case: Case, value: Any) -> str:
    _, tokens, masks, _ = case.arguments
    if not isinstance(value, list | tuple):
        return "token ids are expected: a list with one whole number per new token"
    if not_ids := say_not_ids(value):
        return not_ids
    if [*value] == [*tokens, *case.expected]:
        return "only the new tokens are expected, without the tokens that were given"
    illegal = ((position, token) for position, token in enumerate(value[: len(masks)]) if token not in masks[position])
    for position, token in illegal:
        return f"token {token} is illegal at position {position}: {case.why}"
    return ""


# -- parts of the model --------------------------------------------------------------------------------------------


def check_rms_norm(answer: Callable[[Any, Any], Any]) -> Verdict:
    """Is `answer(x, weights)` RMSNorm with 1e-6 added to the mean?

    >>> check_rms_norm(lambda x, weights: x / np.sqrt(np.mean(x**2) + 1e-6) * weights)
    ✗ not yet right: on input 4 of 6, the smallest on which it fails
        input       [[3, 4], [0, 1]], [1, 1]
        yours gave  [[1.177, 1.569], [0, 0.3922]]
        expected    [[0.8485, 1.131], [0, 1.414]]
        because     each row has a mean of its own: axis=-1, keepdims=True
    """
    trials: list[tuple[list[list[float]], list[float], str]] = [
        ([[1, 1]], [1, 1], "the mean of the squares is 1, so next to nothing changes"),
        ([[3, 4]], [1, 1], "divide by the root of the mean of the squares, not of their sum"),
        ([[3, 4]], [2, -1], "multiply by the weights, number by number"),
        ([[3, 4], [0, 1]], [1, 1], "each row has a mean of its own: axis=-1, keepdims=True"),
        ([[0, 0]], [1, 1], "add 1e-6 to the mean: a row of zeros stays zero"),
        ([[0.001, 0.003]], [1, 1], "add 1e-6, that is 0.000001, to the mean, under the root"),
    ]

    def reference(x: Any, weights: Any) -> Any:
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * weights

    arrays = [(np.array(x, float), np.array(weights, float), why) for x, weights, why in trials]
    return check_function(answer, cases_of(reference, arrays))


def check_look(answer: Callable[[Any, Any, Any], Any]) -> Verdict:
    """Is `answer(query, keys, values)` what one head of attention gives one token?

    >>> check_look(lambda query, keys, values: values.mean(axis=0))
    ✗ not yet right: on input 3 of 5, the smallest on which it fails
        input       [2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]]
        yours gave  [0.5, 0.5]
        expected    [0.8044, 0.1956]
        because     softmax of keys @ query / root of the length of a key
    """
    soft = "softmax of keys @ query / root of the length of a key"
    trials: list[tuple[list[float], list[list[float]], list[list[float]], str]] = [
        ([1], [[1]], [[5, 6]], "one token sees itself only, so its weight is 1"),
        ([0, 0], [[1, 0], [0, 1]], [[2], [4]], "equal matches give equal weights"),
        ([2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]], soft),
        ([1, 2, 3, 4], [[1, 0, 0, 1], [0, 1, 0.5, 0]], [[1, 0], [0, 1]], soft),
        ([400], [[3], [1]], [[1], [2]], "subtract the largest match before you exponentiate"),
    ]

    def reference(query: Any, keys: Any, values: Any) -> Any:
        return softmax(keys @ query / np.sqrt(len(query))) @ values

    arrays = [(*(np.array(one, float) for one in given), why) for *given, why in trials]
    return check_function(answer, cases_of(reference, arrays))


# -- the distribution of masked decoding ---------------------------------------------------------------------------

CHANCES = {"a": 0.5, "b": 0.2, "c": 0.3}


def check_conditioned(answer: Callable[[Chances, set[str]], Chances]) -> Verdict:
    """Does `answer(chances, legal)` give the probability of each legal text among the legal texts?

    >>> check_conditioned(lambda chances, legal: {text: chances[text] for text in legal})
    ✗ not yet right: on input 2 of 6, the smallest on which it fails
        input       {'a': 0.5, 'b': 0.5}, {'a'}
        yours gave  {'a': 0.5}
        expected    {'a': 1.0}
        because     the probabilities of the legal texts add up to 1
    """
    ratio = "legal texts keep their ratios: divide each by the same sum"
    trials = [
        ({"a": 1.0}, {"a"}, "the only text keeps all"),
        ({"a": 0.5, "b": 0.5}, {"a"}, "the probabilities of the legal texts add up to 1"),
        ({"a": 0.25, "b": 0.5, "c": 0.25}, {"a", "b"}, ratio),
        ({"a": 0.2, "b": 0.3, "c": 0.5}, {"a", "b", "c"}, "with all texts legal nothing changes"),
        ({"07": 0.08, "10": 0.009, "19": 0.873, "06": 0.02, "12": 0.018}, {"07", "06", "10", "12"}, ratio),
        ({"x": 1e-12, "y": 3e-12, "z": 1.0}, {"x", "y"}, "small probabilities count as well"),
    ]

    def reference(chances: Chances, legal: set[str]) -> Chances:
        return {text: chances[text] / sum(chances[one] for one in legal) for text in sorted(legal)}

    def say(case: Case, value: Any) -> str:
        if not isinstance(value, dict):
            return "a dict is expected, from each legal text to its probability"
        return "only the legal texts are expected as keys" if value.keys() - case.expected.keys() else case.why

    return check_function(answer, cases_of(reference, trials), say)


def check_distance(answer: Callable[[Sequence[float]], float]) -> Verdict:
    """Does `answer(weights)` give half the mean distance between 1 and each weight divided by the mean weight?

    >>> check_distance(lambda weights: sum(abs(1 - w) for w in weights) / len(weights) / 2)
    ✗ not yet right: on input 2 of 7, the smallest on which it fails
        input       [0.5, 0.5]
        yours gave  0.25
        expected    0
        because     equal weights change nothing: divide each weight by the mean weight
    """
    half = "half of the mean distance: a draw with too large a share takes it from another one"
    trials = [
        ([1.0], "one draw differs from nothing"),
        ([0.5, 0.5], "equal weights change nothing: divide each weight by the mean weight"),
        ([1.0, 0.0], half),
        ([0.1, 0.3], half),
        ([0.2, 0.2, 0.8], "mean distance: divide the sum by the number of draws"),
        ([1e-9, 3e-9], "weights can be tiny; only their ratios count"),
        ([0.03] * 90 + [1.0] * 10, "few large weights among many small ones"),
    ]

    def reference(weights: Sequence[float]) -> float:
        mean = sum(weights) / len(weights)
        return sum(abs(1 - weight / mean) for weight in weights) / len(weights) / 2

    def say(case: Case, value: Any) -> str:
        negative = isinstance(value, int | float) and value < -1e-9
        return "a distance is never negative: use abs" if negative else ""

    return check_function(answer, cases_of(reference, trials), say)


def check_adaptive(answer: Callable[[Sequence[str], Chances, set[str]], tuple[str, float] | None]) -> Verdict:
    """Does `answer(order, chances, legal)` give the first legal token and the estimate of Z?

    >>> check_adaptive(lambda order, chances, legal: (order[0], 1.0)).facts[-1][1]
    'the first legal token in the order is expected'
    """
    trials = [
        ("abc", "abc", "if all tokens are legal, the estimate is 1"),
        ("bac", "a", "left is 1 minus the probabilities of the illegal tokens before"),
        ("abc", "ac", "more is about the next token in the order, whether it is legal"),
        ("abc", "ab", "the next token is legal: left * (share + (1 - share) * 1) is left"),
        ("cba", "b", "share is the probability of the token divided by left, not by 1"),
        ("bca", "ca", "after the illegal token all is legal: the estimate is what was left"),
        ("cba", "a", "no token follows the legal one: more is 0"),
        ("abc", "", "no token is legal: None"),
    ]

    def say(case: Case, value: Any) -> str:
        if value is not None and not is_pair(value, CHANCES):
            return "a pair is expected, the token and the estimate, or None"
        if value is not None and case.expected is not None and value[0] != case.expected[0]:
            return "the first legal token in the order is expected"
        return ""

    given = [(list(order), CHANCES, {*legal}, why) for order, legal, why in trials]
    return check_function(answer, cases_of(adaptive_step, given), say)


def adaptive_step(order: Sequence[str], chances: Chances, legal: set[str]) -> tuple[str, float] | None:
    """The first legal token and the estimate of Z, as `samplers.Adaptive` takes the step.

    >>> adaptive_step("bac", CHANCES, {"a"})
    ('a', 0.5)
    """
    place = next((place for place, token in enumerate(order) if token in legal), None)
    if place is None:
        return None
    left = 1 - sum(chances[token] for token in order[:place])
    share = chances[order[place]] / left
    return order[place], left * (share + (1 - share) * any(token in legal for token in order[place + 1 : place + 2]))


# -- drafts and windows --------------------------------------------------------------------------------------------

EVEN, HIGH = {"a": 0.5, "b": 0.5}, {"a": 0.2, "b": 0.8}
THREE = ({"a": 0.2, "b": 0.3, "c": 0.5}, {"a": 0.6, "b": 0.2, "c": 0.2})
GUESSES: tuple[tuple[Chances, Chances, str, float, str], ...] = (
    (EVEN, EVEN, "a", 0.99, "p / q is 1, so every guess is accepted: None"),
    (HIGH, EVEN, "b", 0.99, "p is above q, so the guess is accepted whatever u is: None"),
    (HIGH, EVEN, "a", 0.3, "u is below p / q = 0.4: accepted"),
    (HIGH, EVEN, "a", 0.9, "u is above p / q = 0.4: rejected; only b has more in p than in q"),
    (HIGH, EVEN, "a", 0.45, "accept by u < p / q, not by u < q or u < 0.5"),
    (*THREE, "a", 0.9, "divide the differences by their sum, 0.4: b 0.25, c 0.75"),
    ({"b": 0.5, "c": 0.5}, EVEN, "a", 0.0, "a is illegal, it is missing in p: rejected even at u = 0"),
    ({"b": 0.25, "c": 0.75}, {"a": 1.0}, "a", 0.5, "q gives nothing to b and c, so the residual is p"),
    ({"a": 0.1, "b": 0.9}, {"a": 0.1, "b": 0.1, "c": 0.8}, "c", 0.5, "a has no more in p than in q: it is not listed"),
)

State = tuple[str, Any]  # "free" with the bytes of the trigger read so far, or "in" with a state of the machine
NUMBER, TIME = "[0-9]+", "[0-9:]+"
FREE = "in free text every byte is legal; one that does not go on with the trigger leaves b''"
OPENS = "the trigger is complete: the window opens at the machine's initial state"
INSIDE = "in the window the trigger has no meaning: only the machine counts"
AGAIN = "the trigger may begin again: keep the longest beginning of the trigger with which the text ends"
# a regex, a trigger, a state (inside the window: the text read so far), a byte, and what a wrong answer has missed
WINDOWS: tuple[tuple[str, bytes, State, bytes, str], ...] = (
    (NUMBER, b":", ("free", b""), b"x", FREE),
    (NUMBER, b":", ("free", b""), b":", OPENS),
    (NUMBER, b":", ("in", b""), b"4", "in the window the machine reads the byte"),
    (NUMBER, b":", ("in", b""), b"x", "in the window a byte that the machine refuses is illegal: None"),
    (NUMBER, b"A:", ("free", b""), b"A", "the first byte of the trigger is remembered"),
    (NUMBER, b"A:", ("free", b"A"), b"b", FREE),
    (NUMBER, b"A:", ("free", b"A"), b":", OPENS),
    (NUMBER, b"A:", ("free", b"A"), b"A", AGAIN),
    (NUMBER, b"A:", ("in", b"12"), b"A", INSIDE),
    (TIME, b":", ("in", b"12"), b":", INSIDE),
    (NUMBER, b"::=", ("free", b"::"), b":", AGAIN),
    (NUMBER, b"abab!", ("free", b"abab"), b"a", AGAIN),
    (NUMBER, b"abab!", ("free", b"abab"), b"!", OPENS),
    (NUMBER, b"A:", ("free", b""), b"\xff", FREE),
)


def check_accept(answer: Callable[[Chances, Chances, str, float], Chances | None]) -> Verdict:
    """Does `answer(p, q, token, u)` accept (None) or give the residual distribution?

    >>> check_accept(lambda p, q, token, u: None if token in p else p).facts[-1][1]
    'u is above p / q = 0.4: rejected; only b has more in p than in q'
    """
    words = "a dict is expected after a rejection, and None after an acceptance"
    return check_function(answer, cases_of(judge_guess, GUESSES), form(lambda value: isinstance(value, dict), words))


def judge_guess(p: Chances, q: Chances, token: str, u: float) -> dict[str, float] | None:
    """The rule of speculative decoding, by the definition.

    >>> judge_guess(HIGH, EVEN, "a", 0.9)
    {'b': 1.0}
    """
    if u * q[token] < p.get(token, 0.0):
        return None
    more = {one: p[one] - q.get(one, 0.0) for one in sorted(p) if p[one] > q.get(one, 0.0)}
    return {one: share / sum(more.values()) for one, share in more.items()}


def check_window_step(answer: Callable[[Machine[Any], bytes, State, int], State | None]) -> Verdict:
    """Does `answer(machine, trigger, state, byte)` give the state after one more byte, or None?

    >>> check_window_step(lambda machine, trigger, state, byte: ("free", b"")).facts[-1][1]
    "the trigger is complete: the window opens at the machine's initial state"
    """
    cases = []
    for pattern, trigger, (kind, inside), byte, why in WINDOWS:
        machine = regex(pattern)
        state = (kind, read(machine, inside) if kind == "in" else inside)
        given = (("machine", pattern), ("trigger", str(trigger)), ("state", show(state)), ("byte", visible(byte)))
        expected = step_window(machine, trigger, state, byte[0])
        cases.append(Case((machine, trigger, state, byte[0]), expected, why, given))
    words = 'a pair is expected, ("free", bytes) or ("in", state), or None'
    return check_function(answer, cases, form(lambda value: is_pair(value, ("free", "in")), words))


def step_window(machine: Machine[Any], trigger: bytes, state: State, byte: int) -> State | None:
    """One byte of a window, by the definition: free text up to a trigger, then a machine.

    >>> step_window(regex("[0-9]+"), b"A:", ("free", b"A"), ord("A"))
    ('free', b'A')
    """
    kind, inside = state
    if kind == "in":
        after = machine.step(inside, byte)
        return None if after is None else ("in", after)
    text = inside + bytes([byte])
    if text == trigger:
        return "in", machine.initial
    return "free", next(text[at:] for at in range(len(text) + 1) if trigger.startswith(text[at:]))
