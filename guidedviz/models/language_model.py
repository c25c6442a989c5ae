"""A language model with its vocabulary and its caches.

The keys and values of the last texts are kept. A text goes on where a kept text with the same beginning ended its
pass, so going back, branching and reading several texts in turn cost nothing and give the same bits again: a prompt is
read in two passes, its last token alone, then the new tokens of each call in one. Only a text whose cache was dropped,
or one read through `all_logits` or `batch`, may differ by rounding, because its tokens go through in other passes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from operator import index
from typing import Any, Protocol

from guidedviz.errors import ModelError, SettingError, quoted
from guidedviz.models.model import Source, check_text
from guidedviz.models.safetensors import SMALLER, Array
from guidedviz.tokens.jump import shared_length
from guidedviz.tokens.vocabulary import Vocabulary

KEPT = 8  # texts whose keys and values are kept


class Network(Protocol):
    """The weights and the forward pass."""

    device: str  # the package that computes and where: "NumPy · cpu"
    copies: int  # of every text in a pass
    context: int
    weights: int  # how many numbers
    megabytes: float

    def new_cache(self) -> Any: ...
    def fork(self, cache: Any, length: int) -> Any: ...  # None if this cache cannot be cropped
    def read(self, caches: Sequence[Any], texts: Sequence[Sequence[int]], every: bool = False) -> list[Array]: ...


class Encoder(Protocol):
    """A tokenizer."""

    def encode(self, text: str) -> list[int]: ...


@dataclass
class Text:
    """A text that was read: its tokens, for each the place where its pass began, and their keys and values."""

    cache: Any
    tokens: list[int] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    passing: bool = False  # another kept text begins with it

    def fork(self, network: Network, length: int) -> Text:
        """The beginning of this text with a cache of its own; nothing of it if the cache cannot be cropped."""
        cache = network.fork(self.cache, length) if length else None
        return Text(network.new_cache()) if cache is None else Text(cache, self.tokens[:length], self.began[:length])


class LanguageModel:
    """A causal language model."""

    source: Source = "LIVE"

    def __init__(self, name: str, network: Network, tokenizer: Encoder, vocabulary: Vocabulary) -> None:
        self.name, self.vocabulary, self.keep_cache = name, vocabulary, True
        self.device, self.context = network.device, network.context
        self.network, self._tokenizer = network, tokenizer
        self._lock = threading.RLock()
        self.forget()

    def __repr__(self) -> str:
        size = f"{self.network.weights / 1e6:.1f} million weights"
        return f"{self.name} · {self.device}: {size}, {len(self.vocabulary):,} tokens"

    @property
    def rows(self) -> int:
        """Copies of the text in every forward pass, as in a server's batch."""
        return self.network.copies

    def forget(self) -> None:
        """Drop all caches."""
        with self._lock:
            self._texts: list[Text] = []  # the one used last comes last
            self._most = KEPT

    def side_by_side(self, rows: int) -> LanguageModel:
        """A model with the same weights and its own caches that reads `rows` copies of the text in every pass."""
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise SettingError("rows", seen=quoted(rows), expected="a whole number from 1 up")
        other = copy(self)
        other.network = copy(self.network)
        other.network.copies, other._lock = rows, threading.RLock()
        other.forget()
        return other

    def encode(self, text: str) -> list[int]:
        """A text as tokens. The text of a special token is plain text where the tokenizer allows it."""
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
        return self.batch([tokens])[0]

    def batch(self, texts: Sequence[Sequence[int]]) -> list[Array]:
        """The next token's logits of several texts, read in one pass, with a cache per text.

        >>> from guidedviz.models.load import load_model
        >>> [int(logits.argmax()) for logits in load_model("bard").batch([[30, 27], [14]])]
        [31, 33]
        """
        wanted = [self._check(tokens) for tokens in texts]
        if not wanted:
            return []
        with self._lock, self._enough_memory():
            self._start(len(wanted))
            read = [self._resume(tokens, len(tokens)) for tokens in wanted]
            fresh = [i for i, tokens in enumerate(wanted) if not read[i].tokens and len(tokens) > 1]
            if fresh:
                self._read([read[i] for i in fresh], [wanted[i][:-1] for i in fresh])
            logits = [rows[-1] for rows in self._read(read, wanted)]
            self._keep(read)
        return logits

    def all_logits(self, tokens: Sequence[int], start: int = 0) -> Array:
        """The logits after each token from place `start` on, one row per token, in one pass.

        >>> from guidedviz.models.load import load_model
        >>> load_model("bard").all_logits([30, 27, 25], start=1).shape
        (2, 65)
        """
        wanted = self._check(tokens)
        if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start < len(wanted):
            raise SettingError("start", seen=quoted(start), expected=f"0 to {len(wanted) - 1}")
        with self._lock, self._enough_memory():
            self._start(1)
            text = self._resume(wanted, start)
            logits = self._read([text], [wanted], every=True)[0][start - len(wanted) :]
            self._keep([text])
        return logits

    def _start(self, texts: int) -> None:
        """Start a call: without `keep_cache` every call reads its texts from their first token."""
        if not self.keep_cache:
            self._texts = []
        self._most = max(self._most, texts)

    def _resume(self, tokens: list[int], end: int) -> Text:
        """A text that holds the beginning of these tokens, at most `end`, and leaves at least one token to read."""
        shared = [shared_length(text.tokens, tokens) for text in self._texts]
        longest = max(shared, default=0)
        if not longest:
            return Text(self.network.new_cache())
        best = self._texts.pop(shared.index(longest))
        kept = min(end, longest if longest < len(tokens) else best.began[len(tokens) - 1])
        if kept == len(best.tokens):  # it grows; after an error it is not kept, since its cache may be half written
            return best
        self._texts.append(best)
        text = best.fork(self.network, kept)
        text.passing = longest == len(tokens)
        return text

    def _read(self, texts: list[Text], wanted: list[list[int]], every: bool = False) -> list[Array]:
        """Read each text up to the tokens wanted, in one pass."""
        new = [tokens[len(text.tokens) :] for text, tokens in zip(texts, wanted, strict=True)]
        rows = self.network.read([text.cache for text in texts], new, every)
        for text, tokens, added in zip(texts, wanted, new, strict=True):
            text.began += [len(text.tokens)] * len(added)
            text.tokens = tokens
        return rows

    def _keep(self, texts: list[Text]) -> None:
        """Keep what was read, unless a kept text holds it already."""
        self._texts = [*self._texts, *(text for text in texts if not text.passing)][-self._most :]

    @contextmanager
    def _enough_memory(self) -> Iterator[None]:
        try:
            yield
        except MemoryError:
            raise too_large(self.name, self.network.megabytes) from None

    def _check(self, tokens: Sequence[int]) -> list[int]:
        try:
            wanted = [*map(index, tokens)]
        except TypeError:
            raise SettingError("tokens", seen=quoted(tokens), expected="a list of token ids") from None
        if not wanted:
            raise SettingError("tokens", seen="none", expected="at least one")
        if len(wanted) > self.context:
            hint = "shorten the prompt or lower max_tokens"
            raise SettingError("tokens", seen=f"{len(wanted)} tokens", expected=f"at most {self.context}", hint=hint)
        if min(wanted) < 0 or max(wanted) >= len(self.vocabulary):
            expected = f"ids from 0 to {len(self.vocabulary) - 1}"
            raise SettingError("tokens", seen=f"{min(wanted)} to {max(wanted)}", expected=expected)
        return wanted


def too_large(name: str, megabytes: float) -> ModelError:
    """The error for a model that does not fit into memory."""
    seen = f"out of memory; its weights take {megabytes:,.0f} MB"
    hint = f'{SMALLER}, or device="cpu"; no kernel restart needed'
    return ModelError(f"model {quoted(name)}", seen=seen, expected="enough memory", hint=hint)


def with_eos(vocabulary: Vocabulary, settings: Mapping[str, Any]) -> Vocabulary:
    """A vocabulary with the EOS ids that a model's generation settings name in addition."""
    ends = settings.get("eos_token_id")
    more = ends if isinstance(ends, list) else [] if ends is None else [ends]
    eos, special = [*vocabulary.eos, *more], [*vocabulary.special, *more]
    return Vocabulary(vocabulary.pieces, eos, special, tokenizer_size=vocabulary.tokenizer_size)
