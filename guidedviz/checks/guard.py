"""Runs a student's function in a forked process with limits, so that no mistake in it stops the kernel or the check.

The process has a copy of the kernel's memory and none of its open files. It sends plain values as JSON, which are read
until a deadline; the verdict is computed here. Then its process group is killed, and on Linux a filter of system calls
keeps every process that it starts in this group. It has the rights of any cell: it can write files, use the network,
signal the kernel, and look up what a check expects.

On macOS memory has no limit, and a started process that leaves the group goes on. Windows cannot fork: a thread is
interrupted there, which stops every loop of Python but no call of C such as `list(itertools.count())`. Python in a
browser has no threads either, and nothing stops a loop there.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import io
import json
import operator
import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import count
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, NoReturn

import numpy as np

from guidedviz.errors import escaped, quoted
from guidedviz.machines.visible import counted

FORKS = hasattr(os, "fork")
SECONDS = 1.5  # of processor time for all inputs of a check
PATIENCE = 6.0  # of wall time, for a function that sleeps or waits
IDLE = 0.3  # of processor time: a function that was stopped for its wall time and used less was waiting
MEMORY = 200 << 20  # bytes, on top of what the kernel has (enforced on Linux)
PRINTED = 2_000  # characters of the student's prints that are shown
ITEMS = 100_000  # items and characters of one value
DEPTH = 50  # lists inside each other
SENT = 8 << 20  # bytes that a forked process may send
PIPE = 3  # its descriptor there
END = b"\n\n"
SYSTEM_CALLS = {"x86_64": (0xC000003E, 109, 112), "aarch64": (0xC00000B7, 154, 157)}  # the machine, setpgid, setsid

Send = Callable[[Any], None]  # takes an Outcome, or a text that was printed
Work = Callable[[Send], None]


@dataclass(frozen=True)
class Failed:
    """Takes the place of a value where a function raised or was stopped."""

    said: str
    kinds: tuple[str, ...] = ()  # the exception's class and its base classes

    def __repr__(self) -> str:
        return self.said


@dataclass(frozen=True)
class Other:
    """Takes the place of an object that is neither a number nor a text nor a collection."""

    said: str

    def __repr__(self) -> str:
        return self.said


class Outcome(NamedTuple):
    """What a function did with one input."""

    value: Any  # built-in values only, or Failed
    touched: bool = False  # it changed its input


ENDLESS = Failed("it does not end: check that every pass of its loop makes progress")
WAITS = Failed("it waits without end: check input(), sleep, locks and threads (torch: torch.set_num_threads(1) in it)")
TOO_MANY = Failed(f"it does not end: it gave more than {ITEMS:,} items")
TOO_LARGE = Failed("MemoryError: it uses too much memory; does it collect items without end?", ("MemoryError",))
GONE = Failed("it ended the Python process, by os._exit or a crash")
MEDDLED = Failed("it wrote to a file that it did not open: file 3 carries its values to the check")


class Stop(BaseException):
    """Interrupts a thread."""


def run(function: Callable[..., Any], inputs: Sequence[tuple[Any, ...]]) -> list[Outcome]:
    """What a function gives for each input, up to the first input on which it must be stopped.

    >>> run(divmod, [(7, 2), (7, 0)])
    [Outcome(value=(3, 1), touched=False), Outcome(value=ZeroDivisionError: integer ... by zero, touched=False)]
    """
    outcomes: list[Outcome] = []
    printed: list[str] = []

    def take(message: Outcome | str) -> None:
        if isinstance(message, str):
            printed.append(message)
        else:
            outcomes.append(message)

    stopped = (_in_process if FORKS else _in_thread)(partial(_run_all, function, inputs), take)
    if printed:
        print("".join(printed)[: PRINTED + 1].removesuffix("\n"))
    return [*outcomes, Outcome(stopped)][: len(inputs)]


def safe_copy(value: object) -> Any:
    """A student's value as built-in values, made under guard because its own methods may raise or loop."""
    return value if type(value) is str else run(lambda: value, [()])[0].value


