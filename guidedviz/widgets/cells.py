"""Which notebook cell an object belongs to: a second run of the cell closes what its first run left."""

from __future__ import annotations

import sys
from typing import Any, Protocol
from weakref import WeakKeyDictionary

Cell = tuple[str, str]  # the cell's id and the number of its run; empty outside a notebook


class Closable(Protocol):
    """Something that may hold a model until it is closed."""

    def close(self) -> None: ...


_OPEN: WeakKeyDictionary[Closable, Cell] = WeakKeyDictionary()


def close_older(new: Closable) -> None:
    """Close what an earlier run of this cell, or a deleted cell, left open; then remember the new object."""
    (here, run), deleted = this_cell()
    for other, (cell, its_run) in list(_OPEN.items()):
        if cell in deleted or (cell and cell == here and its_run != run):
            other.close()
    _OPEN[new] = here, run


def this_cell() -> tuple[Cell, set[str]]:
    """The cell that runs now, and the ids of the deleted cells."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    about = parent.get("metadata", {})
    run = parent.get("header", {}).get("msg_id", "")
    return (str(about.get("cellId", "")), str(run)), set(about.get("deletedCells", ()))
