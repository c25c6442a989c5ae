"""A model that reads no text twice.

Texts that are drawn after one prompt often begin alike. Their logits are kept, so the model reads each beginning once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.models.model import Model, check_model, context_of

KEPT_BYTES = 64_000_000  # bytes of logits: 3,900 texts of clerk, 120 of a model with 128,256 tokens


class Remembered:
    """A model, and the logits that it gave. What was read first is dropped first."""

    def __init__(self, model: Model, most: int = KEPT_BYTES) -> None:
        self.model, self.most = model, most
        self.name, self.device, self.source, self.vocabulary = model.name, model.device, model.source, model.vocabulary
        self.context = context_of(model)
        self._known: dict[tuple[int, ...], npt.NDArray[np.float32]] = {}

    def __repr__(self) -> str:
        return f"{self.model!r}, {len(self._known):,} texts remembered"

    def encode(self, text: str) -> list[int]:
        """A text as the model's tokens."""
        return self.model.encode(text)

    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """The next token's logits, read-only. The model is asked once per text."""
        text = tuple(tokens)
        if (known := self._known.get(text)) is not None:
            return known
        logits = np.array(self.model.logits(list(text)))
        logits.setflags(write=False)
        self._known[text] = logits
        if len(self._known) * logits.nbytes > self.most:
            self._known.pop(next(iter(self._known)))
        return logits


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
