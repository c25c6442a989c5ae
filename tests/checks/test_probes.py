"""Every check is probed: plausible wrong answers fail with a reason, unusual right ones pass."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import guidedviz as gv
from guidedviz.checks import guard
from tests.checks.answers import check

LOOPS = 0.1  # seconds of processor time are enough to reach a loop that does not end
PROBES = Path(__file__).parent / "probes"
PATHS = [path.relative_to(PROBES).with_suffix("") for path in sorted(PROBES.rglob("*.py"))]
MODULES = [import_module(".".join(("tests.checks.probes", *path.parts))) for path in PATHS]
WRONG = {name: answers for module in MODULES for name, answers in module.WRONG.items()}
RIGHT = {name: answers for module in MODULES for name, answers in module.RIGHT.items()}


def probes(table):
    return [pytest.param(name, table[name][said], id=f"{name}: {said}") for name in table for said in table[name]]


def test_every_check_has_eight_wrong_answers_and_three_right_ones():
    assert set(WRONG) == set(RIGHT) == set(gv.checks.__all__)
    assert [name for name in WRONG if len(WRONG[name]) < 8] == []
    assert [name for name in RIGHT if len(RIGHT[name]) < 3] == []


@pytest.mark.parametrize(("name", "probe"), probes(WRONG))
def test_a_wrong_answer_fails_with_its_reason(name, probe, monkeypatch):
    answer, reason = probe
    if "does not end" in reason:
        monkeypatch.setattr(guard, "SECONDS", LOOPS)
    verdict = check(name, answer)
    assert verdict.result == "wrong"
    facts = [value for fact, value in verdict.facts if fact in ("because", "but", "error")]
    facts += [
        value
        for fact, value in verdict.facts
        if fact == "yours gave" and re.search(r"Error|does not end|it changed", value)
    ]
    assert re.search(reason, " · ".join(facts)), verdict


@pytest.mark.parametrize(("name", "answer"), probes(RIGHT))
@pytest.mark.usefixtures("in_this_process")
def test_an_unusual_right_answer_passes(name, answer):
    verdict = check(name, answer)
    assert verdict.result == "right", verdict
