"""Callouts on a still map: labels that cover no cell and no label, joined to their cells by lines that do not cross."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.views.vocabulary.atlas import atlas
from guidedviz.views.vocabulary.map import LABEL_GAP, LIKELY, callouts, place_labels
from guidedviz.views.words import label

PIECES = [b"(", b")", b"x", b"x)", b"<script>", b"\xe2\x80\xae", b"))", b"</s>"]
spots = st.tuples(st.floats(0, 300), st.floats(0, 100), st.floats(20, 120))


@given(st.lists(spots, max_size=12), st.floats(130, 400))
def test_no_label_leaves_the_picture_or_meets_another(listed, width):
    places = place_labels(listed, width, 100)
    for band in (0, 1):
        row = [place for place in places if place.band == band]
        ends = [place.left + listed[place.callout][2] for place in row]
        assert all(place.left >= -1e-9 for place in row)
        assert all(end <= width + 1e-9 for end in ends)
        assert all(after.left >= end + LABEL_GAP - 1e-6 for end, after in zip(ends, row[1:], strict=False))
        cells = [listed[place.callout][0] for place in row]
        assert cells == sorted(cells), "labels are in the order of their cells: lines do not cross"
    assert not listed or 0 in [place.callout for place in places], "the first has room"


@given(spots)
def test_a_label_alone_is_next_to_its_cell(spot):
    (place,) = place_labels([spot], 400, 100)
    assert place.band == (spot[1] > 50)
    assert abs(place.left + spot[2] / 2 - spot[0]) < max(1e-6, spot[2] / 2 - spot[0] + 1e-6)


def test_where_there_is_room_for_few_the_most_important_have_it():
    places = place_labels([(10, 10, 90)] * 3, 100, 100)
    assert [(place.callout, place.band) for place in places] == [(0, 0), (1, 1)]


def stage():
    model = gv.ToyModel(PIECES, lambda tokens: [1.0, 3, 2, 2, 1, 1, 2, 0], eos={7})
    guide = gv.guide(gv.grammar('root ::= "(" root ")" | "x"'), model.vocabulary)
    return gv.stage(model, "(", guide, temperature=0, steps=3)


def test_the_likely_tokens_of_the_step_are_named_with_their_probability_and_whether_they_are_legal():
    live = stage()
    made, step = atlas(live.guide.vocabulary), live.trace.steps[-1]
    calls = callouts(made, step)
    assert calls[0].chosen
    assert {call.name for call in calls} == {label(c.piece) for c in step.candidates if c.raw >= LIKELY}
    for call in calls:
        rank = int(np.flatnonzero((made.cells == (call.x - 0.5, call.y - 0.5)).all(1))[0])
        found = next(c for c in step.candidates if c.token == made.order[rank])
        assert call.legal == found.legal
    figure = gv.views.draw_stage(live.trace, split=live.guide.split)
    root = ET.fromstring(figure.svg)
    texts = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("text")]
    assert {call.name for call in calls} <= set(texts)
    assert "likely, illegal" in texts
    assert not re.search(r"accepted|dependent", figure.svg)


def test_where_the_model_was_not_asked_there_are_none():
    live = stage()
    forced = replace(live.trace.steps[0], how="forced", candidates=())
    assert callouts(atlas(live.guide.vocabulary), forced) == ()
