"""Claims about the reports of a student: only with a nickname, nothing personal, and never in the way of a lab."""

import json
import os
import stat
import threading
import time

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.models import reports
from guidedviz.models.connection import Connection, read_address
from guidedviz.models.reports import RACE_PLACES, Reporter, name_lab, report
from guidedviz.serving import race
from guidedviz.widgets.predict import ASKED
from tests.common import in_time
from tests.host.running import hosting


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("HOST", "NICKNAME", "HEADLESS", "TOKEN"):
        monkeypatch.delenv(f"GUIDEDVIZ_{name}", raising=False)
    monkeypatch.setattr(reports, "_joined", None)
    ASKED.clear()


@pytest.fixture
def told(monkeypatch):
    """What was sent, as the host would hear it."""
    found = []

    def ask(self, method, path, body=b"", most=0):
        found.append((method, path, json.loads(body)))
        return b"{}"

    monkeypatch.setattr(Connection, "ask", ask)
    return found


def wait_for(holds):
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def join(monkeypatch, host="http://127.0.0.1:9", nickname="Ada"):
    monkeypatch.setenv("GUIDEDVIZ_HOST", host)
    monkeypatch.setenv("GUIDEDVIZ_NICKNAME", nickname)


@pytest.mark.parametrize(
    ("host", "nickname", "headless"),
    [("http://127.0.0.1:9", "", ""), ("", "Ada", ""), ("nonsense", "Ada", ""), ("http://127.0.0.1:9", "Ada", "1")],
)
def test_without_a_nickname_and_a_host_and_in_an_automated_run_nothing_is_sent(
    monkeypatch, told, host, nickname, headless
):
    join(monkeypatch, host, nickname)
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", headless)
    before = threading.active_count()
    report("check advance", "right")
    assert (told, threading.active_count()) == ([], before)


def test_a_check_and_a_prediction_tell_where_the_student_stands_and_nothing_more(monkeypatch, told):
    join(monkeypatch, nickname=" Ada ")
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada.lovelace/labs/03_fsm-fresh-2.ipynb")
    assert not gv.checks.forced(None)
    for _ in range(2):  # a cell that is run again keeps the answer
        asked = gv.predict("How many students?", number=3)
        asked.commit(2)
        asked.commit(3)
    wait_for(lambda: told and told[-1][2].get("answer"))
    common = {"nickname": "Ada", "lab": "03_fsm"}
    question = common | {"place": "How many students?", "choices": []}
    answered = question | {"state": "answered", "answer": 2}
    addresses = {(method, path) for method, path, _ in told}
    assert addresses == {("POST", "/v1/class")}
    bodies = [body for _, _, body in told]
    assert bodies[0] == common | {"place": "check forced", "state": "open"}
    assert bodies[-1] == answered
    opened = question | {"state": "open", "answer": None}
    for body in bodies[1:]:
        assert body in (opened, answered)


@pytest.mark.parametrize(
    ("path", "lab"),
    [("labs/06_json_schema.ipynb", "06_json_schema"), ("x/labs/deeper/palindromes.ipynb", "palindromes"),
     ("labs/project.ipynb", "project"), ("labs/project-fresh.ipynb", "project"), ("labs/project of Ada.ipynb", ""),
     ("/home/ada/My diary.ipynb", ""), ("/home/ada/03_FSM of Ada.ipynb", ""), ("", "")],
)  # fmt: skip
def test_only_a_lab_is_named(monkeypatch, path, lab):
    monkeypatch.setenv("JPY_SESSION_NAME", path)
    assert name_lab() == lab


def test_a_race_tells_its_last_ratios_and_no_question(monkeypatch, told):
    join(monkeypatch)
    ours = race.Lap("guidedviz", 0.5, 0.25, 0.125)
    for times in (3, 2):
        race.report_race(ours, race.Lap("MyEngine", 0.5, 0.5, 0.125 * times))
    warm = {"nickname": "Ada", "lab": "", "place": RACE_PLACES[2], "state": "answered", "answer": 2.0}
    wait_for(lambda: warm in [body for _, _, body in told])
    kept = [report["answer"] for report in reports._joined._told.values()]
    assert kept == [1.0, 2.0, 2.0], "a host that has started again hears of the last race"


def test_a_host_that_is_slow_or_gone_costs_a_check_nothing(monkeypatch):
    go_on = threading.Event()
    asked = []

    def ask(self, *_):
        asked.append(1)
        go_on.wait(5)
        raise OSError("gone")

    monkeypatch.setattr(Connection, "ask", ask)
    join(monkeypatch)
    before = threading.active_count()
    with in_time(1):
        for _ in range(500):
            report("x" * 10_000, "right", ["a" * 1000, "b"], "a" * 1000)
    wait_for(lambda: asked)
    go_on.set()
    wait_for(lambda: threading.active_count() <= before)
    report("later", "right")
    assert asked == [1], "nothing is sent for a while"


def test_reports_are_cut_to_what_a_host_takes(monkeypatch, bard):
    with hosting(bard) as host:
        join(monkeypatch, host.address)
        report("x" * 10_000, "answered", ["\ud800" * 500, "b"], "b")
        wait_for(lambda: counts(host) == [{"b": 1}])
        [question] = host.service.desk.standing.questions.values()
        assert len(question.text) == 300


HERE = read_address("http://127.0.0.1:9")


def secret_of(place, nickname):
    return Reporter(place, nickname)._wire.headers["X-Guidedviz-Student"]


