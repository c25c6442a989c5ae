"""Claims about the broken runs: each has one step and one keyword that explain it, and diagnosis finds the step."""

from itertools import product

import pytest

import guidedviz as gv
from guidedviz.checks.broken_runs import SERVICES, broken_run
from tests.checks.answers.machines import cause


def explains(step, keyword, seed):
    return gv.checks.broken(cause(keyword, step, seed))


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("seed", range(len(SERVICES)))
@pytest.mark.quick("0")
def test_one_step_and_one_keyword_explain_a_run(seed):
    run = broken_run(seed)
    (finding,) = gv.diagnose(run).findings
    pairs = product(range(len(run.steps)), SERVICES[seed].keywords)
    [(step, keyword)] = [pair for pair in pairs if explains(*pair, seed)]
    assert step == finding.step
    assert keyword not in repr(gv.diagnose(run))


def test_a_verdict_on_a_wrong_answer_names_neither_the_step_nor_the_keyword():
    for wrong in (cause("enum"), cause("minimum", 3), cause("minimum", 20), cause("no idea")):
        verdict = repr(gv.checks.broken(wrong))
        said = verdict.replace(repr(wrong["cause"]), "")
        assert "17" not in said
        assert "minimum" not in said


def test_the_seed_of_a_run_is_a_whole_number():
    assert broken_run(4) is broken_run(1) is not broken_run(2)
    for seed in (1.5, "one", None, True):
        with pytest.raises(gv.SettingError, match="your seat"):
            broken_run(seed)
