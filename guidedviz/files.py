"""Files that ship with the library (in a wheel next to the code, in a clone under assets), and files of strangers.

In a browser tab (Pyodide, as JupyterLite has it) the shipped files are not in the wheel: they lie beside the site, and
each is fetched when it is first used. So a lab loads only what it shows.

A stranger's file is read only if it is a regular file of a bounded size: a FIFO waits and a device never ends. Its JSON
is read only if it has a bounded number of values: an empty list takes three bytes in a file and 64 in memory.
"""

import json
import os
import sys
from functools import cache
from math import inf
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG
from typing import Any
from zlib import decompress

from guidedviz.errors import SettingError, quoted

PACKAGE = Path(__file__).resolve().parent
IN_TAB = sys.platform == "emscripten"  # there are no threads and no processes
LIST = "beside.json"  # in the wheel of a site: the size of each file that lies beside it
PACKED = ".z"  # ends its name there, as it is compressed


def shipped(name: str) -> Path:
    """The path of a shipped file.

    >>> shipped("traces/overlap-cpu.json").name
    'overlap-cpu.json'
    """
    own = PACKAGE / "assets"
    if name in beside(own) and not (own / name).exists():
        fetch(own, name)
    for folder in (own, PACKAGE.parent / "assets"):
        if (folder / name).exists():
            return folder / name
    hint = "reinstall guidedviz, or clone it again"
    raise SettingError("shipped", seen=f"no {name}", expected="a file that came with guidedviz", hint=hint)


def shipped_size(name: str) -> int:
    """The size of a shipped file in bytes; one that lies beside a site is not fetched for it."""
    return beside(PACKAGE / "assets").get(name) or shipped(name).stat().st_size


@cache
def beside(folder: Path) -> dict[str, int]:
    """The files that lie beside the site, and their sizes in bytes; none anywhere else."""
    if (folder / LIST).exists():
        return dict(json.loads((folder / LIST).read_bytes()))
    return {}


def fetch(folder: Path, name: str) -> None:
    """Fetch a file that lies beside the site, and what lies in the same folder of a model."""
    own = name
    if name.startswith("models/"):
        own = name.rpartition("/")[0] + "/"
    for each in (one for one in beside(folder) if one.startswith(own)):
        path = folder / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_get(each))


def _get(name: str) -> bytes:
    """The content of a file beside the site. The kernel is a worker, which may wait for it."""
    import js  # type: ignore[import-not-found]
    import pyodide_js  # type: ignore[import-not-found]

    request: Any = js.XMLHttpRequest.new()
    request.open("GET", f"{pyodide_js.lockfileBaseUrl}guidedviz/{name}{PACKED}", False)
    request.responseType = "arraybuffer"
    request.send()
    if request.status != 200:
        raise OSError(f"the site answers {request.status} for {name}")
    return decompress(request.response.to_bytes())


def as_sent(value: Any) -> Any:
    """A message for a page. In a tab None must be JavaScript's null: the kernel leaves out what is None."""
    if not IN_TAB:
        return value
    from pyodide.ffi import jsnull  # type: ignore[import-not-found]

    match value:
        case None:
            return jsnull
        case dict():
            return {key: as_sent(one) for key, one in value.items()}
        case list() | tuple():
            return [*map(as_sent, value)]
    return value


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


MOST_TEXT_BYTES = 64 << 20  # of a grammar, a schema or a prompt in a file


def text_of(given: Any, where: str) -> Any:
    """The text of a file where its path is given, in the place of a text; anything else as it is.

    >>> text_of("a text", "prompt"), text_of(PACKAGE / "lazy.py", "prompt")[:3]
    ('a text', '\"\"\"')
    """
    if not isinstance(given, os.PathLike):
        return given
    try:
        return read_bounded(Path(given), MOST_TEXT_BYTES).decode()
    except (OSError, ValueError) as error:
        seen = f"{quoted(str(given))}: {getattr(error, 'strerror', None) or error}"
        raise SettingError(where, seen=seen, expected="a file with a text in UTF-8") from None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file; after an error it is what it was before."""
    target = path.resolve()
    where = f"path {quoted(path.name)}"
    if not target.parent.is_dir():
        folder = quoted(str(path.parent))
        hint = f"pathlib.Path({folder}).mkdir(parents=True)"
        raise SettingError(where, seen=f"no folder {folder}", expected="a folder that is there", hint=hint)
    if target.is_dir():
        raise SettingError(where, seen="a folder", expected="the path of a file")
    beside = target.with_name(f"{target.name}.{token_hex(4)}")
    try:
        beside.write_bytes(data)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


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
