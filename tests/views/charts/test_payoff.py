"""The picture of the payoff: dots are runs, and curves are what the cost model says."""

import re
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding.payoff import FRACTIONS, Cost, Payoff, Timed
from guidedviz.views.charts.payoff import AXES, draw_payoff, draw_plot, payoff_chart

COST = Cost(2.5, 0.25)


def text_of(fraction, tokens=20):
    fixed = round(tokens * fraction)
    fixed_parts = (('"key"', True),) * fixed
    free_parts = (("word", False),) * (tokens - fixed)
    return fixed_parts + free_parts


def run_at(asked, rows=1, speedup=2.0):
    parts = text_of(asked)
    free = sum(not fixed for _, fixed in parts)
    return Timed(asked, asked, rows, 60.0 * speedup, 60.0, 20, free, 20 - free, 20, parts, "same tokens")


RUNS = (run_at(0.5), run_at(0.7, speedup=3.0), run_at(0.7, rows=32, speedup=0.9))
PREVIEWS = tuple(map(text_of, FRACTIONS))
PAYOFF = Payoff(COST, RUNS, PREVIEWS, "clerk", "cpu", "2026-11-22", "canonical", "RECORDED")


def test_every_run_is_a_dot_where_it_belongs_filled_if_it_has_the_rows_that_are_shown():
    others, here = payoff_chart(PAYOFF, 1).series[2:]  # no ring hides a dot
    assert here.look == "solid"
    assert [(mark.x, mark.y) for mark in here.marks] == [(0.5, pytest.approx(2.0)), (0.7, pytest.approx(3.0))]
    assert others.look == "hollow"
    assert [(mark.x, mark.y) for mark in others.marks] == [(0.7, pytest.approx(0.9))]
    chart = payoff_chart(PAYOFF, 32)
    counts = [len(series.marks) for series in chart.series[2:]]
    assert counts == [2, 1]


def test_the_page_finds_the_parts_that_it_moves_and_the_numbers_to_place_them():
    without_runs = replace(PAYOFF, runs=())
    svg = "".join(map(str, draw_plot(without_runs, 0.5, 1)))
    found = re.findall(r'<\w+[^<>]*data-part="([\w-]+)"', svg)
    assert sorted(found) == ["handle", "ideal", "model", "on-ideal", "on-model", "points"]
    assert AXES == {"left": 46, "top": 30, "span": 470, "high": 264, "last": 0.95, "width": 534, "low": 0.5, "most": 22}


def test_the_words_say_what_was_measured_and_what_was_not():
    assert draw_payoff(PAYOFF, 0.7).text.splitlines() == [
        "jump-forward, RECORDED: clerk; cpu",
        "70% forced: 20 tokens, 6 passes instead of 20; measured 3.00×, the cost model says 2.75×, ideal 3.33×",
    ]
    assert "20 tokens, 32 texts side by side, 6 passes" in draw_payoff(PAYOFF, 0.7, 32).text
    assert "1 pass instead of 20; not measured here" in draw_payoff(PAYOFF, 0.95).text


def test_the_latest_run_of_a_place_counts_and_a_record_says_that_it_is_one():
    again = replace(PAYOFF, runs=(*RUNS, run_at(0.7, speedup=4.0)))
    assert "measured 4.00×" in draw_payoff(again, 0.7).text
    assert "RECORDED, 2026-11-22" in draw_payoff(PAYOFF, 0.7).svg
    assert "live · clerk" in draw_payoff(replace(PAYOFF, source="LIVE"), 0.7).svg


def test_a_share_that_the_slider_does_not_have_is_refused():
    for fraction in (-0.1, 0.96):
        with pytest.raises(gv.SettingError, match=r"0 to 0\.95"):
            draw_payoff(PAYOFF, fraction)


def test_a_text_that_is_all_fixed_needs_no_pass():
    parts = (("{}", True), ("", True))
    run = Timed(0.95, 1.0, 1, 20.0, 1.0, 2, 0, 2, 2, parts, "same tokens")
    for record in (replace(PAYOFF, runs=(run,)), replace(PAYOFF, runs=(), previews=(parts,) * 20)):
        figure = draw_payoff(record, 0.95)
        assert "100% forced: 2 tokens, 0 passes instead of 2" in figure.text
        assert figure.text.endswith("the cost model says 11.0×, ideal ∞×")
    fewer = replace(PAYOFF, runs=(replace(run_at(0.55), jump_passes=3),))
    assert "3 passes instead of 20" in draw_payoff(fewer, 0.55).text


def test_a_dot_tells_its_spread_and_the_axis_that_it_is_logarithmic():
    run = replace(RUNS[0], speedups=(1.9, 2.0, 2.2))
    svg = draw_payoff(replace(PAYOFF, runs=(run,)), 0.5).svg
    assert "50% forced, rows 1: measured 2.00×, the median of 3 runs from 1.90× to 2.20×" in svg
    assert "on a logarithmic scale" in svg
