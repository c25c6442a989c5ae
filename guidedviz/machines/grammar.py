"""A grammar: named rules, each a tree that may call the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from guidedviz.errors import PatternError
from guidedviz.machines.tree import Tree

Span = tuple[int, int]  # start and end in the grammar's text, the end not included


@dataclass(frozen=True)
class Rule:
    """One name and what it stands for."""

    name: str
    tree: Tree
    span: Span  # of the name where it is defined


@dataclass(frozen=True)
class Grammar:
    """The rules in the order they were written, and the name of the one that a whole text must match."""

    rules: tuple[Rule, ...]
    root: str = "root"
    text: str = ""

    @cached_property
    def named(self) -> Mapping[str, Rule]:
        """The rules by name."""
        return {rule.name: rule for rule in self.rules}

    def rule(self, name: str) -> Rule:
        """The rule of this name.

        >>> from guidedviz.machines.tree import literal
        >>> Grammar((Rule("root", literal("a"), (0, 4)),)).rule("root").tree
        Chars(ranges=((97, 97),))
        """
        if name not in self.named:
            close = get_close_matches(name, self.named, 1)
            hint = f'"{close[0]}"' if close else ""
            raise PatternError("grammar", seen=f"the rule {name!r}", expected="a rule that is defined", hint=hint)
        return self.named[name]
