"""Machine diagrams: everything that is in the machine is in the drawing, and it can light up."""

import xml.etree.ElementTree as ET
from itertools import combinations
from unittest.mock import Mock

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.views.layout import placing as layout
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.placing import Extent, Link, count_layers, place_in_layers
from guidedviz.views.layout.plan import MOST_DRAWN_STATES, NEAR_STATES
from guidedviz.views.layout.sketch import Arrow, Sketch, sketch_dfa
from guidedviz.views.machine.picture import DRAWN_WHOLE, draw_machine
from guidedviz.views.machine.text import to_dot
from tests.common import in_time
from tests.views.layout.drawn import of_class, overlap

RECORD = r'\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}\}'
STRING = r'"([^"\\\x00-\x1f]|\\["\\/bfnrt])*"'
EMAIL = r"[a-z0-9._]{1,32}@[a-z0-9]{1,24}\.(com|org|net)"
PATTERNS = ["", "a", "[A-Z]+: [a-z]+\n", r"[0-9]+(\.[0-9]+)?", RECORD, STRING, EMAIL, ".", "[^a]*b", "(ab|cd)*", "é|è"]
SVG = "{http://www.w3.org/2000/svg}"


def parts_of(figure, kind):
    """The elements of a drawing that have this class, by what they are about."""
    found = of_class(figure.svg, kind)
    return {node.get("data-state") or node.get("data-arrow"): node for node in found}


def classes(node):
    return set(node.get("class").split())


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("compact", [None, True, False])
@pytest.mark.quick(every=4)
def test_every_state_and_every_arrow_is_drawn_once(pattern, compact):
    dfa = regex(pattern)
    figure = draw_machine(dfa, compact=compact, folded=False)
    states = parts_of(figure, "gv-state")
    expected = {str(state) for state in range(len(dfa))}
    assert set(states) == expected
    drawn = [node.get("data-arrow") for node in of_class(figure.svg, "gv-arrow")]
    assert sorted(drawn) == sorted(f"{a.source}-{a.target}" for a in sketch_dfa(dfa).arrows)
    assert {int(state) for state, node in states.items() if "gv-may-end" in classes(node)} == dfa.accepting


def test_a_special_token_is_one_edge_with_its_name_on_a_chip():
    turn = gv.grammar('root ::= <think> [a-z]* </think> "{" <call>')
    figure = draw_machine(turn)
    groups = [
        node
        for node in ET.fromstring(figure.svg).iter(f"{SVG}g")
        if node.find(f"{SVG}rect[@class='gv-chip']") is not None
    ]
    assert sorted(filter(None, (group.findtext(f"{SVG}text") for group in groups))) == ["</think>", "<call>", "<think>"]
    assert "0xFF" not in figure.text, "no byte of a name is shown as a number"
    inside = [classes(node) for node in parts_of(figure, "gv-in-name").values()]
    states = [one for one in inside if "gv-state" in one]
    assert len(states) == len("<think></think><call>") + 3
    nodes = parts_of(figure, "gv-dot").values()
    dots = [node for node in nodes if "gv-in-name" not in classes(node)]
    assert dots == [], "no letter of a name is a dot"
    lit = parts_of(draw_machine(turn, b"\xff<th"), "gv-lit").values()
    assert not [node for node in lit if {"gv-in-name", "gv-state"} <= classes(node)]


@pytest.mark.parametrize("pattern", [RECORD, STRING, EMAIL])
def test_nothing_lies_outside_the_picture_and_no_two_discs_overlap(pattern):
    diagram = lay_out(sketch_dfa(regex(pattern)))
    discs = []
    for spot in diagram.spots.values():
        assert spot.rx <= spot.x <= diagram.width - spot.rx
        assert spot.ry <= spot.y <= diagram.height - spot.ry
        if not spot.dot:
            discs.append((spot.x - spot.rx, spot.y - spot.ry, spot.x + spot.rx, spot.y + spot.ry))
    assert not [pair for pair in combinations(discs, 2) if overlap(*pair)]


def test_a_large_machine_is_drawn_as_few_discs_and_its_runs_as_dots():
    diagram = lay_out(sketch_dfa(regex("#[0-9A-F]{32}[xy]+")))
    assert [spot.dot for spot in diagram.spots.values()].count(False) == len(diagram.spots) - 33 == 2
    repeated = [label.words for label in diagram.labels if "×" in label.words]
    assert repeated == ["# 0-9 A-F ×32 x y"]


def test_the_states_inside_a_character_are_dots():
    diagram = lay_out(sketch_dfa(regex(STRING)))
    assert sum(spot.dot for spot in diagram.spots.values()) == 7
    assert "beyond ASCII" in [label.words for label in diagram.labels]


