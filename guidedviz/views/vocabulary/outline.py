"""Lines on the map: between different cells, and around a few that must be visible among 128,000."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from guidedviz.markup import NOTHING, Element, node
from guidedviz.tokens.arrays import Mask


def borders(grid: npt.NDArray[Any]) -> str:
    """The lines between different cells, as an SVG path.

    >>> borders(np.array([[1, 1], [1, 2]]))
    'M1 1h1M1 1v1'
    """
    across = (f"M{x} {y}h{long}" for y, x, long in _runs(grid[1:] != grid[:-1]))
    along = (f"M{x} {y}v{long}" for x, y, long in _runs((grid[:, 1:] != grid[:, :-1]).T))
    return "".join((*across, *along))


def _runs(lines: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """The runs of True, as the border after their row, their start and their length."""
    rows, edges = np.nonzero(np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1))), axis=1))
    for number, start, stop in zip(rows[::2].tolist(), edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield number + 1, start, stop - start


AROUND = 3.5  # pixels between a small cell and its line


def draw_outline(grid: Mask, cell: float, dashes: str) -> Element:
    """A line around the cells of a picture; `cell` is the width of a cell in pixels.

    >>> bool(draw_outline(np.zeros((2, 2), dtype=bool), 1.0, "none"))
    False
    """
    if not grid.any():
        return NOTHING
    path = borders(np.pad(widen(grid, int(AROUND / cell)), 1))
    look = {"d": path, "fill": "none", "transform": f"scale({cell:.5g}) translate(-1 -1)", "class_": "gv-outline"}
    seam = node("path", **look, stroke="var(--gv-page)", stroke_width=f"{3.2 / cell:.3g}")
    dash = None if dashes == "none" else " ".join(f"{int(n) / cell:.3g}" for n in dashes.split())
    return seam + node("path", **look, stroke="var(--gv-ink)", stroke_width=f"{1.6 / cell:.3g}", stroke_dasharray=dash)


def widen(grid: Mask, cells: int) -> Mask:
    """The cells and their neighbours within a distance."""
    spread = np.pad(grid, cells)
    for axis in (0, 1):
        spread = np.asarray(sliding_window_view(spread, 2 * cells + 1, axis).any(-1), dtype=np.bool_)
    return spread
