"""The parse tree of a text or of a prefix."""

import xml.etree.ElementTree as ET

import pytest

from guidedviz.machines.earley.derivation import ParseLeaf, derivation, walk_tree
from guidedviz.machines.earley.earley import earley
from guidedviz.views.stack.derivation import draw_derivation

SUMS = 'root ::= root "+" root | "1"'
LIST = 'root ::= "[" (item ("," item)*)? "]"\nitem ::= [0-9]+ | root'
SVG = "{http://www.w3.org/2000/svg}"


def shown(figure):
    return "".join(ET.fromstring(figure.svg).itertext())


@pytest.mark.parametrize("text", ["[1,[23],4]", "[[[[]]]]", "[1,[2"])
def test_the_leaves_stand_in_reading_order_along_the_text(text):
    figure = draw_derivation(LIST, text)
    tree = derivation(earley(LIST), text.encode())
    parts = [part for _, part in walk_tree(tree)]
    leaves = [part for part in parts if isinstance(part, ParseLeaf)]
    bold = [n for n in ET.fromstring(figure.svg).iter(f"{SVG}text") if n.get("font-weight") == "bold"][1:]
    assert ["".join(n.itertext()) for n in sorted(bold, key=lambda n: float(n.get("x")))] == [
        leaf.data.decode() for leaf in leaves
    ]
    assert len({n.get("y") for n in bold}) == 1


def test_open_branches_are_dashed_and_the_place_to_go_on_is_marked():
    figure = draw_derivation(LIST, "[1,[")
    rects = ET.fromstring(figure.svg).iter(f"{SVG}rect")
    dashed = [n for n in rects if n.get("stroke-dasharray")]
    assert len(dashed) == figure.text.count("…") == 3
    assert "▸" in shown(figure)
    assert "root ?" in draw_derivation(SUMS, "1+1+1").text, "it can be read in a second way"
    whole = draw_derivation(LIST, "[1]")
    assert "?" not in whole.text
    assert "finished" in whole.text
    assert "stroke-dasharray" not in whole.svg
