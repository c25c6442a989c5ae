"""Renders a chat template: one that we ship in this process, a foreign one in a process that can be killed.

The process is a new interpreter without our environment, our files and our memory. It makes one text, and is killed
when its time is over or when its answer is too long. `sandbox` says which limits each system has.
"""

from __future__ import annotations  # in a simulated tab there is no Popen

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any

from guidedviz.errors import ModelError
from guidedviz.extras import need
from guidedviz.files import IN_TAB
from guidedviz.models import sandbox

WHERE = "model.chat"
MOST_SOURCE = 1 << 16  # characters of a template
PROCESSOR_SECONDS = 1.0  # of processor time for a prompt
WALL_SECONDS = 10.0  # of wall time for a prompt, with the start of its process
MOST_ANSWER = 4 * sandbox.LONGEST + 100  # bytes: of the text in UTF-8, and of its kind
KEPT_VARIABLES = ("LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")  # without them Python may not start or has another date
JUDGED = {  # templates that were read by a person and need no process: sha256 of the source, and the model
    "872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788": "SmolLM2-135M-Instruct",
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


def is_judged(source: str) -> bool:
    """Whether a template is one of those that need no process."""
    return sha256(source.encode(errors="surrogatepass")).hexdigest() in JUDGED


def render(source: str, **values: Any) -> str:
    """The text that a template makes of these values, which JSON can hold."""
    if len(source) > MOST_SOURCE:
        raise failure("syntax", f"a template of {len(source):,} characters, more than {MOST_SOURCE:,}")
    if is_judged(source):
        need("jinja2", "smollm", WHERE)
        kind, said = sandbox.answer(source, values)
    elif IN_TAB:
        raise failure("tab", "a template that did not come with guidedviz")
    else:
        kind, said = run_template(source, values)
    if kind == "text":
        return said
    raise failure(kind, said)


# The process.


def run_template(source: str, values: dict[str, Any]) -> tuple[str, str]:
    """What a template makes in a process of its own: the kind of the answer, and its words."""
    request = json.dumps([source, values]).encode()
    end = monotonic() + WALL_SECONDS
    with start_process() as process:
        clock = Timer(WALL_SECONDS, process.kill)
        clock.daemon = True
        clock.start()
        try:
            answer = exchange(process, request)
        finally:  # also when the person interrupts the kernel
            clock.cancel()
            process.kill()
    if process.returncode:
        late = monotonic() >= end
        raise tell_end(process.returncode, late)
    return read_answer(answer)


def start_process() -> subprocess.Popen[bytes]:
    """A new process that waits for its request."""
    folders = [str(Path(need(name, "smollm", WHERE).__file__).parents[1]) for name in ("jinja2", "markupsafe")]
    command = [sys.executable, "-I", "-S", sandbox.__file__, str(PROCESSOR_SECONDS), *folders]
    try:
        return subprocess.Popen(
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


def exchange(process: Any, request: bytes) -> bytes:
    """Send a request and read the answer until the process ends, or until the answer is too long."""
    with suppress(OSError):  # it has ended
        process.stdin.write(request)
    with suppress(OSError):
        process.stdin.close()
    answer = b""
    while len(answer) < MOST_ANSWER:
        part = process.stdout.read1()
        if not part:
            process.wait()
            break
        answer += part
    return answer


def tell_end(status: int, late: bool) -> ModelError:
    """The error for a process that has ended instead of an answer."""
    if late:
        return failure("time", f"a template that takes more than {WALL_SECONDS:g} s")
    if status == -getattr(signal, "SIGPROF", 0):
        return failure("time", f"a template that takes more than {PROCESSOR_SECONDS:g} s of processor time")
    return failure("died", f"a process that ended with status {status}")


def read_answer(answer: bytes) -> tuple[str, str]:
    """The kind of an answer and its words, checked."""
    kind, _, said = answer.decode(errors="replace").partition("\n")
    most = sandbox.MOST_SAID
    if kind == "text":
        most = sandbox.LONGEST
    if kind not in ("text", *FAILURES) or len(said) > most:
        raise failure("died", "an answer of another form")
    return kind, said
