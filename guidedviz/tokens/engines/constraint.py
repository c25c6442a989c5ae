"""What every real engine has here: it compiles a constraint for a vocabulary, then it reads a text token by token.

An engine gets the user's text unchanged, so differences show how each engine interprets it, or a machine converted to
text. The text of a machine is exact, so all engines get the same language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError
from guidedviz.extras import need
from guidedviz.machines.decompile import machine_grammar
from guidedviz.machines.grammars.counted import without_ticks
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.show import show_gbnf, show_lark
from guidedviz.machines.machine import Machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.show_regex import show_regex
from guidedviz.machines.source import compile_text, guess_kind
from guidedviz.tokens.arrays import Mask, unpack
from guidedviz.tokens.index import live_machine
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Asked:
    """A constraint: its kind ("regex", "grammar", "schema" or "machine"), its text if it has one, and our machine."""

    kind: str
    text: str
    machine: Machine[Any]

    @cached_property
    def grammar(self) -> Grammar:
        """The machine as a grammar."""
        return without_ticks(machine_grammar(self.machine))

    @property
    def gbnf(self) -> str:
        """As GBNF."""
        return self.text if self.kind == "grammar" else show_gbnf(self.grammar)

    @property
    def lark(self) -> str:
        """The constraint in Lark's syntax: a regex is one lexeme, a grammar has one lexeme per character."""
        flat = self.kind == "regex" or isinstance(self.machine, DFA)
        return "start: /{}/".format(self.regex.replace("/", r"\/")) if flat else show_lark(self.grammar)

    @property
    def regex(self) -> str:
        """The constraint as a regex, if the machine is finite."""
        return self.text if self.kind == "regex" else show_regex(self.grammar.rules[0].tree)

    def __str__(self) -> str:
        return self.text or repr(self.machine)


def ask(constraint: Machine[Any] | str | Mapping[str, Any], kind: str = "") -> Asked:
    """Read a constraint: a machine, or a text that is a regex, a grammar or a schema.

    >>> ask("a|ab").kind, ask({"type": "null"}).kind, ask('root ::= "a"').kind
    ('regex', 'schema', 'grammar')
    """
    if isinstance(constraint, Mapping):
        constraint, kind = json.dumps(constraint), "schema"
    kind = kind or (guess_kind(constraint) if isinstance(constraint, str) else "machine")
    machine = constraint if kind == "machine" else compile_text(kind, str(constraint))
    return Asked(kind, "" if kind == "machine" else str(constraint), live_machine(machine, "constraint"))


PLACE = re.compile(r"^\[[0-9:]+\] \S+: ")  # the time and source line at the start of an error message
Words = npt.NDArray[np.int32]


class Matcher(Protocol):
    """The engine's state after some tokens of a text. `take` changes it; after `take` returns False it is unusable."""

    def fill(self) -> Any: ...  # write the mask, 32 ids per word, into a reused buffer
    def mask(self) -> Mask: ...
    def take(self, token: int) -> bool: ...
    def may_end(self) -> bool: ...
    def copy(self) -> Matcher: ...


Compile = Callable[[Asked], Matcher]


def load(name: str, module: str = "") -> Any:
    """An engine's package, or a module of it."""
    return need(module or name.replace("-", "_"), "engines", f"engine {name!r}")


def refusal(name: str, said: object) -> PatternError:
    """The error for a constraint that an engine rejects, with the engine's message."""
    said = PLACE.sub("", str(said)).strip() or type(said).__name__
    return PatternError(f"engine {name!r}", seen=said.splitlines()[0][:200], expected="a constraint that it supports")


def need_eos(name: str, vocabulary: Vocabulary) -> list[int]:
    """The EOS ids, for an engine that needs at least one."""
    if not vocabulary.eos:
        raise SettingError(f"engine {name!r}", seen="a vocabulary without EOS", expected="at least one EOS id")
    return sorted(vocabulary.eos)


def empty_words(vocabulary: Vocabulary) -> Words:
    """A buffer for a mask, 32 ids per word."""
    return np.zeros((1, (len(vocabulary) + 31) // 32), dtype=np.int32)


def unpack_words(words: Words, size: int) -> Mask:
    """The mask in a buffer; read-only."""
    return unpack(words.view(np.uint8)[0], size)