def _in_process(work: Work, take: Send) -> Failed:
    """Work in a forked process; what it means if the work did not finish."""
    ours, theirs = os.pipe()
    try:
        child = os.fork()
    except OSError:  # the system refuses another process
        os.close(ours)
        os.close(theirs)
        return _in_thread(work, take)
    if not child:
        _limited(work, theirs)
    try:
        os.close(theirs)
        sent, stopped = _receive(ours)
    finally:  # also when the person interrupts the kernel
        for end in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):  # macOS refuses to signal a process that ended
                end(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
        os.close(ours)
    try:
        for message in sent.split(b"\n")[:-1]:
            take(_from_json(message))
    except (KeyError, TypeError, ValueError, RecursionError, _TooMany):
        return MEDDLED
    if stopped is WAITS and used.ru_utime + used.ru_stime > IDLE:
        return ENDLESS
    return ENDLESS if os.waitstatus_to_exitcode(status) == -signal.SIGPROF else stopped


def _receive(pipe: int) -> tuple[bytes, Failed]:
    """What a process sends, one message per line, until an empty line, the limit of bytes or the deadline."""
    sent, deadline, readable = bytearray(), monotonic() + PATIENCE, select.poll()
    readable.register(pipe, select.POLLIN)
    while not sent.endswith(END) and readable.poll(max(0.0, deadline - monotonic()) * 1000):
        sent += (more := os.read(pipe, 1 << 16))
        if not more:
            return bytes(sent), GONE
        if len(sent) > SENT:
            return bytes(sent), TOO_LARGE
    return bytes(sent.removesuffix(b"\n")), WAITS


def _limited(work: Work, pipe: int) -> NoReturn:
    """Set the limits in the forked process, then work."""
    try:
        os.setsid()  # its own group, so that processes that it starts are stopped with it
        faulthandler.disable()  # a crash is told in the verdict
        gc.freeze()  # a collection would copy the kernel's memory
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        if pipe != PIPE:
            os.dup2(pipe, PIPE, inheritable=False)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(PIPE):
            os.dup2(nothing, descriptor)
        os.closerange(PIPE + 1, 1 << 16)  # the sockets of the kernel, too
        if sys.platform == "linux":
            import resource

            with open("/proc/self/statm") as sizes:
                most = int(sizes.read().split()[0]) * resource.getpagesize() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            _stay_in_group()
        with open(PIPE, "wb") as stream:

            def send(message: Any) -> None:
                sent = message if isinstance(message, str) else [message.touched, _tagged(message.value)]
                stream.write(json.dumps(sent).encode() + b"\n")
                stream.flush()

            work(send)
            stream.write(b"\n")
    finally:
        os._exit(0)  # at once, without the kernel's own clean-up


def _stay_in_group() -> None:
    """Forbid setpgid and setsid to this process and to all that it starts, by a filter (man 2 seccomp)."""
    if os.uname().machine not in SYSTEM_CALLS:
        return
    machine, *numbers = SYSTEM_CALLS[os.uname().machine]
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    lines = [  # code, lines to skip if true, lines to skip if false, number
        (load, 0, 0, 4),  # the machine, by which the numbers of calls differ
        (equal, 0, 5, machine),
        (load, 0, 0, 0),  # the number of the call
        (at_least, 3, 0, 1 << 30),  # the calls of another machine again
        *((equal, 2 - place, 0, number) for place, number in enumerate(numbers)),
        (answer, 0, 0, 0x7FFF0000),  # allow
        (answer, 0, 0, 0x50001),  # EPERM
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HP", len(lines), ctypes.addressof(code))
    prctl = ctypes.CDLL(None).prctl
    prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    prctl(22, 2, program)  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def _in_thread(work: Work, take: Send) -> Failed:
    """Work in a thread that is interrupted until it ends or is given up."""
    out, err = sys.stdout, sys.stderr
    worker = Thread(target=work, args=(take,), daemon=True)
    try:
        worker.start()
    except RuntimeError:  # Python in a browser has no threads
        work(take)
        return GONE
    worker.join(2 * SECONDS)
    for _ in range(50):
        if not worker.is_alive():
            break
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident or 0), ctypes.py_object(Stop))
        worker.join(0.02)
    sys.stdout, sys.stderr = out, err
    return ENDLESS


def _run_all(function: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], send: Send) -> None:
    printer = _Printer(send)
    with suppress(Stop), redirect_stdout(printer), redirect_stderr(printer), np.errstate(all="ignore"):
        for arguments in inputs:
            given = deepcopy(arguments)
            value = attempt(function, given)
            touched = not isinstance(value, Failed) and attempt(_differ, (arguments, given)) is not False
            send(Outcome(value, touched))


class _Printer(io.TextIOBase):
    """Sends on what is printed, up to the limit."""

    def __init__(self, send: Send) -> None:
        self.send, self.room = send, PRINTED

    def write(self, text: str) -> int:
        if self.room >= 0:  # below zero it was cut
            shown = text if len(text) <= self.room else text[: self.room] + "…"
            self.send(shown.encode(errors="backslashreplace").decode())
            self.room -= len(text)
        return len(text)


