"""A model whose answers are kept, so that many draws read no text twice."""

from functools import lru_cache
from typing import Any

import numpy as np

from guidedviz.models.chat import Messages, Prompt, no_template
from guidedviz.models.model import Array, Chat, Model, check_model, context_of
from guidedviz.tokens.arrays import read_only

KEPT_BYTES = 64_000_000  # bytes of logits: 3,900 texts of clerk, 120 of a model with 128,256 tokens


class Remembered:
    """A model, and the logits that it gave. What was used longest ago is dropped first."""

    def __init__(self, model: Model, most: int = KEPT_BYTES) -> None:
        keep = lru_cache(most // (4 * len(model.vocabulary)))
        self._row = keep(lambda tokens: read_only(np.array(model.logits([*tokens]))))
        self.model = model
        self.name = model.name
        self.device = model.device
        self.source = model.source
        self.vocabulary = model.vocabulary
        self.context = context_of(model)
        self.has_template = isinstance(model, Chat) and model.has_template

    def __repr__(self) -> str:
        return f"{self.model!r}, {self._row.cache_info().currsize:,} texts remembered"

    def chat(self, messages: Messages) -> Prompt:
        """The prompt of a question or of messages, by the model's chat template."""
        if not isinstance(self.model, Chat):
            raise no_template(self.name)
        return self.model.chat(messages)

    def encode(self, text: str) -> list[int]:
        """A text as the model's tokens."""
        return self.model.encode(text)

    def logits(self, tokens: list[int]) -> Array:
        """The next token's logits, read-only. The model is asked once per text."""
        return self._row(tuple(tokens))

    def all_logits(self, tokens: list[int], start: int = 0) -> list[Array]:
        """The logits after the token at `start` and after each later one; each text is read once."""
        return [self.logits(tokens[:end]) for end in range(start + 1, len(tokens) + 1)]


def remember(model: Any) -> Remembered:
    """The same model, which reads no text twice. It is for many draws; a step's milliseconds then measure no pass.

    >>> read = []
    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: read.append(tokens) or [0.0, 1.0])
    >>> known = gv.decoding.remember(toy)
    >>> [gv.record(known, "a", temperature=0, seed=seed, max_tokens=3).text for seed in range(9)][-1], len(read)
    ('bbb', 3)
    """
    check_model(model)
    return Remembered(model)
