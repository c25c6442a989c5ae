"""Claims about the class on a host: who stands where, counts without names, a run that everyone follows."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from guidedviz.errors import ModelError, SettingError
from guidedviz.host import classroom, standing
from guidedviz.host.access import find_tokens
from guidedviz.host.classroom import Showing, ShownRun, read_wish
from guidedviz.host.limits import Limits
from guidedviz.host.standing import Report, Standing, read_body, read_report
from guidedviz.models.remote import MOST_RUN
from tests.host.running import TOKEN, hosting

ADA, TEACHER = "a-token-of-ada-lovelace", "a-token-of-the-teacher"
HOSTILE = "<img src onerror=hacked=1>"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def answered(nickname, answer, question="Which?", choices=("yes", "no"), lab="03_fsm"):
    return Report(nickname, lab, question, "answered", choices, answer)


ANSWER = answered("Ada", "yes")
TRIE = Report("Ada", "project", "check trie", "right")


def ask(host, token, method, path, said=None):
    body = b"" if said is None else json.dumps(said).encode()
    return json.loads(host.wire(token, patience=0.0).ask(method, path, body))


# --- where students stand ---


def test_each_student_stands_at_the_last_place_that_they_told():
    clock = Clock()
    room = Standing(clock)
    room.take("1", Report("Bob", "03_fsm", "check advance", "wrong"))
    room.take("2", Report(HOSTILE, "01_logit_bias", "check softmax", "open"))
    clock.now += 7
    room.take("1", Report("Bobby", "03_fsm", "check advance", "right"))
    found = [[*one.values()] for one in room.summary()["standing"]]
    hostile = [HOSTILE, "01_logit_bias", "check softmax", "open", 7]
    assert found == [hostile, ["Bobby", "03_fsm", "check advance", "right", 0]]


def test_answers_are_counted_once_per_student_and_without_names():
    room = Standing()
    for key, answer in [("1", "no"), ("2", "no"), ("3", "yes"), ("1", "yes"), ("4", None)]:
        room.take(key, answered(f"student {key}", answer))
    [question] = room.summary()["questions"]
    del question["id"]
    bars = [("yes", 1), ("no", 2)]
    assert question == {"lab": "03_fsm", "text": "Which?", "bars": bars, "answers": 3, "sessions": 4}
    [kept] = room.questions.values()
    names = {"lab", "text", "choices", "at", "students", "reached", "counts"}
    assert set(vars(kept)) == names, "no answer stands beside a student"


def test_the_open_question_is_the_one_that_most_students_answered_last():
    clock = Clock()
    room = Standing(clock)
    for key in "12":
        room.take(key, answered("x", "yes", "first"))
    for key in "123":
        room.take(key, answered("x", 4, "second", ()))
    room.take("1", Report("x", "03_fsm", "third, without an answer", "open", ("a", "b")))

    def opened():
        found = room.summary()
        return [question["text"] for question in found["questions"] if question["id"] == found["open"]]

    assert opened() == ["second"]
    clock.now += standing.NOW + 1
    assert opened() == []


@pytest.mark.parametrize("report", [ANSWER, TRIE])
def test_what_was_not_heard_of_for_two_hours_is_forgotten_and_all_of_it_when_the_teacher_says_so(report):
    clock = Clock()
    room = Standing(clock)
    empty = room.summary()
    room.take("1", report)
    assert room.summary() != empty
    clock.now += standing.KEPT_SECONDS + 1
    assert room.summary() == empty
    room.take("1", report)
    room.forget()
    assert room.summary() == empty


def test_a_class_is_bounded_and_one_student_cannot_push_out_the_question_of_all(monkeypatch):
    monkeypatch.setattr(standing, "STUDENTS", 5)
    room = Standing()
    for key in "123456789":
        room.take(key, ANSWER)
    for number in range(3 * standing.QUESTIONS):
        room.take("8", answered("x", number, f"question {number}", ()))
    assert len(room.students) == 5
    assert len(room.questions) == standing.QUESTIONS
    assert "Which?" in [question.text for question in room.questions.values()]


def test_many_different_numbers_share_a_bar():
    room = Standing()
    for key in range(standing.ANSWERS + 20):
        room.take(str(key), answered("x", key, "How many?", ()))
    room.take("again", answered("x", 7, "How many?", ()))
    [question] = room.summary()["questions"]
    *shown, rest = question["bars"]
    assert len(shown) == standing.BARS
    assert ("7", 2) in shown
    assert rest == ("another number", standing.ANSWERS + 21 - standing.BARS - 1)


REPORT = {"nickname": "Ada", "lab": "03_fsm", "place": "How \u202emany?", "state": "answered", "choices": []}
STRANGE = ["  ", "x" * 33, 7, "\x00", "A\x1b[31m", "A\nB", "\u202eadA", "Ada\u200b", "A\u200dB", "\ufeff", "\ud800",
           "Ada\ufe0f", "\u3164"]  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        b"", b"[]", b"\xff", b"[" * 100_000, *({"nickname": name} for name in STRANGE),
        {"lab": "x" * 49}, {"lab": "A\nB"}, {"place": None}, {"place": "x" * 301}, {"state": "asleep"},
        {"choices": "ab"}, {"choices": ["a", "a"]}, {"choices": ["a"] * 13}, {"choices": [["a"]]},
        {"choices": ["a", "b"], "answer": "c"}, {"choices": ["a", "b"], "answer": 1},
        {"answer": "a"}, {"answer": True}, {"answer": 1e301}, {"answer": float("nan")}, {"answer": {}},
    ],
)  # fmt: skip
def test_a_report_of_another_shape_is_refused_and_says_what_to_try(said):
    body = said if isinstance(said, bytes) else json.dumps(REPORT | said).encode()
    with pytest.raises(SettingError, match="report") as caught:
        read_report(body)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("answer", "bar"),
    [(-1e299, "-1e+299"), (10**299, "1e+299"), (0.1 + 0.2, "0.3"), (1 / 3, "0.333333333333"), (128_256, "128,256")],
)
def test_a_question_is_shown_with_its_control_characters_escaped_and_its_numbers_short(answer, bar):
    room = Standing()
    room.take("1", read_report(json.dumps(REPORT | {"answer": answer}).encode()))
    [question] = room.summary()["questions"]
    assert question["text"] == r"How \u202emany?"
    assert question["bars"] == [(bar, 1)]


# --- the requests ---


def test_students_report_and_only_the_teacher_reads_and_forgets(bard):
    with hosting(bard, {"ada": ADA, "teacher": TEACHER}) as host:
        told = REPORT | {"nickname": HOSTILE, "choices": ["a", "b"], "answer": "b"}
        assert ask(host, ADA, "POST", "/v1/class", told) == {}
        for method, path in (("GET", "/v1/class"), ("POST", "/v1/class/forget"), ("POST", "/v1/run")):
            with pytest.raises(SettingError, match="a token of another person"):
                ask(host, ADA, method, path, {})
        found = ask(host, TEACHER, "GET", "/v1/class")
        assert [one["nickname"] for one in found["standing"]] == [HOSTILE], "the nickname stands alone"
        assert found["questions"][0]["bars"] == [["a", 0], ["b", 1]]
        ask(host, TEACHER, "POST", "/v1/class/forget")
        assert ask(host, TEACHER, "GET", "/v1/class")["standing"] == []
        with pytest.raises(SettingError, match="at most 8192"):
            ask(host, ADA, "POST", "/v1/class", told | {"place": "x" * 9000})


def test_the_token_of_the_teacher_comes_from_a_variable_beside_those_of_the_students(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_TEACHER_TOKEN", TEACHER)
    monkeypatch.delenv("GUIDEDVIZ_TOKEN", raising=False)
    assert find_tokens(None, TOKEN) == {"": TOKEN, "teacher": TEACHER}
    for token, seen in (("", "no token of the students"), (TEACHER, "the token of a student")):
        with pytest.raises(SettingError, match=seen):
            find_tokens(None, token)
    monkeypatch.setenv("GUIDEDVIZ_TEACHER_TOKEN", "short")
    with pytest.raises(SettingError, match="a token of 5 characters"):
        find_tokens(None, TOKEN)


def test_a_host_of_a_cluster_says_that_it_has_no_class(bard):
    with hosting(bard, whole=False) as host:
        for method, path in (("POST", "/v1/class"), ("GET", "/v1/run?wait=0"), ("POST", "/v1/run")):
            with pytest.raises(SettingError, match="saw a cluster, expected a host of one process"):
                ask(host, "", method, path)
        assert ask(host, "", "GET", "/v1/card")["class"] == 0


# --- the run that is shown ---


SHOWN = {"name": "", "begins": False, "steps": 1, "shown": "a"}


def shown(text, name="", begins=False):
    return ShownRun(name, begins, 1, text)


async def got(run, known="", student="Ada", seconds=0.0):
    return json.loads((await run.latest(student, known, seconds)).body)


async def test_a_follower_gets_another_run_and_who_knows_it_nothing():
    run = Showing()
    assert await got(run) == {"known": "", "shown": ""}
    run.publish(shown("a"))
    first = await got(run)
    assert first["shown"] == "a"
    assert await got(run, first["known"]) == first | {"shown": ""}
    run.publish(shown("a"))
    whole = await got(run)
    assert await got(run, first["known"]) == await got(run, "made up") == whole


def test_a_new_run_replaces_another_and_a_late_move_of_that_one_is_refused():
    run = Showing()
    run.publish(shown("a", name="old"))
    run.publish(shown("b", name="new", begins=True))
    with pytest.raises(SettingError, match="another run is shown"):
        run.publish(shown("c", name="old"))
    assert run.name == "new"


async def test_a_follower_waits_for_the_next_move():
    run = Showing()
    waits = [asyncio.create_task(got(run, "", name, 5.0)) for name in "abb"]
    await asyncio.sleep(0)
    assert run.followers == 2
    run.publish(shown("b"))
    assert [(await one)["shown"] for one in waits] == ["b"] * 3


async def test_only_so_many_followers_are_remembered():
    run = Showing()
    for number in range(classroom.MOST_FOLLOWERS + 9):
        await run.latest(str(number), "-", 0.0)
    assert run.followers == classroom.MOST_FOLLOWERS


@pytest.mark.parametrize(
    "said",
    [b"", b"[]", b"[" * 99_999, {"steps": -1}, {"steps": True}, {"steps": "1"}, {"shown": ""}, {"shown": 3},
     {"more": 1}, {"shown": "x" * (MOST_RUN + 1)}],
)  # fmt: skip
def test_a_run_of_another_shape_is_refused(said):
    found = read_body(ShownRun, json.dumps(SHOWN).encode(), "run")
    assert found == shown("a")
    body = said if isinstance(said, bytes) else json.dumps(SHOWN | said).encode()
    with pytest.raises(SettingError, match="run"):
        read_body(ShownRun, body, "run")


@pytest.mark.parametrize("wait", ["x", "-1", "1e9", "9" * 40, "\u0661"])
def test_a_wish_with_other_numbers_is_refused(wait):
    with pytest.raises(SettingError, match="run"):
        read_wish({"wait": wait})


def test_waiting_is_none_of_the_requests_at_once_and_bounded_by_itself(bard):
    with hosting(bard, {"ada": ADA, "teacher": TEACHER}, Limits(together=1)) as host, ThreadPoolExecutor() as pool:
        ask(host, TEACHER, "POST", "/v1/run", SHOWN)
        known = ask(host, ADA, "GET", "/v1/run")["known"]
        wait = f"/v1/run?known={known}&wait=9"
        found = pool.submit(ask, host, ADA, "GET", wait)
        while host.service.guard.accounts["ada, following"].together == 0:
            time.sleep(0.01)
        assert host.model(ADA).logits([1]).shape == (65,), "another request may run beside it"
        with pytest.raises(ModelError, match="status 429"):
            ask(host, ADA, "GET", wait)
        ask(host, TEACHER, "POST", "/v1/run", SHOWN | {"steps": 2, "shown": "b"})
        assert found.result(5)["shown"] == "b"
        assert ask(host, TEACHER, "GET", "/v1/class")["run"] == {"steps": 2, "followers": 1}
