"""Runs a student's function in a forked process with limits, so that no mistake in it stops the kernel or the check.

The process has a copy of the kernel's memory and none of its open files. It sends one message per input, of built-in
values only, until it is done or a deadline. Then it is killed with all that it started, daemons too. It has the rights
of any cell: it can write files, use the network, signal the kernel, and look up what a check expects.

On macOS memory has no limit, and a daemon that became a session of its own stays; the check does not wait for it.
Windows cannot fork: a thread is interrupted there, which stops every loop of Python but no call of C such as
`list(itertools.count())`. In a browser tab there are no threads either: the function runs in the kernel, which reads
the time at each call and each jump back, and stops itself.
"""

import copy
import ctypes
import faulthandler
import gc
import io
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from time import monotonic, process_time, sleep
from typing import Any, NamedTuple

import numpy as np

from guidedviz.checks.values import Arguments, Failed, Function, Stop, attempt, differ
from guidedviz.errors import SettingError
from guidedviz.files import IN_TAB, PACKAGE
from guidedviz.machines.names import write_surrogates

if sys.platform == "linux":
    import resource
if sys.version_info >= (3, 12):
    LEAVE: Any = sys.monitoring.DISABLE  # what says that some code is not watched
else:
    LEAVE = object()

FORKS = hasattr(os, "fork") and not IN_TAB
CPU_SECONDS = 1.5  # of processor time for all inputs of a check
WALL_SECONDS = 6.0  # of wall time, for a function that sleeps or waits
IDLE = 0.3  # of processor time: a function that was stopped for its wall time and used less was waiting
MORE_MEMORY = 200 << 20  # bytes, on top of what the kernel has (enforced on Linux)
PRINTED = 2_000  # characters of the student's prints that are shown
STOPPING = 2.0  # seconds of wall time for what a function started and left
ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
DONE = None  # the message of a forked process that nothing follows
SENT = 8 << 20  # bytes of one message of a forked process
TOOL = 4  # a number for sys.monitoring that no debugger has
OWN_FILES = (  # are not watched, as their code names them
    str(PACKAGE),
    str(Path(np.__file__).parent),
    suppress.__exit__.__code__.co_filename,
    copy.deepcopy.__code__.co_filename,
)

Send = Callable[[Any], None]  # takes an Outcome, or a text that was printed
Work = Callable[[Send], None]


class Outcome(NamedTuple):
    """What a function did with one input."""

    value: Any  # built-in values only, or Failed
    touched: bool = False  # it changed its input


ENDLESS = Failed("it does not end or takes too long: check that every pass of its loop makes progress")
WAITS = Failed("it waits without end: check input(), sleep, locks and threads (torch: torch.set_num_threads(1) in it)")
GONE = Failed("it ended the Python process, by os._exit or a crash")


def run(function: Function, inputs: Sequence[Arguments]) -> list[Outcome]:
    """What a function gives for each input, up to the first input on which it must be stopped.

    >>> run(divmod, [(7, 2), (7, 0)])
    [Outcome(value=(3, 1), touched=False), Outcome(value=ZeroDivisionError: integer ... by zero, touched=False)]
    """
    messages: list[Outcome | str] = []
    work = partial(_run_all, function, inputs)
    stopped = _in_process(work, messages.append) if FORKS else _in_thread(work, messages.append)
    printed = "".join(message for message in messages if isinstance(message, str))
    if printed:
        print(printed[: PRINTED + 1].removesuffix("\n"))
    outcomes = [message for message in messages if isinstance(message, Outcome)]
    return [*outcomes, Outcome(stopped)][: len(inputs)]


def run_apart(work: Callable[[], str]) -> str:
    """The text of some work of a stranger, done under guard; `run=gv.decoding.run_apart` runs the tools of a model so.

    >>> run_apart(lambda: "ab" * 2)
    'abab'
    """
    value = run(work, [()])[0].value
    if isinstance(value, Failed):
        raise SettingError("a tool", seen=value.said, expected="a function that gives a text")
    return str(value)


def safe_copy(value: object) -> Any:
    """A student's value as built-in values, made under guard because its own methods may raise or loop."""
    if type(value) is str:
        return value
    return run(lambda: value, [()])[0].value


# -- where it runs -------------------------------------------------------------------------------------------------


def _in_process(work: Work, take: Send) -> Failed:
    """Work in a forked process; what it means if the work did not finish."""
    ours, theirs = Pipe(duplex=False)
    try:
        watcher = os.fork()
    except OSError:  # the system refuses another process
        return _in_thread(work, take)
    if not watcher:
        try:
            _limit(theirs.fileno())
            _watch(work, theirs)
        finally:
            os._exit(0)  # at once, without the kernel's own clean-up
    theirs.close()
    try:
        stopped = _receive(ours, take)
    finally:  # also when the person interrupts the kernel
        used = _stop(watcher)
    worked = stopped is WAITS and used > IDLE
    return ENDLESS if worked else stopped


def _receive(ours: Connection, take: Send) -> Failed:
    """Take the messages until the work is done, its process has ended, or the time is over."""
    deadline = monotonic() + WALL_SECONDS
    try:
        while ours.poll(max(0.0, deadline - monotonic())):
            message = _PlainUnpickler(io.BytesIO(ours.recv_bytes(SENT))).load()
            if message is DONE or isinstance(message, int):
                return ENDLESS if message == -signal.SIGPROF else GONE
            take(message)
    except Exception:  # nothing is left that could send, or an answer wrote to our pipe
        return GONE
    return WAITS


