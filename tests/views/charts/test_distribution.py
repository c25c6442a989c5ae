"""Boxes are as wide as their probabilities, and the legend of bars never stands on the title."""

import re

import numpy as np

import guidedviz as gv
from guidedviz.decoding.distribution import Task, share_of
from guidedviz.views import draw_text_tree

TOY = gv.ToyModel([b"<", b"b"], lambda tokens: np.log([0.75, 0.25]))


def drawn(pattern):
    return draw_text_tree(Task(TOY, "b", gv.guide(gv.regex(pattern), TOY.vocabulary)))


def test_a_box_is_as_wide_as_its_probability():
    widths = [float(width) for width in re.findall(r'<rect x="[^"]+" y="[^"]+" width="([0-9.]+)"', drawn("<|b").svg)]
    assert [round((width + 1) / 748, 2) for width in widths[1:]] == [0.75, 0.25] * 3


def test_illegal_texts_have_a_box_without_a_mask_only():
    assert drawn("<b").text.splitlines() == ["free: <b 0.19, illegal 0.81", "masked: <b 1", "conditioned: <b 1"]


SERIES = {"before": [0.2, 0.8], "after": [1, 0]}


def place_of(svg, words):
    return re.search(rf'<text x="([\d.]+)" y="([\d.]+)"[^>]*>{words}<', svg).groups()


def test_the_legend_goes_below_a_title_that_needs_the_whole_line():
    short = gv.draw_bars(["a", "b"], SERIES, title="a mask").svg
    long = gv.draw_bars(["a", "b"], SERIES, title="m" * 80).svg
    assert place_of(short, "before")[1] == place_of(short, "a mask")[1]
    assert float(place_of(long, "before")[1]) > float(place_of(long, "m+")[1])


def test_an_estimate_has_a_line_from_the_low_to_the_high_end_of_its_interval():
    drawn = gv.draw_bars(["a"], {"share": [share_of(60, 120)]})
    assert drawn.text == "a share 0.50 (0.41 to 0.59)"
    assert drawn.svg.count("<path") == 1
    assert gv.draw_bars(["a"], {"share": [0.5]}).svg.count("<path") == 0
