"""Sets inside each other: each frame lies inside the one before it, and no word leaves its frame."""

import re

import pytest

import guidedviz as gv
from guidedviz.views.figure import wide
from guidedviz.views.rings import LONGEST_MEMBERS, MOST_RINGS

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
    outer, middle, inner = frames(gv.views.draw_rings(RINGS, "Python"))
    for one, other in ((outer, middle), (middle, inner)):
        assert one[0] < other[0]
        assert one[1] < other[1]
        assert one[2] > other[2]
        assert one[3] > other[3]


def test_a_long_line_is_cut_and_stays_in_its_frame():
    outer = frames(gv.views.draw_rings(RINGS[:1]))[0]
    assert 0.75 * wide("n" * LONGEST_MEMBERS) < outer[2] - outer[0]
    assert "n" * LONGEST_MEMBERS not in gv.views.draw_rings(RINGS).svg


def test_what_is_outside_is_said_only_if_there_is_something():
    assert "outside" not in gv.views.draw_rings(RINGS).text
    assert gv.views.draw_rings(RINGS, "Python").text.endswith("outside: Python")


@pytest.mark.parametrize("rings", [[], RINGS * 2])
def test_no_set_and_too_many_are_refused(rings):
    assert len(RINGS * 2) > MOST_RINGS
    with pytest.raises(gv.SettingError, match=r"draw_rings: saw [06] sets, expected 1 to 5 sets"):
        gv.views.draw_rings(rings)
