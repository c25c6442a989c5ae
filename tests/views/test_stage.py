"""The still picture of the stage tells how a run ends only after its last step."""

import guidedviz as gv
from guidedviz.decoding.trace import ENDS


def test_the_end_is_told_after_the_last_step_and_not_before_it():
    toy = gv.ToyModel([b"a", b"b"], lambda tokens: [1, 2])
    trace = gv.record(toy, "a", gv.guide(gv.regex("ab"), toy.vocabulary))
    assert trace.steps[-1].end == "complete"
    before, after = (gv.views.draw_stage(trace, cursor).svg for cursor in (1, 2))
    assert ENDS["complete"] not in before
    assert ENDS["complete"] in after
