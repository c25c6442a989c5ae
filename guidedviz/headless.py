"""One switch for notebooks that are built and checked: nobody clicks, and the bits are the same everywhere."""

from __future__ import annotations

import os


def headless() -> bool:
    """Whether GUIDEDVIZ_HEADLESS is set."""
    return os.environ.get("GUIDEDVIZ_HEADLESS", "") not in ("", "0")
