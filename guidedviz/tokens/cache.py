"""Indexes on disk, one file per machine and vocabulary: fingerprints, a checksum, and plain compressed arrays.

A file with any defect is built again, and nothing in it is executed. Only files and folders that nobody else can write
are used. GUIDEDVIZ_CACHE names another folder; "" or "0" keeps nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from platformdirs import user_cache_path

from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.arrays import Bits, Ids
from guidedviz.tokens.vocabulary import Vocabulary

FORMAT = b"guidedviz index 3\n"
SUFFIX = ".gvindex"
MOST_BYTES = 2**28  # of all files together; the oldest are deleted first


class Arrays(NamedTuple):
    """The arrays of an index."""

    kind: Ids
    after: Ids
    row: Ids
    bits: Bits


def cache_folder() -> Path | None:
    """The folder of the files; None if nothing is kept.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, GUIDEDVIZ_CACHE="0"):
    ...     print(cache_folder())
    None
    """
    named = os.environ.get("GUIDEDVIZ_CACHE")
    try:
        if named is None:
            return user_cache_path("guidedviz", appauthor=False)
        return Path(named).expanduser() if named not in ("", "0") else None
    except RuntimeError:  # there is no home folder
        return None


def machine_fingerprint(machine: DFA) -> str:
    """A digest of the content: equal machines share it.

    >>> same, other = machine_fingerprint(gv.regex("aa*")), machine_fingerprint(gv.regex("a*"))
    >>> same == machine_fingerprint(gv.regex("a+")) != other
    True
    """
    return hashlib.sha256(repr((machine.edges, sorted(machine.accepting))).encode()).hexdigest()[:32]


def _head(machine: DFA, vocabulary: Vocabulary) -> bytes:
    return FORMAT + f"{machine_fingerprint(machine)} {vocabulary.fingerprint}\n".encode()


def cache_file(machine: DFA, vocabulary: Vocabulary) -> Path | None:
    """The path of this pair's file, whether it exists or not."""
    folder = cache_folder()
    return folder and folder / f"{hashlib.sha256(_head(machine, vocabulary)).hexdigest()[:32]}{SUFFIX}"


def load_arrays(machine: DFA, vocabulary: Vocabulary) -> Arrays | None:
    """The arrays saved for exactly this pair, if the file is complete and undamaged."""
    path, head = cache_file(machine, vocabulary), _head(machine, vocabulary)
    try:
        data = _read_private(path) if path else b""
        body = data[len(head) + 32 :]
        if data[: len(head) + 32] != head + hashlib.sha256(body).digest():
            return None
        with np.load(BytesIO(body)) as found:
            kind, after, row, bits = (found[name] for name in Arrays._fields)
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None
    shapes = (kind.shape, after.shape[1:], row.shape, bits.shape[1:])
    if shapes != ((len(vocabulary),), (len(machine),), (len(machine),), ((len(vocabulary) + 7) // 8,)):
        return None
    inside = _inside(kind, 0, len(after)) and _inside(after, -1, len(machine)) and _inside(row, 0, len(bits))
    return Arrays(kind, after, row, bits) if inside else None


def _inside(numbers: Ids, low: int, high: int) -> bool:
    return bool(numbers.size) and bool(low <= numbers.min()) and bool(numbers.max() < high)


def _read_private(path: Path) -> bytes:
    """The bytes of a regular file that only its owner can write, in a folder that only its owner can write."""
    if not _is_private(path.parent.stat()):
        return b""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:  # a FIFO is opened without waiting, and then refused
        about = os.fstat(number)
        return file.read() if stat.S_ISREG(about.st_mode) and _is_private(about) else b""


def _is_private(about: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user or root, and others cannot write it; always true on Windows."""
    if os.name == "nt":
        return True
    return about.st_uid in (0, os.geteuid()) and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def save_arrays(machine: DFA, vocabulary: Vocabulary, arrays: Arrays) -> bool:
    """Save the arrays for the next process; on a full or read-only disk nothing is saved, and no error is raised."""
    path = cache_file(machine, vocabulary)
    if path is None:
        return False
    np.savez_compressed(body := BytesIO(), **arrays._asdict())
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_private(path.parent.stat()):
            return False
        _replace(path, _head(machine, vocabulary) + hashlib.sha256(body.getvalue()).digest() + body.getvalue())
    except OSError:
        return False
    _prune(path.parent)
    return True


def _replace(path: Path, data: bytes) -> None:
    """Write the whole file or nothing, also when others write the same file."""
    number, written = tempfile.mkstemp(dir=path.parent, prefix="part-", suffix=SUFFIX)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.replace(written, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(written)
        raise


def _prune(folder: Path) -> None:
    """Delete the oldest files until the rest fits; other processes may do the same."""
    room, found = MOST_BYTES, []
    for file in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            found.append((file.stat().st_mtime, file.stat().st_size, file))
    for _, size, file in sorted(found, reverse=True):
        room -= size
        if room < 0:
            with suppress(OSError):
                file.unlink()
