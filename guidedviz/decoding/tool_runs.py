"""Runs the tools that a model calls. Whatever a tool does, its result is a text of bounded length.

A tool runs in a thread with a clock: one that takes too long is interrupted and the conversation goes on. That bounds
neither its memory nor a call of C, and it has the rights of the notebook. For tools that nobody has read, give
`run=gv.decoding.run_apart`, which runs them in a process that is killed. A browser tab has neither threads nor
processes; there that function stops a tool after 3 seconds, but not one that sleeps.
"""

import ctypes
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any

from guidedviz import lazy
from guidedviz.decoding.reply import ToolCall
from guidedviz.errors import GuidedVizError, SettingError, escaped, nearest, quoted
from guidedviz.files import IN_TAB
from guidedviz.machines.names import write_surrogates
from guidedviz.machines.tools import Tool
from guidedviz.models.messages import Message

SECONDS = 10.0  # of wall time for a tool
MOST_RESULT = 4_000  # characters of a result
MOST_ERROR = 300  # characters of an error

Run = Callable[[Callable[[], str]], str]  # does some work, or raises an error; the work gives a text


@dataclass(frozen=True)
class ToolResult:
    """What a tool gave, as the model reads it."""

    call: ToolCall
    text: str
    failed: bool = False

    @property
    def message(self) -> Message:
        """The result as a message of a conversation."""
        return {"role": "tool", "name": self.call.name, "content": self.text}


def run_call(call: ToolCall, tools: dict[str, Tool], run: Run, most: int = MOST_RESULT) -> ToolResult:
    """The result of a call; of a call that cannot be done, or fails, the reason.

    >>> def half(n: int) -> float: return n / 2
    >>> tools = {"half": Tool("half", {}, "", half)}
    >>> run_call(ToolCall("half", {"n": 3}), tools, run_in_thread).text
    '1.5'
    >>> run_call(ToolCall("hafl", {"n": 3}), tools, run_in_thread).text
    'error: there is no tool "hafl"; did you mean "half"?'
    """
    try:
        function = find_function(call, tools)
        return ToolResult(call, run(lambda: call_tool(function, call.arguments, most)))
    except Exception as error:  # a tool may raise anything, and the model is told
        return ToolResult(call, f"error: {say_error_of(error)}", failed=True)


def find_function(call: ToolCall, tools: dict[str, Tool]) -> Callable[..., Any]:
    """The function that a call is for."""
    tool = tools.get(call.name)
    if tool is None:
        near = nearest(call.name, tools)
        hint = f"; did you mean {near}?" if near else ""
        raise LookupError(f'there is no tool "{call.name}"{hint}')
    if tool.function is None:
        raise LookupError(f'"{call.name}" has no function here')
    if not isinstance(call.arguments, dict):
        raise TypeError(f"the arguments are {quoted(call.arguments)}, not an object")
    return tool.function


def call_tool(function: Callable[..., Any], arguments: dict[str, Any], most: int) -> str:
    """What a function gives, as a text of at most so many characters: a text as it is, other values as JSON."""
    said = function(**arguments)
    if not isinstance(said, str):
        said = json.dumps(said, ensure_ascii=False, default=str)
    said = write_surrogates(said)
    if len(said) > most:
        return f"{said[:most]}… (cut: {most:,} of {len(said):,} characters)"
    return said


def say_error_of(error: Exception) -> str:
    """An error in words for a model."""
    if isinstance(error, GuidedVizError):
        return error.seen or str(error)
    try:
        said = str(error)[:MOST_ERROR]
    except Exception:  # its __str__ fails
        said = ""
    if type(error) is LookupError:  # of `find_function`
        return said
    return f"{type(error).__name__}: {escaped(said)}"


def default_run() -> Run:
    """What runs a tool where nothing else was asked for. A browser tab has no threads, but the guard of the checks."""
    guarded: Run = lazy.load_guard().run_apart if IN_TAB else run_in_thread
    return guarded


def run_in_thread(work: Callable[[], str], seconds: float = SECONDS) -> str:
    """The text of some work, or its error; work that takes longer is interrupted and left alone."""
    done: list[str] = []
    raised: list[Exception] = []

    def do() -> None:
        try:
            done.append(work())
        except Exception as error:
            raised.append(error)
        except BaseException as error:  # SystemExit, KeyboardInterrupt
            raised.append(RuntimeError(type(error).__name__))

    worker = Thread(target=do, daemon=True)
    worker.start()
    worker.join(seconds)
    if done:
        return done[0]
    if raised:
        raise raised[0]
    with suppress(Exception):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident or 0), ctypes.py_object(SystemExit))
    raise SettingError("a tool", seen=f"no result within {seconds:g} seconds", expected="a function that ends")
