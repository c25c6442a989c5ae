"""Exercises on decoding: softmax, a bias, masks, the loop, and parts of a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.checks.cases import Case, as_arrays, cases_of, read_trials
from guidedviz.checks.function import check_function, is_empty
from guidedviz.checks.guard import safe_copy
from guidedviz.checks.verdict import NOT_BEGUN, Verdict, show
from guidedviz.decoding.sampling import Floats, apply_bias, apply_mask, sample, softmax
from guidedviz.models.model import Model
from guidedviz.tokens.vocabulary import Vocabulary

# -- softmax and a bias --------------------------------------------------------------------------------------------

LOGITS = read_trials(
    build=as_arrays,
    text="""
one token has the whole probability
    [0], 1.0
equal logits have equal probabilities, which add up to 1
    [0, 0], 1.0
e to the power of each logit, divided by the sum of these powers
    [0, 1], 1.0
divide by the temperature before you exponentiate
    [0, 1], 0.5
    [0, 1], 2.0
    [3, 1, 2, -1], 0.7
a power of e is too large or too small for a float: first subtract the largest logit from all logits
    [1000, 0], 1.0
    [-1000, -1000], 1.0
    [1000, 999], 1.0
    [0, 3000], 1.0
    [3000, 0], 1.0
2 / 0.001 is 2000: first divide, then subtract the largest
    [2, 1], 0.001
""",
)
WORD_PIECES = read_trials(r"""
no piece spells the word
    [b"no"], "yes"
pieces are bytes, so compare with word.encode(); ids are positions in the list
    [b"no", b"yes", b"yes"], "yes"
a space in front or a line end is part of the piece
    [b" yes"], "yes"
    [b"no", b"  yes\n"], "yes"
a capital letter makes another piece for the same word
    [b"Yes", b" YES", b"yeS"], "yes"
these pieces have more in them than the word and blanks
    [b"yesterday", b"eyes", b"y es", b"oh yes"], "yes"
decode with errors='replace', not 'ignore', or compare bytes
    [b"\xe2", b"yes"], "yes"
    [b"yes\xe2"], "yes"
the word is given: it is no here, not yes
    [b"yes", b" No", b"on"], "no"
a word may hold signs that a regex reads as its own: use re.escape
    [b"c++", b"cc"], "c++"
