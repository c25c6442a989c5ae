"""An engine of one's own: a right one passes all milestones and the exam, a usual mistake fails at its milestone."""

import os
import re

import pytest

import guidedviz as gv
from tests.checks.answers.own_engine import MILESTONES, MISTAKES, SEED, engine_space, first_failing, judge_mistake
from tests.labs.sources import LABS

here = pytest.mark.usefixtures("in_this_process")
MyEngine = engine_space()["MyEngine"]


@here
def test_the_solution_passes_every_milestone_and_the_exam():
    assert first_failing(engine_space()) == ("", None)


@pytest.mark.parametrize(("milestone", "mistake", "old", "new"), MISTAKES, ids=[row[1] for row in MISTAKES])
@pytest.mark.quick(every=2)
def test_a_usual_mistake_fails_first_at_its_milestone(apart, milestone, mistake, old, new):
    found, said = apart.submit(judge_mistake, old, new).result()
    assert found == milestone, said
    assert said.startswith("✗ not yet right: ")
    assert "\n" in said


@here
@pytest.mark.parametrize("name", MILESTONES)
def test_what_is_not_written_is_open_and_what_is_nothing_is_wrong(name):
    check = getattr(gv.checks, name)
    assert check(None).result == check(...).result == "open"
    assert check(7).result == check("x").result == "wrong"


PAGE = (LABS / "teaching" / "project.md").read_text(encoding="utf-8")
SAMPLES = {}
for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
    exec(code, SAMPLES)
THREE = [SAMPLES["NaiveEngine"], MyEngine, SAMPLES["ExcellentEngine"]]


@here
@pytest.mark.parametrize("engine", THREE)
def test_the_sample_engines_of_the_teacher_pass_the_exam(engine):
    for check in (gv.checks.engine_masks(engine), gv.checks.engine(engine, seed=SEED)):
        assert check, check


def test_the_teachers_page_names_each_mistake_at_its_milestone():
    rows = re.findall(r"^\| [A-Z].*\. \| (\d|the exam)", PAGE, re.MULTILINE)
    found = {"the exam" if name == "engine" else str(place) for place, name in enumerate(MILESTONES, 1)}
    assert len(rows) >= 8
    assert set(rows) == found


class Begun:
    """The class of the student's notebook."""

    def __init__(self, moves, ends, pieces, eos):
        self.initial = (0,)

    def mask(self, state): ...


class Crashes(Begun):
    def mask(self, state):
        raise ZeroDivisionError("oh no")


class Remembers(MyEngine):
    """It goes on from its last step, whatever state it is given."""

    def advance(self, state, token):
        after = super().advance(self.last if state == self.initial and hasattr(self, "last") else state, token)
        self.last = after or state
        return after


class Hides(MyEngine):
    """Its states are equal to none."""

    class State(tuple):
        __eq__ = object.__eq__
        __hash__ = object.__hash__

    def advance(self, state, token):
        after = super().advance(tuple(state), token)
        return None if after is None else self.State(after)

    def mask(self, state):
        return super().mask(tuple(state))

    def forced(self, state):
        return super().forced(tuple(state))


@here
def test_a_begun_class_is_open_and_one_that_crashes_says_where():
    assert gv.checks.engine(Begun).result == gv.checks.engine_masks(Begun).result == "open"
    said = dict(gv.checks.engine(Crashes, seed=SEED).facts)
    assert said["grammars"].startswith("✗ at the start: ZeroDivisionError: oh no")
    assert dict(gv.checks.engine_masks(Crashes).facts)["yours"] == "at the start: ZeroDivisionError: oh no"


@here
@pytest.mark.parametrize("engine", [Remembers, Hides])
def test_a_state_that_is_no_value_is_found(engine):
    verdict = gv.checks.engine(engine, seed=SEED)
    assert not verdict
    assert not gv.checks.engine_masks(engine)


@here
def test_a_seed_asks_the_same_again_and_a_call_without_one_asks_something_new():
    said = [gv.checks.engine(Crashes, seed=seed).facts for seed in (1, 1, 2)]
    assert said[0] == said[1] != said[2]
    first, second = (gv.checks.engine(Crashes).said for _ in range(2))
    assert first != second
    assert "gv.checks.engine(Crashes, seed=" in first


@here
@pytest.mark.parametrize("seed", range(100, 112))
@pytest.mark.quick("100", "101")
def test_the_exam_is_right_about_a_right_engine(seed):
    verdict = gv.checks.engine(MyEngine, seed=seed)
    assert verdict, verdict


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
def test_an_endless_engine_is_stopped():
    class Endless(Begun):
        def mask(self, state):
            while True:
                pass

    verdict = gv.checks.engine_masks(Endless)
    assert "it does not end" in dict(verdict.facts)["yours"]
