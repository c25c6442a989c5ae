"""Names of special tokens become calls of tokens: in sequences, on the paths of nets, and for classes of names."""

import pytest

import guidedviz as gv
from guidedviz.errors import PatternError
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.grammars.token_calls import call_tokens
from guidedviz.machines.special import BEGINS, ENDS, named
from guidedviz.machines.syntax import ANY_CHARACTER, Repeat, concat, literal
from guidedviz.machines.written import machine_grammar

IDS = {"<a>": (1,), "<ab>": (2, 3), '"\0é': (4,), "</a>": (5,)}


def shown(tree):
    grammar = Grammar((Rule("root", tree),))
    grammar = call_tokens(grammar, IDS, lambda ids: f"T{list(ids)}")
    return show_gbnf(grammar).removeprefix("root ::= ")


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (named("<ab>"), "T[2, 3]"),
        (named('"\0é'), "T[4]"),
        (concat(literal("x"), named("<a>"), named("</a>"), literal("y")), '"x" T[1] T[5] "y"'),
        (concat(BEGINS, literal("<a"), Repeat(literal("b"), 0, 1), literal(">"), ENDS), "T[1, 2, 3]"),
        (concat(BEGINS, Repeat(ANY_CHARACTER, 1, None), ENDS, literal("z")), 'T[1, 2, 3, 4, 5] "z"'),
        (concat(literal("x"), Repeat(named("none"), 0, None)), '"x" [^\\u0000-\\U0010FFFF]*'),
    ],
)
def test_a_name_becomes_a_call(tree, expected):
    assert shown(tree) == expected


def test_the_paths_of_a_machine_become_calls():
    a = (gv.special("<a>"), gv.regex("x"), gv.special("</a>"))
    ab = (gv.special("<ab>"), gv.regex("y"))
    machine = gv.tagged([a, ab], at_least_one=True, stop_after_first=True)
    text = shown(machine_grammar(machine).rules[0].tree)
    assert text == '[\\u0000-\\U0010FFFF]* (T[2, 3] "y" | T[1] "x" T[5])'


@pytest.mark.parametrize(
    "tree",
    [
        concat(BEGINS, literal("a")),
        concat(literal("a"), ENDS),
    ],
)
def test_a_name_in_several_parts_is_refused(tree):
    with pytest.raises(PatternError, match="a special token whose name is spread over several parts"):
        shown(tree)
