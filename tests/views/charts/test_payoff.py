"""The picture of the payoff: dots are runs, boxes are passes, and their lengths are what the cost model says."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.decoding.jump import FRACTIONS, Cost, Payoff, Timed
from guidedviz.views.charts.payoff import lanes_chart
from guidedviz.views.charts.payoff_plot import AXES, HIGH, LEFT, SPAN, TOP, draw_plot, payoff_chart, say_times
from guidedviz.views.charts.plot import Frame

COST = Cost(2.5, 0.25)
PARTS = st.lists(st.tuples(st.sampled_from(["{", '"', "Ada"]), st.booleans()), min_size=1, max_size=70).map(tuple)
SOME_FREE = PARTS.filter(lambda parts: not all(fixed for _, fixed in parts))


def text_of(fraction, tokens=20):
    fixed = round(tokens * fraction)
    return (('"key"', True),) * fixed + (("word", False),) * (tokens - fixed)


def run_at(asked, rows=1, speedup=2.0):
    parts = text_of(asked)
    free = sum(not fixed for _, fixed in parts)
    return Timed(asked, asked, rows, 60.0 * speedup, 60.0, 20, free, 20 - free, 20, parts, "same tokens")


RUNS = (run_at(0.5), run_at(0.7, speedup=3.0), run_at(0.7, rows=32, speedup=0.9))
PAYOFF = Payoff(COST, RUNS, tuple(map(text_of, FRACTIONS)), "clerk", "cpu", "2026-11-22", "canonical", "RECORDED")


def place(share, speedup):
    """The pixel of a share and a speed-up."""
    return Frame(payoff_chart(PAYOFF, 1), LEFT, TOP).at(share, speedup)


def measured(payoff, rows=1):
    """The live runs with these rows, and those with others."""
    series = payoff_chart(payoff, rows).series[2:]
    return [list(zip(each.x, each.y, strict=True)) for each in series]


def test_every_run_is_a_dot_where_it_belongs_filled_if_it_has_the_rows_that_are_shown():
    here, others = measured(PAYOFF)
    assert [share for share, _ in here + others] == [0.5, 0.7, 0.7]
    assert [speedup for _, speedup in here + others] == pytest.approx([2.0, 3.0, 0.9])
    assert [len(runs) for runs in measured(PAYOFF, 32)] == [1, 2]
    assert [series.look for series in payoff_chart(PAYOFF, 1).series[2:]] == ["solid", "hollow"]


def test_the_scale_is_one_of_ratios_and_nothing_leaves_the_plot():
    _, (one, two, four) = zip(*(place(0, speedup) for speedup in (1, 2, 4)), strict=True)
    assert one - two == pytest.approx(two - four)
    assert place(0.95, 1000) == place(1, float("inf")) == (LEFT + SPAN, TOP)
    assert place(0, 0.001) == (LEFT, TOP + HIGH)


def test_the_page_finds_the_parts_that_it_moves_and_the_numbers_to_place_them():
    svg = "".join(map(str, draw_plot(replace(PAYOFF, runs=()), 0.5, 1)))
    parts = sorted(re.findall(r'<(\w+)[^<>]*data-part="([\w-]+)"', svg), key=lambda part: part[1])
    assert [" ".join(part) for part in parts] == [
        "path handle", "path ideal", "path model", "circle on-ideal", "circle on-model", "g points"
    ]  # fmt: skip
    assert AXES == {"left": 46, "top": 30, "span": 470, "high": 264, "last": 0.95, "width": 534, "low": 0.5, "most": 22}


@given(SOME_FREE, st.sampled_from([1, 8, 128]))
def test_the_lanes_are_as_long_as_the_cost_model_says(parts, rows):
    passes, tokens = lanes_chart(PAYOFF, parts, rows, None).series
    naive, jump = (max(x for x, y in zip(tokens.x, tokens.y, strict=True) if round(y) == lane) for lane in (2, 1))
    share = sum(fixed for _, fixed in parts) / len(parts)
    assert jump / naive == pytest.approx(1 / COST.speedup(share, rows))
    assert passes.x[-1] <= naive


def test_the_words_say_what_was_measured_and_what_was_not():
    assert gv.views.draw_payoff(PAYOFF, 0.7).text.splitlines() == [
        "jump-forward, RECORDED: clerk; cpu",
        "70% forced: 20 tokens, 6 passes instead of 20; measured 3.00×, the cost model says 2.75×, ideal 3.33×",
    ]
    assert "20 tokens, 32 texts side by side, 6 passes" in gv.views.draw_payoff(PAYOFF, 0.7, 32).text
    assert "1 pass instead of 20; not measured here" in gv.views.draw_payoff(PAYOFF, 0.95).text


def test_the_latest_run_of_a_place_counts():
    again = replace(PAYOFF, runs=(*RUNS, run_at(0.7, speedup=4.0)))
    assert "measured 4.00×" in gv.views.draw_payoff(again, 0.7).text


def test_free_tokens_are_marked_and_a_record_says_so():
    svg = gv.views.draw_payoff(PAYOFF, 0.7).svg
    assert svg.count('fill-opacity="0.25"') == 6 + 1, "and one that says what it means"
    assert "RECORDED, 2026-11-22" in svg
    assert "live · clerk" in gv.views.draw_payoff(replace(PAYOFF, source="LIVE"), 0.7).svg


@pytest.mark.parametrize("fraction", [-0.1, 0.96, 1.0])
def test_a_share_that_the_slider_does_not_have_is_refused(fraction):
    with pytest.raises(gv.SettingError, match=r"0 to 0\.95"):
        gv.views.draw_payoff(PAYOFF, fraction)


@pytest.mark.parametrize("wrong", ["x", None])
def test_a_share_or_rows_that_are_no_number_are_refused(wrong):
    with pytest.raises(gv.SettingError, match=r"fraction: saw .* expected 0 to 0\.95"):
        gv.views.draw_payoff(PAYOFF, wrong)
    with pytest.raises(gv.SettingError, match=r"rows: saw .* expected a whole number from 1"):
        gv.views.draw_payoff(PAYOFF, 0.5, wrong)


@pytest.mark.parametrize("rows", [0, -1, 1.5])
def test_rows_begin_at_one(rows):
    with pytest.raises(gv.SettingError, match=f"rows: saw {rows}, expected a whole number from 1"):
        gv.views.draw_payoff(PAYOFF, 0.5, rows)


def test_what_is_no_payoff_is_refused():
    with pytest.raises(
        gv.SettingError, match=r"draw_payoff: saw None, expected runs .* try: gv\.decoding\.Payoff\.load"
    ):
        gv.views.draw_payoff(None)


def lane(payoff, at):
    """How many boxes the passes with jump-forward have, and what they read."""
    run = payoff.runs[0] if payoff.runs else None
    chart = lanes_chart(payoff, run.parts if run else payoff.previews[at], 1, run)
    return [sum(round(y) == 1 for y in series.y) for series in chart.series[:2]]


def test_a_text_that_is_all_fixed_needs_no_pass():
    parts = (("{}", True), ("", True))
    run = Timed(0.95, 1.0, 1, 20.0, 1.0, 2, 0, 2, 2, parts, "same tokens")
    for record in (replace(PAYOFF, runs=(run,)), replace(PAYOFF, runs=(), previews=(parts,) * 20)):
        figure = gv.views.draw_payoff(record, 0.95)
        assert "100% forced: 2 tokens, 0 passes instead of 2" in figure.text
        assert figure.text.endswith("the cost model says 11.0×, ideal ∞×")
        assert lane(record, 19) == [0, 1]
    assert place(run.fraction, run.speedup)[0] == LEFT + SPAN


@pytest.mark.parametrize("made", [3, 9, 14])
def test_as_many_boxes_as_passes_were_made(made):
    run = replace(run_at(0.55), jump_passes=made)  # nine tokens of its text are free
    figure = gv.views.draw_payoff(replace(PAYOFF, runs=(run,)), 0.55)
    assert f"{made} passes instead of 20" in figure.text
    assert lane(replace(PAYOFF, runs=(run,)), 11)[0] == made


def test_a_dot_says_what_the_words_say():
    svg = gv.views.draw_payoff(PAYOFF, 0.7).svg
    told = re.findall(r"<title>[^<]*measured ([^<]*)</title>", svg)
    assert told == [say_times(run.speedup) for run in RUNS] == ["2.00×", "3.00×", "0.90×"]


def test_a_dot_tells_its_spread_and_the_axis_that_it_is_logarithmic():
    run = replace(RUNS[0], speedups=(1.9, 2.0, 2.2), by_hand=True)
    svg = gv.views.draw_payoff(replace(PAYOFF, runs=(run,)), 0.5).svg
    assert "50% forced by hand, rows 1: measured 2.00×, the median of 3 runs from 1.90× to 2.20×" in svg
    assert "on a logarithmic scale" in svg


def test_what_a_token_holds_stays_text():
    hostile = (("<script>alert(1)</script>", False), ('"><svg onload=x>', True))
    svg = gv.views.draw_payoff(replace(PAYOFF, runs=(), previews=(hostile,) * 20, model="<script>"), 0.5).svg
    assert "<script" not in svg
    ElementTree.fromstring(svg)
