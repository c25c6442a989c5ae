"""Machine diagrams: everything that is in the machine is in the drawing, and it can light up."""

import time
import xml.etree.ElementTree as ET
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
from tests.views.layout.drawn import of_class

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
    assert set(states) == {str(state) for state in range(len(dfa))}
    sketch = sketch_dfa(dfa)
    arrows = {f"{a.source}-{a.target}" for a in sketch.arrows}
    assert set(parts_of(figure, "gv-arrow")) == arrows
    assert len(of_class(figure.svg, "gv-arrow")) == len(arrows)
    ends = {int(state) for state, node in states.items() if "gv-may-end" in classes(node)}
    assert ends == dfa.accepting


def test_a_special_token_is_one_edge_with_its_name_on_a_chip():
    turn = gv.grammar('root ::= <think> [a-z]* </think> "{" <call>')
    figure = draw_machine(turn)
    tree = ET.fromstring(figure.svg)
    chips = [
        node for node in tree.iter() if node.tag == f"{SVG}g" and node.find(f"{SVG}rect[@class='gv-chip']") is not None
    ]
    named = [chip.findtext(f"{SVG}text") for chip in chips if chip.find(f"{SVG}text") is not None]
    assert sorted(named) == ["</think>", "<call>", "<think>"]
    dots = [node for node in parts_of(figure, "gv-dot").values() if "gv-in-name" not in classes(node)]
    assert dots == [], "no letter of a name is a dot"
    hidden = [state for state, node in parts_of(figure, "gv-state").items() if "gv-in-name" in classes(node)]
    assert len(hidden) == len("<think></think><call>") + 3
    inside = parts_of(draw_machine(turn, b"\xff<th"), "gv-lit")
    assert [classes(node) & {"gv-in-name"} for node in inside.values() if "gv-state" in classes(node)] == [set()]


@pytest.mark.parametrize("pattern", [RECORD, STRING, EMAIL])
def test_nothing_lies_outside_the_picture_and_no_two_discs_overlap(pattern):
    diagram = lay_out(sketch_dfa(regex(pattern)))
    spots = list(diagram.spots.values())
    assert all(s.rx <= s.x <= diagram.width - s.rx and s.ry <= s.y <= diagram.height - s.ry for s in spots)
    discs = [s for s in spots if not s.dot]
    for n, a in enumerate(discs):
        for b in discs[n + 1 :]:
            across, down = abs(a.x - b.x), abs(a.y - b.y)
            assert across >= a.rx + b.rx or down >= a.ry + b.ry


def test_a_large_machine_is_drawn_as_few_discs_and_its_runs_as_dots():
    diagram = lay_out(sketch_dfa(regex("#[0-9A-F]{32}[xy]+")))
    assert len(diagram.spots) == 35
    discs = [spot for spot in diagram.spots.values() if not spot.dot]
    assert len(discs) == 2
    words = [label.words for label in diagram.labels]
    assert [each for each in words if "×" in each] == ["# 0-9 A-F ×32 x y"]


def test_the_states_inside_a_character_are_dots():
    diagram = lay_out(sketch_dfa(regex(STRING)))
    assert sum(spot.dot for spot in diagram.spots.values()) == 7
    assert "beyond ASCII" in [label.words for label in diagram.labels]


def test_the_way_of_a_text_is_lit_and_numbered():
    dfa = regex(r"[0-9]+(\.[0-9]+)?")
    figure = draw_machine(dfa, at=[0, 1, 1, 2])
    states = parts_of(figure, "gv-state")
    assert "gv-lit" in classes(states["2"])
    met = [s for s, node in states.items() if "gv-met" in classes(node)]
    assert met == ["0", "1"]
    arrows = parts_of(figure, "gv-arrow").items()
    on = {pair: node for pair, node in arrows if "gv-on" in classes(node)}
    labels = {pair: node.find(f"{SVG}text[@class='gv-nth']") for pair, node in on.items()}
    numbers = {pair: "".join(label.itertext()) for pair, label in labels.items()}
    assert numbers == {"0-1": "1", "1-1": "2", "1-2": "3"}
    assert "●   q2" in figure.text
    assert "now in q2" in figure.alt


def test_where_a_text_died_there_is_a_cross_and_the_byte():
    figure = draw_machine(regex("ab"), at=[0, 1], died="<")
    assert "where < cannot come" in figure.text
    crosses = of_class(figure.svg, "gv-cross")
    words = ["".join(node.itertext()) for node in crosses]
    assert words == ["<", ""], "in the machine, and in the legend"
    assert not parts_of(draw_machine(regex("ab"), at=[0, 1]), "gv-cross")


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
    dfa = regex(pattern)
    start = time.perf_counter()
    draw_machine(dfa, folded=False)
    assert time.perf_counter() - start < 20


def test_of_a_huge_machine_the_neighbourhood_is_drawn_in_good_time():
    size = 10_000
    edges = tuple(((97, 97, (n + 1) % size), (98, 98, (n * 7) % size)) for n in range(size))
    dfa = DFA(edges, frozenset({5}))
    len(dfa.table)
    start = time.process_time()
    figure = draw_machine(dfa, at=4321, folded=False)
    assert time.process_time() - start < 2, "about half a second; this only catches a flood"
    states = set(parts_of(figure, "gv-state"))
    assert 10 <= len(states) <= NEAR_STATES
    assert {"4321", "4322", "4320", str(4321 * 7 % size)} <= states
    assert "of 10,000 states: those around the current one" in figure.text
    drawn = parts_of(figure, "gv-state")
    assert all("gv-more" in classes(drawn[s]) for s in states if s != "4321")


def test_up_to_the_limit_all_states_are_drawn():
    chain = DFA((*(((97, 97, n + 1),) for n in range(MOST_DRAWN_STATES - 1)), ()), frozenset({MOST_DRAWN_STATES - 1}))
    assert len(lay_out(sketch_dfa(chain)).spots) == MOST_DRAWN_STATES
    longer = DFA((*(((97, 97, n + 1),) for n in range(MOST_DRAWN_STATES)), ()), frozenset({MOST_DRAWN_STATES}))
    assert len(lay_out(sketch_dfa(longer)).spots) <= NEAR_STATES


# --- DOT, and long labels ---


def test_dot_text_escapes_what_dot_would_read():
    arrow = Arrow(0, 1, ((92, 92), (34, 34)))
    sketch = Sketch(('a"b', "<i>x</i>"), (arrow,), 0, frozenset({1}))
    source = to_dot(sketch).source
    assert r"a\"b" in source
    assert '"<i>x</i>"' in source
    import graphviz
    import pygraphviz

    assert isinstance(to_dot(sketch), graphviz.Source)
    graph = pygraphviz.AGraph(string=source)
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