""")
YES_OR_NO = (
    "Is 3 greater than 12?\nYes or no:\n",
    "Hi! Is 31 greater than 12?\nYes or no:\n",
    "The bag holds a lamp, a spoon and a kite. Is there a drum in it?\nYes or no:\n",
)
AHEAD = 20  # as much as a model's logits usually differ
ENOUGH = 0.999  # of the probability that the two answers need together


def check_softmax(answer: Any) -> Verdict:
    """Is `answer(logits, temperature)` softmax?

    >>> check_softmax(lambda logits, temperature: np.exp(logits) / np.exp(logits).sum())
    ✗ not yet right: on input 4 of 12, the first on which it fails
        input       [0, 1], 0.5
        yours gave  [0.2689, 0.7311]
        expected    [0.1192, 0.8808]
        because     divide by the temperature before you exponentiate
    """
    return check_function(answer, cases_of(softmax, LOGITS))


def check_spellings(answer: Any) -> Verdict:
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

    return check_function(answer, cases_of(reference, WORD_PIECES))


def check_only_answers(bias: Any, model: Model) -> Verdict:
    """Under this bias, is the first token always `yes` or `no`, in the model's own ratio?

    >>> pieces = [*(bytes([i]) for i in range(256)), b"yes", b"no"]
    >>> check_only_answers({0: 100}, gv.ToyModel(pieces, lambda tokens: [0.0] * 258))
    ✗ not yet right: on input 1 of 4, the first on which it fails
        prompt      'Is 3 greater than 12?\\nYes or no:\\n'
        yours gave  {'<0x00>': 1, 'yes': 3.72e-44, 'no': 3.72e-44}
        expected    {'yes': 0.5, 'no': 0.5}
        because     yes and no need 99.9% together, and have less: raise both more, and no other token
    """
    bias = safe_copy(bias)
    if is_empty(bias):
        return NOT_BEGUN
    words = [*model.vocabulary.ids(b"no"), *model.vocabulary.ids(b"yes")]

    def shares(probabilities: Any) -> dict[str, float]:
        likely = sorted({*words, *np.flatnonzero(probabilities > 0.001)})
        return {model.vocabulary.display(int(token)): float(probabilities[token]) for token in likely}

    def first_token(logits: Floats) -> dict[str, float]:
        return shares(softmax(apply_bias(logits, bias)))

    def together(value: dict[str, float]) -> float:
        return sum(value[model.vocabulary.display(word)] for word in words)

    def same(value: dict[str, float], expected: dict[str, float]) -> bool:
        if value.keys() != expected.keys() or together(value) < ENOUGH:
            return False
        return all(abs(value[one] - expected[one]) < 0.005 for one in expected)

    asked = {show(prompt): np.asarray(model.logits(model.encode(prompt)), dtype=float) for prompt in YES_OR_NO}
    behind = np.full(len(model.vocabulary), float(AHEAD))
    behind[words] = -1.0
    behind[words[0]] = 0.0
    asked[f"a prompt after which all other logits are {AHEAD} larger"] = behind

    def explain(case: Case, value: Any) -> str:
        if together(value) < ENOUGH:
            return "yes and no need 99.9% together, and have less: raise both more, and no other token"
        return "yes and no must keep the ratio that the model gives them: raise both by the same number"

    cases = []
    for prompt, logits in asked.items():
        expected = shares(softmax(apply_mask(logits, words)))
        given = (("prompt", prompt),)
        cases.append(Case((logits,), expected, given=given))
    return check_function(first_token, cases, explain, same)


# -- the mask of a step, and the loop ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FiveTokens:
    """A model of five tokens. Its logits depend on all tokens so far; the likeliest token is not always legal."""

    vocabulary: Vocabulary
    ahead: float = 0.0  # of the logit of token 3

    def logits(self, tokens: Sequence[int]) -> Floats:
        """One logit per token."""
        told = sum(token * place**2 for place, token in enumerate(tokens, 1)) + 3 * len(tokens)
        logits = np.array([(told + 5 * token) % 11 / 4 for token in range(5)])
        others = [0, 1, 2, 4]
        logits[others] -= self.ahead
        return logits


TOY = FiveTokens(Vocabulary([b"a", b"b", b"c", b"d", b"</s>"], eos={4}))
LOUD = FiveTokens(Vocabulary([b"</s>", b"a", b"b", b"c", b"d"], eos={0}), ahead=800)
LOGIT_MASKS = read_trials(
    build=as_arrays,
    text="""
a legal logit stays as it was; to index an array, use list(legal), not the set
    [1], {0}
    [0, -7], {0, 1}
no finite number is low enough for all logits: use -np.inf
    [1, 2], {0}
    [1, 2, 1e30], {0, 1}
    [-1e30, 0], {0}
the logits stay at the places of their ids
    [0.5, 0.25, 4, 3], {1, 3}
    [2, 2], {1}
""",
)
# a model, the tokens, the masks, and the seed
LOOPS = read_trials(
    build=lambda model, *given: (LOUD if model == "loud" else TOY, *given),
    text="""
only this token is legal: the mask comes before the softmax
    "toy", [0], [{2}], 0
the token is drawn: gv.sampling.sample(probabilities, seed, position); new tokens count from 0
    "toy", [0], [{0, 2, 3}], 8
each position, from 0, has its own draw: sample(..., seed, position)
    "toy", [2, 1], [{0, 1}, {0, 1}, {0, 1}], 2
each position has its own mask
    "toy", [3], [{0, 1}, {2, 3}], 0
the model reads all tokens so far, in order, the new ones too
    "toy", [0, 3, 1], [{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}], 5
an illegal logit can be very large: mask it by -np.inf before the softmax
    "loud", [0], [{1, 2}, {1, 2}], 2
