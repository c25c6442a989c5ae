"""Starts a student's server: bounds the memory, copies the labs that are missing, and becomes the server.

The hub runs it with the student's rights, so no student can make the hub write into another home.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from guidedviz.commands.labs import copy_files, find_labs
from guidedviz.errors import GuidedVizError


def bound_memory(limit: str) -> None:
    """Bound what each process of the student may allocate: beyond it a cell gets a MemoryError."""
    if limit.isdecimal():
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))


def main(words: list[str]) -> None:
    """Become the student's server."""
    try:
        copy_files(find_labs(), Path.home() / "labs")
    except (GuidedVizError, OSError) as error:  # a full disk, a file of this name: the server shows what is there
        print(error, file=sys.stderr)
    bound_memory(os.environ.get("MEM_LIMIT", ""))
    os.execv(sys.executable, [sys.executable, "-m", "jupyterhub.singleuser", *words])


if __name__ == "__main__":
    main(sys.argv[1:])
