"""Claims about the projects of a class: milestones and ratios per student, bounded, forgotten like all else."""

import pytest

from guidedviz.checks import __all__ as checks
from guidedviz.commands.exercises import read_exercises
from guidedviz.host import standing
from guidedviz.host.standing import ENGINE_PARTS, Report, Standing
from guidedviz.models.reports import RACE_PLACES
from tests.host.running import TOKEN, hosting
from tests.host.test_classroom import ADA, HOSTILE, ask


def reached(place, state="right", nickname="Ada", answer=None):
    return Report(nickname, "project", place, state, None, answer)


def test_the_milestones_are_the_exercises_of_the_project():
    names = [one.name for one in read_exercises("project")]
    parts = [name for name in names if name != "engine"]
    assert [f"check {name}" for name in parts] == [*ENGINE_PARTS]
    assert {*names} <= {*checks}


def test_each_student_has_the_last_state_of_each_milestone_and_the_last_ratio():
    room = Standing()
    for place, state in (("trie", "wrong"), ("trie", "right"), ("rows", "wrong"), ("softmax", "right")):
        room.take("1", reached(f"check {place}", state))
    for ratio in (8.5, 2.5):
        room.take("2", reached(RACE_PLACES[2], "answered", HOSTILE, ratio))
    hostile, ada = sorted(room.summary()["projects"], key=lambda one: one["nickname"])
    assert ada["nickname"] == "Ada"
    assert ada["milestones"][:3] == [("trie", "right"), ("index", "wrong"), ("stack", "open")]
    assert len(ada["milestones"]) == 6
    assert hostile["nickname"] == HOSTILE
    assert hostile["ratios"] == [None, None, 2.5]


@pytest.mark.parametrize("answer", [None, 0.0, -1.0, "fast"])
def test_a_ratio_that_no_race_gives_is_not_kept(answer):
    room = Standing()
    room.take("1", reached(RACE_PLACES[0], "answered", answer=answer))
    assert room.summary()["projects"] == []


def test_projects_are_bounded(monkeypatch):
    monkeypatch.setattr(standing, "STUDENTS", 5)
    room = Standing()
    for key in "123456789":
        room.take(key, reached("check trie"))
    assert len(room.summary()["projects"]) == 5


def test_the_teacher_reads_the_projects_and_a_ratio_is_no_question(bard):
    with hosting(bard, {"ada": ADA, "teacher": TOKEN}) as host:
        told = {"nickname": HOSTILE, "lab": "project", "place": "check trie", "state": "right"}
        raced = told | {"place": RACE_PLACES[0], "state": "answered", "answer": 4}
        for said in (told, raced):
            ask(host, ADA, "POST", "/v1/class", said)
        found = ask(host, TOKEN, "GET", "/v1/class")
        [project] = found["projects"]
        assert project["milestones"][0] == ["trie", "right"]
        assert project["ratios"] == [4.0, None, None]
        assert found["questions"] == []
        ask(host, TOKEN, "POST", "/v1/class/forget", {})
        assert ask(host, TOKEN, "GET", "/v1/class")["projects"] == []
