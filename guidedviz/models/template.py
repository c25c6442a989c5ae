"""Renders a chat template: those that we know in this process, a foreign one in a process that can be killed.

The process is started for the first prompt and kept. It is a new interpreter without our environment, our files and our
memory. It is killed when its time is over, when its answer is too long, and when the kernel ends; the next prompt
starts a new one. What it answers is a text of a bounded length. `sandbox` says which limits each system has.
"""

from __future__ import annotations  # in a simulated tab there is no Popen

import atexit
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import Any

from guidedviz.errors import ModelError
from guidedviz.extras import need
from guidedviz.files import IN_TAB
from guidedviz.models import sandbox
from guidedviz.models.scout_chat import write_scout_chat

WHERE = "model.chat"
MOST_SOURCE = 1 << 16  # characters of a template
PROCESSOR_SECONDS = 1.0  # of processor time for a prompt
WALL_SECONDS = 5.0  # of wall time for a prompt
START_SECONDS = 20.0  # of wall time until a new process is ready
MOST_ANSWER = 4 * sandbox.LONGEST + 100  # bytes: of the text in UTF-8, and of its kind
KEPT_VARIABLES = ("LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")  # without them Python may not start or has another date
SCOUT = "scout"  # its template is written in Python, too
JUDGED = {  # templates that were read by a person and need no process: sha256 of the source, and the model
    "872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788": "SmolLM2-135M-Instruct",
    "fa67aff7a1a44e7bac7e697c515aa58efa08c39092f7315054cf167298ffe6db": SCOUT,
}
PLAIN_TEXT = "give the model a plain text instead of model.chat(...)"
SHORTER = "shorter messages, or fewer of them"
FAILURES = {  # by kind of error: what was expected, and what to try
    "refused": ("messages that the model's template takes", "user and assistant in turn, and no system message"),
    "failed": ("a template that can be filled with these messages", PLAIN_TEXT),
    "syntax": ("a chat template that Jinja can read", PLAIN_TEXT),
    "unsafe": ("a chat template that stays in Jinja's sandbox", "do not use this model"),
    "long": (f"at most {sandbox.LONGEST:,} characters", SHORTER),
    "time": ("a template that ends soon", f"{SHORTER}; if a short one takes as long, {PLAIN_TEXT}"),
    "memory": (f"at most {sandbox.PROCESS_MEMORY >> 20} MB", f"{SHORTER}; if a short one takes as much, {PLAIN_TEXT}"),
    "died": ("a text from the process that fills the template", PLAIN_TEXT),
    "tab": (f"the template of {' or '.join(JUDGED.values())}: a tab has no process that can be stopped",
            "open the notebook in a kernel on a computer"),
    "start": ("a second process of Python, in which the template runs", "allow this process to start others"),
}  # fmt: skip


class TemplateStopped(ModelError):
    """A chat template that was stopped, or could not be started."""


def failure(kind: str, said: str) -> ModelError:
    """The error for a template without a text, by its kind."""
    expected, hint = FAILURES[kind]
    if kind in ("refused", "failed", "syntax", "unsafe"):
        return ModelError(WHERE, seen=said, expected=expected, hint=hint)
    return TemplateStopped(WHERE, seen=said, expected=expected, hint=hint)


def judged_name(source: str) -> str:
    """The model of a template that needs no process; "" of a foreign one."""
    return JUDGED.get(sha256(source.encode(errors="surrogatepass")).hexdigest(), "")


def render(source: str, **values: Any) -> str:
    """The text that a template makes of these values, which JSON can hold."""
    if len(source) > MOST_SOURCE:
        raise failure("syntax", f"a template of {len(source):,} characters, more than {MOST_SOURCE:,}")
    judged = judged_name(source)
    if judged == SCOUT:
        said = write_scout_chat(**values)
        if len(said) > sandbox.LONGEST:
            raise failure("long", f"{len(said):,} characters")
        return said
    if judged:
        need("jinja2", "smollm", WHERE)
        kind, said = sandbox.answer(source, values)
    elif IN_TAB:
        raise failure("tab", "a template that did not come with guidedviz")
    else:
        kind, said = own_renderer().ask(source, values)
    if kind == "text":
        return said
    raise failure(kind, said)


# The process.


class Renderer:
    """A process that fills templates, one at a time."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, source: str, values: dict[str, Any]) -> tuple[str, str]:
        """What the template makes of these values: the kind of the answer, and its words."""
        request = json.dumps([source, values]).encode()
        with self.lock:
            try:
                process = self.process
                if process is None or process.poll() is not None:
                    process = self.start()
                return self.read_answer(process, request)
            except BaseException:  # also when the person interrupts the kernel: an answer may still be in the pipe
                self.stop()
                raise

    def start(self) -> subprocess.Popen[bytes]:
        """A new process that is ready for its first request."""
        self.stop()
        folders = [str(Path(need(name, "smollm", WHERE).__file__).parents[1]) for name in ("jinja2", "markupsafe")]
        command = [sys.executable, "-I", "-S", sandbox.__file__, str(PROCESSOR_SECONDS), *folders]
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=os.path.abspath(os.sep),
                env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
                start_new_session=True,  # Ctrl-C in a terminal reaches this process only
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:  # the system refuses another process
            raise failure("start", str(error)) from None
        if exchange(self.process, b"", START_SECONDS) != b"ready":
            raise failure("start", "a process that ends before it is ready")
        return self.process

    def read_answer(self, process: subprocess.Popen[bytes], request: bytes) -> tuple[str, str]:
        """The answer to a request, checked."""
        end = monotonic() + WALL_SECONDS
        answer = exchange(process, request, WALL_SECONDS)
        if answer is None:
            late = monotonic() >= end
            raise self.tell_end(process, late)
        kind, _, said = answer.decode(errors="replace").partition("\n")
        most = sandbox.MOST_SAID
        if kind == "text":
            most = sandbox.LONGEST
        if kind not in ("text", *FAILURES) or len(said) > most:
            raise failure("died", "an answer of another form")
        return kind, said

    def tell_end(self, process: subprocess.Popen[bytes], late: bool) -> ModelError:
        """The error for a process that has ended instead of an answer."""
        process.kill()
        status = process.wait()
        if late:
            return failure("time", f"a template that takes more than {WALL_SECONDS:g} s")
        if status == -getattr(signal, "SIGPROF", 0):
            return failure("time", f"a template that takes more than {PROCESSOR_SECONDS:g} s of processor time")
        return failure("died", f"a process that ended with status {status}")

    def stop(self) -> None:
        """End the process, if there is one."""
        process = self.process
        self.process = None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what was not sent cannot be sent any more
                if pipe is not None:
                    pipe.close()


def exchange(process: Any, request: bytes, seconds: float) -> bytes | None:
    """Send a request, if there is one, and read the answer; None if the process ends, or is killed by the clock."""
    clock = Timer(seconds, process.kill)
    clock.daemon = True
    clock.start()
    try:
        if request:
            sandbox.write_frame(process.stdin, request)
        return sandbox.read_frame(process.stdout, MOST_ANSWER)
    except OSError:  # the process has ended
        return None
    finally:
        clock.cancel()


_renderers = dict[int, Renderer]()  # by the process that started them: a fork must not write into its parent's pipe


def own_renderer() -> Renderer:
    """The renderer of this process."""
    return _renderers.setdefault(os.getpid(), Renderer())


@atexit.register
def end_renderer() -> None:
    """End the renderer of this process."""
    if os.getpid() in _renderers:
        own_renderer().stop()
