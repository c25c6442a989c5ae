"""A model turns text into tokens, and tokens into the logits of the next one.

`Model` is what the library asks of it. `LanguageModel` is a network with its caches, `ToyModel` a function, and
`Remembered` a model whose answers are kept.
"""

import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from operator import index
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from guidedviz.errors import ChatWarning, ModelError, SettingError, VocabularyError, quoted
from guidedviz.models.chat import ChatTemplate, Encoder, Messages, Prompt, no_template
from guidedviz.tokens.arrays import read_only
from guidedviz.tokens.jump import shared_length
from guidedviz.tokens.vocabulary import Vocabulary, longest_tokens

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


def check_text(where: str, text: Any) -> str:
    """A text that UTF-8 can encode."""
    if not isinstance(text, str):
        raise SettingError(where, seen=quoted(text), expected="a text")
    if strange := next((char for char in text if "\ud800" <= char <= "\udfff"), ""):
        raise SettingError(where, seen=f"the lone surrogate {quoted(strange)}", expected="text that UTF-8 can encode")
    return text


# A language model with its vocabulary and its caches.
#
# The keys and values of the last texts are kept. A text goes on where a kept text with the same beginning ended its
# pass, so going back, branching and reading several texts in turn cost nothing and give the same bits again: a prompt
# is read in two passes, its last token alone, then the new tokens of each call in one. Only a text whose cache was
# dropped, or one read through `all_logits`, may differ by rounding, because its tokens go through in other passes.


KEPT_TEXTS = 8  # texts whose keys and values are kept


class Network(Protocol):
    """The weights and the forward pass."""

    device: str  # the package that computes and where: "NumPy · cpu"
    copies: int  # of every text in a pass
    context: int
    size: int  # of the vocabulary
    weights: int  # how many numbers

    def new_cache(self) -> Any: ...  # it has nbytes, and fork(length): None if it cannot be cropped
    def read(self, caches: Sequence[Any], texts: Sequence[Sequence[int]], every: bool = False) -> list[Array]: ...


@dataclass
class KeptText:
    """A text that was read: its tokens, for each the place where its pass began, and their keys and values."""

    cache: Any
    tokens: list[int] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    passing: bool = False  # another kept text begins with it

    def fork(self, network: Network, length: int) -> "KeptText":
        """The beginning of this text with a cache of its own; nothing of it if the cache cannot be cropped."""
        cache = self.cache.fork(length) if length else None
        if cache is None:
            return KeptText(network.new_cache())
        return KeptText(cache, self.tokens[:length], self.began[:length])


