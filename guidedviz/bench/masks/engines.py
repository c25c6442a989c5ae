"""Our engines and the real ones with one interface, each called in the fastest way that its documentation describes.

The real engines are timed but not verified: known wrong masks are visible in the number of legal tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np

import guidedviz
from guidedviz.bench.masks.cases import Case
from guidedviz.errors import SettingError
from guidedviz.extras import how_to_install
from guidedviz.machines.pushdown.pda import grammar
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.tokens import index
from guidedviz.tokens.engines import llguidance, outlines_core, xgrammar
from guidedviz.tokens.engines.constraint import Asked
from guidedviz.tokens.engines.matcher import Words, empty_words, load
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.machine_guide import guide, lazy_guide
from guidedviz.tokens.split import split
from guidedviz.tokens.vocabulary import Vocabulary

Build = Callable[[Any, Vocabulary], Guide]


@dataclass
class Session:
    """One text under one constraint: compute the mask, append a token."""

    mask: Callable[[], Any]
    advance: Callable[[int], bool]


@dataclass(frozen=True)
class Compiled:
    """A compiled constraint: it opens sessions, and returns its size in bytes and its number of states if known."""

    open: Callable[[], Session]
    nbytes: Callable[[], int | None] = lambda: None
    states: Callable[[], int | None] = lambda: None


@dataclass(frozen=True)
class Engine:
    """A name, the compiler that is timed, and a count of the tokens that a mask allows."""

    name: str
    compile: Callable[[Case], Compiled]
    legal: Callable[[Session], int]
    forget: Callable[[], None] = lambda: None  # called before each compile, not timed


def find_engines(
    vocabulary: Vocabulary, ours: Mapping[str, Build] | None = None, rivals: Collection[str] = ()
) -> tuple[list[Engine], list[str]]:
    """Our engines, the installed real ones, and one line for each missing one; or only the named ones."""
    found = [_ours(name, build, vocabulary) for name, build in (ours or FLAT).items()]
    missing = []
    for name in rivals or FLAT_RIVALS:
        try:
            package, *rest = name.split(", ")
            found.append(RIVALS[name](", ".join((f"{package} {version(package)}", *rest)), vocabulary))
        except (ImportError, SettingError) as error:
            said = getattr(error, "seen", str(error))
            missing.append(f"{name} is not available: {said}; {how_to_install('engines')}")
    return found, missing


def _ours(name: str, build: Build, vocabulary: Vocabulary) -> Engine:
    """Build a guide from the text of a constraint, as users do, without caches in memory."""

    def compile_case(case: Case) -> Compiled:
        built = build(build_machine(case), vocabulary)
        return Compiled(lambda: _open_guide(built), lambda: _nbytes(built), lambda: _states(built))

    def forget() -> None:
        regex.cache_clear()
        index.forget()
        split.split_machine.cache_clear()

    return Engine(f"{name} {guidedviz.__version__}", compile_case, lambda session: int(session.mask().sum()), forget)


def build_machine(case: Case) -> Any:
    """Our machine for a case."""
    if case.grammar:
        return grammar(case.grammar)
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
    known = getattr(built.source, "built", None) or built.split
    return int(known.nbytes) if known else None


def _states(built: Any) -> int:
    """The states of a finite machine, the nodes of a grammar's rules."""
    machine = built.machine
    return len(machine.nodes.edges if hasattr(machine, "nodes") else machine.edges)


def _count(words: Words, size: int, session: Session) -> int:
    """The number of legal tokens; an engine may leave the buffer unchanged if all tokens are legal."""
    words[:] = -1
    session.mask()
    return int(np.unpackbits(words.view(np.uint8), count=size, bitorder="little").sum())


def prepare_xgrammar(name: str, vocabulary: Vocabulary, read: Callable[[Case], Asked] | None = None) -> Engine:
    """A compiler with one thread and no cache between compiles."""
    package, words, compiler = load("xgrammar"), empty_words(vocabulary), xgrammar.build_compiler(vocabulary)

    def compile_case(case: Case) -> Compiled:
        compiled = xgrammar.compile_with(compiler, (read or asked_of)(case))
        return Compiled(lambda: open_session(compiled), lambda: int(compiled.memory_size_bytes))

    def open_session(compiled: Any) -> Session:
        matcher = package.GrammarMatcher(compiled)
        return Session(partial(matcher.fill_next_token_bitmask, words), matcher.accept_token)

    return Engine(name, compile_case, partial(_count, words, len(vocabulary)))


@lru_cache(maxsize=64)
def asked_of(case: Case) -> Asked:
    """The text of a case in the engine's syntax. Our machine is not built; a grammar is only parsed and converted."""
    if case.grammar:
        return Asked("grammar", case.grammar, grammar(case.grammar))
    return Asked("regex", case.regex, None) if case.schema is None else schema_of(case)


def schema_of(case: Case) -> Asked:
    """The schema of a case, for an engine's own parser."""
    return Asked("schema", json.dumps(case.schema), None)


def prepare_outlines(name: str, vocabulary: Vocabulary) -> Engine:
    """Build the index of every state."""
    core, words, tokens = load("outlines-core"), empty_words(vocabulary), outlines_core.build_tokens(vocabulary)
    place = (words.ctypes.data, words.size, words.itemsize)

    def compile_case(case: Case) -> Compiled:
        index = core.Index(outlines_core.read_asked(asked_of(case)), tokens)
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


def prepare_llguidance(name: str, vocabulary: Vocabulary, read: Callable[[Case], Asked] | None = None) -> Engine:
    """Compile for full masks, not only the canonical token of a forced run."""
    package, words, tokenizer = load("llguidance"), empty_words(vocabulary), llguidance.build_tokenizer(vocabulary)
    fill = load("llguidance", "llguidance.numpy").fill_next_token_bitmask
    show = lru_cache(lambda case: llguidance.FULL + llguidance.show_asked((read or asked_of)(case)))  # not timed

    def compile_case(case: Case) -> Compiled:
        matcher = package.LLMatcher(tokenizer, show(case), log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return Compiled(lambda: open_session(matcher.deep_copy()))

    def open_session(matcher: Any) -> Session:
        return Session(partial(fill, matcher, words), matcher.consume_token)

    return Engine(name, compile_case, partial(_count, words, len(vocabulary)))


FLAT: Mapping[str, Build] = {"guidedviz": guide, "guidedviz, lazy": lazy_guide}
RIVALS: Mapping[str, Callable[[str, Vocabulary], Engine]] = {
    "outlines-core": prepare_outlines,
    "xgrammar": prepare_xgrammar,
    "llguidance": prepare_llguidance,
    "xgrammar, schema": partial(prepare_xgrammar, read=schema_of),
    "llguidance, schema": partial(prepare_llguidance, read=schema_of),
}
FLAT_RIVALS = ("outlines-core", "xgrammar", "llguidance")
