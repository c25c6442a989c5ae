"""A machine written down: as a grammar, and as GBNF text."""

from typing import Any

from guidedviz.errors import expect
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import without_ticks
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.algebra import character_net
from guidedviz.machines.regular.dfa import DFA


def to_gbnf(machine: Machine[Any]) -> str:
    """The rules of a pushdown machine, or the one rule of a finite machine, as GBNF text.

    >>> print(to_gbnf(gv.json_schema({"type": "array", "items": {"$ref": "#"}})))
    root ::= "[" (root ("," " "? root)*)? "]"
    """
    return show_gbnf(without_ticks(machine_grammar(machine)))


def machine_grammar(machine: Machine[Any]) -> Grammar:
    """The grammar of a pushdown machine, or a grammar of one rule for a finite machine, with the same language.

    >>> machine_grammar(gv.regex("(a|é)+b")).rules[0].tree.places
    4
    """
    if isinstance(machine, PDA):
        return machine.grammar
    finite: DFA = expect(machine, DFA, "machine", "a finite or a pushdown machine")
    return Grammar((Rule("root", character_net(finite)),))
