"""llguidance (Microsoft): grammars in Lark's syntax, walked at every step; its sticky errors are raised here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from guidedviz.tokens.guide import Mask
from guidedviz.tokens.longest import longest_tokens
from guidedviz.tokens.real.asked import Asked
from guidedviz.tokens.real.matcher import Compile, Words, empty_words, load, need_eos, refusal, unpack_words
from guidedviz.tokens.vocabulary import Vocabulary

FULL = '%llguidance {"no_forcing": true}\n'  # else the mask of a forced run is its canonical token alone
SPACES = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@dataclass(frozen=True, eq=False)
class LLGuidanceMatcher:
    """One text under way."""

    inner: Any
    words: Words
    size: int

    def fill(self) -> None:
        """Its own mask."""
        self.inner.unsafe_compute_mask_ptr(self.words.ctypes.data, self.words.nbytes)

    def mask(self) -> Mask:
        """Which tokens it allows."""
        self.fill()
        if self.inner.is_error():  # it ends itself where no token can come
            if not self.inner.get_error().startswith("NoExtensionBias"):
                raise refusal("llguidance", self.inner.get_error())
            self.words[:] = 0
        return unpack_words(self.words, self.size)

    def take(self, token: int) -> bool:
        """Does it accept the token?"""
        return bool(self.inner.consume_token(token))

    def may_end(self) -> bool:
        """May the text end here?"""
        return bool(self.inner.is_accepting())

    def copy(self) -> LLGuidanceMatcher:
        """Another text that begins the same."""
        return LLGuidanceMatcher(self.inner.deep_copy(), self.words, self.size)


def build_tokenizer(vocabulary: Vocabulary) -> Any:
    """It wants to tokenize as well, for forced runs: here the longest token each time."""
    llguidance = load("llguidance")

    class Tokens:
        eos_token_id, bos_token_id, tokens = need_eos("llguidance", vocabulary)[0], None, vocabulary.pieces
        special_token_ids = sorted(vocabulary.special | vocabulary.eos)

        def __call__(self, text: bytes | str) -> list[int]:
            return list(longest_tokens(vocabulary, text.encode() if isinstance(text, str) else text))

    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()), eos_token=sorted(vocabulary.eos))


def prepare(vocabulary: Vocabulary, forcing: bool = False) -> Compile:
    """The full legal set; with `forcing` what it does by default."""
    llguidance, words, tokenizer = load("llguidance"), empty_words(vocabulary), build_tokenizer(vocabulary)

    def compile_asked(asked: Asked) -> LLGuidanceMatcher:
        matcher = llguidance.LLMatcher(tokenizer, ("" if forcing else FULL) + show_asked(asked), log_level=0)
        if matcher.is_error():
            raise refusal("llguidance", matcher.get_error())
        return LLGuidanceMatcher(matcher, words, len(vocabulary))

    return compile_asked


def show_asked(asked: Asked) -> str:
    """What it is given."""
    if asked.kind == "schema":
        return f"start: %json {json.dumps(json.loads(asked.text) | {'x-guidance': SPACES})}\n"
    return asked.lark + "\n"