EOS is written and ends the loop: stop if token in model.vocabulary.eos
    "toy", [0], [{4}, {0, 1}, {2}], 0
    "loud", [0, 3, 1], [{1, 2}, {0, 4}, {1}], 1
without masks nothing is written
    "toy", [0], [], 0
""",
)


def check_token_mask(answer: Any) -> Verdict:
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
    return check_function(answer, [*cases_of(apply_mask, LOGIT_MASKS), none])


def check_masked_loop(answer: Any) -> Verdict:
    """Does `answer(model, tokens, masks, seed)` give the tokens that masked decoding writes after these tokens?

    >>> check_masked_loop(lambda model, tokens, masks, seed: [min(legal) for legal in masks])
    ✗ not yet right: on input 2 of 9, the first on which it fails
        tokens      [0]
        masks       [{0, 2, 3}]
        seed        8
        yours gave  [0]
        expected    [2]
        because     the token is drawn: gv.sampling.sample(probabilities, seed, position); new tokens count from 0
    """
    return check_function(answer, cases_of(masked_loop, LOOPS, "", "tokens", "masks", "seed"), _say_written)


def _say_written(case: Case, value: Any) -> str:
    """Whether the given tokens stand before the new ones."""
    given = list(case.arguments[1])
    if list(value) == given + case.expected:
        return "the new tokens are expected, without those that were given"
    return ""


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

NORMS = read_trials(
    build=as_arrays,
    text="""
divide by the root of the mean of the squares, not of their sum
    [[1, 1]], [1, 1]
    [[3, 4]], [1, 1]
multiply by the weights, number by number
    [[3, 4]], [2, -1]
each row has a mean of its own: axis=-1, keepdims=True
    [[3, 4], [0, 1]], [1, 1]
    [[2, 1, 2]], [1, 1, 3]
add 1e-6 to the mean, under the root
    [[0, 0]], [1, 1]
    [[0.001, 0.003]], [1, 1]
""",
)
ATTENTIONS = read_trials(
    build=as_arrays,
    text="""
one token sees itself only, so its weight is 1
    [1], [[1]], [[5, 6]]
equal matches give equal weights
    [0, 0], [[1, 0], [0, 1]], [[2], [4]]
softmax of keys @ query / root of the length of a key
    [2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]]
    [1, 2, 3, 4], [[1, 0, 0, 1], [0, 1, 0.5, 0]], [[1, 0], [0, 1]]
    [1, 2], [[1, 0], [0, 1], [1, 1]], [[1, 0], [2, 1], [0, 3]]
subtract the largest match before you exponentiate
    [400], [[3], [1]], [[1], [2]]
""",
)


def check_rms_norm(answer: Any) -> Verdict:
    """Is `answer(x, weights)` RMSNorm with 1e-6 added to the mean?

    >>> check_rms_norm(lambda x, weights: x / np.sqrt(np.mean(x**2) + 1e-6) * weights)
    ✗ not yet right: on input 4 of 7, the first on which it fails
        input       [[3, 4], [0, 1]], [1, 1]
        yours gave  [[1.177, 1.569], [0, 0.3922]]
        expected    [[0.8485, 1.131], [0, 1.414]]
        because     each row has a mean of its own: axis=-1, keepdims=True
    """

    def reference(x: Any, weights: Any) -> Any:
        mean = (x**2).mean(axis=-1, keepdims=True)
        return x / np.sqrt(mean + 1e-6) * weights

    return check_function(answer, cases_of(reference, NORMS))


def check_look(answer: Any) -> Verdict:
    """Is `answer(query, keys, values)` what one head of attention gives one token?

    >>> check_look(lambda query, keys, values: values.mean(axis=0))
    ✗ not yet right: on input 3 of 6, the first on which it fails
        input       [2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]]
        yours gave  [0.5, 0.5]
        expected    [0.8044, 0.1956]
        because     softmax of keys @ query / root of the length of a key
    """

    def reference(query: Floats, keys: Floats, values: Floats) -> Floats:
        matches = keys @ query / np.sqrt(len(query))
        return softmax(matches) @ values

    return check_function(answer, cases_of(reference, ATTENTIONS))
