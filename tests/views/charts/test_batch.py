"""A pass takes as long as all its tokens together, and a text is done after its last pass."""

import guidedviz as gv
from guidedviz.views.charts.timeline import draw_batch, pass_ends

COST = gv.decoding.Cost(4.0, 1.0)


def test_a_run_makes_its_pass_longer_for_all_texts():
    assert pass_ends({"a": [5, 1], "b": [1, 1, 1]}, COST) == [0, 10, 16, 21]
    assert pass_ends({"a": [1, 1], "b": [1, 1, 1]}, COST) == [0, 6, 12, 17]


def test_no_text_is_done_later_because_it_jumps_itself():
    alone = [pass_ends({"a": read}, COST)[-1] for read in ([1] * 6, [5, 1])]
    assert alone == [30, 14]


def test_every_box_has_a_kind_with_its_own_pattern():
    svg = draw_batch({"<a>": [5, 1], "b": [1, 1, 1]}, COST, title="<t>").svg
    assert "&lt;a&gt;" in svg
    assert "gv-hatch-orange" in svg
