"""xgrammar (MLC, arXiv 2411.15100): grammars in GBNF, readers of its own for regexes and schemas; `fork` copies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from guidedviz.tokens.guide import Mask
from guidedviz.tokens.real.asked import Asked
from guidedviz.tokens.real.matcher import Compile, Words, empty_words, load, refusal, unpack_words
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class XGrammarMatcher:
    """One text under way."""

    inner: Any
    words: Words
    size: int

    def fill(self) -> None:
        """Its own mask; where nothing is forbidden it leaves the words as they are."""
        self.inner.fill_next_token_bitmask(self.words)

    def mask(self) -> Mask:
        """Which tokens it allows."""
        self.words[:] = -1
        self.fill()
        return unpack_words(self.words, self.size)

    def take(self, token: int) -> bool:
        """Does it accept the token?"""
        return bool(self.inner.accept_token(token))

    def may_end(self) -> bool:
        """May the text end here?"""
        return bool(self.inner.is_completed())

    def copy(self) -> XGrammarMatcher:
        """Another text that begins the same."""
        return XGrammarMatcher(self.inner.fork(), self.words, self.size)


def build_compiler(vocabulary: Vocabulary, special_text: bool = False) -> Any:
    """One thread, and nothing remembered between compiles.

    Its raw vocabulary knows no special ids, so they get no bytes; with `special_text` they keep them, as they do when
    it reads a tokenizer itself.
    """
    xgrammar = load("xgrammar")
    hidden = frozenset() if special_text else vocabulary.special - vocabulary.eos
    pieces = [b"" if token in hidden else piece for token, piece in enumerate(vocabulary.pieces)]
    info = xgrammar.TokenizerInfo(pieces, stop_token_ids=sorted(vocabulary.eos))
    return xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)


def prepare(vocabulary: Vocabulary, special_text: bool = False) -> Compile:
    """A compiler for what is asked."""
    xgrammar, words = load("xgrammar"), empty_words(vocabulary)
    compiler = build_compiler(vocabulary, special_text)

    def compile_asked(asked: Asked) -> XGrammarMatcher:
        try:
            return XGrammarMatcher(xgrammar.GrammarMatcher(compile_with(compiler, asked)), words, len(vocabulary))
        except RuntimeError as error:
            raise refusal("xgrammar", error) from error

    return compile_asked


def compile_with(compiler: Any, asked: Asked) -> Any:
    """Its compiled grammar: a text by its own reader for that language."""
    if asked.kind == "regex":
        return compiler.compile_regex(asked.text)
    if asked.kind == "schema":
        return compiler.compile_json_schema(asked.text, any_whitespace=False)
    return compiler.compile_grammar(asked.gbnf)
