"""Runs a student's function where nothing that it does can harm the kernel: in a forked process with limits.

Only a process can be stopped inside one call of C, such as `list(itertools.count())`, where no trace sees anything.
Windows cannot fork: a thread is interrupted there instead, which stops every loop of Python but no call of C.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import io
import multiprocessing
import operator
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from guidedviz.errors import escaped, quoted
from guidedviz.machines.visible import counted

FORKS = "fork" in multiprocessing.get_all_start_methods()
SECONDS = 1.5  # of processor time for all inputs of a check
PATIENCE = 6.0  # of wall time, for a function that sleeps or waits
IDLE = 0.3  # of processor time: a function that was stopped for its wall time and used less was waiting
MEMORY = 200 << 20  # bytes, on top of what the kernel has (enforced on Linux)
PRINTED = 2_000  # characters of the student's prints that are shown
ITEMS = 100_000  # items and characters of one value
DEPTH = 50  # lists inside each other

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
        print("".join(printed).removesuffix("\n"))
    return [*outcomes, Outcome(stopped)] if len(outcomes) < len(inputs) else outcomes


def safe_copy(value: object) -> Any:
    """A student's value as built-in values, made under guard because its own methods may raise or loop."""
    return value if type(value) is str else run(lambda: value, [()])[0].value


def _in_process(work: Work, take: Send) -> Failed:
    """Work in a forked process; what it means if the work did not finish."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_limited, args=(work, theirs), daemon=True)
    try:
        child.start()
    except OSError:  # the system refuses another process
        return _in_thread(work, take)
    theirs.close()
    deadline, waiting, worked = monotonic() + PATIENCE, True, _time_of_children()
    try:
        while waiting := ours.poll(max(0.0, deadline - monotonic())):
            take(ours.recv())
    except EOFError:
        pass
    finally:  # also when the person interrupts the kernel
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.kill()
        child.join()
        ours.close()
    if waiting:
        return ENDLESS if child.exitcode == -signal.SIGPROF else GONE
    return ENDLESS if _time_of_children() - worked > IDLE else WAITS


def _time_of_children() -> float:
    """Seconds of processor time of all processes that ended."""
    times = os.times()
    return times.children_user + times.children_system


def _limited(work: Work, pipe: Connection) -> None:
    """Set the limits in the forked process, then work."""
    try:
        os.setsid()  # its own group, so that processes that it starts are stopped with it
        faulthandler.disable()  # a crash is told in the verdict
        gc.freeze()  # a collection would copy the kernel's memory
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        if sys.platform == "linux":
            import resource

            with open("/proc/self/statm") as sizes:
                most = int(sizes.read().split()[0]) * resource.getpagesize() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        work(pipe.send)
    finally:
        os._exit(0)  # at once, without the kernel's own clean-up


def _in_thread(work: Work, take: Send) -> Failed:
    """Work in a thread that is interrupted until it ends or is given up."""
    out, err = sys.stdout, sys.stderr
    worker = Thread(target=work, args=(take,), daemon=True)
    worker.start()
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


def _differ(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    """Did an argument change?"""
    return any(
        not np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one != other)
        for one, other in zip(before, after, strict=True)
    )
