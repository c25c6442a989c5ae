"""The real engines: each compiles a constraint for a vocabulary, and then reads a text token by token.

An engine gets the user's text unchanged, so differences show how each engine interprets it, or a machine converted to
text. The text of a machine is exact, so all engines get the same language.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Protocol, Self

import numpy as np

from guidedviz.errors import PatternError, SettingError
from guidedviz.extras import need
from guidedviz.machines.grammars import rewrite, show
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.token_calls import call_tokens
from guidedviz.machines.graph import grouped
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.ranges import byte_ranges
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.syntax import Call, Repeat
from guidedviz.machines.written import machine_grammar
from guidedviz.tokens.arrays import Ids, Mask, read_only, unpack, words_of
from guidedviz.tokens.vocabulary import Vocabulary, longest_tokens

LOG_PLACE = re.compile(r"^\[[0-9:]+\] \S+: ")  # the time and source line at the start of an error message


@dataclass(frozen=True)
class Asked:
    """A constraint: our machine, its kind, and its text if it has one.

    The kinds are "regex", "grammar", "lark", "schema" and "machine".
    """

    machine: Machine[Any]
    kind: str = "machine"
    text: str = ""

    @cached_property
    def grammar(self) -> Grammar:
        """The machine as a grammar, without the rules that it cannot reach."""
        return rewrite.needed_rules(rewrite.without_ticks(machine_grammar(self.machine)))

    def gbnf(self, vocabulary: Vocabulary) -> str:
        """As GBNF, in which xgrammar writes a special token as `Token(ids)`."""
        if self.machine.reads_names:
            return show.show_gbnf(call_tokens(self.grammar, vocabulary.special_ids, token_of_ids))
        return self.text if self.kind == "grammar" else show.show_gbnf(self.grammar)

    def lark(self, vocabulary: Vocabulary) -> str:
        """In Lark's syntax, in which llguidance writes a special token as `<[ids]>`.

        A regex is one lexeme, a grammar has one lexeme per character.
        """
        if self.kind == "lark":
            return self.text
        if self.machine.reads_names:
            return lark_with_tokens(self.grammar, vocabulary)
        if self.kind == "regex" or isinstance(self.machine, DFA):
            escaped = self.regex.replace("/", r"\/")
            return f"start: /{escaped}/"
        return show.show_lark(self.grammar)

    @property
    def regex(self) -> str:
        """The constraint as a regex, if the machine is finite."""
        if self.kind == "regex":
            return self.text
        return show.show_regex(self.grammar.rules[0].tree)

    def __str__(self) -> str:
        return self.text or repr(self.machine)


def token_of_ids(ids: Sequence[int]) -> str:
    """One of these special tokens, for xgrammar.

    >>> token_of_ids([5, 7])
    'Token(5,7)'
    """
    return f"Token({','.join(map(str, ids))})"


def lark_with_tokens(grammar: Grammar, vocabulary: Vocabulary) -> str:
    """A grammar in Lark's syntax. Of two sets of ids with a common token, llguidance reads only one, so none overlap.

    >>> named = gv.grammar("root ::= <b> | !<c> <c>").grammar
    >>> print(lark_with_tokens(named, Vocabulary([b"<a>", b"<b>", b"<c>", b"<d>"], special=range(4))))
    start: r0
    r0: (<[1-1]>) | (/[\\x{0}-\\x{10FFFF}]/ | (<[0-0,3-3]> | <[1-1]>)) (<[2-2]>)
    """
    found: dict[tuple[int, ...], str] = {}
    call_tokens(grammar, vocabulary.special_ids, lambda ids: found.setdefault(tuple(ids), ""))
    sets_of = defaultdict[int, list[int]](list)  # of each token, the numbers of its sets
    for number, ids in enumerate(found):
        for token in ids:
            sets_of[token].append(number)
    parts = grouped((tuple(sets_of[token]), token) for token in sorted(sets_of))
    part_of: dict[int, str] = {}
    for part in parts.values():
        part_of.update(dict.fromkeys(part, lark_of_ids(part)))
    for ids in found:
        shown = dict.fromkeys(part_of[token] for token in ids)
        found[ids] = f"({' | '.join(shown)})"
    return show.show_lark(call_tokens(grammar, vocabulary.special_ids, lambda ids: found[tuple(ids)]))


def lark_of_ids(ids: Sequence[int]) -> str:
    """One of these special tokens, for llguidance.

    >>> lark_of_ids([7, 5, 6, 9])
    '<[5-7,9-9]>'
    """
    ranges = [f"{first}-{last}" for first, last in byte_ranges(ids)]
    return f"<[{','.join(ranges)}]>"


# Each engine has a function `prepare_...`: it takes a vocabulary, and returns what compiles a constraint to a matcher.


class Matcher(Protocol):
    """The engine's state after some tokens of a text. `take` changes it; after `take` returns False it is unusable."""

    def mask(self) -> Mask: ...
    def take(self, token: int) -> bool: ...
    def may_end(self) -> bool: ...
    def copy(self) -> Self: ...


