"""What a trace asks of the widgets, which are above this room: a recording of what the page shows, and its page.

The front door (`guidedviz/__init__.py`) sets `load_writer`, so that this room imports nothing from above. It is called
when a trace is saved, because the widgets load slowly.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class PageWriter(Protocol):
    """Writes what the page shows of a trace."""

    def recording_of(self, trace: Any) -> str: ...
    def save_page(self, trace: Any, path: str | Path, step: int, note: str) -> None: ...


load_writer: Callable[[], PageWriter]
