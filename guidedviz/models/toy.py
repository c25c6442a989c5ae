"""A model without weights: a function from tokens to logits. Every picture of it is marked TOY."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError, quoted
from guidedviz.models.model import Source, check_text
from guidedviz.tokens.vocabulary import Vocabulary


class ToyModel:
    """Logits by a function of your own.

    >>> toy = ToyModel([b"a", b"b"], lambda tokens: [0.0, float(len(tokens))])
    >>> toy.logits(toy.encode("ab")).tolist()
    [0.0, 2.0]
    """

    name = "toy"
    device = "cpu"
    source: Source = "TOY"

    def __init__(
        self, pieces: Iterable[bytes], rule: Callable[[list[int]], npt.ArrayLike], eos: Iterable[int] = ()
    ) -> None:
        if not callable(rule):
            raise SettingError("toy rule", seen=quoted(rule), expected="a function from tokens to logits")
        self.vocabulary = Vocabulary(tuple(pieces) if isinstance(pieces, Iterable) else pieces, eos=eos)
        self._rule = rule

    def encode(self, text: str) -> list[int]:
        """The longest piece first."""
        data, tokens = check_text("text", text).encode(), list[int]()
        pieces = sorted(((p, i) for i, p in enumerate(self.vocabulary.pieces) if p), key=lambda x: -len(x[0]))
        while data:
            match = next(((p, i) for p, i in pieces if data.startswith(p)), None)
            if match is None:
                raise SettingError("prompt", seen=quoted(data[:10]), expected="pieces of the toy vocabulary")
            tokens.append(match[1])
            data = data[len(match[0]) :]
        return tokens

    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """The function's answer, one number per token."""
        answer, expected = self._rule(tokens), f"{len(self.vocabulary)} logits"
        try:
            with np.errstate(over="ignore"):  # too large for 32 bits is infinite
                values = np.asarray(answer).astype(np.float32, casting="same_kind")
        except (TypeError, ValueError, OverflowError):
            raise SettingError("toy rule", seen=quoted(answer), expected=expected, hint="a list of floats") from None
        if values.shape != (len(self.vocabulary),):
            raise SettingError("toy rule", seen=f"shape {values.shape}", expected=expected)
        return values
