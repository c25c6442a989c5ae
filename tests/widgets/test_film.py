"""Films without a page, and what the page is told about machines."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.machines.regular.dfa import DFA
from guidedviz.views.layout.sketch import Arrow, Sketch
from guidedviz.views.machine.films import build_film, overlay
from guidedviz.views.machine.highlight import read_step
from guidedviz.widgets.panels import MachineFeed

PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b"1.5", b"3.", b"42"]
DECIMAL = gv.regex(r"[0-9]+([.][0-9]+)?")


def likes(*wanted):
    return gv.ToyModel(PIECES, lambda tokens: [9.0 - wanted.index(p) if p in wanted else 0.0 for p in PIECES], eos={0})


def guided(*wanted, **settings):
    model = likes(*wanted)
    return gv.stage(model, "say ", gv.guide(DECIMAL, model.vocabulary), seed=1, **settings)


def told(stage, everything=True):
    return json.loads(json.dumps(stage.display.news(everything)))


FRAMES = [
    Sketch(("a", "b", "c"), (Arrow(0, 1, ((97, 97),)),), 0, frozenset({2}), words="one", lit=frozenset({0})),
    Sketch(("a", "b", "c"), (Arrow(0, 1, ((97, 98),)), Arrow(1, 2, ())), 0, frozenset({2}), words="two"),
]


SUMS = {"sum": [("sum", "+", "item"), ("item",)], "item": [("number",), ("(", "sum", ")")]}
FILMS = {
    "reading": gv.views.nfa_reading_frames("[ab]+c?", "ab"),
    "subsets": gv.views.dfa_frames("ab|cb"),
    "blocks": gv.views.minimal_frames("ab|cb"),
    "trie": gv.views.trie_frames(gv.regex("3+"), gv.Vocabulary([b"3", b"33", b".", b".5"])),
    "stack": gv.views.stack_frames(gv.grammar('root ::= "(" item ")"\nitem ::= "x" | root'), "((x))"),
    "chart": gv.views.earley_frames(SUMS, "(12)", {"number": "[0-9]+"}),
}


def test_frames_with_the_same_states_share_one_drawing():
    reel = build_film(FRAMES)
    assert len(reel.drawings) == 1
    assert [frame["states"] for frame in reel.frames] == [[0, 1], [0, 1, 2]]
    assert [frame["arrows"] for frame in reel.frames] == [["0-1"], ["0-1", "1~2"]]
    assert reel.frames[0]["lit"] == [0]


def test_an_arrow_that_grows_is_drawn_as_it_ends():
    (grown, free) = overlay(FRAMES).arrows
    assert grown.ranges == ((97, 98),)
    assert free.ranges == ()


def attributes(shapes, key):
    """All values of an attribute in a drawing."""
    _, own, *inside = shapes
    below = [attributes(part, key) for part in inside if not isinstance(part, str)]
    return set().union({str(own[key])} if key in own else set(), *below)


@pytest.mark.parametrize("frames", FILMS)
def test_everything_a_frame_names_is_on_its_drawing(frames):
    film = gv.film(FILMS[frames])
    saved = film.display.widget.saved
    for frame in saved["frames"]:
        drawn = saved["drawings"][frame["drawing"]]
        assert set(map(str, [*frame["states"], *frame["lit"]])) <= attributes(drawn, "data-state")
        assert {*frame["arrows"], *frame["on"]} <= attributes(drawn, "data-arrow")
    film.display.close()


def test_a_film_is_sent_once_and_keeps_a_picture_of_its_last_frame():
    film = gv.film(FRAMES, title="two frames")
    data, *_ = film._repr_mimebundle_()
    assert data["text/plain"] == "Film: 2 frames; the last: two"
    assert data["text/html"].startswith('<img alt="machine: 3 states')
    saved = film.display.widget.saved
    assert (saved["title"], len(saved["frames"]), len(saved["drawings"])) == ("two frames", 2, 1)
    film.display.close()


def test_a_film_of_nothing_is_an_error():
    with pytest.raises(SettingError, match="no frames"):
        gv.film([])


# --- the stage ---


def test_the_drawing_goes_with_the_head_and_never_again():
    stage = guided(b"1.5", b"4")
    assert str(told(stage)["drawings"]["0"]["shapes"]).count("data-state") == 4
    stage.take(1)
    news = told(stage, everything=False)
    assert not {"machine", "drawings"} & set(news)
    assert news["add"] == [None], "it was told as the next step"
    assert told(stage)["add"][0]["path"] == [0, 1, 2, 3], "one more state per byte"
    assert "machine" in stage.display.saved(), "a notebook without a kernel has it too"


def test_an_end_reads_no_byte_even_where_its_letters_could_come():
    model = likes(b"4", b"<eos>")
    stage = gv.stage(model, "say ", gv.guide(gv.regex("x?.*y?z*"), model.vocabulary), seed=1)
    stage.choose(PIECES.index(b"4"))
    stage.choose(0)
    assert stage.player.steps[-1].end == "eos"
    first, last = (step["path"] for step in told(stage)["add"])
    assert len(first) == 2
    assert last == first[-1:]


def test_why_names_the_way_and_the_byte_that_died():
    stage = guided(b"1.5", b"3.")
    why = stage.panels.explain(stage.player, PIECES.index(b"a"))
    assert (why["path"], why["died"]) == ([0], "a")
    stage.take(1)
    why = stage.panels.explain(stage.player, PIECES.index(b"3."))
    assert (why["path"], why["died"]) == ([3, 3], ".")
    stage = guided(b"x", b"4")
    why = stage.panels.explain(stage.player, 0)
    assert (why["path"], why["died"]) == ([0], "end"), "the text cannot end here"


def test_of_a_large_machine_the_page_gets_a_new_neighbourhood_when_it_leaves_the_old_one():
    chain = DFA((*(((97, 97, n + 1),) for n in range(2000)), ()), frozenset({2000}))
    feed = MachineFeed(chain)
    read = {
        "how": "sampled",
        "raw": 1,
        "masked": 1,
        "drawn": 1,
        "candidates": (),
        "legal": 1,
        "mass": 1,
        "state": "",
        "stack": (),
    }
    spent = {"forward_ms": 0, "mask_ms": 0, "sample_ms": 0}
    steps = tuple(gv.Step(place, 0, b"a" * count, **read, **spent) for place, count in enumerate((1, 1499, 1)))
    numbers = [way["drawing"] for way in feed.pack(steps, 0)]
    assert numbers == [0, 1, 1], "a new drawing only where the old one does not show the state"
    drawings = feed.news(True)["drawings"]
    assert "of 2,001 states" in drawings[0]["words"]
    assert "'data-state': 0}" in str(drawings[0]["shapes"])
    assert "'data-state': 1500}" in str(drawings[1]["shapes"])
    assert "drawings" not in feed.news(False)


def test_a_recording_shows_the_machine_of_its_guide_and_no_other():
    model = likes(b"1.5", b"4")
    guide = gv.guide(DECIMAL, model.vocabulary)
    trace = replace(gv.record(model, "say ", guide, seed=1, max_tokens=4), source="RECORDED")
    stage = gv.stage(trace, guide=guide)
    assert told(stage)["machine"]["initial"] == 0
    why = stage.panels.explain(stage.player, PIECES.index(b"a"))
    assert (why["path"], why["died"]) == ([0], "a"), "a replay can explain as well"
    stage.take(1)
    assert told(stage)["add"][0]["path"] == [0, 1, 2, 3]
    with pytest.raises(SettingError, match=r"this guide: saw step 1.*expected the guide of the recording"):
        gv.stage(trace, guide=gv.guide(gv.regex("[a-z]+"), model.vocabulary))
    assert "machine" not in told(gv.stage(trace))


def test_the_still_picture_shows_the_machine_where_the_cursor_is():
    stage = guided(b"1.5", b"4", steps=1)
    assert read_step(DECIMAL, 0, stage.player.steps[0]) == (0, 1, 2, 3)
    figure = gv.views.draw_stage(stage.trace, machine=DECIMAL)
    lit = [n.get("data-state") for n in ET.fromstring(figure.svg).iter() if "gv-lit" in n.get("class", "")]
    assert lit == ["3"]
    assert "Machine in q3" in figure.alt
    assert "data-state" not in gv.views.draw_stage(stage.trace).svg


def test_a_stage_without_a_finite_machine_has_no_machine(toy):
    model = toy.toy_model()
    assert "machine" not in told(gv.stage(model, "say ", toy.WordsGuide(model.vocabulary)))
    assert "machine" not in told(gv.stage(model, "say "))
