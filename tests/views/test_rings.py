"""Sets inside each other: each frame lies inside the one before it, and no word leaves its frame."""

import re

import guidedviz as gv
from guidedviz.views.figure import wide
from guidedviz.views.rings import LONGEST_MEMBERS

RINGS = [
    ("context-free", "states and a stack", "n" * 200),
    ("regular", "states only", "dates"),
    ("finite", "a list", ""),
]


def frames(figure):
    """Left, top, right and bottom of each frame, without the page."""
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx="12"', figure.svg)
    return [(x, y, x + width, y + height) for x, y, width, height in ([float(one) for one in row] for row in found)]


def test_each_frame_lies_inside_the_one_before_it():
    lefts, tops, rights, bottoms = zip(*frames(gv.views.draw_rings(RINGS, "Python")), strict=True)
    for growing in (lefts, tops, rights[::-1], bottoms[::-1]):
        assert list(growing) == sorted(set(growing))


def test_a_long_line_is_cut_and_stays_in_its_frame():
    outer = frames(gv.views.draw_rings(RINGS[:1]))[0]
    longest = wide("n" * LONGEST_MEMBERS)
    assert 0.75 * longest < outer[2] - outer[0]
    assert "n" * LONGEST_MEMBERS not in gv.views.draw_rings(RINGS).svg


def test_what_is_outside_is_said_only_if_there_is_something():
    assert "outside" not in gv.views.draw_rings(RINGS).text
    assert gv.views.draw_rings(RINGS, "Python").text.endswith("outside: Python")
