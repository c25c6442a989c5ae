"""Claims about the broken runs: each has one step and one keyword that explain it, and diagnosis finds the step."""

from dataclasses import replace
from itertools import product

import pytest

import guidedviz as gv
from guidedviz.checks.broken_runs import ANY_PRICE, SERVICES, broken_run, run_of
from tests.checks.answers.machines import cause


def explains(step, keyword, seed):
    return gv.checks.broken(cause(keyword, step, seed))


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("seed", range(len(SERVICES)))
@pytest.mark.quick("0")
def test_one_step_and_one_keyword_explain_a_run(seed):
    run = broken_run(seed)
    (finding,) = gv.diagnose(run).findings
    pairs = product(range(1, len(run.steps) + 1), SERVICES[seed].keywords)
    [(step, keyword)] = [pair for pair in pairs if explains(*pair, seed)]
    assert step == finding.step + 1
    assert f"at step {step}" in repr(gv.diagnose(run))
    assert keyword not in repr(gv.diagnose(run))


def test_no_service_has_a_keyword_that_explains_the_run_of_another():
    """With `multipleOf` 100 the price of the box is 100, too: a student could not tell it from the `minimum`."""
    box = SERVICES[1]
    other = replace(box, price=ANY_PRICE | {"multipleOf": 100})
    assert run_of(other).text == run_of(box).text
    assert all("multipleOf" not in service.keywords for service in SERVICES)


def test_a_verdict_on_a_wrong_answer_names_neither_the_step_nor_the_keyword():
    for wrong in (cause("enum"), cause("minimum", 3), cause("minimum", 20), cause("no idea")):
        verdict = repr(gv.checks.broken(wrong))
        said = verdict.replace(repr(wrong["cause"]), "")
        assert "18" not in said
        assert "minimum" not in said


def test_the_seed_of_a_run_is_a_whole_number():
    assert broken_run(4) is broken_run(1) is not broken_run(2)
    for seed in (1.5, "one", None, True):
        with pytest.raises(gv.SettingError, match="your seat"):
            broken_run(seed)
