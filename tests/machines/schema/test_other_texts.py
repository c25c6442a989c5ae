"""Every text but some names is written down from the names, and is the machine that a difference gives."""

from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.grammars.grammar import Rule
from guidedviz.machines.pushdown.automaton import build_letters, build_rule
from guidedviz.machines.regular.algebra import code_machine, difference
from guidedviz.machines.schema.json_text import escape_tree, in_quotes
from guidedviz.machines.schema.text_sets import every_text_but, other_texts
from guidedviz.machines.syntax import ANYTHING, Call, concat, either, literal

NAMES = st.lists(st.text(alphabet="abé\0\U0010ffff\ud800", max_size=5), max_size=6)


@given(NAMES)
def test_other_texts_are_the_difference_of_all_texts_and_the_names(names):
    banned = code_machine(either(*map(literal, names)))
    assert other_texts(names) == difference(code_machine(ANYTHING), banned)


@given(NAMES)
def test_a_rule_of_other_keys_is_written_down_as_the_automaton_of_its_tree(names):
    tree = concat(in_quotes(escape_tree(every_text_but(names))), literal(": "), Call("value"))
    rule = Rule("more", tree)
    assert build_rule(rule, rule.calls) == build_letters(tree, rule.calls)
