"""The drawing of a pushdown automaton's film has every part that a frame names."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.views.stack.stack_film import MOST_CARDS, build_stack_film, draw_stack_frame

NESTED = gv.grammar('root ::= "(" item ")"\nitem ::= "x" | root')
FRAMES = gv.views.stack_frames(NESTED, "((x))")


def test_everything_a_frame_names_is_on_its_drawing():
    reel = build_stack_film(FRAMES)
    drawn = list(ET.fromstring(str(reel.drawings[0])).iter())
    for frame in reel.frames:
        assert set(map(str, [*frame["states"], *frame["lit"]])) <= {node.get("data-state") for node in drawn}
        assert {*frame["arrows"], *frame["on"]} <= {node.get("data-arrow") for node in drawn}


def test_a_call_and_a_return_have_their_word_and_their_curve():
    for move, word in (("call", "push"), ("return", "pop")):
        frame = next(frame for frame in FRAMES if frame.move == move)
        svg = draw_stack_frame(frame).svg
        assert f'data-arrow="{move} {frame.way[0]} {frame.way[1]}"' in svg
        assert f">{word} " in svg
        assert "gv-taken" in svg


def test_a_deep_stack_is_cut_below():
    figure = draw_stack_frame(replace(FRAMES[0], stack=(2,) * 10_000))
    assert figure.svg.count('data-arrow="card ') == MOST_CARDS - 1
    assert "9,991 more" in figure.svg
    assert figure.text.endswith("… 9,991 more")


def test_a_film_plays_it_and_keeps_the_shown_frame():
    film = gv.film(FRAMES, show=2)
    assert film.figure.text == draw_stack_frame(FRAMES[2]).text
    with pytest.raises(SettingError, match=f"0 to {len(FRAMES) - 1}"):
        gv.film(FRAMES, show=99)
