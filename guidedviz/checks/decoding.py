"""Exercises on decoding: what JSON is, softmax, a bias, masks, the distribution of masked decoding, drafts, windows."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.checks.guard import safe_copy
from guidedviz.checks.verdict import EMPTY, Case, Trials, Verdict, arrays, cases_of, check_function, is_empty, show
from guidedviz.decoding.sampling import Floats, apply_bias, apply_mask, sample, softmax
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import json as json_machine
from guidedviz.machines.regular.regex import regex
from guidedviz.models.model import Model
from guidedviz.tokens.vocabulary import Vocabulary

Chances = Mapping[str, float]

# -- texts and JSON ------------------------------------------------------------------------------------------------

FENCE = '```json\n{"a": [1, {"b": null}]}\n```'
JSON_TEXTS = {
    "the text ends before its JSON does": ["", "{"],
    "an object may be empty": ["{}"],
    "a number, a text, a list or null alone is JSON: the value need not be an object": ["42", "[1]", "null", '"a{b"'],
    "a number of JSON does not begin with 0": ["042"],
    "JSON writes true, not True as Python does": ["True"],
    "a key is a text in double quotes, and it has a value": ['{"age"}', "{1: true}", "{'age': 42}"],
    "no comma stands before the closing brace": ['{"a": 1,}'],
    "blanks and line ends around a value are allowed": ["\n[]\n "],
    "something stands before or after the JSON": ["`1`", "{} {}", "Sure! {}", "{}\nDone!", FENCE, '{"a": 1} {"b": 2}'],
    "a value may hold others": ['{"age": 42}', '[{"a": [-1.5e3]}]'],
}
PROSE_TEXTS = {
    "an empty object is an object: {}": ["{}"],
    "there is no object: None": ["", "[1]", "{"],
    "prose before and after the object is skipped": ['Sure: {"a": 1}', '{"a": 1}\nDone!', FENCE],
    "the first object is wanted": ['{"a": 1} {"b": 2}', '{} {"b": 2}'],
    "the outer object begins first": ['{"a": {"b": 2}}'],
    "a brace inside a string closes nothing": ['{"a": "}"}'],
    "a brace that begins no JSON is skipped; go on with the next one": ['{x} {"a": 1}', '{\'a\': 1} or {"a": "{"}'],
    "the outer object is not closed; the inner one is the first that is": ['{"a": {"b": 2}'],
}


def check_parses(answer: Callable[[str], bool]) -> Verdict:
    """Does `answer(text)` say whether a text is valid JSON, with nothing before or after it?

    >>> check_parses(lambda text: text.startswith("{"))
    ✗ not yet right: on input 2 of 22, the first on which it fails
        input       '{'
        yours gave  True
        expected    False
        because     the text ends before its JSON does
    """
    return check_function(answer, cases_of(lambda text: json_machine().accepts(text.encode()), JSON_TEXTS))


def check_cut_out(answer: Callable[[str], Any]) -> Verdict:
    """Does `answer(text)` give the value of the first JSON object in the text, or None?

    >>> check_cut_out(lambda text: json.loads(text) if text[:1] == "{" else None).facts[-1][1]
    'there is no object: None'
    """
    return check_function(answer, cases_of(cut_object, PROSE_TEXTS))


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

LOGITS: Trials = {
    "one token has the whole probability": [([0], 1.0)],
    "equal logits have equal probabilities, which add up to 1": [([0, 0], 1.0)],
    "e to the power of each logit, divided by the sum of these powers": [([0, 1], 1.0)],
    "divide by the temperature before you exponentiate": [([0, 1], 0.5), ([0, 1], 2.0), ([3, 1, 2, -1], 0.7)],
    "a power of e is too large or too small for a float: first subtract the largest logit from all logits": [
        ([1000, 0], 1.0), ([-1000, -1000], 1.0), ([1000, 999], 1.0), ([0, 3000], 1.0), ([3000, 0], 1.0),
    ],
    "2 / 0.001 is 2000: first divide, then subtract the largest": [([2, 1], 0.001)],
}  # fmt: skip
PIECES = {
    "no piece spells the word": [([b"no"], "yes")],
    "pieces are bytes, so compare with word.encode(); ids are positions in the list": [
        ([b"no", b"yes", b"yes"], "yes")
    ],
    "a space in front or a line end is part of the piece": [([b" yes"], "yes"), ([b"no", b"  yes\n"], "yes")],
    "a capital letter makes another piece for the same word": [([b"Yes", b" YES", b"yeS"], "yes")],
    "these pieces have more in them than the word and blanks": [([b"yesterday", b"eyes", b"y es", b"oh yes"], "yes")],
    "decode with errors='replace', not 'ignore', or compare bytes": [([b"\xe2", b"yes"], "yes"), ([b"yes\xe2"], "yes")],
    "the word is given: it is no here, not yes": [([b"yes", b" No", b"on"], "no")],
    "a word may hold signs that a regex reads as its own: use re.escape": [([b"c++", b"cc"], "c++")],
}
YES_OR_NO = (
    "Is 3 greater than 12?\nYes or no:\n",
    "Hi! Is 31 greater than 12?\nYes or no:\n",
    "The bag holds a lamp, a spoon and a kite. Is there a drum in it?\nYes or no:\n",
)
AHEAD = 20  # as much as a model's logits usually differ


def check_softmax(answer: Callable[[Any, float], Any]) -> Verdict:
    """Is `answer(logits, temperature)` softmax?

    >>> check_softmax(lambda logits, temperature: np.exp(logits) / np.exp(logits).sum())
    ✗ not yet right: on input 4 of 12, the first on which it fails
        input       [0, 1], 0.5
        yours gave  [0.2689, 0.7311]
        expected    [0.1192, 0.8808]
        because     divide by the temperature before you exponentiate
    """
    return check_function(answer, cases_of(softmax, arrays(LOGITS)))


def check_spellings(answer: Callable[[Sequence[bytes], str], Iterable[int]]) -> Verdict:
    """Does `answer(pieces, word)` find every id whose piece is the word, ignoring case and surrounding blanks?

    >>> check_spellings(lambda pieces, word: [i for i, p in enumerate(pieces) if p == word.encode()])
    ✗ not yet right: on input 3 of 10, the first on which it fails
        input       [b' yes'], 'yes'
        yours gave  []
        expected    {0}
        because     a space in front or a line end is part of the piece
    """

    def reference(pieces: list[bytes], word: str) -> set[int]:
        return {token for token, piece in enumerate(pieces) if piece.strip().lower() == word.encode()}

    return check_function(answer, cases_of(reference, PIECES))


def check_only_answers(bias: Any, model: Model) -> Verdict:
    """Under this bias, is the first token always `yes` or `no`, in the model's own ratio?

    >>> pieces = [*(bytes([i]) for i in range(256)), b"yes", b"no"]
    >>> check_only_answers({0: 100}, gv.ToyModel(pieces, lambda tokens: [0.0] * 258))
    ✗ not yet right: on input 1 of 4, the first on which it fails
        prompt      'Is 3 greater than 12?\\nYes or no:\\n'
        yours gave  {'<0x00>': 1}
        expected    {'yes': 0.5, 'no': 0.5}
        because     yes and no have at least 99.9% together, in the model's own ratio: give them equal, large biases
    """
    bias = safe_copy(bias)
    if is_empty(bias):
        return EMPTY
    words = [token for word in (b"no", b"yes") for token in model.vocabulary.ids(word)]

    def shares(probabilities: Any) -> dict[str, float]:
        likely = sorted(np.flatnonzero(probabilities > 0.001))
        return {model.vocabulary.display(int(token)): float(probabilities[token]) for token in likely}

    def same(value: dict[str, float], expected: dict[str, float]) -> bool:
        return value.keys() == expected.keys() and all(abs(value[one] - expected[one]) < 0.005 for one in expected)

    ahead = np.full(len(model.vocabulary), float(AHEAD))
    ahead[words] = [0.0, *[-1.0] * (len(words) - 1)]
    asked = {show(prompt): np.asarray(model.logits(model.encode(prompt)), dtype=float) for prompt in YES_OR_NO}
    asked[f"a prompt after which all other logits are {AHEAD} larger"] = ahead
    why = "yes and no have at least 99.9% together, in the model's own ratio: give them equal, large biases"
    cases = []
    for prompt, logits in asked.items():
        own = shares(softmax(apply_mask(logits, words)))
        cases.append(Case((logits,), own, why, (("prompt", prompt),)))
    return check_function(lambda logits: shares(softmax(apply_bias(logits, bias))), cases, same=same)


# -- the mask of a step, and the loop ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FiveTokens:
    """A model of five tokens. Its logits depend on all tokens so far; the likeliest token is not always legal."""

    vocabulary: Vocabulary
    ahead: float = 0.0  # of the logit of token 3

    def logits(self, tokens: Sequence[int]) -> Floats:
        """One logit per token."""
        told = sum(token * place**2 for place, token in enumerate(tokens, 1)) + 3 * len(tokens)
        return np.array([(told + 5 * token) % 11 / 4 - self.ahead * (token != 3) for token in range(5)])


TOY = FiveTokens(Vocabulary([b"a", b"b", b"c", b"d", b"</s>"], eos={4}))
LOUD = FiveTokens(Vocabulary([b"</s>", b"a", b"b", b"c", b"d"], eos={0}), ahead=800)
MASKED: Trials = {
    "a legal logit stays as it was; to index an array, use list(legal), not the set": [([1], {0}), ([0, -7], {0, 1})],
    "no finite number is low enough for all logits: use -np.inf": [
        ([1, 2], {0}), ([1, 2, 1e30], {0, 1}), ([-1e30, 0], {0}),
    ],
    "the logits stay at the places of their ids": [([0.5, 0.25, 4, 3], {1, 3}), ([2, 2], {1})],
}  # fmt: skip
LOOPS: Trials = {
    "only this token is legal; the new tokens are expected, without those that were given": [(TOY, [0], [{2}], 0)],
    "the token is drawn: gv.sampling.sample(probabilities, seed, position)": [(TOY, [0], [{0, 2, 3}], 8)],
    "each position, from 0, has its own draw: sample(..., seed, position)": [(TOY, [2, 1], [{0, 1}] * 3, 2)],
    "each position has its own mask": [(TOY, [3], [{0, 1}, {2, 3}], 0)],
    "the model reads all tokens so far, in order, the new ones too": [(TOY, [0, 3, 1], [{0, 1, 2, 3}] * 6, 5)],
    "an illegal logit can be very large: mask it by -np.inf before the softmax": [(LOUD, [0], [{1, 2}, {1, 2}], 2)],
    "EOS is written and ends the loop: stop if token in model.vocabulary.eos": [
        (TOY, [0], [{4}, {0, 1}, {2}], 0), (LOUD, [0, 3, 1], [{1, 2}, {0, 4}, {1}], 1)],
    "without masks nothing is written": [(TOY, [0], [], 0)],
}  # fmt: skip


def check_token_mask(answer: Callable[[Any, set[int]], Any]) -> Verdict:
    """Does `answer(logits, legal)` put minus infinity at every id outside the set, and nothing else?

    >>> check_token_mask(lambda logits, legal: [x if i in legal else x - 100 for i, x in enumerate(logits)])
    ✗ not yet right: on input 3 of 8, the first on which it fails
        input       [1, 2], {0}
        yours gave  [1, -98]
        expected    [1, -inf]
        because     no finite number is low enough for all logits: use -np.inf
    """
    why = "with no legal token nothing can be drawn: raise a ValueError"
    none = Case((np.array([1.0, 2.0]), set()), ValueError, why)
    return check_function(answer, [*cases_of(apply_mask, arrays(MASKED)), none])


def check_masked_loop(answer: Callable[[FiveTokens, Sequence[int], Sequence[set[int]], int], Sequence[int]]) -> Verdict:
    """Does `answer(model, tokens, masks, seed)` give the tokens that masked decoding writes after these tokens?

    >>> check_masked_loop(lambda model, tokens, masks, seed: [min(legal) for legal in masks])
    ✗ not yet right: on input 2 of 9, the first on which it fails
        tokens      [0]
        masks       [{0, 2, 3}]
        seed        8
        yours gave  [0]
        expected    [2]
        because     the token is drawn: gv.sampling.sample(probabilities, seed, position)
    """
    return check_function(answer, cases_of(masked_loop, LOOPS, "", "tokens", "masks", "seed"))


def masked_loop(model: FiveTokens, tokens: Sequence[int], masks: Sequence[set[int]], seed: int) -> list[int]:
    """The new tokens of masked decoding, until EOS or the last mask."""
    written: list[int] = []
    for position, legal in enumerate(masks):
        logits = apply_mask(model.logits([*tokens, *written]), legal)
        written.append(sample(softmax(logits), seed, position))
        if written[-1] in model.vocabulary.eos:
            break
    return written


# -- parts of the model --------------------------------------------------------------------------------------------

ROWS: Trials = {
    "divide by the root of the mean of the squares, not of their sum": [([[1, 1]], [1, 1]), ([[3, 4]], [1, 1])],
    "multiply by the weights, number by number": [([[3, 4]], [2, -1])],
    "each row has a mean of its own: axis=-1, keepdims=True": [([[3, 4], [0, 1]], [1, 1]), ([[2, 1, 2]], [1, 1, 3])],
    "add 1e-6 to the mean, under the root": [([[0, 0]], [1, 1]), ([[0.001, 0.003]], [1, 1])],
}
LOOKS: Trials = {
    "one token sees itself only, so its weight is 1": [([1], [[1]], [[5, 6]])],
    "equal matches give equal weights": [([0, 0], [[1, 0], [0, 1]], [[2], [4]])],
    "softmax of keys @ query / root of the length of a key": [
        ([2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]]),
        ([1, 2, 3, 4], [[1, 0, 0, 1], [0, 1, 0.5, 0]], [[1, 0], [0, 1]]),
        ([1, 2], [[1, 0], [0, 1], [1, 1]], [[1, 0], [2, 1], [0, 3]]),
    ],
    "subtract the largest match before you exponentiate": [([400], [[3], [1]], [[1], [2]])],
}


def check_rms_norm(answer: Callable[[Any, Any], Any]) -> Verdict:
    """Is `answer(x, weights)` RMSNorm with 1e-6 added to the mean?

    >>> check_rms_norm(lambda x, weights: x / np.sqrt(np.mean(x**2) + 1e-6) * weights)
    ✗ not yet right: on input 4 of 7, the first on which it fails
        input       [[3, 4], [0, 1]], [1, 1]
        yours gave  [[1.177, 1.569], [0, 0.3922]]
        expected    [[0.8485, 1.131], [0, 1.414]]
        because     each row has a mean of its own: axis=-1, keepdims=True
    """
    cases = cases_of(lambda x, w: x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * w, arrays(ROWS))
    return check_function(answer, cases)


def check_look(answer: Callable[[Any, Any, Any], Any]) -> Verdict:
    """Is `answer(query, keys, values)` what one head of attention gives one token?

    >>> check_look(lambda query, keys, values: values.mean(axis=0))
    ✗ not yet right: on input 3 of 6, the first on which it fails
        input       [2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]]
        yours gave  [0.5, 0.5]
        expected    [0.8044, 0.1956]
        because     softmax of keys @ query / root of the length of a key
    """
    cases = cases_of(lambda q, keys, values: softmax(keys @ q / np.sqrt(len(q))) @ values, arrays(LOOKS))
    return check_function(answer, cases)


# -- the distribution of masked decoding ---------------------------------------------------------------------------

CHANCES = {"a": 0.4, "b": 0.2, "c": 0.3, "d": 0.1}
LEGAL = {
    "the probabilities of the legal texts add up to 1": [({"a": 1.0}, {"a"}), ({"a": 0.5, "b": 0.5}, {"a"})],
    "legal texts keep their ratios: divide each by the same sum": [
        ({"a": 0.25, "b": 0.5, "c": 0.25}, {"a", "b"}),
        ({"07": 0.08, "10": 0.009, "19": 0.873, "06": 0.02, "12": 0.018}, {"07", "06", "10", "12"}),
    ],
    "small probabilities count as well": [({"x": 1e-12, "y": 3e-12, "z": 1.0}, {"x", "y"})],
}
WEIGHTS = {
    "equal weights change nothing: divide each weight by the mean weight": [[1.0], [0.5, 0.5]],
    "half of the mean of abs(1 - weight / mean), where mean is the mean weight": [
        [1.0, 0.0], [0.1, 0.3], [0.2, 0.2, 0.8],
    ],
    "weights can be tiny; only their ratios count": [[1e-9, 3e-9]],
    "few large weights among many small ones": [[0.03] * 90 + [1.0] * 10],
}  # fmt: skip
ORDERS = {  # the order, and the legal tokens
    "the first legal token is expected; if all tokens are legal, the estimate is 1": [("abcd", "abcd")],
    "left is 1 minus the probabilities of the illegal tokens before": [("badc", "a")],
    "more is about the next token in the order, whether it is legal": [("abcd", "acd"), ("abcd", "ab")],
    "share is the probability of the token divided by left, not by 1": [("cbad", "b")],
    "after the illegal tokens all is legal: the estimate is what was left": [("bcad", "cad"), ("bcad", "ad")],
    "no token follows the legal one: more is 0": [("dcba", "a"), ("a", "a")],
    "no token is legal: None": [("abcd", "")],
}


def check_conditioned(answer: Callable[[Chances, set[str]], Chances]) -> Verdict:
    """Does `answer(chances, legal)` give the probability of each legal text among the legal texts?

    >>> check_conditioned(lambda chances, legal: {text: chances[text] for text in legal})
    ✗ not yet right: on input 2 of 5, the first on which it fails
        input       {'a': 0.5, 'b': 0.5}, {'a'}
        yours gave  {'a': 0.5}
        expected    {'a': 1}
        because     the probabilities of the legal texts add up to 1
    """
    cases = cases_of(lambda p, legal: {text: p[text] / sum(p[one] for one in legal) for text in sorted(legal)}, LEGAL)
    return check_function(answer, cases)


def check_distance(answer: Callable[[Sequence[float]], float]) -> Verdict:
    """Does `answer(weights)` give half the mean distance between 1 and each weight divided by the mean weight?

    >>> check_distance(lambda weights: sum(abs(1 - w) for w in weights) / len(weights) / 2)
    ✗ not yet right: on input 2 of 7, the first on which it fails
        input       [0.5, 0.5]
        yours gave  0.25
        expected    0
        because     equal weights change nothing: divide each weight by the mean weight
    """

    cases = cases_of(lambda weights: float(abs(1 - np.divide(weights, np.mean(weights))).mean() / 2), WEIGHTS)
    return check_function(answer, cases)


def check_adaptive(answer: Callable[[Sequence[str], Chances, set[str]], tuple[str, float] | None]) -> Verdict:
    """Does `answer(order, chances, legal)` give the first legal token and the estimate of Z?

    >>> check_adaptive(lambda order, chances, legal: (order[0], 1.0)).facts[-1][1]
    'left is 1 minus the probabilities of the illegal tokens before'
    """
    trials = {why: [(list(order), CHANCES, {*legal}) for order, legal in rows] for why, rows in ORDERS.items()}
    return check_function(answer, cases_of(adaptive_step, trials))


def adaptive_step(order: Sequence[str], chances: Chances, legal: set[str]) -> tuple[str, float] | None:
    """The first legal token and the estimate of Z, as `samplers.Adaptive` takes the step.

    >>> adaptive_step("bac", CHANCES, {"a"})
    ('a', 0.4)
    """
    left = 1.0
    for token, following in zip(order, [*order[1:], None], strict=True):
        if token in legal:
            share = chances[token] / left
            return token, left * (share + (1 - share) * (following in legal))
        left -= chances[token]
    return None


# -- drafts and windows --------------------------------------------------------------------------------------------

EVEN, HIGH = {"a": 0.5, "b": 0.5}, {"a": 0.2, "b": 0.8}
GUESSES: dict[str, list[tuple[Chances, Chances, str, float]]] = {
    "p / q is 1 or more, so each guess is accepted: None": [(EVEN, EVEN, "a", 0.99), (HIGH, EVEN, "b", 0.99)],
    "u is below p / q = 0.4: accepted": [(HIGH, EVEN, "a", 0.3)],
    "u is above p / q = 0.4: rejected; only b has more in p": [(HIGH, EVEN, "a", 0.9), (HIGH, EVEN, "a", 0.45)],
    "divide the differences by their sum, 0.4: b 0.25, c 0.75": [
        ({"a": 0.2, "b": 0.3, "c": 0.5}, {"a": 0.6, "b": 0.2, "c": 0.2}, "a", 0.9),
    ],
    "a is illegal, it is missing in p: rejected even at u = 0": [({"b": 0.5, "c": 0.5}, EVEN, "a", 0.0)],
    "q gives nothing to b and c, so the residual is p": [({"b": 0.25, "c": 0.75}, {"a": 1.0}, "a", 0.5)],
    "a has no more in p than in q: it is not listed": [
        ({"a": 0.1, "b": 0.9}, {"a": 0.1, "b": 0.1, "c": 0.8}, "c", 0.5),
    ],
}

State = tuple[str, Any]  # "free" with the bytes of the trigger read so far, or "in" with a state of the machine
TIME = regex("([0-9]:)*")
FREE, INSIDE = ("free", b""), ("in", TIME.initial)
WINDOWS: dict[str, list[tuple[bytes, State, bytes]]] = {  # a trigger, a state and a byte
    "in free text every byte is legal; one that does not go on with the trigger leaves b''": [
        (b":", FREE, b"x"), (b"A:", ("free", b"A"), b"b"), (b"A:", FREE, b"\xff"), (b"A:", FREE, b":"),
    ],
    "the trigger is complete: the window opens at the machine's initial state": [
        (b":", FREE, b":"), (b"abab!", ("free", b"abab"), b"!"),
    ],
    "in the window the machine reads the byte; it is illegal (None) if the machine refuses it": [
        (b":", INSIDE, b"4"), (b":", INSIDE, b"x"), (b"A:", INSIDE, b"A"), (b":", INSIDE, b":"),
        (b":", ("in", 1), b":"), (b":", ("in", 1), b"4"),
    ],
    "the trigger may begin again: keep the longest beginning of the trigger with which the text ends": [
        (b"A:", FREE, b"A"), (b"A:", ("free", b"A"), b"A"), (b"::=", ("free", b"::"), b":"),
        (b"abab!", ("free", b"abab"), b"a"), (b"::", FREE, b":"), (b"\xc3\xa9", FREE, b"\xc3"),
    ],
}  # fmt: skip


def check_accept(answer: Callable[[Chances, Chances, str, float], Chances | None]) -> Verdict:
    """Does `answer(p, q, token, u)` accept (None) or give the residual distribution?

    >>> check_accept(lambda p, q, token, u: None if token in p else p).facts[-1][1]
    'u is above p / q = 0.4: rejected; only b has more in p'
    """
    return check_function(answer, cases_of(judge_guess, GUESSES))


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
    trials = {why: [(TIME, mark, state, byte[0]) for mark, state, byte in rows] for why, rows in WINDOWS.items()}
    return check_function(answer, cases_of(step_window, trials, "", "trigger", "state", "byte"))


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
