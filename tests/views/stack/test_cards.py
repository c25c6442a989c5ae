"""Stacks that share their frames: each frame stands once, and what a text adds can be counted by hand."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.views import draw_branches
from tests.common import in_time

PAIRS = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
CLOSES = {")": "(", "]": "["}


@st.composite
def prefixes(draw):
    """The start of a text of brackets that does not close the outermost one."""
    text = draw(st.text("([", min_size=1, max_size=6))
    closing = [{"(": ")", "[": "]"}[opened] for opened in reversed(text[1:])] if draw(st.booleans()) else None
    return text if closing is None else text + "x" + "".join(closing[: draw(st.integers(0, len(closing)))])


def frames_of(text):
    """By hand: a frame is what is open up to it; the top stands before its content or after it."""
    unclosed = []
    for character in text:
        if character in CLOSES:
            assert unclosed.pop() == CLOSES[character]
        elif character != "x":
            unclosed.append(character)
    frames = {"".join(unclosed[:count]) + " then" for count in range(1, len(unclosed))}
    return frames | {"".join(unclosed) + (" then" if text[-1] in "x)]" else " inside")}


@given(st.lists(prefixes(), min_size=1, max_size=6))
def test_a_text_adds_what_no_text_before_it_has_and_every_frame_is_drawn_once(texts):
    figure = draw_branches(PAIRS, texts)
    kept = set()
    _, *lines = figure.text.split("\n")
    for text, line in zip(texts, lines, strict=False):
        frames = frames_of(text)
        new = len(frames - kept)
        shared = len(frames) - new
        said = f"{text}: {new} new, {shared} shared →"
        assert said in line or (new == 0 and ": as after text " in line), text
        kept |= frames
    assert sum(line.lstrip(" ▸")[0].isdigit() for line in lines[len(texts) :]) == len(kept)
    ET.fromstring(figure.svg)


def test_twenty_thousand_frames_are_counted_and_the_uppermost_are_drawn():
    with in_time(2):
        figure = draw_branches(gv.json(), ["[" * 20_000, "[" * 20_000 + "1", "[" * 19_990])
    assert "59,994 frames if each had a stack of its own, 20,004 kept" in figure.text
    assert "⋮ more, not drawn" in figure.svg
    assert len(figure.svg) < 60_000
    assert float(ET.fromstring(figure.svg).get("height")) < 1700


@pytest.mark.parametrize(("graphviz", "lists"), [(True, "[[["), (False, "[[[[")])  # layouts are kept: two pictures
def test_nothing_is_drawn_outside_the_picture_or_over_another(monkeypatch, graphviz, lists):
    if not graphviz:
        monkeypatch.setattr("guidedviz.views.layout.placing.ask_graphviz", lambda text: None)
    figure = draw_branches(gv.json(), ['{"a": [[1', '{"a": [["b"', '{"a": [{"d": "', lists, "{"])
    tree = ET.fromstring(figure.svg)
    boxes = [[float(r.get(k)) for k in ("x", "y", "width", "height")] for r in tree.findall(".//{*}rect")][1:]
    assert len(boxes) > 5
    for at, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x <= x + width <= float(tree.get("width"))
        for a, b, wide, high in boxes[:at]:
            assert x + width <= a or a + wide <= x or y + height <= b or b + high <= y
