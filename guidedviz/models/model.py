"""A model turns text into tokens, and tokens into the logits of the next one.

`Model` is what the library asks of it: `LanguageModel` is a network with its caches, `ToyModel` a function, and
`Remembered` a model whose answers are kept.
"""

import warnings
from collections.abc import Sequence
from math import inf
from operator import index
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from guidedviz.errors import ChatWarning, ModelError, SettingError, quoted
from guidedviz.models.chat import Messages, Prompt
from guidedviz.tokens.vocabulary import Vocabulary

Array = npt.NDArray[np.float32]
SMALLER = '"clerk" (4 million weights) or "bard" (3 million), both embedded'
Source = Literal["LIVE", "RECORDED", "TOY"]  # where a picture's numbers come from


@runtime_checkable
class Scorer(Protocol):
    """The least that tells a model from other values."""

    vocabulary: Vocabulary

    def logits(self, tokens: list[int]) -> Array: ...


class Model(Scorer, Protocol):
    """Anything that gives the next token's logits. One that reads a limited number of tokens has a `context`, too."""

    name: str
    device: str
    source: Source

    def encode(self, text: str) -> list[int]: ...
    def all_logits(self, tokens: list[int], start: int = 0) -> Sequence[Array] | Array: ...  # after each from `start`


@runtime_checkable
class Limited(Protocol):
    """What reads a limited number of tokens."""

    context: int


@runtime_checkable
class Chat(Protocol):
    """What may have a chat template; without one, `chat` is a ModelError."""

    has_template: bool

    def chat(self, messages: Messages) -> Prompt: ...


def context_of(model: Model) -> float:
    """The most tokens that the model can read; infinite if it names no limit."""
    return model.context if isinstance(model, Limited) else inf


_warned = set[str]()  # names of models


def warn_of_plain_text(model: Model) -> None:
    """Say once per chat model that a plain text is not its form of a question."""
    if isinstance(model, Chat) and model.has_template and model.name not in _warned:
        _warned.add(model.name)
        said = f'{model.name} is a chat model and the prompt is plain text; model.chat("...") makes it a question'
        warnings.warn(said, ChatWarning, stacklevel=4)


def check_model(model: Any, where: str = "model") -> None:
    """Refuse what is not a model, such as the name of one."""
    if not isinstance(model, Scorer):
        name = model if model in ("clerk", "clerk-small", "bard") else "clerk"
        raise SettingError(where, seen=quoted(model), expected="a model", hint=f'gv.load_model("{name}")')


def check_utf8(where: str, text: Any) -> str:
    """A text that UTF-8 can encode."""
    if not isinstance(text, str):
        raise SettingError(where, seen=quoted(text), expected="a text")
    strange = next((char for char in text if "\ud800" <= char <= "\udfff"), "")
    if strange:
        raise SettingError(where, seen=f"the lone surrogate {quoted(strange)}", expected="text that UTF-8 can encode")
    return text


def check_tokens(tokens: Any, context: int, size: int) -> list[int]:
    """At least one token id, as many as the model can read, all of its vocabulary."""
    try:
        ids = [*map(index, tokens)]
    except TypeError:
        raise SettingError("tokens", seen=quoted(tokens), expected="a list of token ids") from None
    if not 0 < len(ids) <= context:
        hint = "shorten the prompt or lower max_tokens" if ids else ""
        raise SettingError("tokens", seen=f"{len(ids)} tokens", expected=f"1 to {context}", hint=hint)
    if min(ids) < 0 or max(ids) >= size:
        raise SettingError("tokens", seen=f"ids from {min(ids)} to {max(ids)}", expected=f"ids from 0 to {size - 1}")
    return ids


def check_start(start: Any, count: int) -> None:
    """The place of one of so many tokens."""
    if type(start) is not int or not 0 <= start < count:
        raise SettingError("start", seen=quoted(start), expected=f"0 to {count - 1}")


def out_of_memory(name: str, weights: int) -> ModelError:
    """The error for a model that does not fit into memory."""
    seen = f"out of memory; its weights take {weights * 4 / 1e6:,.0f} MB as 32-bit floats"
    hint = f'{SMALLER}, or device="cpu"; no kernel restart needed'
    return ModelError(f"model {quoted(name)}", seen=seen, expected="enough memory", hint=hint)
