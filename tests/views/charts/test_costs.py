"""The costs of a decode and of masks: bars and lines are the record's milliseconds, dots where two lines cross."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import Step, Trace
from guidedviz.views import draw_break_even

PIECES = [b" the", b"a", b"", b"4"]
COSTS = {"table": (40.0, 0.02), "walk": (0.0, 1.02), "other table": (80.0, 0.04), "other walk": (1.0, 0.3)}


def step(position, forward=8.0, mask=2.0, sample=1.0):
    piece = PIECES[position % len(PIECES)]
    return Step(position, 1, piece, "sampled", 1.0, 1.0, 1.0, (), 1, 1.0, "", (), forward, mask, sample)


def trace(*steps, **more):
    made = Trace(steps, "p", "clerk", "cpu", "2026-11-21", "JSON", 0, 1.0, 4096)
    return replace(made, **more)


def heights(figure):
    """The milliseconds of all bars of each part."""
    return [bars["y"] for bars in figure.chart["data"]]


def texts(figure, tag="text"):
    elements = ET.fromstring(figure.svg).iter()
    return [each.text for each in elements if each.tag.endswith(tag)]


@pytest.mark.parametrize("count", [0, 58, 301])
def test_every_step_has_its_bar_and_its_token_up_to_three_hundred(count):
    figure = gv.draw_costs(trace(*map(step, range(count))))
    shown = min(count, 300)
    titles = texts(figure, "title")
    assert len(heights(figure)[0]) == shown
    assert len(titles) == 3 * shown, "one text per part of a bar"
    assert not count or titles[0] == "step 0: ␣the, 11.0 ms\n  forward 8.0 ms\n  mask 2.0 ms\n  sample 1.0 ms"
    assert ("1 more step not drawn" in texts(figure)) == (count == 301)


def test_bars_are_as_high_as_their_milliseconds_and_stand_on_each_other():
    first = step(0, 60.0, 20.0, 10.0)
    second = step(1, 60.0, 40.0, 10.0)
    figure = gv.draw_costs(trace(first, second))
    forward, mask, sample = heights(figure)
    assert forward == [60.0, 60.0]
    assert mask == [20.0, 40.0]
    assert sample == [10.0, 10.0]
    bases = [bars["base"] for bars in figure.chart["data"]]
    assert bases == [[0, 0], [60, 60], [80, 100]]
    assert "2 steps in 200 ms: forward 120 ms (60%), mask 60.0 ms (30%), sample 20.0 ms (10%)" in texts(figure)


def test_a_bar_far_above_the_others_is_cut_and_says_how_high_it_was():
    steps = [step(n) for n in range(9)]
    figure = gv.draw_costs(trace(step(0, 880.0), *steps))
    assert heights(figure)[0][0] == 880.0, "the record has the whole bar"
    assert {"883", "11.0 ms", "cut: 1 bar far above most others"} <= set(texts(figure))
    assert not [words for words in texts(gv.draw_costs(trace(*steps))) if "cut:" in words]
    ring = figure.chart["data"][-1]
    assert (ring["type"], len(ring["x"]), ring["cliponaxis"]) == ("scatter", 1, False), "in a notebook, too"
    assert "883" in ring["text"][0]


def test_the_words_are_the_same_in_another_run():
    one, other = (gv.draw_costs(trace(*(step(n, first + n) for n in range(40)))) for first in (8.0, 900.0))
    assert one.text == one.alt == other.text == other.alt
    assert re.findall(r"[\d.]+", one.text) == ["40"], "no number but that of the steps"


def test_a_dot_for_every_crossing_and_a_dash_of_its_own_for_every_line():
    figure = draw_break_even(COSTS)
    *lines, dots = figure.chart["data"]
    assert len(dots["x"]) == figure.text.count("is cheaper than") > 0
    assert len({line["line"]["dash"] for line in lines}) == len(COSTS) == len(lines)
    for line, (first, each) in zip(lines, COSTS.values(), strict=True):
        assert line["y"] == pytest.approx([first + each * masks for masks in line["x"]])
    for masks, time, told in zip(dots["x"], dots["y"], dots["hovertext"], strict=True):
        for name in told.partition(" after ")[0].split(" is cheaper than "):
            fixed, per_mask = COSTS[name]
            assert time == pytest.approx(fixed + per_mask * masks)


def test_only_what_crosses_in_the_picture_and_is_asked_for_has_a_dot():
    drawn = draw_break_even(COSTS, pairs=[("table", "walk"), ("table", "not measured")])
    assert drawn.text.count("is cheaper than") == 1
    for never in ({"good": (1, 1), "bad": (2, 2)}, {"late": (1e7, 0), "walk": (0, 1)}, {"one": (1, 1), "two": (2, 1)}):
        figure = draw_break_even(never)
        assert "cheaper" not in figure.text
        assert len(figure.chart["data"]) == 2
