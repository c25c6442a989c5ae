"""A cut token: what the rule reads is read on every stack, and the rest is legal where the machine reads it."""

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError

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


def test_each_row_has_the_stack_and_what_it_says():
    said = gv.views.draw_cut(BOXES, BEGUN, '"}]').text.splitlines()
    assert said == [
        'Token "}] at a node of string: string reads ", the stack decides }]: context-dependent',
        'after ["a, stack list › string: illegal at }',
        'after {"a":␣"a, stack object › string: illegal at ]',
        'after [{"a":␣"a, stack list › object › string: legal',
        'after [{"a, stack list › object › string: illegal at }',
    ]


@pytest.mark.parametrize("piece", ["a", 'bc"', '"', '": ', '"]', '"A', "A", 'b"}}'])
def test_only_a_context_dependent_token_is_cut_and_the_rest_have_one_verdict(piece):
    figure = gv.views.draw_cut(BOXES, BEGUN, piece)
    first, *rows = figure.text.splitlines()
    legal = [row.endswith(": legal") for row in rows]
    assert legal == [BOXES.accepts_prefix((text + piece).encode()) for text in BEGUN]
    assert ("has ended here" in figure.svg) == first.endswith("context-dependent")
    assert not first.endswith(": accepted") or all(legal)
    assert not first.endswith(": rejected") or not any(legal)


def test_texts_at_another_node_are_refused():
    with pytest.raises(SettingError, match="same node as"):
        gv.views.draw_cut(BOXES, ['["a', "["], '"')
