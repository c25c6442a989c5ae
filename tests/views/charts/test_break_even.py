"""Lines cross where two ways cost the same; nothing that a name holds becomes markup."""

from itertools import combinations

import pytest

import guidedviz as gv
from guidedviz.views.charts.costs import DECADES, LOOKS, break_even, break_even_chart, draw_break_even

COSTS = {"table": (40.0, 0.02), "walk": (0.0, 1.02), "other table": (80.0, 0.04), "other walk": (1.0, 0.3)}


@pytest.mark.parametrize("costs", [(COSTS["table"], COSTS["walk"]), (COSTS["other table"], COSTS["other walk"])])
def test_at_the_break_even_both_cost_the_same(costs):
    masks = break_even(*costs)
    one, other = (first + each * masks for first, each in costs)
    assert one == pytest.approx(other)


def test_what_is_always_cheaper_breaks_even_never():
    assert break_even((1, 1), (2, 2)) is None
    assert break_even((1, 1), (2, 1)) is None
    assert "cheaper" not in draw_break_even({"good": (1, 1), "bad": (2, 2)}).text


def test_a_dot_for_every_crossing_and_a_dash_of_its_own_for_every_line():
    figure, chart = draw_break_even(COSTS), break_even_chart(COSTS, "", list(combinations(COSTS, 2)))
    *lines, dots = chart.series
    assert len(dots.x) == figure.text.count("is cheaper than") > 0
    assert len({line.look for line in lines}) == len(LOOKS) == len(lines)
    for line, (first, each) in zip(lines, COSTS.values(), strict=True):
        assert line.y == pytest.approx([first + each * masks for masks in line.x])
    for masks, time, told in zip(dots.x, dots.y, dots.hover, strict=True):
        one, other = told.partition(" after ")[0].split(" is cheaper than ")
        assert time == pytest.approx(COSTS[one][0] + COSTS[one][1] * masks)
        assert time == pytest.approx(COSTS[other][0] + COSTS[other][1] * masks)


def test_only_the_given_pairs_are_compared():
    drawn = draw_break_even(COSTS, pairs=[("table", "walk"), ("table", "not measured")])
    assert drawn.text.count("is cheaper than") == 1
    assert "table is cheaper than walk after 40 masks" in drawn.text


def test_what_crosses_outside_of_the_picture_has_no_dot():
    late = {"table": (10.0 ** (DECADES + 1), 0.0), "walk": (0.0, 1.0)}
    assert {series.mark for series in break_even_chart(late, "", [("table", "walk")]).series} == {"line"}


@pytest.mark.parametrize("cost", [None, 3, (1,), ("a", 1), (1, None), (-1, 1), (float("inf"), 1), (float("nan"), 1)])
def test_a_cost_that_is_no_pair_of_milliseconds_is_named(cost):
    with pytest.raises(gv.SettingError, match=r"^draw_break_even, 'walk': saw .*, expected milliseconds before"):
        draw_break_even({"table": (1, 1), "walk": cost})
    with pytest.raises(gv.SettingError, match=r"^draw_break_even, costs: saw"):
        draw_break_even(cost)