def test_the_kernels_of_an_account_share_a_secret_that_only_the_account_can_read(tmp_path, monkeypatch):
    ada = secret_of(HERE, "Ada")
    others = {secret_of(HERE, "Bob"), secret_of(read_address("http://127.0.0.1:10"), "Ada")}
    assert secret_of(HERE, "Ada") == ada
    file = tmp_path / "guidedviz" / "secret"
    if os.name == "posix":
        found = [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)]
        assert found == [0o600, 0o700]
    assert file.read_text() not in ada, "no host learns what another one is told"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another account"))
    others.add(secret_of(HERE, "Ada"))
    assert len(others - {ada}) == 3


@pytest.mark.parametrize("content", ["", "short", "x" * 1000, "\u00e9" * 32, None])
def test_without_a_file_that_can_be_read_each_kernel_has_a_secret_of_its_own(tmp_path, content):
    file = tmp_path / "guidedviz" / "secret"
    file.parent.mkdir()
    if content is None:
        file.mkdir()
    else:
        file.write_text(content, encoding="utf-8")
    assert secret_of(HERE, "Ada") != secret_of(HERE, "Ada")


def test_a_nickname_is_given_with_the_host(bard):
    with hosting(bard) as host:
        gv.load_model(host.address, nickname="Ada")
        report("check advance", "right")
        wait_for(lambda: places(host) == [("Ada", "check advance")])
        for wrong in ("", "x" * 33, "a\nb", "\x1b", 7, "\u202eadA", "\u3164"):
            with pytest.raises(SettingError, match="nickname"):
                gv.load_model(host.address, nickname=wrong)


def test_a_model_of_this_machine_has_no_nickname():
    with pytest.raises(SettingError, match="a model of this machine"):
        gv.load_model("bard", device="numpy", nickname="Ada")


def test_a_reporter_sends_in_order_and_its_thread_ends(told):
    reporter = Reporter(HERE, "Ada")
    before = threading.active_count()
    for number in range(20):
        reporter.tell({"place": number})
    wait_for(lambda: threading.active_count() <= before)
    found = [body["place"] for _, _, body in told]
    assert found == [*range(20)]


# --- after a failure, and after a restart of the host ---


def places(host):
    students = host.service.desk.standing.students.values()
    return sorted((one.report.nickname, one.report.place) for one in students)


def counts(host):
    return [dict(question.counts) for question in host.service.desk.standing.questions.values()]


def test_after_a_restart_of_the_host_a_student_reports_all_again_with_the_next_step(monkeypatch, bard):
    with hosting(bard) as first:
        join(monkeypatch, first.address)
        model = first.model()
        report("Which?", "answered", ["a", "b"], "a")
        report("Which?", "open", ["a", "b"])
        report("check advance", "right")
        wait_for(lambda: places(first) == [("Ada", "check advance")])
    report("check accepts", "wrong")
    wait_for(lambda: reports._joined._quiet_until)
    report("check forced", "open")
    with hosting(bard, port=first.port) as second:
        assert places(second) == []
        model.logits([1])
        wait_for(lambda: places(second) == [("Ada", "check forced")])
        assert counts(second) == [{"a": 1}]
    with hosting(bard, port=first.port) as third:
        monkeypatch.setattr(reports._joined, "_deaf_until", 0.0)
        report("check more", "open")  # the report itself hears of the restart
        wait_for(lambda: counts(third) == [{"a": 1}] and places(third) == [("Ada", "check more")])


def test_what_a_host_did_not_hear_is_told_with_the_next_report_after_the_pause(monkeypatch, bard):
    monkeypatch.setattr(reports, "REPORT_PAUSE", 0.01)
    with hosting(bard) as host:
        join(monkeypatch, host.address)
        with monkeypatch.context() as broken:
            broken.setattr(Connection, "ask", None)
            report("Which?", "answered", ["a", "b"], "b")
            wait_for(lambda: reports._joined._quiet_until)
        time.sleep(0.02)
        report("check forced", "open")
        wait_for(lambda: counts(host) == [{"b": 1}] and places(host) == [("Ada", "check forced")])


def test_a_report_that_a_host_refuses_is_not_told_again(monkeypatch, bard):
    monkeypatch.setattr(reports, "REPORT_PAUSE", 0.01)
    with hosting(bard) as host:
        join(monkeypatch, host.address)
        report("a strange one", "asleep")
        report("check advance", "right")
        wait_for(lambda: places(host) == [("Ada", "check advance")])
        assert [place for _, place in reports._joined._told] == ["check advance"]


def test_a_host_that_always_says_that_it_has_started_again_is_not_told_without_end(monkeypatch, told):
    reports.join_class(HERE, "Ada")
    heard = Connection.ask

    def ask(self, *words):
        reports.hear(HERE, f"start {len(told)}")
        return heard(self, *words)

    monkeypatch.setattr(Connection, "ask", ask)
    for number in range(5):
        report(f"check {number}", "open")
    time.sleep(0.3)
    assert 1 <= len(told) <= 10


def test_another_host_that_starts_again_is_told_nothing(told):
    reports.join_class(HERE, "Ada")
    report("check advance", "open")
    wait_for(lambda: told)
    for start in ("a", "b", ""):
        reports.hear(read_address("http://127.0.0.1:10"), start)
        reports.hear(HERE, "the same")
    time.sleep(0.05)
    assert len(told) == 1
