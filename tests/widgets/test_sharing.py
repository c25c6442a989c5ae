"""Claims about a stage that is shown to a class, and the stages that follow it."""

import json

import pytest

import guidedviz as gv
from guidedviz.decoding.recording import compress
from guidedviz.decoding.records import to_plain
from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.models.chat import Prompt
from guidedviz.models.remote import RemoteModel
from guidedviz.widgets.sharing import read_latest, read_run
from tests.common import regex_guide
from tests.host.running import TOKEN, hosting

TEACHER = "a-token-of-the-teacher"
PATTERN = "[a-z]{2,60}( [a-z]+)*"


def load(host, token=""):
    return RemoteModel(host.wire(token, patience=0.3))


def open_run(host, **more):
    model = load(host)
    guide = regex_guide(model, PATTERN)
    return gv.stage(model, "To be", guide, seed=3, share=True, **more)


def open_follower(host, **more):
    stage = gv.stage(load(host), follow=True, **more)
    assert stage.display.widget is not None
    return stage


def words(stage):
    return stage.role.bar()["words"]


def keys(stage):
    return [key for key, _ in stage.role.bar()["keys"]]


async def test_a_follower_shows_each_move_of_the_teacher(bard, until):
    with hosting(bard) as host:
        teacher = open_run(host)
        student = open_follower(host)
        assert (student.head.prompt, words(student)) == ("To be", "You follow the teacher's run.")

        async def follow():
            await until(lambda: student.player.steps == teacher.player.steps)

        teacher.take(3)
        await follow()
        assert student.text == teacher.text
        teacher.go(1)
        await until(lambda: student.player.cursor == 1)
        candidates = teacher.player.taken[1].step.candidates
        teacher.choose(next(c.token for c in candidates if c.legal and c.token != 0))
        await follow()
        teacher.change(temperature=0.5).take(1)
        await follow()
        assert student.player.settings.temperature == 0.5
        settings, wanted = ([t.settings for t in one.player.taken] for one in (student, teacher))
        assert settings == wanted


async def test_what_a_follower_shows_is_what_the_teacher_shows(bard, until):
    with hosting(bard) as host:
        teacher = open_run(host)
        assert teacher.display.widget is not None
        teacher.take(5)
        late = open_follower(host)
        await until(lambda: late.player.steps == teacher.player.steps and teacher.player.peek and late.player.peek)
        shown = late.display.news(True)
        wanted = teacher.display.news(True)
        for name in ("add", "next", "machine", "drawings", "cursor", "top", "temperature", "seed"):
            assert shown[name] == wanted[name], name
        assert shown["map"]["bits"] == wanted["map"]["bits"]
        assert not shown["head"]["live"]
        assert shown["head"] | {"live": True} == wanted["head"]


async def test_a_student_goes_on_alone_from_the_tokens_of_a_chat_prompt(bard):
    with hosting(bard) as host:
        parts = ("", "<s>", "To be")
        teacher = gv.stage(load(host), Prompt("<s>To be", (30, 27), parts), steps=2, share=True)
        student = open_follower(host)
        assert student.display.news(True)["head"]["parts"] == parts
        student.branch()
        assert student.head.prompt_parts == parts
        assert student.player.point(0).tokens == (30, 27)
        assert student.take(2).player.point(3).tokens == teacher.take(1).player.point(3).tokens


async def test_a_follower_is_read_only_until_the_student_goes_on_alone(bard, until):
    with hosting(bard) as host:
        teacher = open_run(host, steps=4)
        student = open_follower(host)
        legal = next(c.token for c in student.player.taken[-1].step.candidates if c.legal)
        for said in ({"do": "choose", "token": legal, "cursor": 4}, {"do": "reset"}, {"do": "turn", "branch": 0}):
            student.display.hear(said)
            assert "expected to follow the teacher's run" in student.note
        student.take(1).play()
        assert (student.player.steps, student.playing) == (teacher.player.steps, False)
        student.display.hear({"do": "go", "cursor": 2, "turn": 1})
        assert (student.player.cursor, keys(student)) == (2, ["catch_up", "branch"])
        teacher.take(1)
        await until(lambda: len(student.player.steps) == 5)
        assert student.player.cursor == 2, "who looks back stays there"
        student.display.hear({"do": "catch_up"})
        assert (student.player.cursor, keys(student)) == (5, ["branch"])
        student.display.hear({"do": "go", "cursor": 2, "turn": 2})
        student.display.hear({"do": "branch"})
        assert student.follows is False
        assert (student.player.cursor, len(student.player.taken)) == (2, 2)
        assert len(student.player.branches) == 1, "the teacher's run is kept"
        before = student.take(3).player
        assert student.display.news(True)["lesson"] is None
        teacher.take(1)
        await until(lambda: host.service.desk.run.steps == 6)
        assert student.player == before