Compile = Callable[[Asked], Matcher]


def load(name: str) -> Any:
    """An engine's package."""
    return need(name.replace("-", "_"), "engines", f"engine {name!r}")


def engine_refusal(name: str, said: object) -> PatternError:
    """The error for a constraint that an engine rejects, with the engine's message."""
    said = LOG_PLACE.sub("", str(said)).strip() or type(said).__name__
    return PatternError(f"engine {name!r}", seen=said.splitlines()[0][:200], expected="a constraint that it supports")


def need_eos(name: str, vocabulary: Vocabulary) -> list[int]:
    """The EOS ids, for an engine that needs at least one."""
    if not vocabulary.eos:
        raise SettingError(f"engine {name!r}", seen="a vocabulary without EOS", expected="at least one EOS id")
    return sorted(vocabulary.eos)


def new_words(vocabulary: Vocabulary) -> Ids:
    """A buffer for one mask, which the matchers of a vocabulary share."""
    return np.zeros((1, words_of(len(vocabulary))), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class XGrammarMatcher:
    """xgrammar (MLC, arXiv 2411.15100): grammars in GBNF, its own parsers for regexes and schemas."""

    inner: Any
    words: Ids
    size: int

    def fill(self) -> None:
        """Compute the engine's mask. The engine does not write the buffer if all tokens are allowed."""
        self.inner.fill_next_token_bitmask(self.words)

    def mask(self) -> Mask:
        """True for every id that the engine allows."""
        self.words[:] = -1
        self.fill()
        return unpack(self.words.view(np.uint8)[0], self.size)

    def take(self, token: int) -> bool:
        """Append a token; False if the engine rejects it."""
        return bool(self.inner.accept_token(token))

    def may_end(self) -> bool:
        """Whether the text may end here."""
        return bool(self.inner.is_completed())

    def copy(self) -> Self:
        """A copy that can be advanced independently."""
        return replace(self, inner=self.inner.fork())


def prepare_xgrammar(vocabulary: Vocabulary, special_text: bool = False) -> Compile:
    """Prepare the engine for a vocabulary, with one thread and no cache.

    Special ids get their names for bytes, which are in no text; the engine never allows an id without bytes. With
    `special_text` they keep their text, as when the engine reads a tokenizer itself.
    """
    xgrammar = load("xgrammar")
    words = new_words(vocabulary)
    pieces = vocabulary.pieces if special_text else vocabulary.named.pieces
    info = xgrammar.TokenizerInfo(pieces, stop_token_ids=sorted(vocabulary.eos))
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile_asked(asked: Asked) -> XGrammarMatcher:
        name = ""
        if asked.kind not in ("regex", "schema"):
            name = endless_rule(asked.grammar)
        if name:
            said = f"the rule {name}, which stands for itself (xgrammar crashes on a{{0,2}} of it)"
            raise engine_refusal("xgrammar", said)
        try:
            if asked.kind == "regex":
                compiled = compiler.compile_regex(asked.text)
            elif asked.kind == "schema":
                compiled = compiler.compile_json_schema(asked.text, any_whitespace=False)
            else:
                compiled = compiler.compile_grammar(asked.gbnf(vocabulary), root_rule_name=asked.grammar.root)
            return XGrammarMatcher(xgrammar.GrammarMatcher(compiled), words, len(vocabulary))
        except RuntimeError as error:
            raise engine_refusal("xgrammar", error) from error

    return compile_asked


def endless_rule(grammar: Grammar) -> str:
    """A rule that is nothing but a call of itself, repeated, perhaps through other rules; "" if there is none.

    >>> endless_rule(gv.grammar("root ::= s{0,2}\\ns ::= (root)").grammar), endless_rule(gv.json().grammar)
    ('root', '')
    """
    only = {rule.name: rule.tree.part if isinstance(rule.tree, Repeat) else rule.tree for rule in grammar.rules}
    for name in only:
        here = only[name]
        seen = {name}
        while isinstance(here, Call) and here.name not in seen:
            seen.add(here.name)
            here = only[here.name]
        if isinstance(here, Call):
            return name
    return ""


# by default the mask of a forced run is the one token that the engine's tokenizer takes
FULL_MASKS = '%llguidance {"no_forcing": true}\n'
SPACES = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@dataclass(frozen=True, eq=False)
class LLGuidanceMatcher:
    """llguidance (Microsoft): grammars in Lark's syntax, a trie walk at every step. Its lasting errors are raised."""

    inner: Any
    words: Ids
    size: int

    def fill(self) -> None:
        """Compute the engine's mask."""
        self.inner.unsafe_compute_mask_ptr(self.words.ctypes.data, self.words.nbytes)

    def mask(self) -> Mask:
        """True for every id that the engine allows."""
        self.fill()
        if self.inner.is_error():  # the matcher stops if no token is legal
            if not self.inner.get_error().startswith("NoExtensionBias"):
                raise engine_refusal("llguidance", self.inner.get_error())
            self.words[:] = 0
        return unpack(self.words.view(np.uint8)[0], self.size)

    def take(self, token: int) -> bool:
        """Append a token; False if the engine rejects it."""
        return bool(self.inner.consume_token(token))

    def may_end(self) -> bool:
        """Whether the text may end here."""
        return bool(self.inner.is_accepting())

    def copy(self) -> Self:
        """A copy that can be advanced independently."""
        return replace(self, inner=self.inner.deep_copy())


def build_tokenizer(vocabulary: Vocabulary) -> Any:
    """A tokenizer for llguidance that always takes the longest token; the engine needs one for forced runs."""
    llguidance = load("llguidance")
    eos = need_eos("llguidance", vocabulary)

    class Tokens:
        eos_token_id = eos[0]
        bos_token_id = None
        tokens = vocabulary.pieces
        special_token_ids = sorted(vocabulary.special | vocabulary.eos)

        def __call__(self, text: bytes | str) -> list[int]:
            return list(longest_tokens(vocabulary, to_bytes(text)))

    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()), eos_token=eos)


