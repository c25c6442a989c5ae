"""A grammar's diagram: every rule, node, byte and call is in it, and what is open is lit."""

import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import grammar, json
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.plan import NEAR_NODES
from guidedviz.views.layout.sketch import sketch_pda
from guidedviz.views.machine.highlight import Highlight, arrow_key, state_after, taken_arrows
from guidedviz.views.machine.picture import draw_machine
from tests.common import in_time
from tests.views.layout.drawn import of_class, overlap

SUMS = 'root ::= expr\nexpr ::= term ("+" term)*\nterm ::= digit | "(" expr ")"\ndigit ::= [0-9]\n'
NESTED = 'root ::= "(" root ")" | "x"'
LAST = 'root ::= "<" list ">"\nlist ::= "a" rest\nrest ::= "b" rest | "c"'
TWICE = 'root ::= "<" a ">"\na ::= b "x" | c\nc ::= b\nb ::= "1" "2"'  # b is called in a, and last in c
MANY = "root ::= r0\n" + "".join(f'r{n} ::= "word" (r{(n + 1) % 40} | r{n * 7 % 40} "," | ".")\n' for n in range(40))


def parts_of(figure, kind):
    """The elements of a drawing that have this class, by what they are about."""
    found = of_class(figure.svg, kind)
    named = {node.get("data-state") or node.get("data-arrow") or node.get("data-rule"): node for node in found}
    return {name: node for name, node in named.items() if name}  # those of the legend have no name


def lit(figure, kind):
    return set(parts_of(figure, kind))


@pytest.mark.parametrize("text", [SUMS, NESTED, LAST, 'root ::= "" | a\na ::= ""'])
def test_every_rule_node_byte_and_call_is_drawn_once(text):
    pda = grammar(text)
    figure = draw_machine(pda)
    assert lit(figure, "gv-state") == {str(node) for node in range(len(pda.nodes))}
    assert list(parts_of(figure, "gv-block")) == list(pda.nodes.names)
    drawn = [node.get("data-arrow") for node in ET.fromstring(figure.svg).iter() if node.get("data-arrow")]
    assert sorted(drawn) == sorted(map(arrow_key, sketch_pda(pda).arrows))
    calls = {f"{at}:{pda.nodes.names[rule]}" for at, row in enumerate(pda.nodes.calls) for rule, _ in row}
    assert lit(figure, "gv-call") == calls


@pytest.mark.parametrize("pda", [json(), grammar(SUMS)], ids=["json", "sums"])
def test_every_node_stands_in_the_frame_of_its_rule_and_no_two_frames_meet(pda):
    diagram = lay_out(sketch_pda(pda))
    assert [block.name for block in diagram.blocks] == list(pda.nodes.names)
    boxes = []
    for block in diagram.blocks:
        left = block.x
        top = block.y
        right = block.x + block.width
        bottom = block.y + block.height
        boxes.append((left, top, right, bottom))
        assert 0 <= left <= right <= diagram.width
        assert 0 <= top <= bottom <= diagram.height
        for spot in (diagram.spots[node] for node in block.nodes):
            assert left <= spot.x - spot.rx <= spot.x + spot.rx <= right
            assert top <= spot.y - spot.ry <= spot.y + spot.ry <= bottom
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]


def test_what_is_open_is_lit():
    figure = draw_machine(grammar(SUMS), "1+((2")
    assert lit(figure, "gv-lit") == {"3", "7", "expr", "term"}
    assert lit(figure, "gv-call") & lit(figure, "gv-open") == {"2:term", "5:expr"}
    assert lit(figure, "gv-back") == {"3", "7"}
    term = parts_of(figure, "gv-open")["2:term"]
    assert "".join(term.itertext()).endswith("×2")
    assert "calls expr (open ×2) → n7" in figure.text
    drawn = draw_machine(json(), "[{")
    assert lit(drawn, "gv-block") & lit(drawn, "gv-open") == {"root", "array"}
    of_state = draw_machine(json(), read(json(), b"[{"))
    assert drawn.svg == of_state.svg, "a state is drawn as the text that led there"
    assert not lit(draw_machine(grammar(SUMS)), "gv-open")


def test_a_call_that_came_last_is_not_on_the_stack():
    pda = grammar(LAST)
    figure = draw_machine(pda, "<ab")
    last = {f"{at}:rest" for at, calls in enumerate(pda.nodes.calls) if calls and pda.nodes.name_of(at) == "list"}
    assert lit(figure, "gv-last") == last
    assert lit(figure, "gv-call") & lit(figure, "gv-open") == {"1:list"}
    assert "(called last)" in figure.text


@pytest.mark.parametrize(
    ("pda", "text"),
    [(json(), '{"a": [1, {"b"'), (json(), "  [[ "), (json(), '["\\u00'), (grammar(TWICE), "<1")],
)
def test_an_open_call_is_one_that_goes_on_and_a_last_one_leaves_nothing_to_do(pda, text):
    nodes = pda.nodes
    light = Highlight.of_state(pda, state_after(pda, text))

    def after(key):
        at, _, rule = key.partition(":")
        calls = dict(nodes.calls[int(at)])
        return calls[nodes.names.index(rule)]

    assert {after(key) for key, _ in light.calls} == light.back
    assert {after(key) for key in light.last} <= nodes.byteless
    assert light.opened == {nodes.name_of(node) for node in light.back}


@pytest.mark.parametrize("text", ['{"key": {"b": [1, -2.5e3, true]}}', '"\\u00e9é"', "[[],[{}]]"])
def test_the_arrows_of_a_byte_are_those_that_read_it(text):
    pda = json()
    state = pda.initial
    arrows = [arrow for arrow in sketch_pda(pda).arrows if not arrow.call]
    ranges = {arrow_key(arrow): arrow.ranges for arrow in arrows}
    for byte in text.encode():
        keys = taken_arrows(pda, state, byte)
        assert keys
        assert all(any(low <= byte <= high for low, high in ranges[key]) for key in keys)
        targets = {target for node in pda.places(state) for target, _ in pda.stacks.closure(node).reads.get(byte, ())}
        reached = {int(key.partition("-")[2]) for key in keys}
        assert reached == targets
        state = pda.step(state, byte)


def test_of_a_large_grammar_the_rules_around_the_current_one_are_drawn_and_counted():
    pda = grammar(MANY)
    with in_time(3):
        figure = draw_machine(pda, "wordword")
    rules = list(parts_of(figure, "gv-block"))
    assert rules == sorted(rules, key=pda.nodes.names.index)
    assert "r1" in rules
    drawn = len(parts_of(figure, "gv-state"))
    assert drawn <= NEAR_NODES
    drawn_rules = f"{len(rules)} of 41 rules"
    drawn_nodes = f"{drawn} of {len(pda.nodes)} nodes"
    assert f"{drawn_rules}, {drawn_nodes}: those around the current one" in figure.text


def test_a_picture_shows_the_loop_and_its_counter():
    string = gv.regex('"[a-z]{0,4096}"')
    figure = draw_machine(string, b'"' + b"a" * 17)
    assert "root{0,4096}, 0…4096, now 17" in figure.text
    assert "◎ n5  0…4096 times → n4" in figure.text
    assert ">0…4096, now 17</text>" in figure.svg
    assert ">0…4096</text>" in draw_machine(string).svg, "without a text there is no count"
