"""What the library asks of a model: text to tokens, and tokens to the logits of the next one."""

from __future__ import annotations

from math import inf
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError, quoted
from guidedviz.tokens.vocabulary import Vocabulary

Array = npt.NDArray[np.float32]
SMALLER = '"clerk" (4 million weights) or "bard" (3 million), both embedded'
Source = Literal["LIVE", "RECORDED", "TOY"]  # where a picture's numbers come from


class Model(Protocol):
    """Anything that gives the next token's logits. One that reads a limited number of tokens has a `context`, too."""

    name: str
    device: str
    source: Source
    vocabulary: Vocabulary

    def encode(self, text: str) -> list[int]: ...
    def logits(self, tokens: list[int]) -> Array: ...


def context_of(model: Model) -> float:
    """The most tokens that the model can read; infinite if it names no limit."""
    return getattr(model, "context", inf)


def check_model(model: Any, where: str = "model") -> None:
    """Refuse what is not a model, such as the name of one."""
    if not hasattr(model, "logits") or not hasattr(model, "vocabulary"):
        name = model if model in ("clerk", "clerk-small", "bard") else "clerk"
        raise SettingError(where, seen=quoted(model), expected="a model", hint=f'gv.load_model("{name}")')


def check_text(where: str, text: Any) -> str:
    """A text that UTF-8 can encode."""
    if not isinstance(text, str):
        raise SettingError(where, seen=quoted(text), expected="a text")
    if strange := next((char for char in text if "\ud800" <= char <= "\udfff"), ""):
        raise SettingError(where, seen=f"the lone surrogate {quoted(strange)}", expected="text that UTF-8 can encode")
    return text
