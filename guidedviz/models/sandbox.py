"""Jinja's sandbox with what transformers offers to chat templates; as a program, the process that runs foreign ones.

A foreign template is a program of a stranger. Jinja's sandbox keeps it from files, modules and Python's memory. No
sandbox bounds its time and its memory, so `template` runs this file in a process of its own. The file imports Jinja and
no other package, so that the process starts soon. It reads requests and writes answers until its input is closed.

Linux ends a template at PROCESS_MEMORY bytes; macOS does not enforce that limit. Linux and macOS kill the process when
it has used its processor time. Windows has neither limit: there, only the clock of `template` ends the process.
"""

import gc
import json
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any, BinaryIO

LONGEST = 1 << 20  # characters of a rendered conversation
PROCESS_MEMORY = 256 << 20  # bytes of the process
MOST_SAID = 300  # characters of an error
MOST_REQUEST = 64 << 20  # bytes of a request


class TemplateRefusal(Exception):
    """The template raises an error of its own."""


class TooLong(Exception):
    """The template writes more than `LONGEST` characters."""


# The sandbox.


def raise_exception(message: Any) -> None:
    """What a template calls for messages that it does not take."""
    raise TemplateRefusal(message)


def to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    """JSON as transformers writes it; Jinja's own filter escapes the signs of HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def strftime_now(form: str) -> str:
    """The date or the time of now."""
    return datetime.now().strftime(form)


@cache
def environment() -> Any:
    """Jinja's immutable sandbox with the names, the filter and the tags that transformers adds."""
    from jinja2 import exceptions, ext, nodes, sandbox, utils

    class Generation(ext.Extension):
        """The tag around what a model wrote: it marks a text for training and writes nothing."""

        tags = {"generation"}  # noqa: RUF012 (as Jinja declares it)

        def parse(self, parser: Any) -> nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.CallBlock(self.call_method("write"), [], [], body).set_lineno(line)

        def write(self, caller: Any) -> Any:
            return caller()

    class Namespace(utils.Namespace):
        """A namespace without names such as __class__, by which a template could pass for another type."""

        def __init__(*given: Any, **named: Any) -> None:
            own, *rest = given
            names = dict(*rest, **named)
            for name in names:
                check_name(name)
            utils.Namespace.__init__(own, names)

        def __setitem__(self, name: str, value: Any) -> None:
            check_name(name)
            super().__setitem__(name, value)

    def check_name(name: Any) -> None:
        if isinstance(name, str) and name.startswith("_"):
            raise exceptions.SecurityError(f"{name!r} in a namespace is unsafe.")

    made = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
    )
    made.filters["tojson"] = to_json
    made.globals |= {"namespace": Namespace, "raise_exception": raise_exception, "strftime_now": strftime_now}
    return made


def fill(source: str, values: Mapping[str, Any]) -> str:
    """The text that a template makes of these values, read piece by piece up to the limit."""
    pieces = []
    size = 0
    for piece in environment().from_string(source).generate(values):
        pieces.append(piece)
        size += len(piece)
        if size > LONGEST:
            raise TooLong(f"more than {LONGEST:,} characters")
    text = "".join(pieces)
    text.encode()  # a lone surrogate is an error
    return text


def answer(source: str, values: Mapping[str, Any]) -> tuple[str, str]:
    """The text that a template makes, or what went wrong, each with its kind.

    >>> answer("{{ 'a' }}", {}), answer("{{ raise_exception('no tools') }}", {})
    (('text', 'a'), ('refused', 'no tools'))
    """
    try:
        return "text", fill(source, values)
    except Exception as error:  # each filter and method raises its own
        kind, said = describe(error)
        return kind, said[:MOST_SAID]


def describe(error: Exception) -> tuple[str, str]:
    """The kind of an error of a template, and its words."""
    from jinja2 import exceptions

    match error:
        case exceptions.TemplateSyntaxError():
            return "syntax", f"line {error.lineno}: {error.message}"
        case exceptions.SecurityError():
            return "unsafe", str(error).rstrip(".")
        case TemplateRefusal():
            return "refused", str(error)
        case TooLong():
            return "long", str(error)
        case MemoryError():
            return "memory", "more memory than its process has"
    return "failed", f"{type(error).__name__}: {error}"


# The process.


def write_frame(stream: BinaryIO, body: bytes) -> None:
    """Write bytes after their length."""
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


def read_frame(stream: BinaryIO, most: int) -> bytes | None:
    """Bytes after their length; None if the stream ends before, or if they are more than this."""
    size = int.from_bytes(stream.read(4), "big")
    body = stream.read(size) if 0 < size <= most else b""
    return body if body and len(body) == size else None


def limit_process() -> None:
    """Limit the memory, and let the process write no file."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {resource.RLIMIT_AS: PROCESS_MEMORY, resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0}
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # macOS, or a lower limit is set
            resource.setrlimit(kind, (most, most))


def set_clock(seconds: float) -> None:
    """End the process after so much more processor time; 0 stops the clock."""
    if sys.platform != "win32":
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def main() -> None:
    """Answer requests until the input ends. The words are the seconds per template, and the folders with Jinja."""
    seconds = float(sys.argv[1])
    sys.path += sys.argv[2:]
    asked = sys.stdin.buffer
    answered = sys.stdout.buffer
    environment()
    limit_process()
    gc.freeze()  # what is imported stays
    write_frame(answered, b"ready")
    while (request := read_frame(asked, MOST_REQUEST)) is not None:
        source, values = json.loads(request)
        set_clock(seconds)
        kind, said = answer(source, values)
        if kind != "text":
            gc.collect()  # an error holds what its template has made
        set_clock(0)
        write_frame(answered, f"{kind}\n{said}".encode(errors="backslashreplace"))


if __name__ == "__main__":
    main()