class LanguageModel:
    """A causal language model."""

    source: Source = "LIVE"

    def __init__(
        self, name: str, network: Network, tokenizer: Encoder, vocabulary: Vocabulary, template: ChatTemplate | None
    ) -> None:
        self.name, self.vocabulary, self.template = name, vocabulary, template
        self.has_template = template is not None
        self.device, self.context = network.device, network.context
        self.network, self._tokenizer = network, tokenizer
        self._lock = threading.RLock()
        self.forget()

    def __repr__(self) -> str:
        size = f"{self.network.weights / 1e6:.1f} million weights"
        return f"{self.name} · {self.device}: {size}, {len(self.vocabulary):,} tokens"

    def forget(self) -> None:
        """Drop all caches."""
        with self._lock:
            self._texts: list[KeptText] = []  # the one used last comes last

    def side_by_side(self, rows: int) -> "LanguageModel":
        """A model with the same weights and its own caches that reads `rows` copies of the text in every pass."""
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise SettingError("rows", seen=quoted(rows), expected="a whole number from 1 up")
        other = copy(self)
        other.network = copy(self.network)
        other.network.copies, other._lock = rows, threading.RLock()
        other.forget()
        return other

    def chat(self, messages: Messages) -> Prompt:
        """The prompt of a question, or of messages with a role and a content, by the model's chat template."""
        if self.template is None:
            raise no_template(self.name)
        return self.template.read(messages)

    def encode(self, text: str) -> list[int]:
        """A text as tokens. The text of a special token is plain text where the tokenizer allows it."""
        if isinstance(text, Prompt):
            return [*text.tokens]
        check_text("text", text)
        try:
            return self._tokenizer.encode(text)
        except Exception as error:  # the package tokenizers raises bare Exception
            known = {piece.decode("utf-8", "replace") for piece in self.vocabulary.pieces}
            strange = next((char for char in text if char not in known), str(error))
            expected = f"characters that {self.name} knows"
            raise SettingError("prompt", seen=quoted(strange), expected=expected) from None

    def logits(self, tokens: Sequence[int]) -> Array:
        """The next token's logits. A prefix that was read before is not computed again.

        >>> from guidedviz.models.load import load_model
        >>> load_model("bard").logits([0]).shape
        (65,)
        """
        wanted = check_tokens(tokens, self.context, len(self.vocabulary))
        row: Array = self._read(wanted, len(wanted))[-1]
        return row

    def all_logits(self, tokens: Sequence[int], start: int = 0) -> Array:
        """The logits after each token from place `start` on, one row per token, in one pass.

        >>> from guidedviz.models.load import load_model
        >>> load_model("bard").all_logits([30, 27, 25], start=1).shape
        (2, 65)
        """
        wanted = check_tokens(tokens, self.context, len(self.vocabulary))
        check_start(start, len(wanted))
        return self._read(wanted, start)[start - len(wanted) :]

    def _read(self, wanted: list[int], start: int) -> Array:
        """The rows after every new token, the first of them at `start` or before; the last row if no token is there."""
        every = start < len(wanted)
        try:
            with self._lock:
                text = self._resume(wanted, start)
                if not every and not text.tokens and len(wanted) > 1:
                    self._grow(text, wanted[:-1])
                rows = self._grow(text, wanted, every)
                if not text.passing:
                    self._texts = [*self._texts, text][-KEPT_TEXTS:]
                return rows
        except MemoryError:
            raise too_large(self.name, self.network.weights) from None

    def _resume(self, tokens: list[int], end: int) -> KeptText:
        """A text that holds the beginning of these tokens, at most `end`, and leaves at least one token to read."""
        shared = [shared_length(text.tokens, tokens) for text in self._texts]
        longest = max(shared, default=0)
        if not longest:
            return KeptText(self.network.new_cache())
        best = self._texts.pop(shared.index(longest))
        kept = min(end, longest if longest < len(tokens) else best.began[len(tokens) - 1])
        if kept == len(best.tokens):  # it grows; after an error it is not kept, since its cache may be half written
            return best
        self._texts.append(best)
        text = best.fork(self.network, kept)
        text.passing = longest == len(tokens)
        return text

    def _grow(self, text: KeptText, wanted: list[int], every: bool = False) -> Array:
        """Read a text up to the tokens wanted, in one pass."""
        new = wanted[len(text.tokens) :]
        (rows,) = self.network.read([text.cache], [new], every)
        text.began += [len(text.tokens)] * len(new)
        text.tokens = wanted
        return rows


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
    if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start < count:
        raise SettingError("start", seen=quoted(start), expected=f"0 to {count - 1}")


def too_large(name: str, weights: int) -> ModelError:
    """The error for a model that does not fit into memory."""
    seen = f"out of memory; its weights take {weights * 4 / 1e6:,.0f} MB as 32-bit floats"
    hint = f'{SMALLER}, or device="cpu"; no kernel restart needed'
    return ModelError(f"model {quoted(name)}", seen=seen, expected="enough memory", hint=hint)


class ToyModel:
    """Logits by a function of your own.

    >>> toy = ToyModel([b"a", b"b"], lambda tokens: [0.0, float(len(tokens))])
    >>> toy.logits(toy.encode("ab")).tolist()
    [0.0, 2.0]
    """

    name = "toy"
    device = "cpu"
    source: Source = "TOY"
    has_template = False

    def __init__(
        self, pieces: Iterable[bytes], rule: Callable[[list[int]], npt.ArrayLike], eos: Iterable[int] = ()
    ) -> None:
        if not callable(rule):
            raise SettingError("toy rule", seen=quoted(rule), expected="a function from tokens to logits")
        self.vocabulary = Vocabulary(tuple(pieces) if isinstance(pieces, Iterable) else pieces, eos=eos)
        self._rule = rule

    def chat(self, messages: Messages) -> Prompt:
        """A toy has no chat template."""
        raise no_template(self.name)

    def encode(self, text: str) -> list[int]:
        """The longest piece first."""
        try:
            return [*longest_tokens(self.vocabulary, check_text("text", text).encode())]
        except VocabularyError as error:
            raise SettingError("prompt", seen=error.seen, expected="pieces of the toy vocabulary") from None

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

    def all_logits(self, tokens: list[int], start: int = 0) -> list[Array]:
        """The logits after the token at `start` and after each later one."""
        return [self.logits(tokens[:end]) for end in range(start + 1, len(tokens) + 1)]


KEPT_BYTES = 64_000_000  # bytes of logits: 3,900 texts of clerk, 120 of a model with 128,256 tokens


class Remembered:
    """A model, and the logits that it gave. What was used longest ago is dropped first."""

    def __init__(self, model: Model, most: int = KEPT_BYTES) -> None:
        self.model, keep = model, lru_cache(most // (4 * len(model.vocabulary)))
        self._row = keep(lambda tokens: read_only(np.array(model.logits([*tokens]))))
        self.name, self.device, self.source, self.vocabulary = model.name, model.device, model.source, model.vocabulary
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
