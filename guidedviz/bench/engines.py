"""Ours and the real engines behind one small shape, each called the quickest way it documents.

The real ones are timed, never trusted: what each is known to get wrong shows in how many tokens it calls legal.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

import guidedviz
from guidedviz.bench.cases import Case, case_tokens
from guidedviz.machines.dfa import DFA
from guidedviz.machines.regex import regex
from guidedviz.machines.schema import json_schema
from guidedviz.tokens import index
from guidedviz.tokens.engines import guide, lazy_guide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

Words = npt.NDArray[np.int32]


@dataclass
class Session:
    """One text under one constraint: ask for the mask, put a token."""

    mask: Callable[[], Any]
    advance: Callable[[int], bool]


@dataclass(frozen=True)
class Compiled:
    """What a compiler gives: sessions without end, and the bytes it takes, where it tells them."""

    open: Callable[[], Session]
    nbytes: Callable[[], int | None] = lambda: None


@dataclass(frozen=True)
class Engine:
    """A name for people, the compiler that is timed, and how many tokens its mask allows."""

    name: str
    compile: Callable[[Case], Compiled]
    legal: Callable[[Session], int]
    forget: Callable[[], None] = lambda: None  # before each compile, off the clock


def find_engines(vocabulary: Vocabulary) -> tuple[list[Engine], list[str]]:
    """Ours, the real ones that are installed, and one line for each that is not."""
    found, missing = [_ours("guidedviz", guide, vocabulary), _ours("guidedviz, lazy", lazy_guide, vocabulary)], []
    for name, prepare in RIVALS.items():
        try:
            found.append(prepare(f"{name} {version(name)}", vocabulary))
        except ImportError as error:
            missing.append(f"{name} is not here: {error}; pip install 'guidedviz[engines]'")
    return found, missing


def _ours(name: str, build: Callable[[DFA, Vocabulary], Guide], vocabulary: Vocabulary) -> Engine:
    """The front door, from a text to a guide; what other compiles left in memory is forgotten, disk is off."""

    def compile_case(case: Case) -> Compiled:
        built = build(build_machine(case), vocabulary)
        return Compiled(lambda: _open_guide(built), lambda: _nbytes(built))

    def forget() -> None:
        regex.cache_clear()
        index.forget()

    return Engine(f"{name} {guidedviz.__version__}", compile_case, lambda session: int(session.mask().sum()), forget)


def build_machine(case: Case) -> DFA:
    """Our machine for a case."""
    return regex(case.regex) if case.schema is None else json_schema(case.schema)


def _open_guide(built: Guide) -> Session:
    session = Session(partial(built.mask, built.initial), lambda token: False)

    def advance(token: int, state: Any = built.initial) -> bool:
        try:
            after = built.advance(state, token)
        except guidedviz.IllegalToken:
            return False
        session.mask, session.advance = partial(built.mask, after), partial(advance, state=after)
        return True

    session.advance = advance
    return session


def _nbytes(built: Any) -> int | None:
    return int(built.index.nbytes) if "index" in vars(built) else None


def _words(vocabulary: Vocabulary) -> Words:
    return np.zeros((1, (len(vocabulary) + 31) // 32), dtype=np.int32)


def _count(words: Words, size: int, session: Session) -> int:
    """How many tokens are legal; an engine that finds nothing to forbid may leave the words as they are."""
    words[:] = -1
    session.mask()
    return int(np.unpackbits(words.view(np.uint8), count=size, bitorder="little").sum())


def prepare_xgrammar(name: str, vocabulary: Vocabulary) -> Engine:
    """One thread, and nothing remembered between compiles."""
    xgrammar, words = import_module("xgrammar"), _words(vocabulary)
    # its raw vocabulary takes no special ids: one without bytes is never text
    pieces = [b"" if token in vocabulary.special else piece for token, piece in enumerate(vocabulary.pieces)]
    info = xgrammar.TokenizerInfo(pieces, stop_token_ids=sorted(vocabulary.eos))
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile_case(case: Case) -> Compiled:
        if case.schema is None:
            compiled = compiler.compile_regex(case.regex)
        else:
            compiled = compiler.compile_json_schema(json.dumps(case.schema), any_whitespace=False)
        return Compiled(lambda: open_session(compiled), lambda: int(compiled.memory_size_bytes))

    def open_session(compiled: Any) -> Session:
        matcher = xgrammar.GrammarMatcher(compiled)
        return Session(partial(matcher.fill_next_token_bitmask, words), matcher.accept_token)

    return Engine(name, compile_case, partial(_count, words, len(vocabulary)))


def prepare_outlines(name: str, vocabulary: Vocabulary) -> Engine:
    """The index of every state; EOS is one id."""
    core, words = import_module("outlines_core"), _words(vocabulary)
    regex_of = import_module("outlines_core.json_schema").build_regex_from_schema
    text = frozenset(vocabulary.text_ids)
    ids = {piece: [t for t in vocabulary.ids(piece) if t in text] for piece in {vocabulary.pieces[t] for t in text}}
    tokens = core.Vocabulary(min(vocabulary.eos, default=0), ids)
    place = (words.ctypes.data, words.size, words.itemsize)

    def compile_case(case: Case) -> Compiled:
        index = core.Index(case.regex if case.schema is None else regex_of(json.dumps(case.schema)), tokens)
        return Compiled(lambda: open_session(index))

    def open_session(index: Any) -> Session:
        walker = core.Guide(index)
        return Session(partial(walker.write_mask_into, *place), lambda token: _takes(walker, token))

    return Engine(name, compile_case, partial(_count, words, len(vocabulary)))


def _takes(walker: Any, token: int) -> bool:
    try:
        walker.advance(token, return_tokens=False)
    except ValueError:
        return False
    return True


def prepare_llguidance(name: str, vocabulary: Vocabulary) -> Engine:
    """The full legal set, not only the canonical token of a forced run."""
    llguidance, words = import_module("llguidance"), _words(vocabulary)
    fill = import_module("llguidance.numpy").fill_next_token_bitmask

    class Tokens:
        eos_token_id, bos_token_id, tokens = min(vocabulary.eos, default=0), None, vocabulary.pieces
        special_token_ids = sorted(vocabulary.special | vocabulary.eos)

        def __call__(self, text: bytes | str) -> list[int]:
            return list(case_tokens(vocabulary, text.encode() if isinstance(text, str) else text))

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()), eos_token=sorted(vocabulary.eos))

    def compile_case(case: Case) -> Compiled:
        matcher = llguidance.LLMatcher(tokenizer, f'%llguidance {{"no_forcing": true}}\nstart: {_lark(case)}\n')
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return Compiled(lambda: open_session(matcher.deep_copy()))

    def open_session(matcher: Any) -> Session:
        return Session(partial(fill, matcher, words), matcher.consume_token)

    return Engine(name, compile_case, partial(_count, words, len(vocabulary)))


def _lark(case: Case) -> str:
    if case.schema is None:
        return "/" + case.regex.replace("/", r"\/") + "/"
    spaces = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%json {json.dumps(case.schema | {'x-guidance': spaces})}"


RIVALS = {"outlines-core": prepare_outlines, "xgrammar": prepare_xgrammar, "llguidance": prepare_llguidance}
