"""Decode many prompts side by side: one pass reads a token of each, and each has its own guide.

It keeps the output only, no steps as `gv.decode` does, and draws by the largest logit plus Gumbel noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import guidedviz as gv
from guidedviz.machines.names import name_bytes, split_names
from guidedviz.models.chat import Prompt

ROWS = 24  # prompts in a pass


@dataclass
class Run:
    """A prompt whose answer is written."""

    new: list[int]  # tokens that the model has not read
    guide: gv.Guide
    state: Any
    cache: Any
    dice: np.random.Generator
    tokens: list[int] = field(default_factory=list)
    ended: bool = False

    def take(self, logits: Any, temperature: float, eos: frozenset[int]) -> None:
        """Draw the next token; an output ends with an EOS, or where nothing is legal."""
        mask = self.guide.mask(self.state)
        if not mask.any():
            self.ended = True
            return
        if temperature:
            logits = logits / temperature + self.dice.gumbel(size=len(logits))
        token = int(np.where(mask, logits, -np.inf).argmax())
        self.ended = token in eos
        if not self.ended:
            self.state = self.guide.advance(self.state, token)
            self.tokens.append(token)
            self.new = [token]


def write(
    model: Any, prompts: Sequence[Prompt], guides: Sequence[gv.Guide], temperature: float, most: int
) -> list[list[str]]:
    """The texts and special tokens in turn that the model writes after each prompt, at most so many tokens."""
    written = []
    for place in range(0, len(prompts), ROWS):
        runs = [
            Run(list(prompt.tokens), guide, guide.initial, model.network.new_cache(), np.random.default_rng(seed))
            for seed, (prompt, guide) in enumerate(zip(prompts, guides, strict=True))
        ][place : place + ROWS]
        for _ in range(most):
            going = [run for run in runs if not run.ended]
            if not going:
                break
            rows = model.network.read([run.cache for run in going], [run.new for run in going])
            for run, row in zip(going, rows, strict=True):
                run.take(row[-1], temperature, model.vocabulary.eos)
        written += [parts_of(model.vocabulary, run.tokens) for run in runs]
    return written


def parts_of(vocabulary: gv.Vocabulary, tokens: Sequence[int]) -> list[str]:
    """Texts and special tokens in turn."""
    data = b""
    for token in tokens:
        piece = vocabulary.pieces[token]
        data += name_bytes(piece) if token in vocabulary.special else piece
    return [part.decode("utf-8", "replace") for part in split_names(data)]
