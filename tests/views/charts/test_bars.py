"""Bars: the legend never stands on the title."""

import re

import guidedviz as gv
from guidedviz.decoding.distribution import share_of

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
