"""Every text but some names is written down from the names, and is the machine that a difference gives."""

from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.regular.algebra import code_machine, difference
from guidedviz.machines.schema.text_sets import other_texts
from guidedviz.machines.syntax import ANYTHING, either, literal

NAMES = st.lists(st.text(alphabet="abé\0\U0010ffff\ud800", max_size=5), max_size=6)


@given(NAMES)
def test_other_texts_are_the_difference_of_all_texts_and_the_names(names):
    banned = code_machine(either(*map(literal, names)))
    assert other_texts(names) == difference(code_machine(ANYTHING), banned)
