"""The costs of a decode: the bars are the record's milliseconds, and the words hold in every run."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import SettingError
from guidedviz.views.costs import COLOURS, HIGH, MOST_STEPS, NAMES, find_top

PIECES = [b" the", b"a", b"<script>alert(1)</script>", "\u202e".encode(), b"\xff", b"", b"4"]


def step(position, forward=8.0, mask=2.0, sample=1.0, **more):
    piece = PIECES[position % len(PIECES)]
    made = Step(position, 1, piece, "sampled", 1.0, 1.0, 1.0, (), 1, 1.0, "", (), forward, mask, sample)
    return replace(made, **more)


def trace(*steps, **more):
    made = Trace(steps, "p", "clerk", "cpu", "2026-11-21", "JSON", 0, 1.0, 4096)
    return replace(made, **more)


def heights(figure, name):
    """Of all bars of a part, those of the legend left out."""
    colour = f"var(--gv-{COLOURS[NAMES.index(name)]})"
    rects = ET.fromstring(figure.svg).findall(".//{*}rect")
    return [float(r.get("height")) for r in rects if r.get("fill") == colour][1:]


def words_of(figure):
    return [each.text for each in ET.fromstring(figure.svg).iter() if each.tag.endswith("text")]


@pytest.mark.parametrize("count", [0, 1, 2, 57, 58, 300, 301])
def test_every_step_has_its_bar_and_its_token_up_to_three_hundred(count):
    figure = gv.draw_costs(trace(*map(step, range(count))))
    tree = ET.fromstring(figure.svg)
    shown = min(count, MOST_STEPS)
    assert len(heights(figure, "forward")) == shown
    assert sum(each.tag.endswith("title") for each in tree.iter()) == shown
    assert words_of(figure).count("4") == sum(n % len(PIECES) == 6 for n in range(shown))
    assert ("⋮ 1 more step, not drawn" in words_of(figure)) == (count == 301)
    assert 0 < float(tree.get("height")) < 1600


def test_bars_are_as_high_as_their_milliseconds():
    figure = gv.draw_costs(trace(step(0, 8.0, 2.0, 1.0), step(1, 4.0, 2.0, 5.0)))
    pixels = HIGH / 11
    for name, expected in (("forward", [8.0, 4.0]), ("mask", [2.0, 2.0]), ("sample", [1.0, 5.0])):
        assert heights(figure, name) == pytest.approx([ms * pixels for ms in expected], abs=0.01)


def test_the_sums_and_shares_are_said_in_the_picture():
    figure = gv.draw_costs(trace(step(0, 60.0, 20.0, 10.0), step(1, 60.0, 40.0, 10.0)))
    assert "2 steps in 200 ms: forward 120 ms (60%), mask 60.0 ms (30%), sample 20.0 ms (10%)" in words_of(figure)


def test_a_bar_far_above_the_others_is_cut_and_says_how_high_it_was():
    steps = [step(n) for n in range(9)]
    figure = gv.draw_costs(trace(step(0, 880.0), *steps))
    assert heights(figure, "forward")[:2] == pytest.approx([HIGH, HIGH * 8 / 11], abs=0.01)
    assert "883" in words_of(figure)
    assert any("cut: 1 bar far" in words for words in words_of(figure))
    assert not any("cut:" in words for words in words_of(gv.draw_costs(trace(*steps))))


def test_the_scale_is_that_of_most_bars():
    assert find_top([1.0] * 9 + [100.0]) == 1.0
    assert find_top([1.0, 2.4, 1.0]) == 2.4
    assert find_top([0.0, 0.0]) == 1.0


def test_the_words_are_the_same_in_another_run():
    one = gv.draw_costs(trace(*(step(n, 8.0 + n) for n in range(40))))
    other = gv.draw_costs(trace(step(0, 900.0), *(step(n, 3.123) for n in range(1, 40))))
    assert one.text == one.alt == other.text == other.alt
    assert re.findall(r"[\d.]+", one.text) == ["40"], "no number but that of the steps"
    assert one.text == ET.fromstring(one.svg).get("aria-label")


def test_the_largest_part_is_named_only_where_it_is_clear():
    assert gv.draw_costs(trace(step(0, 1.0, 9.0))).text.endswith("; mask is the largest part")
    assert gv.draw_costs(trace(step(0, 4.0, 4.0, 4.0))).text.endswith("; no part is more than half")
    assert gv.draw_costs(trace(step(0, 0.0, 0.0, 0.0))).text.endswith("; no time was measured")


@pytest.mark.parametrize("source", ["LIVE", "RECORDED", "TOY"])
def test_the_picture_says_where_its_figures_come_from(source):
    said = words_of(gv.draw_costs(trace(step(0), source=source, device="NVIDIA H100")))
    assert any(words.endswith(f" {source}") for words in said)
    day = " · 2026-11-21" if source == "RECORDED" else ""
    assert f"clerk · NVIDIA H100 · 4,096 tokens{day}" in said


def test_pointing_at_a_bar_tells_its_times_and_hostile_tokens_stay_text():
    figure = gv.draw_costs(trace(*map(step, range(7)), constraint="<script>"))
    tree = ET.fromstring(figure.svg)
    titles = [each.text for each in tree.iter() if each.tag.endswith("title")]
    assert titles[0] == "step 0: ␣the, 11.0 ms\n  forward 8.0 ms\n  mask 2.0 ms\n  sample 1.0 ms"
    assert not any(each.tag.endswith("script") for each in tree.iter())
    assert "\u202e" not in figure.svg


def test_what_is_no_trace_is_refused():
    with pytest.raises(SettingError, match="draw_costs: saw str, expected a trace"):
        gv.draw_costs("trace")