def attempt(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The value of a call as built-in values, or how it failed.

    >>> attempt(lambda: (n * n for n in range(3)), ()), attempt(exit, ()), attempt(count, ())
    ([0, 1, 4], SystemExit: None, it does not end: it gave more than 100,000 items)
    """
    try:
        return _plain(function(*arguments), count())
    except Stop:
        raise
    except MemoryError:
        return TOO_LARGE
    except _TooMany:
        return TOO_MANY
    except BaseException as error:  # SystemExit and KeyboardInterrupt too
        return Failed(_say_error(error, len(arguments)), tuple(kind.__name__ for kind in type(error).__mro__))


def _say_error(error: BaseException, count: int) -> str:
    """An exception's class and words; of a call that could not be made, with how many arguments it was called."""
    try:
        said = f"{type(error).__name__}: {escaped(str(error)[:200])}".rstrip(": ")
    except Exception:  # its __str__ fails
        return type(error).__name__
    inside = error.__traceback__ and error.__traceback__.tb_next
    if isinstance(error, TypeError) and not inside and "argument" in said:
        return f"{said}; the check calls it with {counted(count, 'argument')}"
    return said


class _TooMany(Exception):
    """A value has more items than `ITEMS`."""


def _plain(value: Any, items: Iterator[int], depth: int = 0) -> Any:
    """A value as built-in values only, so that no method of a student's class runs outside the guard."""
    if next(items) > ITEMS or (isinstance(value, str | bytes | bytearray) and len(value) > ITEMS):
        raise _TooMany
    if depth > DEPTH:
        raise RecursionError(f"more than {DEPTH} collections inside each other")
    kind = type(value)
    if value is None or value is ... or kind in (bool, float, Failed, Other):
        return value
    if isinstance(value, str | bytes | bytearray):
        return str(value) if isinstance(value, str) else bytes(value)
    if hasattr(kind, "__array__"):  # of NumPy, torch, pandas
        return _plain(np.asarray(value).tolist(), items, depth + 1)
    if hasattr(kind, "__index__"):
        number = operator.index(value)
        return number if number.bit_length() < 10_000 else Other("a number of thousands of digits")
    if hasattr(kind, "__float__"):
        return float(value)
    return _plain_collection(value, partial(_plain, items=items, depth=depth + 1))


def _plain_collection(value: Any, plain: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {plain(key): plain(one) for key, one in value.items()}
    if isinstance(value, Iterable):
        collection = next((each for each in (tuple, set, frozenset) if isinstance(value, each)), list)
        return collection(map(plain, value))
    return Other(quoted(value))


FORMS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {  # a kind, its parts for JSON, and back
    "tuple": (tuple, list, tuple),
    "set": (set, list, set),
    "frozenset": (frozenset, list, frozenset),
    "dict": (dict, lambda value: [*map(list, value.items())], dict),
    "bytes": (bytes, lambda value: value.decode("latin-1"), lambda text: text.encode("latin-1")),
    "Failed": (
        Failed,
        lambda value: [value.said, *value.kinds],
        lambda said: Failed(str(said[0]), tuple(map(str, said[1:]))),
    ),
    "Other": (Other, lambda value: value.said, lambda said: Other(str(said))),
    "...": (type(...), lambda value: 0, lambda value: ...),
}


def _tagged(value: Any) -> Any:
    """A plain value for JSON; what JSON has no form for becomes an object with one key.

    >>> _tagged([1, (b"a", {2})])
    [1, {'tuple': [{'bytes': 'a'}, {'set': [2]}]}]
    """
    if type(value) is list:
        return [_tagged(one) for one in value]
    form = next(((name, parts) for name, (kind, parts, _) in FORMS.items() if type(value) is kind), None)
    return {form[0]: _tagged(form[1](value))} if form else value


def _untagged(one: dict[str, Any]) -> Any:
    ((tag, parts),) = one.items()
    return FORMS[tag][2](parts)


def _from_json(line: bytes) -> Outcome | str:
    """A message of a forked process; an error if it is none."""
    message = json.loads(line, object_hook=_untagged)
    if isinstance(message, str):
        return message
    touched, value = message
    return Outcome(_plain(value, count()), bool(touched))  # within the limits here, too


def _differ(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    """Did an argument change?"""
    return any(
        not np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one != other)
        for one, other in zip(before, after, strict=True)
    )
