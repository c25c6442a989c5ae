"""Each token stands in the box of the pass that reads it, and a run with jumps has fewer, longer boxes."""

import re

import guidedviz as gv
from tests.common import constant_model, regex_guide

PIECES = [b"n", b"o", b"no", b"t", b"!"]
TOY = constant_model(PIECES, [5, 4, 3, 2, 1])


def run_of(pattern, jump):
    guide = regex_guide(TOY, pattern)
    return gv.record(TOY, "t", guide, temperature=0, jump_forward=jump)


def test_a_forced_token_is_dashed_and_a_box_is_as_wide_as_its_tokens():
    runs = {"masked": run_of("no[nt]", False), "jumps": run_of("no[nt]", True)}
    figure = gv.views.draw_passes(runs)
    frames = re.findall(r'width="([0-9.]+)"[^>]*stroke="var\(--gv-blue\)"', figure.svg)
    assert sorted(set(map(float, frames))) == [56.0, 112.0]
    assert figure.svg.count("stroke-dasharray") == 1
    assert figure.text.splitlines() == ["masked, passes 3: prompt | n | o", "jumps, passes 1: prompt no"]
