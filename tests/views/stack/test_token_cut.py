"""A cut token: what the rule reads is read on every stack, and the rest is legal where the machine reads it."""

import pytest

import guidedviz as gv

BOXES = gv.grammar(
    r"""
value  ::= object | list | string
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
list   ::= "[" value (", " value)* "]"
string ::= "\"" [a-z]+ "\""
""",
    root="value",
)
BEGUN = ['["a', '{"a": "a', '[{"a": "a', '[{"a']


def test_the_node_to_which_the_machine_returns_is_drawn_where_the_rule_ends():
    drawn = gv.views.draw_cut(BOXES, ['"a', *BEGUN], '"}]').svg
    assert drawn.count("<circle") == 5
    assert [drawn.count(f">{node}</text>") for node in ("end", "n5", "n8", "n13")] == [1, 1, 2, 1]
    assert "<circle" not in gv.views.draw_cut(BOXES, BEGUN, 'a"').svg


@pytest.mark.parametrize("piece", ["a", 'bc"', '"', '": ', '"]', '"A', "A", 'b"}}'])
def test_only_a_context_dependent_token_is_cut_and_the_rest_have_one_verdict(piece):
    figure = gv.views.draw_cut(BOXES, BEGUN, piece)
    first, *rows = figure.text.splitlines()
    legal = [row.endswith(" legal") for row in rows]
    expected = [BOXES.accepts_prefix((text + piece).encode()) for text in BEGUN]
    assert legal == expected
    assert ("has ended here" in figure.svg) == first.endswith("context-dependent")
    assert not first.endswith(": accepted") or all(legal)
    assert not first.endswith(": rejected") or not any(legal)
