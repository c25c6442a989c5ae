"""The folded machine as a picture: a chain is one thick arrow that says its text, in the drawing and in the words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import guidedviz as gv
from guidedviz.views.layout.diagram import lay_out
from guidedviz.views.layout.sketch import sketch_dfa
from guidedviz.views.machine.fold import fold
from guidedviz.views.machine.picture import draw_machine, to_dot

RECORD = gv.regex(r'\{"name": "[A-Z][a-z]+", "sex": "(male|female|other)", "age": [0-9]+\}')
LONG = gv.regex("x|this is more than fits beside an arrow|é☃")
RULES = gv.grammar('root ::= "ab" list "cd"\nlist ::= "[xyz" root? "]"')
SVG = "{http://www.w3.org/2000/svg}"


def of_class(figure, kind):
    return [node for node in ET.fromstring(figure.svg).iter() if kind in node.get("class", "").split()]


def reads(nodes):
    """What arrows read, as their titles say it."""
    return [node.find(f"{SVG}title").text.split(": ", 1)[1] for node in nodes]


def chains(figure):
    return [node for node in of_class(figure, "gv-chain") if node.get("data-arrow")]


def test_a_chain_is_one_thick_arrow_with_its_text():
    figure = draw_machine(RECORD, folded=True)
    assert sorted(reads(chains(figure))) == [
        '",␣"age":␣ (9 states inside)',
        '",␣"sex":␣" (10 states inside)',
        "ale (2 states inside)",
        "fem (2 states inside)",
        "other (4 states inside)",
        '{"name":␣" (9 states inside)',
    ]
    assert len(of_class(figure, "gv-state")) == 46 - 36
    assert "stroke-width: 3.4" in re.search(r"\.gv-chain \.gv-line \{(.*?)\}", figure.svg)[1], "thick, not only dark"


def test_the_words_say_the_chains_too():
    figure = draw_machine(RECORD, folded=True)
    assert figure.text.splitlines()[:3] == [
        "machine: 46 states, 36 of them folded",
        ' →  q0   {"name":␣" (9 states inside) → q10',
        "    q10  A-Z → q11",
    ]
    assert "without a choice; 36 states inside" in figure.svg, "and the legend says what thick means"
    assert "thick" not in draw_machine(RECORD, folded=False).svg


def test_a_long_text_is_shortened_and_told_whole_on_hover():
    figure = draw_machine(LONG, folded=True)
    labels = {label.words for label in lay_out(fold(sketch_dfa(LONG))).labels}
    assert labels == {"x", "this␣is␣more␣than␣fits␣beside␣a…", "é☃"}
    assert "this␣is␣more␣than␣fits␣beside␣an␣arrow (37 states inside)" in reads(chains(figure))


def test_chains_between_the_same_states_are_told_apart():
    figure = draw_machine(gv.regex("red|green|blue"), folded=True)
    keys = [node.get("data-arrow") for node in chains(figure)]
    assert len(set(keys)) == len(keys)


def test_the_chain_that_a_text_is_in_stays_unfolded():
    path = [0]
    for byte in b'{"name": "Ada", "s':
        path.append(RECORD.step(path[-1], byte))
    figure = draw_machine(RECORD, at=path, folded=True)
    lit = [node.get("data-state") for node in of_class(figure, "gv-lit")]
    assert lit == [str(path[-1]), None], "in the machine, and in the legend"
    on = [node for node in chains(figure) if "gv-on" in node.get("class").split()]
    assert reads(on)[0] == '{"name":␣" (9 states inside)'
    assert "".join(on[0].find(f"{SVG}text[@class='gv-nth']").itertext()) == "1 … 10", "the bytes that took it"
    assert figure.text.startswith(f"machine: 46 states, 26 of them folded, now in q{path[-1]}")


def test_rules_are_folded_inside_and_calls_are_not():
    figure = draw_machine(RULES, folded=True)
    assert reads(chains(figure)) == [f"{text} inside)" for text in ("ab (1 state", "cd (1 state", "[xyz (3 states")]
    assert len([node for node in of_class(figure, "gv-call") if node.get("data-arrow")]) == 2
    inside = draw_machine(RULES, "ab[x", folded=True)
    assert reads(chains(inside))[2:] == ["[", "x", "y", "z"]


@pytest.mark.parametrize("machine", [RECORD, LONG, RULES, gv.json()])
def test_what_is_not_folded_is_drawn(machine):
    figure = draw_machine(machine, folded=True)
    drawn = {node.get("data-state") for node in of_class(figure, "gv-state")}
    ends = {end for node in of_class(figure, "gv-arrow") for end in re.split("[-~:]", node.get("data-arrow"))[:1]}
    assert ends <= drawn


def test_dot_names_chains_as_well():
    assert 'label="this␣is' in to_dot(fold(sketch_dfa(LONG))).source
