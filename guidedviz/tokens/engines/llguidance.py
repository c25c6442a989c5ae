"""llguidance (Microsoft): grammars in Lark's syntax, a trie walk at every step. Its sticky errors are raised here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines.constraint import (
    Asked,
    Compile,
    Words,
    empty_words,
    load,
    need_eos,
    refusal,
    unpack_words,
)
from guidedviz.tokens.vocabulary import Vocabulary, longest_tokens

FULL = '%llguidance {"no_forcing": true}\n'  # by default the mask of a forced run is only its canonical token
SPACES = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@dataclass(frozen=True, eq=False)
class LLGuidanceMatcher:
    """The engine's state after some tokens of a text."""

    inner: Any
    words: Words
    size: int

    def fill(self) -> None:
        """Compute the engine's mask."""
        self.inner.unsafe_compute_mask_ptr(self.words.ctypes.data, self.words.nbytes)

    def mask(self) -> Mask:
        """True for every id that the engine allows."""
        self.fill()
        if self.inner.is_error():  # the matcher stops if no token is legal
            if not self.inner.get_error().startswith("NoExtensionBias"):
                raise refusal("llguidance", self.inner.get_error())
            self.words[:] = 0
        return unpack_words(self.words, self.size)

    def take(self, token: int) -> bool:
        """Append a token; False if the engine rejects it."""
        return bool(self.inner.consume_token(token))

    def may_end(self) -> bool:
        """Whether the text may end here."""
        return bool(self.inner.is_accepting())

    def copy(self) -> LLGuidanceMatcher:
        """A copy that can be advanced independently."""
        return LLGuidanceMatcher(self.inner.deep_copy(), self.words, self.size)


def build_tokenizer(vocabulary: Vocabulary) -> Any:
    """A tokenizer that always takes the longest token; the engine needs one for forced runs."""
    llguidance = load("llguidance")

    class Tokens:
        eos_token_id, bos_token_id, tokens = need_eos("llguidance", vocabulary)[0], None, vocabulary.pieces
        special_token_ids = sorted(vocabulary.special | vocabulary.eos)

        def __call__(self, text: bytes | str) -> list[int]:
            return list(longest_tokens(vocabulary, text.encode() if isinstance(text, str) else text))

    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()), eos_token=sorted(vocabulary.eos))


def prepare(vocabulary: Vocabulary, forcing: bool = False) -> Compile:
    """Prepare the engine for a vocabulary. It computes full masks, or its default masks with `forcing`."""
    llguidance, words, tokenizer = load("llguidance"), empty_words(vocabulary), build_tokenizer(vocabulary)

    def compile_asked(asked: Asked) -> LLGuidanceMatcher:
        if asked.kind == "schema":
            grammar = f"start: %json {json.dumps(json.loads(asked.text) | {'x-guidance': SPACES})}"
        else:
            grammar = asked.lark
        matcher = llguidance.LLMatcher(tokenizer, f"{'' if forcing else FULL}{grammar}\n", log_level=0)
        if matcher.is_error():
            raise refusal("llguidance", matcher.get_error())
        return LLGuidanceMatcher(matcher, words, len(vocabulary))

    return compile_asked
