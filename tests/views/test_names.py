"""A state has one name, wherever a person sees it."""

import re

import pytest

import guidedviz as gv
from guidedviz.tokens.split import build_split
from guidedviz.views.vocabulary.tables import draw_split_nodes

NESTED = 'root ::= "(" root ")" | "x"'
PIECES = (b"(", b")", b"x", b"x)", b"()", b"</s>")


@pytest.fixture(scope="module")
def guide():
    vocabulary = gv.Vocabulary(PIECES, eos={5})
    return gv.guide(gv.grammar(NESTED), vocabulary)


def after(guide, text):
    state = guide.initial
    for byte in text:
        state = guide.advance(state, PIECES.index(bytes([byte])))
    return state


@pytest.mark.parametrize("text", [b"", b"(", b"((", b"(x", b"((x)"])
def test_a_record_names_the_node_that_the_drawing_lights(guide, text):
    drawn = gv.draw_machine(guide.machine, text).text
    label = guide.label(after(guide, text))
    assert re.findall(r"now in (.*)", drawn) == [label]


def test_split_nodes_are_named_as_in_the_drawing(guide):
    rows = draw_split_nodes(build_split(guide.machine, guide.vocabulary)).text.splitlines()
    names = [row.split()[0] for row in rows[3:]]
    assert names == ["n0", "n1", "n3"]
    drawn = gv.draw_machine(guide.machine).text
    assert {"n0", "n1", "n3"} <= set(re.findall(r"n\d+", drawn))
