"""The grid of a run: a cell per token and position, and a line through the drawn tokens."""

import guidedviz as gv
from tests.common import constant_model, regex_guide

TOY = constant_model([b"a", b"b", b"<script>"], [1, 2, 3])
MASKS = gv.static_masks(TOY.vocabulary, [{0, 1}, {2}])
RUN = gv.record(TOY, "a", MASKS, seed=1)


def test_each_cell_is_legal_or_not_and_the_path_goes_through_legal_ones():
    figure = gv.views.draw_positions(RUN)
    assert figure.svg.count('fill="var(--gv-sky)"') == 3 + 2 + 2, "cells, drawn tokens, and two in the legend"
    assert figure.svg.count("<circle") == 2 + 1
    assert "<script>" not in figure.svg
    assert figure.text.splitlines()[1] == "position 1: 1 of 3 legal, next <script>"


def test_under_a_machine_a_row_is_named_by_its_state():
    guide = regex_guide(TOY, "a+b")
    figure = gv.views.draw_positions(gv.inspect_text(TOY, "a", "aab", guide))
    lines = figure.text.splitlines()
    assert [line[:3] for line in lines] == ["q0:", "q1:", "q1:"]
    assert figure.svg.count(">q1<") == 2
