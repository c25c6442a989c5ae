"""A model turns text into tokens, and tokens into the logits of the next one.

`Model` is what the library asks of it: `LanguageModel` is a network with its caches, `ToyModel` a function, and
`Remembered` a model whose answers are kept.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import inf
from operator import index
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.errors import ChatWarning, ModelError, SettingError, VocabularyError, quoted
from guidedviz.models.chat import Prompt, no_template
from guidedviz.models.messages import Messages
from guidedviz.tokens.arrays import read_only
from guidedviz.tokens.vocabulary import Vocabulary, longest_tokens

Array = npt.NDArray[np.float32]
SMALLER = '"clerk" (4 million weights) or "bard" (3 million), both embedded'
Source = Literal["LIVE", "RECORDED", "TOY"]  # where a picture's numbers come from


class Model(Protocol):
    """Anything that gives the next token's logits.

    One that reads a limited number of tokens has a `context`, too; one for conversations has `has_template` and `chat`.
    """

    name: str
    device: str
    source: Source
    vocabulary: Vocabulary

    def encode(self, text: str) -> list[int]: ...
    def logits(self, tokens: list[int]) -> Array: ...
    def all_logits(self, tokens: list[int], start: int = 0) -> Sequence[Array] | Array: ...  # after each from `start`


def context_of(model: Model) -> float:
    """The most tokens that the model can read; infinite if it names no limit."""
    most: float = getattr(model, "context", inf)
    return most


def has_template(model: Model) -> bool:
    """Whether the model has a chat template; one without it may lack the method `chat`, too."""
    return bool(getattr(model, "has_template", False))


def logits_after(model: Model, tokens: list[int], start: int) -> list[Array]:
    """The logits after the token at `start` and after each later one; each text is read by itself."""
    return [model.logits(tokens[:end]) for end in range(start + 1, len(tokens) + 1)]


_warned = set[str]()  # names of models


def warn_of_plain_text(model: Model) -> None:
    """Say once per chat model that a plain text is not its form of a question."""
    if has_template(model) and model.name not in _warned:
        _warned.add(model.name)
        said = f'{model.name} is a chat model and the prompt is plain text; model.chat("...") makes it a question'
        warnings.warn(said, ChatWarning, stacklevel=4)


def check_model(model: Any, where: str = "model") -> None:
    """Refuse what is not a model, such as the name of one."""
    if not hasattr(model, "vocabulary") or not hasattr(model, "logits"):
        name = model if model in ("clerk", "clerk-small", "bard", "scout") else "clerk"
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


class ToyModel:
    """Logits by a function of your own.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, float(len(tokens))])
    >>> toy.logits(toy.encode("ab")).tolist()
    [0.0, 2.0]
    """

    name = "toy"
    device = "cpu"
    source: Source = "TOY"
    has_template = False

    def __init__(
        self,
        pieces: Iterable[bytes],
        rule: Callable[[list[int]], npt.ArrayLike],
        eos: Iterable[int] = (),
        special: Iterable[int] = (),
    ) -> None:
        if not callable(rule):
            raise SettingError("toy rule", seen=quoted(rule), expected="a function from tokens to logits")
        if isinstance(pieces, Iterable):
            pieces = tuple(pieces)
        self.vocabulary = Vocabulary(pieces, eos, special)
        self._rule = rule

    def chat(self, messages: Messages, tools: Iterable[Any] = (), think: bool = True) -> Prompt:
        """A toy has no chat template."""
        raise no_template(self.name)

    def encode(self, text: str) -> list[int]:
        """The longest piece first."""
        try:
            return [*longest_tokens(self.vocabulary, check_utf8("text", text).encode())]
        except VocabularyError as error:
            raise SettingError("prompt", seen=error.seen, expected="pieces of the toy vocabulary") from None

    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """The function's answer, one number per token."""
        answer = self._rule(tokens)
        expected = f"{len(self.vocabulary)} logits"
        try:
            with np.errstate(over="ignore"):  # too large for 32 bits is infinite
                values = np.asarray(answer).astype(np.float32, casting="same_kind")
        except (TypeError, ValueError, OverflowError):
            raise SettingError("toy rule", seen=quoted(answer), expected=expected, hint="a list of floats") from None
        if values.shape != (len(self.vocabulary),):
            raise SettingError("toy rule", seen=f"shape {values.shape}", expected=expected)
        return values

    def all_logits(self, tokens: list[int], start: int = 0) -> list[Array]:
        """The logits after the token at `start` and after each later one."""
        return logits_after(self, tokens, start)


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
        self.has_template = has_template(model)

    def __repr__(self) -> str:
        return f"{self.model!r}, {self._row.cache_info().currsize:,} texts remembered"

    def chat(self, messages: Messages, tools: Iterable[Any] = (), think: bool = True) -> Prompt:
        """The prompt of a question or of messages, by the model's chat template."""
        if not self.has_template:
            raise no_template(self.name)
        model: Any = self.model
        prompt: Prompt = model.chat(messages, tools, think)
        return prompt

    def encode(self, text: str) -> list[int]:
        """A text as the model's tokens."""
        return self.model.encode(text)

    def logits(self, tokens: list[int]) -> Array:
        """The next token's logits, read-only. The model is asked once per text."""
        return self._row(tuple(tokens))

    def all_logits(self, tokens: list[int], start: int = 0) -> list[Array]:
        """The logits after the token at `start` and after each later one; each text is read once."""
        return logits_after(self, tokens, start)


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
