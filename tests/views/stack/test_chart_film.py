"""The drawing of a film of Earley's algorithm has every part that a frame names."""

import xml.etree.ElementTree as ET

import guidedviz as gv
from guidedviz.views.stack.chart_film import build_chart_film, draw_frame

SUMS = {"sum": [("sum", "+", "item"), ("item",)], "item": [("number",), ("(", "sum", ")")]}
FRAMES = gv.views.earley_frames(SUMS, "(12)", {"number": "[0-9]+"})


def test_everything_a_frame_names_is_on_its_drawing():
    reel = build_chart_film(FRAMES)
    drawn = list(ET.fromstring(str(reel.drawings[0])).iter())
    for frame in reel.frames:
        assert set(map(str, frame["states"])) <= {node.get("data-state") for node in drawn}
        assert {*frame["arrows"], *frame["on"]} <= {node.get("data-arrow") for node in drawn}
    assert [len(frame["states"]) for frame in reel.frames][:4] == [1, 2, 3, 3]
    assert reel.frames[0]["arrows"] == ["0", "c0"], "one item in one column"


def test_a_still_frame_marks_the_new_item_and_its_causes():
    frame = next(frame for frame in FRAMES if frame.words.startswith("complete: sum"))
    nodes = list(ET.fromstring(draw_frame(frame).svg).iter())
    assert sum("gv-lit" in node.get("class", "") for node in nodes) == 1
    assert sum("gv-on" in node.get("class", "") for node in nodes) == 2


def test_the_strip_names_the_lexemes():
    figure = draw_frame(FRAMES[-1])
    assert figure.text.startswith("the text (12), 3 lexemes; chart: 4 columns")
    assert "2, after number 12" in figure.text
    assert ">number</text>" in figure.svg


def test_a_film_plays_it():
    film = gv.film(FRAMES)
    assert repr(film) == "Film: 24 frames; the last: start → sum • is in the last column: the text is complete."
    assert film.figure.alt.startswith("the text (12)")
