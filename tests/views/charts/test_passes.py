"""Each token stands in the box of the pass that reads it, and a run with jumps has fewer, longer boxes."""

import re

import guidedviz as gv
from guidedviz.views.charts.passes import passes_of
from tests.common import constant_model, regex_guide

PIECES = [b"n", b"o", b"no", b"t", b"!"]
TOY = constant_model(PIECES, [5, 4, 3, 2, 1])


def run_of(pattern, jump):
    guide = regex_guide(TOY, pattern)
    return gv.record(TOY, "t", guide, temperature=0, jump_forward=jump)


def test_a_pass_reads_what_was_appended_since_the_last_one_and_nothing_twice():
    run = run_of("[nt]on[ot]!", False)
    read = [[step.piece for step in one] for one in passes_of(run)]
    expected = [[step.piece] for step in run.steps[:-1]]
    assert read == [[], *expected]


def test_tokens_that_are_taken_back_are_read_anew_in_the_same_pass():
    run = run_of("(n|x)o[t!]", True)
    pieces = [[step.piece for step in one] for one in passes_of(run)]
    assert pieces == [[], [b"no"]]


def test_a_forced_token_is_dashed_and_a_box_is_as_wide_as_its_tokens():
    runs = {"masked": run_of("no[nt]", False), "jumps": run_of("no[nt]", True)}
    figure = gv.views.draw_passes(runs)
    frames = re.findall(r'width="([0-9.]+)"[^>]*stroke="var\(--gv-blue\)"', figure.svg)
    assert sorted(set(map(float, frames))) == [56.0, 112.0]
    assert figure.svg.count("stroke-dasharray") == 1
    assert figure.text.splitlines() == ["masked, passes 3: prompt | n | o", "jumps, passes 1: prompt no"]
