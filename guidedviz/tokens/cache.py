"""Indexes on disk, one file a pair of machine and vocabulary. A file with anything odd about it is built anew.

It holds the format's name, the fingerprints it was built for, a checksum, and plain arrays; nothing in it is run.
GUIDEDVIZ_CACHE names another folder; "" or "0" keeps nothing.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from guidedviz.machines.dfa import DFA
from guidedviz.tokens.vocabulary import Vocabulary

FORMAT = b"guidedviz index 2\n"
SUFFIX = ".gvindex"
MOST_BYTES = 2**28  # of all files together; the oldest go first
Numbers = npt.NDArray[np.int32]
Arrays = tuple[Numbers, Numbers, Numbers, npt.NDArray[np.uint8]]  # kind, after, row, bits


def cache_folder() -> Path | None:
    """Where files are kept; None if they are not.

    >>> import os; from unittest.mock import patch
    >>> with patch.dict(os.environ, GUIDEDVIZ_CACHE="0"):
    ...     print(cache_folder())
    None
    """
    named = os.environ.get("GUIDEDVIZ_CACHE")
    if named is not None:
        return Path(named) if named not in ("", "0") else None
    try:
        return _platform_folder() / "guidedviz"
    except RuntimeError:  # nobody's home
        return None


def _platform_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    variable = "LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME"
    return Path(os.environ.get(variable) or Path.home() / ".cache")


def machine_fingerprint(machine: DFA) -> str:
    """A name for the content: equal machines share it.

    >>> from guidedviz.machines.regex import regex
    >>> machine_fingerprint(regex("aa*")) == machine_fingerprint(regex("a+")) != machine_fingerprint(regex("a*"))
    True
    """
    return hashlib.sha256(repr((machine.edges, sorted(machine.accepting))).encode()).hexdigest()[:32]


def _head(machine: DFA, vocabulary: Vocabulary) -> bytes:
    return FORMAT + f"{machine_fingerprint(machine)} {vocabulary.fingerprint}\n".encode()


def cache_file(machine: DFA, vocabulary: Vocabulary) -> Path | None:
    """The file of this pair, whether it is there or not."""
    folder = cache_folder()
    return folder and folder / f"{hashlib.sha256(_head(machine, vocabulary)).hexdigest()[:32]}{SUFFIX}"


def load_arrays(machine: DFA, vocabulary: Vocabulary) -> Arrays | None:
    """What was saved for exactly this pair, if it is all there and unharmed."""
    path = cache_file(machine, vocabulary)
    try:
        data = path.read_bytes() if path else b""
    except OSError:
        return None
    head = _head(machine, vocabulary)
    body = data[len(head) + 32 :]
    if data[: len(head)] != head or data[len(head) : len(head) + 32] != hashlib.sha256(body).digest():
        return None
    return _read_arrays(body, len(vocabulary), len(machine))


def _read_arrays(body: bytes, tokens: int, states: int) -> Arrays | None:
    kinds, rows = (int.from_bytes(body[place : place + 8], "little") for place in (0, 8))
    ends = list(accumulate((16, 4 * tokens, 4 * kinds * states, 4 * states, rows * ((tokens + 7) // 8))))
    if len(body) != ends[-1]:
        return None
    kind, after, row = (np.frombuffer(body[low:high], dtype="<i4") for low, high in pairwise(ends[:-1]))
    bits = np.frombuffer(body[ends[3] :], dtype=np.uint8)
    if not (_inside(kind, 0, kinds) and _inside(after, -1, states) and _inside(row, 0, rows)):
        return None
    return kind, after.reshape(kinds, states), row, bits.reshape(rows, -1)


def _inside(numbers: Numbers, low: int, high: int) -> bool:
    return bool(numbers.size) and bool(low <= numbers.min()) and bool(numbers.max() < high)


def save_arrays(machine: DFA, vocabulary: Vocabulary, arrays: Arrays) -> bool:
    """Keep them for the next process; a full or read-only disk is no error, then nothing is kept."""
    path = cache_file(machine, vocabulary)
    if path is None:
        return False
    kind, after, row, bits = arrays
    sizes = b"".join(len(array).to_bytes(8, "little") for array in (after, bits))
    body = sizes + b"".join(array.astype("<i4").tobytes() for array in (kind, after, row)) + bits.tobytes()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, _head(machine, vocabulary) + hashlib.sha256(body).digest() + body)
    except OSError:
        return False
    _prune(path.parent)
    return True


def _replace(path: Path, data: bytes) -> None:
    """Whole or not at all, whoever else writes the same file."""
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
    """Oldest files out until the rest fits; others may be doing the same."""
    room, found = MOST_BYTES, []
    for file in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            found.append((file.stat().st_mtime, file.stat().st_size, file))
    for _, size, file in sorted(found, reverse=True):
        room -= size
        if room < 0:
            with suppress(OSError):
                file.unlink()
