"""The decoding loop: a lab's drawing marks what is new, and no word leaves its box."""

import re

import pytest

import guidedviz as gv
from guidedviz.views.figure import wide
from guidedviz.views.loop_picture import LOOP_BOX_WIDTH, LOOP_PARTS


@pytest.mark.parametrize("part", LOOP_PARTS)
def test_it_marks_what_is_new_and_says_it(part):
    figure = gv.views.draw_loop(part)
    assert figure.svg.count(">new<") == len(LOOP_PARTS[part].new)
    names = LOOP_PARTS[part].new
    for name in names:
        assert f">{name}<" in figure.svg
    assert ("new:" in figure.text) == bool(LOOP_PARTS[part].new)


@pytest.mark.parametrize("part", LOOP_PARTS)
def test_every_word_fits_into_its_box(part):
    svg = gv.views.draw_loop(part).svg
    inside = re.findall(r'font-size="(13|11)"[^>]*text-anchor="middle"[^>]*>([^<]+)<', svg)
    assert len(inside) >= 10
    assert all(0.87 * wide(words, int(size)) < LOOP_BOX_WIDTH for size, words in inside)


def test_a_call_leads_over_the_tool_and_the_messages_to_the_text():
    figure = gv.views.draw_loop("agent")
    assert "when a call ends: draw → tool → messages → text" in figure.text
    assert "append its result" in figure.svg
    assert "append its result" not in gv.views.draw_loop("server").svg
