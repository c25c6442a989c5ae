"""Files that ship with the library (in a wheel next to the code, in a clone under assets), and files of strangers.

A stranger's file is read only if it is a regular file of a bounded size: a FIFO waits and a device never ends. Its JSON
is read only if it has a bounded number of values: an empty list takes three bytes in a file and 64 in memory.
"""

import json
from math import inf
from pathlib import Path
from stat import S_ISREG
from typing import Any

from guidedviz import tab
from guidedviz.errors import SettingError

PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """The path of a shipped file.

    >>> shipped("traces/overlap-cpu.json").name
    'overlap-cpu.json'
    """
    own = PACKAGE / "assets"
    if name in tab.beside(own) and not (own / name).exists():
        tab.fetch(own, name)
    for folder in (own, PACKAGE.parent / "assets"):
        if (folder / name).exists():
            return folder / name
    hint = "reinstall guidedviz, or clone it again"
    raise SettingError("shipped", seen=f"no {name}", expected="a file that came with guidedviz", hint=hint)


def shipped_size(name: str) -> int:
    """The size of a shipped file in bytes; one that lies beside a site is not fetched for it."""
    return tab.beside(PACKAGE / "assets").get(name) or shipped(name).stat().st_size


def size_of(path: Path, most: float = inf) -> int:
    """The size of a regular file in bytes; an OSError for any other file and for a larger one.

    >>> size_of(PACKAGE)
    Traceback (most recent call last):
    OSError: not a regular file
    """
    about = path.stat()
    if not S_ISREG(about.st_mode):
        raise OSError("not a regular file")
    if about.st_size > most:
        raise OSError(f"{about.st_size:,} bytes, more than {most:,}")
    return about.st_size


def read_bounded(path: Path, most: int) -> bytes:
    """The content of a regular file of at most this many bytes; else an OSError."""
    size = size_of(path, most)
    with path.open("rb") as stream:
        return stream.read(size)


def parse_json(text: bytes, most: int) -> Any:
    """JSON of at most this many values; a ValueError or a RecursionError for anything else.

    >>> parse_json(b"[1, 2]", 3), parse_json(b"{}", 3)
    ([1, 2], {})
    """
    check_values(text, most)
    return json.loads(text)


def check_values(text: bytes, most: int) -> None:
    """Refuse JSON with more values than this, counted before it is parsed; signs inside texts count, too."""
    values = sum(map(text.count, (b"[", b"{", b",")))
    if values > most:
        raise ValueError(f"about {values:,} values, more than {most:,}")