def _watch(work: Work, theirs: Connection) -> None:
    """Work in a process of its own, and stay as long as something that it started runs: what daemons leave comes here.

    A daemon is a process whose parents have ended. Linux gives it to the nearest process that asked for such orphans.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    try:
        worker = os.fork()
    except OSError:
        worker = 0
    if not worker:
        _work(work, theirs)
        return
    with suppress(ChildProcessError):  # no more children
        while True:
            ended, status = os.wait()
            if ended == worker:
                theirs.send_bytes(pickle.dumps(os.waitstatus_to_exitcode(status)))


def _work(work: Work, theirs: Connection) -> None:
    """Do the work, and say when it is done. A process that an answer forks sends nothing."""
    own = os.getpid()

    def send(message: Any) -> None:
        if os.getpid() == own:
            theirs.send_bytes(pickle.dumps(message))

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    work(send)
    send(DONE)


def _stop(watcher: int) -> float:
    """Kill all that runs below a process, and the process; the seconds of processor time that all of them took."""
    end = monotonic() + STOPPING
    ended = status = 0
    while sys.platform == "linux" and not ended and monotonic() < end:
        for process in _below(watcher):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        sleep(0.001)
        ended, status, used = os.wait4(watcher, os.WNOHANG)
    if status or not ended:  # it did not see that all others had ended
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):  # macOS refuses to signal a process that ended
                kill(watcher, signal.SIGKILL)
    if not ended:
        _, _, used = os.wait4(watcher, 0)
    return used.ru_utime + used.ru_stime


def _below(process: int) -> list[int]:
    """The processes that a process started, and those that these started, as Linux lists them."""
    found = [process]
    for one in found:  # it grows
        with suppress(OSError):  # it has ended, while its threads are listed or one of them is read
            for children in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, children.read_text().split())
    return found[1:]


class _PlainUnpickler(pickle.Unpickler):
    """Reads built-in values and the classes of this module, so that nothing of a student's runs outside the guard."""

    def find_class(self, module: str, name: str) -> Any:
        return {"Outcome": Outcome, "Failed": Failed, "Ellipsis": ...}[name]


def _limit(pipe: int) -> None:
    """Set the limits of the forked process."""
    os.setsid()  # its own group, so that an interrupt of the kernel does not reach it
    faulthandler.disable()  # a crash is told in the verdict
    gc.freeze()  # a collection would copy the kernel's memory
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    os.closerange(3, pipe)  # the sockets of the kernel, too
    os.closerange(pipe + 1, 1 << 16)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + MORE_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _in_thread(work: Work, take: Send) -> Failed:
    """Work in a thread that is interrupted until it ends or is given up."""
    out = sys.stdout
    err = sys.stderr
    worker = Thread(target=work, args=(take,), daemon=True)
    try:
        worker.start()
    except RuntimeError:  # there are no threads
        return _in_place(work, take)
    worker.join(2 * CPU_SECONDS)
    for _ in range(50):
        if worker.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident or 0), ctypes.py_object(Stop))
            worker.join(0.02)
    sys.stdout = out
    sys.stderr = err
    return ENDLESS


def _in_place(work: Work, take: Send) -> Failed:
    """Work in this thread, which stops itself when its time is over."""
    end = process_time() + 2 * CPU_SECONDS

    def watch(code: Any, *more: Any) -> Any:
        if code.co_filename.startswith(OWN_FILES):
            return LEAVE
        if process_time() > end:
            raise Stop
        return None

    with suppress(Stop), _watched(watch):
        work(take)
    return ENDLESS


@contextmanager
def _watched(watch: Function) -> Iterator[None]:
    """Call `watch` at each call and each jump; before Python 3.12 at each instruction until it raises once."""
    if sys.version_info >= (3, 12):
        own = sys.monitoring
        events = own.events
        own.use_tool_id(TOOL, "guidedviz")
        for event in (events.JUMP, events.PY_START):
            own.register_callback(TOOL, event, watch)
        try:
            own.set_events(TOOL, events.JUMP | events.PY_START)
            yield
        finally:
            own.set_events(TOOL, 0)
            own.free_tool_id(TOOL)
    else:

        def trace(frame: Any, event: str, argument: Any) -> Any:
            frame.f_trace_opcodes = True
            return None if watch(frame.f_code) is LEAVE else trace

        before = sys.gettrace()
        try:
            sys.settrace(trace)
            yield
        finally:
            sys.settrace(before)


# -- what runs there -----------------------------------------------------------------------------------------------


def _run_all(function: Function, inputs: Sequence[Arguments], send: Send) -> None:
    printer = _Printer(send)
    with suppress(Stop), redirect_stdout(printer), redirect_stderr(printer), np.errstate(all="ignore"):
        for arguments in inputs:
            given = copy.deepcopy(arguments)
            value = attempt(function, given)
            if isinstance(value, Failed):
                send(Outcome(value))
            else:
                send(Outcome(value, touched=attempt(differ, (arguments, given)) is not False))


class _Printer(io.TextIOBase):
    """Sends on what is printed, up to the limit."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.room = PRINTED

    def write(self, text: str) -> int:
        if self.room >= 0:  # below zero it was cut
            shown = text
            if len(text) > self.room:
                shown = text[: self.room] + "…"
            self.send(write_surrogates(shown))
            self.room -= len(text)
        return len(text)
