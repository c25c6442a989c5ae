"""Whatever a student's answer does wrong, a check gives a verdict in time, and the kernel goes on."""

import builtins
import contextlib
import itertools
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from guidedviz.checks import guard, values
from guidedviz.checks.guard import Outcome, run, safe_copy
from guidedviz.checks.values import Failed
from tests.checks.answers import FUNCTIONS, VALUES, check
from tests.checks.attacks import outcomes_of

ENDLESS = "does not end|too much memory"
each_guard = pytest.mark.parametrize("way", ["process", "thread", "place"])


@pytest.fixture
def choose(monkeypatch, refuse_threads):
    """Let answers run in a process, in a thread or, as in a browser tab, in this place."""

    def chosen(way):
        monkeypatch.setattr(guard, "FORKS", way == "process")
        if way == "place":
            refuse_threads()

    return chosen


def define(body):
    """A function with a body on one line."""
    space = {"itertools": itertools, "os": os, "sys": sys}
    exec(f"def answer(*given):\n {body}", space)
    return space["answer"]


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def turn(*_):
    while True:
        pass


def fail(*_):
    raise RuntimeError("no, never")


def objects(method):
    """An object with one method that raises, and one with the same method that never ends."""
    kind = property if method == "__class__" else lambda function: function
    raises = type("Raises", (), {method: kind(fail)})
    loops = type("Loops", (), {method: kind(turn)})
    return raises(), loops()


def unprintable(*given):
    raise UnprintableError


def spoil(*given):
    """Change each argument that can be changed."""
    for one in given:
        if isinstance(one, np.ndarray):
            one.fill(7)
        elif isinstance(one, list | set | dict):
            one.clear()
        elif hasattr(one, "edges"):
            object.__setattr__(one, "edges", ())
    return "spoiled"


def assert_goes_on():
    assert run(divmod, [(7, 2)]) == [Outcome((3, 1))]


HOSTILE = {
    "while on one line": (define("while True: pass"), ENDLESS),
    "while that catches all": (define("\n  while True:\n   try: pass\n   except: pass"), ENDLESS),
    "endless generator": (define("\n  while True: yield 0"), ENDLESS),
    "endless iterator": (lambda *given: itertools.count(), ENDLESS),
    "nested for ever": (define("a = []; a.append(a); return a"), "inside each other"),
    "recursion": (define("return answer(*given)"), "RecursionError"),
    "sys.exit": (lambda *given: sys.exit(), "SystemExit"),
    "KeyboardInterrupt": (define("raise KeyboardInterrupt"), "KeyboardInterrupt"),
    "BaseException": (define("raise BaseException('all')"), "BaseException: all"),
    "exception without words": (unprintable, "UnprintableError"),
    "exception of 10 MB": (define("raise ValueError('x' * 10**7)"), "x"),
    "flood of prints": (define("print('x' * 10**7); return object()"), "object"),
    "changed inputs": (spoil, "spoiled|changed its input"),
    "lone surrogate": (lambda *given: "\ud800", ""),
    **{
        f"{method} {how}": (lambda *given, value=value: value, f"Raises|never|{ENDLESS}|Loops")
        for method in ("__eq__", "__len__", "__iter__", "__repr__", "__class__")
        for how, value in zip(("raises", "loops"), objects(method), strict=True)
    },
}
IN_A_PROCESS = {
    "endless iterator in C": (lambda *given: list(itertools.count()), ENDLESS),
    "endless sum in C": (lambda *given: sum(itertools.count()), ENDLESS),
    "huge text": (lambda *given: "a" * 10**12, ENDLESS),
    "closed stdout": (define("sys.stdout.close(); os.close(1); return object()"), "object"),
    "os._exit": (define("os._exit(0)"), "ended the Python process"),
    "signal": (define("os.kill(os.getpid(), 11)"), "ended the Python process"),
    "closed files": (define("os.closerange(3, 100); return 1"), "ended the Python process"),
}


@pytest.fixture
def strict(monkeypatch):
    """Small limits, so that the endless answers end soon."""
    monkeypatch.setattr(guard, "CPU_SECONDS", 0.04)
    monkeypatch.setattr(guard, "MORE_MEMORY", 30 << 20)


@pytest.mark.parametrize(
    ("body", "way"),
    [(body, "process") for body in IN_A_PROCESS]
    + [(b, way) for b in HOSTILE for way in ("process", "thread", "place")],
)
@pytest.mark.quick(every=4)
def test_a_check_tells_what_is_wrong_with_a_hostile_function(body, way, strict, choose, capfd):
    choose(way)
    out = sys.stdout
    answer, reason = (HOSTILE | IN_A_PROCESS)[body]
    verdict = check("heal", answer)
    assert verdict.result == "wrong"
    facts = dict(verdict.facts)
    assert re.search(reason, facts["yours gave"] + facts.get("but", ""))
    assert len(repr(verdict)) < 2_000
    assert verdict._repr_html_()
    assert sys.stdout is out
    assert len("".join(capfd.readouterr())) < 2_100


