"""xgrammar (MLC, arXiv 2411.15100): grammars in GBNF, its own parsers for regexes and schemas, copies by `fork`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.tree import Call, Repeat
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines.constraint import Asked, Compile, Words, empty_words, load, refusal, unpack_words
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class XGrammarMatcher:
    """The engine's state after some tokens of a text."""

    inner: Any
    words: Words
    size: int

    def fill(self) -> None:
        """Compute the engine's mask. The engine does not write the buffer if all tokens are allowed."""
        self.inner.fill_next_token_bitmask(self.words)

    def mask(self) -> Mask:
        """True for every id that the engine allows."""
        self.words[:] = -1
        self.fill()
        return unpack_words(self.words, self.size)

    def take(self, token: int) -> bool:
        """Append a token; False if the engine rejects it."""
        return bool(self.inner.accept_token(token))

    def may_end(self) -> bool:
        """Whether the text may end here."""
        return bool(self.inner.is_completed())

    def copy(self) -> XGrammarMatcher:
        """A copy that can be advanced independently."""
        return XGrammarMatcher(self.inner.fork(), self.words, self.size)


def prepare(vocabulary: Vocabulary, special_text: bool = False) -> Compile:
    """Prepare the engine for a vocabulary, with one thread and no cache.

    Special ids get no bytes. With `special_text` they keep their bytes, as when the engine reads a tokenizer itself.
    """
    xgrammar, words = load("xgrammar"), empty_words(vocabulary)
    hidden = frozenset() if special_text else vocabulary.special - vocabulary.eos
    pieces = [b"" if token in hidden else piece for token, piece in enumerate(vocabulary.pieces)]
    info = xgrammar.TokenizerInfo(pieces, stop_token_ids=sorted(vocabulary.eos))
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile_asked(asked: Asked) -> XGrammarMatcher:
        if asked.kind == "grammar" and (name := endless_rule(asked.text)):
            raise refusal("xgrammar", f"the rule {name}, which stands for itself (xgrammar crashes on a{{0,2}} of it)")
        try:
            if asked.kind == "regex":
                compiled = compiler.compile_regex(asked.text)
            elif asked.kind == "schema":
                compiled = compiler.compile_json_schema(asked.text, any_whitespace=False)
            else:
                compiled = compiler.compile_grammar(asked.gbnf)
            return XGrammarMatcher(xgrammar.GrammarMatcher(compiled), words, len(vocabulary))
        except RuntimeError as error:
            raise refusal("xgrammar", error) from error

    return compile_asked


def endless_rule(text: str) -> str:
    """A rule that is nothing but a call of itself, repeated, perhaps through other rules; "" if there is none.

    >>> endless_rule("root ::= s{0,2}\\ns ::= (root)"), endless_rule('root ::= root "a"')
    ('root', '')
    """
    rules = parse_grammar(text).rules
    only = {rule.name: rule.tree.part if isinstance(rule.tree, Repeat) else rule.tree for rule in rules}
    for name in only:
        here, seen = only[name], {name}
        while isinstance(here, Call) and here.name not in seen:
            seen.add(here.name)
            here = only[here.name]
        if isinstance(here, Call):
            return name
    return ""
