"""The costs of a decode: the bars are the record's milliseconds, and the words hold in every run."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import Step, Trace
from guidedviz.views.charts.costs import MOST_STEPS, PARTS, costs_chart

PIECES = [b" the", b"a", b"<script>alert(1)</script>", "\u202e".encode(), b"\xff", b"", b"4"]


def step(position, forward=8.0, mask=2.0, sample=1.0, **more):
    piece = PIECES[position % len(PIECES)]
    made = Step(position, 1, piece, "sampled", 1.0, 1.0, 1.0, (), 1, 1.0, "", (), forward, mask, sample)
    return replace(made, **more)


def trace(*steps, **more):
    made = Trace(steps, "p", "clerk", "cpu", "2026-11-21", "JSON", 0, 1.0, 4096)
    return replace(made, **more)


def heights(trace, name):
    """The milliseconds of all bars of a part, as the chart has them."""
    series = next(series for series in costs_chart(trace).series if series.name == name)
    return [up - low for low, up in zip(series.start, series.y, strict=True)]


def words_of(figure):
    return [each.text for each in ET.fromstring(figure.svg).iter() if each.tag.endswith("text")]


@pytest.mark.parametrize("count", [0, 58, 301])
def test_every_step_has_its_bar_and_its_token_up_to_three_hundred(count):
    made = trace(*map(step, range(count)))
    figure, shown = gv.draw_costs(made), min(count, MOST_STEPS)
    chart = costs_chart(made)
    assert len(heights(made, "forward")) == shown
    assert [words for _, words in chart.x.ticks].count("4") == sum(n % len(PIECES) == 6 for n in range(shown))
    titles = [each for each in ET.fromstring(figure.svg).iter() if each.tag.endswith("title")]
    assert len(titles) == 3 * shown, "one text per part of a bar"
    assert ("1 more step not drawn" in words_of(figure)) == (count == 301)


def test_bars_are_as_high_as_their_milliseconds_and_stand_on_each_other():
    made = trace(step(0, 8.0, 2.0, 1.0), step(1, 4.0, 2.0, 5.0))
    for (name, *_), expected in zip(PARTS, ([8.0, 4.0], [2.0, 2.0], [1.0, 5.0]), strict=True):
        assert heights(made, name) == expected
    forward, mask, sample = costs_chart(made).series
    assert (forward.y, mask.y) == (mask.start, sample.start)


def test_the_sums_and_shares_are_said_in_the_picture():
    figure = gv.draw_costs(trace(step(0, 60.0, 20.0, 10.0), step(1, 60.0, 40.0, 10.0)))
    assert "2 steps in 200 ms: forward 120 ms (60%), mask 60.0 ms (30%), sample 20.0 ms (10%)" in words_of(figure)


def test_a_bar_far_above_the_others_is_cut_and_says_how_high_it_was():
    steps = [step(n) for n in range(9)]
    made = trace(step(0, 880.0), *steps)
    assert costs_chart(made).y.high == 11.0
    assert heights(made, "forward")[0] == 880.0, "the record has the whole bar"
    assert "883" in words_of(gv.draw_costs(made))
    assert "cut: 1 bar far above most others" in words_of(gv.draw_costs(made))
    assert not any("cut:" in words for words in words_of(gv.draw_costs(trace(*steps))))


def test_the_words_are_the_same_in_another_run():
    one = gv.draw_costs(trace(*(step(n, 8.0 + n) for n in range(40))))
    other = gv.draw_costs(trace(step(0, 900.0), *(step(n, 3.123) for n in range(1, 40))))
    assert one.text == one.alt == other.text == other.alt
    assert re.findall(r"[\d.]+", one.text) == ["40"], "no number but that of the steps"
    assert one.text == ET.fromstring(one.svg).get("aria-label")


def test_pointing_at_a_bar_tells_its_times_and_hostile_tokens_stay_text():
    figure = gv.draw_costs(trace(*map(step, range(7)), constraint="<script>"))
    tree = ET.fromstring(figure.svg)
    titles = [each.text for each in tree.iter() if each.tag.endswith("title")]
    assert titles[0] == "step 0: ␣the, 11.0 ms\n  forward 8.0 ms\n  mask 2.0 ms\n  sample 1.0 ms"
    assert not any(each.tag.endswith("script") for each in tree.iter())
    assert "\u202e" not in figure.svg
