"""The mask of one step, and the loop of masked decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.checks.judge import Case, Mistake, check_function, close, say_not_ids
from guidedviz.checks.verdict import Verdict, show
from guidedviz.decoding.sampling import Floats, apply_mask, sample, softmax
from guidedviz.tokens.vocabulary import Vocabulary


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
        ([1.0], {0}, [1.0], "a legal logit stays as it was; to index an array, use list(legal), not the set"),
        ([0.0, -7.0], {0, 1}, [0.0, -7.0], "a legal logit stays as it was, zero and negative ones too"),
        ([1.0, 2.0], {0}, [1.0, away], out),
        ([1.0, 1e30, 2.0], {0, 2}, [1.0, away, 2.0], out),
        ([-1e30, 0.0], {0}, [-1e30, away], out),
        ([0.5, 0.25, 4.0, 3.0], {3}, [away, away, away, 3.0], "the logits stay at the places of their ids"),
        ([1.0, 2.0], set(), ValueError, "with no legal token nothing can be drawn: raise a ValueError"),
    ]
    cases = [Case((np.array(l), legal), e if e is ValueError else np.array(e), why) for l, legal, e, why in trials]  # noqa: E741
    return check_function(answer, cases, close)


def check_masked_loop(answer: Callable[[Toy, Sequence[int], Sequence[set[int]], int], Sequence[int]]) -> Verdict:
    """Does `answer(model, tokens, masks, seed)` give the tokens that masked decoding writes after these tokens?

    >>> check_masked_loop(lambda model, tokens, masks, seed: [min(legal) for legal in masks])
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        input       tokens [0], masks [{0, 1}], seed 1
        yours gave  [0]
        expected    [1]
        because     the token is drawn: gv.sampling.sample(probabilities, seed, position)
    """
    drawn = "the token is drawn: gv.sampling.sample(probabilities, seed, position)"
    seen = "the model reads all tokens so far, the new ones too"
    stop = "an EOS token is written and ends the loop: stop if token in model.vocabulary.eos"
    far = "the logit of an illegal token can be far larger than all others: only -np.inf excludes it"
    loud = Toy(TOY.vocabulary, ahead=400)
    trials: list[tuple[Toy, list[int], list[set[int]], int, str]] = [
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
    cases = [
        Case((toy, tokens, masks, seed), masked_loop(toy, tokens, masks, seed), why, _say_loop(tokens, masks, seed))
        for toy, tokens, masks, seed, why in trials
    ]
    return check_function(answer, cases, _same_ids, _loop_mistake)


def masked_loop(model: Toy, tokens: Sequence[int], masks: Sequence[set[int]], seed: int) -> list[int]:
    """The new tokens of masked decoding, until EOS or the last mask."""
    written: list[int] = []
    for position, legal in enumerate(masks):
        logits = apply_mask(model.logits([*tokens, *written]), legal)
        written.append(sample(softmax(logits), seed, position))
        if written[-1] in model.vocabulary.eos:
            break
    return written


@dataclass(frozen=True)
class Toy:
    """A model of five tokens. Its logits depend on all tokens so far; the likeliest token is not always legal."""

    vocabulary: Vocabulary
    ahead: float = 0.0  # of the logit of token 3

    def logits(self, tokens: Sequence[int]) -> Floats:
        """One logit per token."""
        told = 7 * sum(tokens) + 3 * len(tokens)
        return np.array([(told + 5 * token) % 11 / 4 - self.ahead * (token != 3) for token in range(5)])


TOY = Toy(Vocabulary([b"a", b"b", b"c", b"d", b"</s>"], eos={4}))


def _say_loop(tokens: list[int], masks: list[set[int]], seed: int) -> tuple[tuple[str, str], ...]:
    return (("input", f"tokens {tokens}, masks {show(masks)}, seed {seed}"),)


def _loop_mistake(case: Case, value: Any) -> Mistake:
    _, tokens, masks, _ = case.arguments
    if isinstance(value, str | bytes | set | frozenset) or not isinstance(value, Iterable):
        return Mistake("token ids are expected: a list with one whole number per new token")
    if because := say_not_ids(value):
        return Mistake(because)
    written = list(value)
    if written == [*tokens, *case.expected]:
        return Mistake("only the new tokens are expected, without the tokens that were given")
    for position, (token, legal) in enumerate(zip(written, masks, strict=False)):
        if token not in legal:
            return Mistake(f"token {token} is illegal at position {position}: {case.why}")
    return Mistake()


def _same_ids(value: Any, expected: Any) -> bool:
    return not isinstance(value, set | frozenset) and not say_not_ids(value) and list(value) == expected
