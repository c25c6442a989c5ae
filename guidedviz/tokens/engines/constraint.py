"""The constraint that an engine gets: the user's text unchanged, or a machine converted to text.

The text of a machine is exact, so all engines get the same language. A text is passed to each engine unchanged, so
differences show how each engine interprets it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from guidedviz.machines.decompile import machine_grammar
from guidedviz.machines.grammars.counted import without_ticks
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.show import show_gbnf, show_lark
from guidedviz.machines.machine import Machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.show_regex import show_regex
from guidedviz.machines.source import compile_text, guess_kind
from guidedviz.tokens.index import live_machine


@dataclass(frozen=True)
class Asked:
    """A constraint: its kind ("regex", "grammar", "schema" or "machine"), its text if it has one, and our machine."""

    kind: str
    text: str
    machine: Any

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
        return f"start: {slashes(self.regex)}" if flat else show_lark(self.grammar)

    @property
    def regex(self) -> str:
        """The constraint as a regex, if the machine is finite."""
        return self.text if self.kind == "regex" else show_regex(self.grammar.rules[0].tree)

    def __str__(self) -> str:
        return self.text or repr(self.machine)


def slashes(regex: str) -> str:
    """A regex between slashes.

    >>> slashes("a/b")
    '/a\\\\/b/'
    """
    return "/" + regex.replace("/", r"\/") + "/"


def ask(constraint: Machine | str | Mapping[str, Any], kind: str = "") -> Asked:
    """Read a constraint: a machine, or a text that is a regex, a grammar or a schema.

    >>> ask("a|ab").kind, ask({"type": "null"}).kind, ask('root ::= "a"').kind
    ('regex', 'schema', 'grammar')
    """
    if isinstance(constraint, Mapping):
        constraint, kind = json.dumps(constraint), "schema"
    if not isinstance(constraint, str):
        return Asked("machine", "", live_machine(constraint) if isinstance(constraint, DFA) else constraint)
    kind = kind or guess_kind(constraint)
    machine: Any = compile_text(kind, constraint)
    return Asked(kind, constraint, live_machine(machine) if isinstance(machine, DFA) else machine)