def test_the_way_of_a_text_is_lit_and_numbered():
    figure = draw_machine(regex(r"[0-9]+(\.[0-9]+)?"), at=[0, 1, 1, 2])
    states = parts_of(figure, "gv-state")
    arrows = parts_of(figure, "gv-arrow")
    assert "gv-lit" in classes(states["2"])
    assert [state for state, node in states.items() if "gv-met" in classes(node)] == ["0", "1"]
    labels = {
        pair: node.find(f"{SVG}text[@class='gv-nth']") for pair, node in arrows.items() if "gv-on" in classes(node)
    }
    assert {pair: "".join(label.itertext()) for pair, label in labels.items()} == {"0-1": "1", "1-1": "2", "1-2": "3"}
    assert "now in q2" in figure.alt


def test_where_a_text_died_there_is_a_cross_and_the_byte():
    figure = draw_machine(regex("ab"), at=[0, 1], died="<")
    assert "where < cannot come" in figure.text
    crosses = of_class(figure.svg, "gv-cross")
    words = ["".join(node.itertext()) for node in crosses]
    assert words == ["<", ""], "in the machine, and in the legend"


@pytest.mark.parametrize("at", [9, -1, [0, 7], "q1", True, 1.5])
def test_a_state_that_is_not_there_is_an_error(at):
    with pytest.raises(SettingError, match=r"draw_machine"):
        draw_machine(regex("ab"), at)


# --- layout ---


BOXES = (Extent(16, 16),) * 3
LINKS = (Link(0, 1, 20), Link(1, 2, 30), Link(2, 0), Link(1, 1))


@pytest.mark.parametrize("error", [OSError("no library"), ValueError("Graphviz raised a layout error.")])
def test_a_graphviz_that_fails_is_no_error(monkeypatch, error):
    monkeypatch.setattr("pygraphviz.AGraph.draw", Mock(side_effect=error))
    layout.place.cache_clear()
    layers = count_layers(len(BOXES), LINKS)
    assert layout.place(BOXES, LINKS) == place_in_layers(BOXES, LINKS, layers)
    layout.place.cache_clear()


@pytest.mark.parametrize("pattern", ["[ab]*a[ab]{7}", "(a[bc]d|b[ce]f|c){2,40}(e|f[a-m]){3,9}"])
@pytest.mark.quick(every=2)
def test_a_tangled_machine_does_not_hang(pattern):
    with in_time(20):
        draw_machine(regex(pattern), folded=False)


def test_of_a_huge_machine_the_neighbourhood_is_drawn_in_good_time():
    size = 10_000
    edges = tuple(((97, 97, (n + 1) % size), (98, 98, (n * 7) % size)) for n in range(size))
    dfa = DFA(edges, frozenset({5}))
    len(dfa.table)
    with in_time(2):  # about half a second; this only catches a flood
        figure = draw_machine(dfa, at=4321, folded=False)
    drawn = parts_of(figure, "gv-state")
    assert 10 <= len(drawn) <= NEAR_STATES
    neighbours = {"4321", "4322", "4320", str(4321 * 7 % size)}
    assert neighbours <= set(drawn)
    assert "of 10,000 states: those around the current one" in figure.text
    assert [state for state, node in drawn.items() if "gv-more" not in classes(node)] == ["4321"]


def test_up_to_the_limit_all_states_are_drawn():
    drawn = []
    for size in (MOST_DRAWN_STATES, MOST_DRAWN_STATES + 1):
        chain = DFA((*(((97, 97, n + 1),) for n in range(size - 1)), ()), frozenset({size - 1}))
        drawn.append(len(lay_out(sketch_dfa(chain)).spots))
    assert drawn[0] == MOST_DRAWN_STATES
    assert drawn[1] <= NEAR_STATES


# --- DOT, and long labels ---


def test_dot_text_escapes_what_dot_would_read():
    import graphviz
    import pygraphviz

    sketch = Sketch(('a"b', "<i>x</i>"), (Arrow(0, 1, ((92, 92), (34, 34))),), 0, frozenset({1}))
    dot = to_dot(sketch)
    assert isinstance(dot, graphviz.Source)
    assert r"a\"b" in dot.source
    assert '"<i>x</i>"' in dot.source
    graph = pygraphviz.AGraph(string=dot.source)
    assert sorted(graph.nodes()) == ["0", "1", "start"]
    assert len(graph.edges()) == 2


def test_a_shortened_label_stands_in_full_below_the_machine():
    drawn = draw_machine(regex("[aeiou13579]x")).svg
    assert "…</text>" in drawn
    assert ">1 3 5 7 9 a e i o u</text>" in drawn
    assert "…" not in draw_machine(regex("[0-9]x")).svg


def test_a_finite_machine_of_many_states_is_folded_by_default():
    date = regex("January, the first of twelve months of a year|May")
    assert len(date) > DRAWN_WHOLE
    drawn, whole, folded = (len(draw_machine(date, folded=how).svg) for how in (None, False, True))
    assert drawn == folded < whole
    small = regex("January")
    assert draw_machine(small).svg == draw_machine(small, folded=False).svg
