"""A line around cells that are few and matter, wide enough to be found on a map of 128,000."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from guidedviz.tokens.guide import Mask
from guidedviz.views.atlas import borders
from guidedviz.views.figure import node

AROUND = 3.5  # pixels between a small cell and its line
LARGE = 8.0  # from here on it is the cell's own edge, and in ink


def draw_shore(grid: Mask, cell: float, colour: str, dashes: str) -> str:
    """A line around the cells of a picture; a cell is so many pixels wide.

    >>> draw_shore(np.zeros((2, 2), dtype=bool), 1.0, "gold", "none")
    ''
    """
    if not grid.any():
        return ""
    line = "ink" if cell >= LARGE else colour
    path = borders(np.pad(_widen(grid, 0 if cell >= LARGE else ceil(AROUND / cell)), 1))
    place = f"scale({cell:.5g}) translate(-1 -1)"
    look = {"d": path, "fill": "none", "transform": place, "vector_effect": "non-scaling-stroke"}
    seam = node("path", **look, stroke="var(--gv-page)", stroke_width=3.2)
    return seam + node("path", **look, stroke=f"var(--gv-{line})", stroke_width=1.6, stroke_dasharray=dashes)


def _widen(grid: Mask, cells: int) -> Mask:
    """So many cells more on every side, as far as the picture goes."""
    spread = np.pad(grid, cells)
    for axis in (0, 1):
        spread = np.asarray(sliding_window_view(spread, 2 * cells + 1, axis).any(-1), dtype=np.bool_)
    return spread