@pytest.mark.slow
@pytest.mark.parametrize("method", ["__eq__", "__iter__", "__repr__", "__getattr__", "__call__", "__class__"])
def test_every_check_of_a_value_refuses_a_hostile_object(method, strict):
    for name in VALUES:
        for value in objects(method):
            assert check(name, value).result == "wrong"


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.quick(every=6)
def test_a_right_function_that_changes_its_input_is_told_so(name):
    def answer(*given):
        value = FUNCTIONS[name](*given)
        spoil(*given)
        return value

    verdict = check(name, answer)
    if name in ("parses", "cut_out", "storage", "speedup", "at_most", "walk", "subsets", "turn_rule", "repair"):
        assert verdict, "numbers, texts, nodes, frozensets and functions cannot be changed"
    else:
        assert dict(verdict.facts)["but"] == "it changed its input; work on a copy"


def flood(x):
    for _ in range(10**5):
        print("y", file=sys.stderr)


@each_guard
def test_a_print_appears_once_and_is_cut(way, choose, capsys):
    choose(way)
    run(lambda x: print("hello\t\ud800", x), [(1,), (2,)])
    assert capsys.readouterr().out == "hello\t\\ud800 1\nhello\t\\ud800 2\n"
    run(flood, [(1,)])
    said = capsys.readouterr()
    assert said.out == "y\n" * 1000 + "…\n"
    assert not said.err


def test_what_a_stopped_loop_printed_is_shown(strict, capsys):
    def answer(x):
        print("round", x)
        turn()

    assert run(answer, [(1,), (2,)]) == [Outcome(guard.ENDLESS)]
    assert capsys.readouterr().out == "round 1\n"


def test_a_student_s_variables_stay_as_they_are():
    notes = ["mine"]

    def answer(x):
        notes.clear()
        builtins.len = None
        os.chdir("/")
        sys.stdout = None
        return x

    folder = os.getcwd()
    out = sys.stdout
    run(answer, [(1,)])
    assert notes == ["mine"]
    assert len("ab") == 2
    assert os.getcwd() == folder
    assert sys.stdout is out


@each_guard
def test_a_function_that_waits_is_stopped_but_in_a_tab(way, choose, monkeypatch):
    choose(way)
    monkeypatch.setattr(guard, "WALL_SECONDS", 0.3)
    found = run(lambda: time.sleep(1), [()])
    expected = {"process": guard.WAITS, "thread": guard.ENDLESS, "place": None}[way]
    assert found == [Outcome(expected)]


def test_where_there_is_no_process_and_no_thread_the_function_runs_in_this_one(monkeypatch, refuse_threads):
    def refuse(*given):
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    assert_goes_on()
    refuse_threads()
    found = run(divmod, [(7, 2), (7, 1)])
    assert found == [Outcome((3, 1)), Outcome((7, 0))]
    assert "SystemExit" in str(run(sys.exit, [()])[0].value)


def lives(file, seconds=5.0):
    """Does the process whose number an answer wrote to a file still run?"""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            status = Path(f"/proc/{file.read_text()}/stat").read_text()
            if status.rpartition(")")[2].split()[0] in "ZX":
                return False
        except FileNotFoundError:
            return False
        time.sleep(0.02)
    return True


def test_an_interrupt_of_the_kernel_stops_the_process_and_goes_on(tmp_path):
    def answer():
        (tmp_path / "id").write_text(str(os.getpid()))
        turn()

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(answer, [()])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not lives(tmp_path / "id")
    assert_goes_on()


def test_a_process_that_an_answer_starts_is_stopped_with_it(tmp_path, monkeypatch):
    def answer():
        started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
        (tmp_path / "id").write_text(str(started.pid))

    monkeypatch.setattr(guard, "WALL_SECONDS", 0.5)
    run(answer, [()])
    assert not (tmp_path / "id").exists() or not lives(tmp_path / "id")


def leave_pid(file):
    """Write the number of this process where the test finds it, and stay."""
    file.with_suffix(".part").write_text(str(os.getpid()))
    file.with_suffix(".part").rename(file)
    time.sleep(100)


def own_session(file):
    if not os.fork():
        os.setsid()
        leave_pid(file)


def twice(file):
    if not os.fork():
        os.setsid()
        if not os.fork():
            leave_pid(file)
        os._exit(0)


