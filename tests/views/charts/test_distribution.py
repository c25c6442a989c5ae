"""Boxes are as wide as their probabilities, and an estimate has its interval."""

import re

import numpy as np

import guidedviz as gv
from guidedviz.decoding.distribution import share_of
from guidedviz.decoding.samplers import Task
from guidedviz.views.charts.text_tree import draw_text_tree, tree_boxes
from tests.common import regex_guide

TOY = gv.ToyModel([b"<", b"b"], lambda tokens: np.log([0.75, 0.25]))


def drawn(pattern):
    guide = regex_guide(TOY, pattern)
    return draw_text_tree(tree_boxes(Task(TOY, "b", guide)))


def test_a_box_is_as_wide_as_its_probability():
    found = re.findall(r'<rect x="[^"]+" y="[^"]+" width="([0-9.]+)"', drawn("<|b").svg)
    widths = [float(width) for width in found]
    shares = [round((width + 1) / 748, 2) for width in widths[1:]]
    assert shares == [0.75, 0.25] * 3


def test_illegal_texts_have_a_box_without_a_mask_only():
    assert drawn("<b").text.splitlines() == ["never: <b 0.19, illegal 0.81", "at each step: <b 1", "at the end: <b 1"]


def test_the_texts_of_a_panel_stand_below_it_also_those_whose_box_is_too_narrow():
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", drawn("<|b").svg)
    assert lines.count("&lt; 0.75, b 0.25") == 3


def test_an_estimate_has_a_line_from_the_low_to_the_high_end_of_its_interval():
    drawn = gv.draw_bars(["a"], {"share": [share_of(60, 120)]})
    assert drawn.text == "a share 0.50 (0.41 to 0.59)"
    assert drawn.svg.count("<path") == 1
    bars = gv.draw_bars(["a"], {"share": [0.5]})
    assert bars.svg.count("<path") == 0
