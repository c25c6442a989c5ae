"""The still picture of the stage tells how a run ends only after its last step."""

import re
from itertools import accumulate

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import ENDS
from guidedviz.views.machine.picture import READABLE, draw_inside


def test_the_end_is_told_after_the_last_step_and_not_before_it():
    toy = gv.ToyModel([b"a", b"b"], lambda tokens: [1, 2])
    trace = gv.record(toy, "a", gv.guide(gv.regex("ab"), toy.vocabulary))
    assert trace.steps[-1].end == "complete"
    before, after = (gv.views.draw_stage(trace, cursor).svg for cursor in (1, 2))
    assert ENDS["complete"] not in before
    assert ENDS["complete"] in after


@pytest.mark.parametrize("text", ["a", "abba", "abbababbaab"])
def test_a_machine_too_large_to_read_is_shown_around_its_current_state(text):
    machine = gv.regex("[ab]*a[ab]{6}")
    path = list(accumulate(text.encode(), machine.step, initial=machine.initial))
    assert len(machine.edges) == 128
    drawn, height = draw_inside(machine, path, 860, 230)
    svg = str(drawn)
    assert "the part around the current one" in svg
    left, top = map(float, re.search(r'<g transform="translate\((\S+) (\S+)\) scale\(0.62\)">', svg).groups())
    x, y = map(float, re.search(r'class="gv-state gv-lit".*?<rect x="(\S+)" y="(\S+)"', svg).groups())
    assert 0 <= x * READABLE + left <= 860
    assert 0 <= y * READABLE + top <= height - 26