def closes_all(file):
    if not os.fork():
        os.setsid()
        os.chdir("/")
        if os.fork():
            os._exit(0)
        os.closerange(0, 256)
        leave_pid(file)


def deaf(file):
    if not os.fork():
        os.setsid()
        for each in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(each, signal.SIG_IGN)
        leave_pid(file)


def starts_another_program(file):
    code = f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)


def family(file):
    for _ in range(5):
        own_session(file.with_name(f"id{_}"))
    twice(file)


def is_itself_the_daemon(file):
    if not os.fork():
        os.setsid()
        leave_pid(file)
    wait_for(file)
    os._exit(0)


def wait_for(file):
    end = time.monotonic() + 20
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.005)


DAEMONS = [own_session, twice, closes_all, deaf, starts_another_program, family, is_itself_the_daemon]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a daemon stays")
@pytest.mark.parametrize("daemon", DAEMONS, ids=lambda daemon: daemon.__name__)
@pytest.mark.quick("twice", "is_itself_the_daemon")
def test_no_daemon_of_an_answer_outlives_the_check_or_delays_it(daemon, tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "WALL_SECONDS", 60.0)

    def answer():
        daemon(tmp_path / "id")
        wait_for(tmp_path / "id")
        return 7

    began = time.monotonic()
    (outcome,) = run(answer, [()])
    assert time.monotonic() - began < 30, "the check waited for more than the answer"
    assert outcome == (Outcome(guard.GONE) if daemon is is_itself_the_daemon else Outcome(7))
    left = [file for file in tmp_path.glob("id*") if lives(file, seconds=0.001)]
    assert not left
    assert (tmp_path / "id").exists(), "there was a daemon"
    assert_goes_on()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_check_returns_when_the_answer_has_come_though_a_daemon_keeps_the_pipe(monkeypatch):
    monkeypatch.setattr(guard, "WALL_SECONDS", 60.0)
    monkeypatch.setattr(guard, "_below", lambda process: [])  # as where the system lists no processes
    monkeypatch.setattr(guard, "STOPPING", 0.1)
    seconds = 3

    def answer():
        if not os.fork():
            os.setsid()
            time.sleep(seconds)
            os._exit(0)
        return 7

    began = time.monotonic()
    assert run(answer, [()]) == [Outcome(7)]
    assert time.monotonic() - began < seconds


def test_what_an_answer_forks_sends_nothing(capsys):
    def answer():
        if not os.fork():
            print("from below")
            return 8
        os.wait()
        return 7

    assert run(answer, [(), ()]) == [Outcome(7), Outcome(7)]
    assert "from below" not in capsys.readouterr().out


class Touches:
    """Unpickling it writes a file."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_what_an_answer_writes_to_open_files_reaches_none_of_the_kernel_and_is_not_run(tmp_path):
    data = pickle.dumps(Touches(tmp_path / "ran"))
    one, other = socket.socketpair()

    def answer():
        for file in range(3, 100):
            with contextlib.suppress(OSError):
                os.write(file, len(data).to_bytes(4, "big") + data)

    with one, other:
        other.setblocking(False)
        assert run(answer, [()]) == [Outcome(guard.GONE)]
        with pytest.raises(BlockingIOError):
            other.recv(4)
    assert not (tmp_path / "ran").exists()
    (touched,) = run(lambda: Touches(tmp_path / "ran"), [()])
    assert isinstance(touched.value, Failed)


@pytest.mark.parametrize(
    ("attack", "said"),
    [
        ("take_all_memory", values.TOO_LARGE),
        ("stop_itself", guard.WAITS),
        ("disarm_the_timer", guard.ENDLESS),
        ("block_all_signals", guard.ENDLESS),
    ],
)
def test_an_attack_on_the_check_ends_in_time_with_words(attack, said, apart):
    attacked, honest = apart.submit(outcomes_of, attack).result()
    assert attacked == [Outcome(said)]
    assert honest == [Outcome((3, 1))]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.array([1.5, 2]), [1.5, 2]),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.True_, True),
        ({1: (b"x", {2}, frozenset("a"))}, {1: (b"x", {2}, frozenset("a"))}),
        (map(str, (1, 2)), ["1", "2"]),
        (bytearray(b"x"), b"x"),
        (type("Number", (float,), {})(2.5), 2.5),
        (..., ...),
    ],
)
def test_a_value_comes_back_as_built_in_values(value, plain):
    copy = safe_copy(value)
    assert copy == plain
    assert type(copy) is type(plain)


def test_an_exception_comes_back_in_words_with_its_classes():
    ((failed, _),) = run(lambda: {}["key"], [()])
    assert isinstance(failed, Failed)
    assert repr(failed) == "KeyError: 'key'"
    assert {"KeyError", "LookupError", "Exception"} < {*failed.kinds}
