"""A language model with its vocabulary and its caches.

The keys and values of the last texts are kept. A text goes on where a kept text with the same beginning ended its
pass, so going back, branching and reading several texts in turn cost nothing and give the same bits again: a prompt
is read in two passes, its last token alone, then the new tokens of each call in one. Only a text whose cache was
dropped, or one read through `all_logits`, may differ by rounding, because its tokens go through in other passes.
"""

import threading
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Protocol

from guidedviz.errors import SettingError, quoted
from guidedviz.models.chat import ChatTemplate, Encoder, Prompt, no_template
from guidedviz.models.messages import Messages
from guidedviz.models.model import Array, Source, check_start, check_tokens, check_utf8, out_of_memory
from guidedviz.tokens.vocabulary import Vocabulary, shared_length

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
        self.name = name
        self.vocabulary = vocabulary
        self.template = template
        self.has_template = template is not None
        self.device = network.device
        self.context = network.context
        self.network = network
        self._tokenizer = tokenizer
        self._lock = threading.RLock()
        self.forget()

    def __repr__(self) -> str:
        weights = self.network.weights / 1e6
        tokens = len(self.vocabulary)
        return f"{self.name} · {self.device}: {weights:.1f} million weights, {tokens:,} tokens"

    def forget(self) -> None:
        """Drop all caches."""
        with self._lock:
            self._texts: list[KeptText] = []  # the one used last comes last

    def side_by_side(self, rows: int) -> "LanguageModel":
        """A model with the same weights and its own caches that reads `rows` copies of the text in every pass."""
        if type(rows) is not int or rows < 1:
            raise SettingError("rows", seen=quoted(rows), expected="a whole number from 1 up")
        other = copy(self)
        other.network = copy(self.network)
        other.network.copies = rows
        other._lock = threading.RLock()
        other.forget()
        return other

    def chat(self, messages: Messages, tools: Iterable[Any] = (), think: bool = True) -> Prompt:
        """The prompt of a question, or of messages with a role and a content, by the model's chat template.

        Messages may have calls of tools and their results. The template gets `tools`, which are Python functions,
        Pydantic classes, or dicts as OpenAI takes them. `think=False` asks a template that knows it for an answer
        without thinking.
        """
        if self.template is None:
            raise no_template(self.name)
        return self.template.read(messages, tools, think)

    def encode(self, text: str) -> list[int]:
        """A text as tokens. The text of a special token is plain text where the tokenizer allows it."""
        if isinstance(text, Prompt):
            return [*text.tokens]
        check_utf8("text", text)
        try:
            return self._tokenizer.encode(text)
        except Exception as error:  # the package tokenizers raises bare Exception
            known = {piece.decode("utf-8", "replace") for piece in self.vocabulary.pieces}
            strange = [char for char in text if char not in known] or [str(error)]
            expected = f"characters that {self.name} knows"
            raise SettingError("prompt", seen=quoted(strange[0]), expected=expected) from None

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
            raise out_of_memory(self.name, self.network.weights) from None

    def _resume(self, tokens: list[int], end: int) -> KeptText:
        """A text that holds the beginning of these tokens, at most `end`, and leaves at least one token to read."""
        shared = [shared_length(text.tokens, tokens) for text in self._texts]
        longest = max(shared, default=0)
        if not longest:
            return KeptText(self.network.new_cache())
        best = self._texts.pop(shared.index(longest))
        kept = longest
        if longest == len(tokens):
            kept = best.began[longest - 1]
        kept = min(end, kept)
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
        text.began += (len(text.tokens) for _ in new)
        text.tokens = wanted
        return rows