def prepare_llguidance(vocabulary: Vocabulary, forcing: bool = False) -> Compile:
    """Prepare the engine for a vocabulary. It computes full masks, or its default masks with `forcing`."""
    llguidance = load("llguidance")
    tokenizer = build_tokenizer(vocabulary)
    words = new_words(vocabulary)

    def compile_asked(asked: Asked) -> LLGuidanceMatcher:
        if asked.kind == "schema":
            schema = json.loads(asked.text) | {"x-guidance": SPACES}
            text = f"start: %json {json.dumps(schema)}"
        else:
            text = asked.lark(vocabulary)
        if not forcing:
            text = FULL_MASKS + text
        matcher = llguidance.LLMatcher(tokenizer, text + "\n", log_level=0)
        if matcher.is_error():
            raise engine_refusal("llguidance", matcher.get_error())
        return LLGuidanceMatcher(matcher, words, len(vocabulary))

    return compile_asked


@dataclass(eq=False)
class OutlinesMatcher:
    """outlines-core (dottxt): an index of every state of a regex's machine; its states are values, like ours."""

    index: Any
    state: int
    size: int

    def mask(self) -> Mask:
        """True for every id that the engine allows."""
        mask = np.zeros(self.size, dtype=np.bool_)
        mask[self.index.get_allowed_tokens(self.state) or []] = True
        return read_only(mask)

    def take(self, token: int) -> bool:
        """Append a token; False if the engine rejects it."""
        after = self.index.get_next_state(self.state, token)
        if after is not None:
            self.state = after
        return after is not None

    def may_end(self) -> bool:
        """Whether the text may end here."""
        return bool(self.index.is_final_state(self.state))

    def copy(self) -> Self:
        """A copy that can be advanced independently."""
        return replace(self)


def prepare_outlines(vocabulary: Vocabulary) -> Compile:
    """Prepare the engine for a vocabulary: it gets one EOS id, and the ids of every piece."""
    core = load("outlines-core")
    eos = need_eos("outlines-core", vocabulary)
    ids = grouped((vocabulary.pieces[token], token) for token in vocabulary.text_ids)
    tokens = core.Vocabulary(eos[0], dict(ids))

    def compile_asked(asked: Asked) -> OutlinesMatcher:
        if asked.machine.reads_names:
            seen = "a machine that names special tokens"
            hint = 'engine="xgrammar" or engine="llguidance"'
            raise SettingError("engine 'outlines-core'", seen=seen, expected="a machine over text", hint=hint)
        if asked.kind != "schema" and isinstance(asked.machine, PDA):
            seen = "a grammar with a stack"
            hint = "a regex or a flat schema"
            raise PatternError("engine 'outlines-core'", seen=seen, expected="a finite machine", hint=hint)
        try:
            text = asked.text
            if asked.kind == "schema":  # the engine converts it to a regex itself
                text = core.json_schema.build_regex_from_schema(text)
            elif asked.kind != "regex":
                text = asked.regex
            index = core.Index(text, tokens)
        except ValueError as error:
            raise engine_refusal("outlines-core", error) from error
        return OutlinesMatcher(index, index.get_initial_state(), len(vocabulary))

    return compile_asked


PREPARE: dict[str, Callable[[Vocabulary], Compile]] = {
    "xgrammar": prepare_xgrammar,
    "llguidance": prepare_llguidance,
    "outlines-core": prepare_outlines,
}
VARIANTS: dict[str, Callable[[Vocabulary], Compile]] = {  # the same engines with their defaults
    "llguidance, forcing": partial(prepare_llguidance, forcing=True),
    "xgrammar, special text": partial(prepare_xgrammar, special_text=True),
}


@lru_cache(maxsize=10)
def prepared(name: str, vocabulary: Vocabulary) -> Compile:
    """An engine prepared for a vocabulary; it is cached."""
    return (PREPARE | VARIANTS)[name](vocabulary)
