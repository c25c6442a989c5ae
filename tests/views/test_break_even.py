"""Lines cross where two ways cost the same; nothing that a name holds becomes markup."""

import re
from itertools import pairwise

import pytest

import guidedviz as gv
from guidedviz.views.break_even import DECADES, LOOKS, break_even, draw_break_even

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
    figure = draw_break_even(COSTS)
    assert figure.svg.count("<circle") == figure.text.count("is cheaper than")
    assert len(set(re.findall(r'stroke-dasharray="([^"]*)"', figure.svg))) == len(LOOKS) - 1, "the first is unbroken"


def test_what_crosses_outside_of_the_picture_has_no_dot():
    late = {"table": (10.0 ** (DECADES + 1), 0.0), "walk": (0.0, 1.0)}
    assert "<circle" not in draw_break_even(late).svg


def test_names_at_the_end_of_lines_do_not_touch():
    figure = draw_break_even({name: (0.0, 1.0) for name in ("a", "b", "c", "d")})
    heights = sorted(
        float(y) for y in re.findall(r'y="([\d.]+)" font-size="13"[^>]*font-weight="bold">[abcd]<', figure.svg)
    )
    assert len(heights) == 4
    assert all(below - above >= 15 for above, below in pairwise(heights))


def test_free_work_can_be_drawn():
    assert "0 ms before the first mask" in draw_break_even({"nothing": (0.0, 0.0)}).text


@pytest.mark.parametrize("costs", [{}, {str(number): (1.0, 1.0) for number in range(5)}])
def test_too_few_or_too_many_are_refused(costs):
    with pytest.raises(gv.SettingError, match="1 to 4"):
        draw_break_even(costs)


def test_a_name_stays_text():
    assert "<script>" not in draw_break_even({"<script>": (1.0, 1.0)}, title="<script>").svg