async def test_a_student_may_open_the_stage_before_the_teacher(bard, until):
    with hosting(bard) as host:
        student = open_follower(host)
        assert (words(student), keys(student)) == ("The teacher shows no run yet.", [])
        first = open_run(host, steps=2)
        await until(lambda: student.text == first.text)
        second = open_run(host, steps=3)
        await until(lambda: student.player.steps == second.player.steps)
        first.take(1)
        await until(lambda: "another run is shown" in words(first))
        assert keys(first) == ["share"]
        first.display.hear({"do": "share"})
        await until(lambda: student.text == first.text)


async def test_the_teacher_stops_showing_and_a_closed_stage_does_too(bard, until):
    stopped = "The teacher has stopped showing this run."
    with hosting(bard) as host:
        teacher = open_run(host, steps=2)
        student = open_follower(host)
        teacher.display.hear({"do": "unshare"})
        await until(lambda: words(student) == stopped)
        teacher.take(1)
        assert (words(teacher), keys(teacher)) == ("The class does not see this run.", ["share"])
        teacher.display.hear({"do": "share"})
        await until(lambda: len(student.player.steps) == 3)
        teacher.close()
        await until(lambda: words(student) == stopped)
        assert keys(student) == ["branch"]


async def test_after_a_restart_of_the_host_the_next_move_shows_the_run_again(bard, until, monkeypatch):
    monkeypatch.setattr("guidedviz.widgets.sharing.HOST_PAUSE", 0.01)
    with hosting(bard) as host:
        teacher = open_run(host, steps=2)
        student = open_follower(host)
        await until(lambda: student.text == teacher.text)
    with hosting(bard, port=host.port):
        teacher.take(1)
        await until(lambda: student.player.steps == teacher.player.steps)
        assert len(student.player.steps) == 3
        teacher.close()
        student.close()


def test_only_the_teacher_shows_a_run_and_the_error_comes_at_once(bard):
    with hosting(bard, {"": TOKEN, "teacher": TEACHER}) as host:
        with pytest.raises(SettingError, match="a token of another person"):
            gv.stage(load(host, TOKEN), "A", share=True)
        gv.stage(load(host, TEACHER), "A", share=True)
        student = gv.stage(load(host, TOKEN), follow=True)
        assert student.head.prompt == "A"


def test_a_stage_of_this_machine_has_no_class_unless_a_variable_names_it(bard, monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_HOST", raising=False)
    for wish in ({"share": True}, {"follow": True}):
        with pytest.raises(SettingError, match="a model of this machine"):
            gv.stage(bard, "" if "follow" in wish else "A", **wish)
    with hosting(bard) as host:
        monkeypatch.setenv("GUIDEDVIZ_HOST", host.address)
        gv.stage(bard, "A", share=True).take(2)
        assert gv.stage(bard, follow=True).head.prompt == "A"


def publish(host, run):
    said = {"name": "", "begins": True, "steps": 0, "shown": compress(run)}
    body = json.dumps(said).encode()
    host.wire(patience=0).ask("POST", "/v1/run", body)


async def test_a_run_with_another_vocabulary_or_of_another_shape_is_told_and_not_shown(bard, until):
    with hosting(bard) as host:
        teacher = open_run(host, steps=1)
        answer = host.wire(patience=0).ask("GET", "/v1/run", most=1 << 21)
        run = json.loads(json.dumps(read_run(read_latest(answer)[1]), default=to_plain))
        head = run["head"]
        student = open_follower(host)
        for changed, seen in (
            ({"head": head | {"vocabulary": "x"}}, "another vocabulary"),
            ({"head": head | {"machine": {"grammar": "root ::= ("}}}, "GBNF"),
            ({"head": {}}, "trace"),
            ({"records": [{"step": {}}]}, "records[0]"),
        ):
            publish(host, run | changed)
            await until(lambda seen=seen: seen in words(student))
        assert student.text == teacher.text, "what was shown stays"


def test_a_step_that_the_guide_forbids_is_refused(bard):
    with hosting(bard) as host:
        open_run(host, steps=3)
        digits = regex_guide(bard, "[0-9]+")
        student = gv.stage(load(host), guide=digits, follow=True)
        assert "expected a token that the guide allows" in words(student)
        with pytest.raises(GuidedVizError, match="same vocabulary"):
            gv.stage(load(host), guide=gv.guide(gv.regex("a"), gv.Vocabulary([b"a"])), follow=True)
