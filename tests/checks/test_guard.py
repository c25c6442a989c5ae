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
from threading import Thread

import numpy as np
import pytest

from guidedviz.checks import guard
from guidedviz.checks.guard import Failed, Outcome, run, safe_copy
from tests.checks.answers import FUNCTIONS, VALUES, check

ENDLESS = "does not end|too much memory"
LOOPS = 0.02  # seconds are enough to see that a loop does not end
each_guard = pytest.mark.parametrize("forks", [True, False], ids=["process", "thread"])


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
    return type("Raises", (), {method: kind(fail)})(), type("Loops", (), {method: kind(turn)})()


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


HOSTILE = {
    "while on one line": (define("while True: pass"), ENDLESS),
    "while that catches all": (define("\n  while True:\n   try: pass\n   except: pass"), ENDLESS),
    "endless generator": (define("\n  while True: yield 0"), ENDLESS),
    "endless iterator": (lambda *given: itertools.count(), ENDLESS),
    "endless iterator in C": (lambda *given: list(itertools.count()), ENDLESS),
    "endless sum in C": (lambda *given: sum(itertools.count()), ENDLESS),
    "huge text": (lambda *given: "a" * 10**12, ENDLESS),
    "nested for ever": (define("a = []; a.append(a); return a"), "inside each other"),
    "recursion": (define("return answer(*given)"), "RecursionError"),
    "sys.exit": (lambda *given: sys.exit(), "SystemExit"),
    "KeyboardInterrupt": (define("raise KeyboardInterrupt"), "KeyboardInterrupt"),
    "BaseException": (define("raise BaseException('all')"), "BaseException: all"),
    "exception without words": (unprintable, "UnprintableError"),
    "exception of 10 MB": (define("raise ValueError('x' * 10**7)"), "x"),
    "flood of prints": (define("print('x' * 10**7); return object()"), "object"),
    "changed inputs": (spoil, "spoiled|changed its input"),
    "closed stdout": (define("sys.stdout.close(); os.close(1); return object()"), "object"),
    "os._exit": (define("os._exit(0)"), "ended the Python process"),
    "signal": (define("os.kill(os.getpid(), 11)"), "ended the Python process"),
    "closed files": (define("os.closerange(3, 100); return 1"), "ended the Python process"),
    "lone surrogate": (lambda *given: "\ud800", ""),
    **{
        f"{method} {how}": (lambda *given, value=value: value, f"Raises|never|{ENDLESS}|Loops")
        for method in ("__eq__", "__len__", "__iter__", "__repr__", "__class__")
        for how, value in zip(("raises", "loops"), objects(method), strict=True)
    },
}


@pytest.fixture
def strict(monkeypatch):
    """Small limits, so that the endless answers end soon."""
    monkeypatch.setattr(guard, "SECONDS", 0.06)
    monkeypatch.setattr(guard, "MEMORY", 30 << 20)


NAMES = [*FUNCTIONS]
PAIRS = [  # one guard serves all checks: each body meets two of them, and two bodies meet all
    *((NAMES[(7 * row + shift) % len(NAMES)], body) for row, body in enumerate(HOSTILE) for shift in (0, 11)),
    *((name, body) for name in NAMES for body in ("changed inputs", "__eq__ loops")),
]


@pytest.mark.parametrize(("name", "body"), PAIRS)
def test_every_check_tells_what_is_wrong_with_a_hostile_function(name, body, strict, monkeypatch, capfd):
    answer, reason = HOSTILE[body]
    if ENDLESS in reason:
        monkeypatch.setattr(guard, "SECONDS", LOOPS)
    verdict = check(name, answer)
    assert verdict.result == "wrong"
    assert re.search(reason, dict(verdict.facts)["yours gave"] + dict(verdict.facts).get("but", ""))
    assert len(repr(verdict)) < 2_000
    assert verdict._repr_html_()
    assert len("".join(capfd.readouterr())) < 2_100


