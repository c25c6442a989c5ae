"""A line around a few important cells, wide enough to be visible on a map of 128,000."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from guidedviz.markup import NOTHING, Element, node
from guidedviz.tokens.arrays import Mask
from guidedviz.views.vocabulary.atlas import borders

AROUND = 3.5  # pixels between a small cell and its line
LARGE = 8.0  # around larger cells it is their edge, in ink


def draw_outline(grid: Mask, cell: float, colour: str, dashes: str) -> Element:
    """A line around the cells of a picture; `cell` is the width of a cell in pixels.

    >>> bool(draw_outline(np.zeros((2, 2), dtype=bool), 1.0, "gold", "none"))
    False
    """
    if not grid.any():
        return NOTHING
    line = "ink" if cell >= LARGE else colour
    path = borders(np.pad(widen(grid, 0 if cell >= LARGE else ceil(AROUND / cell)), 1))
    look = {"d": path, "fill": "none", "transform": f"scale({cell:.5g}) translate(-1 -1)", "class_": "gv-outline"}
    seam = node("path", **look, stroke="var(--gv-page)", stroke_width=f"{3.2 / cell:.3g}")
    dashed = {} if dashes == "none" else {"stroke_dasharray": " ".join(f"{int(n) / cell:.3g}" for n in dashes.split())}
    return seam + node("path", **look, stroke=f"var(--gv-{line})", stroke_width=f"{1.6 / cell:.3g}", **dashed)


def widen(grid: Mask, cells: int) -> Mask:
    """The cells and their neighbours within a distance."""
    spread = np.pad(grid, cells)
    for axis in (0, 1):
        spread = np.asarray(sliding_window_view(spread, 2 * cells + 1, axis).any(-1), dtype=np.bool_)
    return spread
