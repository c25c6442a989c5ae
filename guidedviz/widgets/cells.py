"""Which cell a stage belongs to: a second run of the cell closes what its first run left."""

from __future__ import annotations

import sys
from typing import Any, Protocol
from weakref import WeakSet


class Closable(Protocol):
    """Something that holds a model until it is closed."""

    cell: tuple[str, str]

    def close(self) -> None: ...


_ALIVE: WeakSet[Any] = WeakSet()


def move_in(newcomer: Closable) -> None:
    """Close what an earlier run of this cell, or a cell that was deleted, left; then remember the newcomer."""
    newcomer.cell, gone = this_cell()
    for other in list(_ALIVE):
        cell, run = other.cell
        if cell in gone or (cell == newcomer.cell[0] and cell and run != newcomer.cell[1]):
            other.close()
    _ALIVE.add(newcomer)


def this_cell() -> tuple[tuple[str, str], set[str]]:
    """The cell that runs now and the number of its run, and the cells that were deleted; empty outside a notebook."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    about = parent.get("metadata", {})
    run = parent.get("header", {}).get("msg_id", "")
    return (str(about.get("cellId", "")), str(run)), set(about.get("deletedCells", ()))