@pytest.mark.parametrize(
    "method", ["__eq__", "__len__", "__iter__", "__repr__", "__getattr__", "__call__", "__class__"]
)
@pytest.mark.parametrize("name", VALUES)
def test_every_check_of_a_value_refuses_a_hostile_object(name, method, strict, monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", LOOPS)
    for value in objects(method):
        assert check(name, value).result == "wrong"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_right_function_that_changes_its_input_is_told_so(name):
    def answer(*given):
        value = FUNCTIONS[name](*given)
        spoil(*given)
        return value

    verdict = check(name, answer)
    if name in ("parses", "cut_out", "storage", "speedup", "at_most"):
        assert verdict, "numbers and texts cannot be changed"
    else:
        assert dict(verdict.facts)["but"] == "it changed its input; work on a copy"


@each_guard
def test_a_print_appears_once_and_is_cut(forks, monkeypatch, capsys):
    monkeypatch.setattr(guard, "FORKS", forks)
    run(lambda x: print("hello\t\ud800", x), [(1,), (2,)])
    assert capsys.readouterr().out == "hello\t\\ud800 1\nhello\t\\ud800 2\n"
    run(lambda x: [print("y", file=sys.stderr) for _ in range(10**5)], [(1,)])
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

    folder, out = os.getcwd(), sys.stdout
    run(answer, [(1,)])
    assert (notes, len("ab"), os.getcwd(), sys.stdout) == (["mine"], 2, folder, out)


@pytest.mark.parametrize(
    "body", [body for body in HOSTILE if " in C" not in body and "os" not in body and body != "signal"]
)
def test_without_a_process_a_thread_stops_all_but_calls_of_c(body, strict, monkeypatch, capfd):
    monkeypatch.setattr(guard, "FORKS", False)
    out = sys.stdout
    verdict = check("heal", HOSTILE[body][0])
    assert verdict.result == "wrong"
    assert re.search(HOSTILE[body][1], dict(verdict.facts)["yours gave"] + dict(verdict.facts).get("but", ""))
    assert sys.stdout is out
    assert not capfd.readouterr().err, "no traceback of a thread"


@each_guard
def test_a_function_that_waits_is_stopped(forks, monkeypatch):
    monkeypatch.setattr(guard, "FORKS", forks)
    monkeypatch.setattr(guard, "PATIENCE", 0.3)
    assert run(lambda: time.sleep(1), [()]) == [Outcome(guard.WAITS if forks else guard.ENDLESS)]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere torch may start its threads again")
def test_a_torch_operation_whose_threads_were_lost_in_the_fork_is_stopped_and_says_what_to_try(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(guard, "PATIENCE", 2.0)
    before, table = torch.get_num_threads(), torch.ones(2000, 2000)

    def alone():
        torch.set_num_threads(1)
        return float(torch.softmax(table, 1).sum())

    try:
        torch.set_num_threads(2)
        torch.softmax(table, 1)  # starts the threads, which a forked process does not have
        (stopped,) = run(lambda: float(torch.softmax(table, 1).sum()), [()])
        (works,) = run(alone, [()])
    finally:
        torch.set_num_threads(before)
    assert stopped.value == guard.WAITS
    assert "torch.set_num_threads(1)" in str(stopped.value)
    assert works.value == pytest.approx(2000)


def test_where_the_system_refuses_a_process_a_thread_runs_the_function(monkeypatch):
    def refuse():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    assert run(divmod, [(7, 2)]) == [Outcome((3, 1))]


def test_where_the_system_has_no_threads_the_function_runs_in_this_one(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(guard, "FORKS", False)
    monkeypatch.setattr(Thread, "start", refuse)
    assert run(divmod, [(7, 2), (7, 1)]) == [Outcome((3, 1)), Outcome((7, 0))]
    assert "SystemExit" in str(run(sys.exit, [()])[0].value)


def lives(file, seconds=5.0):
    """Does the process whose number an answer wrote to a file still run?"""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{file.read_text()}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return False
        except FileNotFoundError:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("by_itself", [True, False], ids=["the kernel's own signal", "a signal of the answer"])
def test_an_interrupt_of_the_kernel_stops_the_process_and_goes_on(by_itself, tmp_path):
    """An answer may send signals as any cell may; this one acts as the person's interrupt does."""

    def answer():
        (tmp_path / "id").write_text(str(os.getpid()))
        if not by_itself:
            time.sleep(0.3)  # the kernel forks: an interrupt that comes during a fork is lost
            os.kill(os.getppid(), signal.SIGINT)
        turn()

    signals = signal.SIGALRM, signal.SIGINT
    before = [signal.signal(number, signal.default_int_handler) for number in signals]
    signal.setitimer(signal.ITIMER_REAL, 0.3 if by_itself else 0)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(answer, [()])
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
    assert not lives(tmp_path / "id")
    assert run(divmod, [(7, 2)]) == [Outcome((3, 1))]


FILTERED = sys.platform == "linux" and os.uname().machine in guard.SYSTEM_CALLS
SLEEP = [sys.executable, "-c", "import time; time.sleep(100)"]


def start_in_group(note):
    note(subprocess.Popen(SLEEP).pid)
    os._exit(0)


def start_in_session(note):
    note(subprocess.Popen(SLEEP, start_new_session=True).pid)


def start_in_own_group(note):
    note(subprocess.Popen(SLEEP, process_group=0).pid)


def become_a_daemon(note):
    for leave in (os.setsid, os.setpgrp):
        if os.fork():
            os._exit(0)
        try:
            leave()
        except PermissionError:
            note(os.getpid())
    note(os.getpid())
    time.sleep(100)


@pytest.mark.parametrize("start", [start_in_group, start_in_session, start_in_own_group, become_a_daemon])
def test_processes_that_an_answer_starts_are_stopped_with_it(start, tmp_path, monkeypatch):
    if start is not start_in_group and not FILTERED:
        pytest.skip("here a process may leave its group")
    monkeypatch.setattr(guard, "PATIENCE", 0.5)
    run(lambda: start(lambda number: (tmp_path / "id").write_text(str(number))), [()])
    assert not (tmp_path / "id").exists() or not lives(tmp_path / "id")


class Touches:
    """Unpickling it writes a file."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def write(data):
    os.write(guard.PIPE, data)
    return 7


def wait():
    time.sleep(100)


def fill():
    while True:
        write(b"x" * 65_536)


ATTACKS = {
    "four bytes and a wait": (lambda: (write(b"\0\0\0\4"), wait()), guard.WAITS),
    "a line of garbage": (lambda: write(b"\0garbage\xff\n"), guard.MEDDLED),
    "a value without its sign": (lambda: write(b"[7]\n"), guard.MEDDLED),
    "an unknown kind": (lambda: write(b'[false, {"module": "os"}]\n'), guard.MEDDLED),
    "a long number": (lambda: write(b"[false, %s]\n" % (b"9" * 9_999)), guard.MEDDLED),
    "a deep list": (lambda: write(b"[false, " + b"[" * 50_000 + b"]" * 50_001 + b"\n"), guard.MEDDLED),
    "too many numbers": (lambda: write(b"[false, [" + b"1," * 200_000 + b"1]]\n"), guard.MEDDLED),
    "a full pipe": (fill, guard.TOO_LARGE),
    "ends too early": (lambda: (write(b"\n\n"), wait()), guard.MEDDLED),
    "no memory": (lambda: bytearray(1 << 40), guard.TOO_LARGE),
    "stops itself": (lambda: os.kill(os.getpid(), signal.SIGSTOP), guard.WAITS),
    "no timer": (lambda: (signal.setitimer(signal.ITIMER_PROF, 0), turn()), guard.ENDLESS),
    "no signals": (lambda: (signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)), turn()), guard.ENDLESS),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_on_the_check_ends_in_time_with_words(attack, monkeypatch):
    function, said = ATTACKS[attack]
    monkeypatch.setattr(guard, "PATIENCE", 0.8)
    monkeypatch.setattr(guard, "IDLE", 0.1)
    began = time.monotonic()
    assert run(function, [()]) == [Outcome(said)]
    assert time.monotonic() - began < 4
    assert run(divmod, [(7, 2)]) == [Outcome((3, 1))]


def test_a_pickle_that_an_answer_sends_is_not_opened(tmp_path):
    data = pickle.dumps(Touches(tmp_path / "ran"))
    assert run(lambda: write(len(data).to_bytes(4, "big") + data), [()]) == [Outcome(guard.MEDDLED)]
    assert run(lambda: Touches(tmp_path / "ran"), [()])[0].value != 7
    assert not (tmp_path / "ran").exists()


def test_the_limits_hold_in_a_fresh_kernel():
    """At most about 300 MB and 3 seconds of processor time for each; a check after them works."""
    script = """if True:
        import itertools, resource
        from guidedviz.checks.guard import run
        def turn():
            while True: pass
        def send(piece):
            data = b"[false, [" + piece * (8_000_000 // len(piece)) + b"0]]" + bytes([10])
            with open(3, "wb", closefd=False) as pipe:
                pipe.write(data)
        answers = turn, lambda: list(itertools.count()), *((lambda piece=piece: send(piece)) for piece in (
            b"[],", b'{"set":[]},', b"1e5,"))
        mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for answer in answers:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            assert len(run(answer, [()])) == 1
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(max(used.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) - mine >> 10,
                  used.ru_utime - before)
        print(run(divmod, [(7, 2)])[0].value)
    """
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    *used, quotient, rest = said.stdout.split()
    assert (quotient, rest) == ("(3,", "1)")
    assert all(float(megabytes) < 300 for megabytes in used[::2])
    assert all(float(seconds) < 3 for seconds in used[1::2])


def test_an_answer_cannot_write_to_the_kernel_s_open_files():
    one, other = socket.socketpair()
    with one, other:
        other.setblocking(False)

        def answer():
            for file in range(4, 100):
                with contextlib.suppress(OSError):
                    os.write(file, b"\0\0\0\4")

        assert run(answer, [()]) == [Outcome(None)]
        with pytest.raises(BlockingIOError):
            other.recv(4)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.array([1.5, 2]), [1.5, 2]),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.True_, True),
        ({1: (b"x", {2}, frozenset("a"))}, {1: (b"x", {2}, frozenset("a"))}),
        (range(3), [0, 1, 2]),
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
