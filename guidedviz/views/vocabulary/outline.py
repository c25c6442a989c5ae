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
    across = _find_runs(grid[1:] != grid[:-1])
    along = _find_runs((grid[:, 1:] != grid[:, :-1]).T)
    moves = [f"M{x} {y}h{length}" for y, x, length in across]
    moves += [f"M{x} {y}v{length}" for x, y, length in along]
    return "".join(moves)


def _find_runs(lines: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """The runs of True, as the border after their row, their start and their length."""
    framed = np.pad(lines.astype(np.int8), ((0, 0), (1, 1)))
    edges = np.argwhere(np.diff(framed, axis=1)).tolist()
    for (row, start), (_, stop) in zip(edges[::2], edges[1::2], strict=True):
        yield row + 1, start, stop - start


AROUND_CELLS = 3.5  # pixels between a small cell and its line


def draw_outline(grid: Mask, cell: float, dashes: str) -> Element:
    """A line around the cells of a picture; `cell` is the width of a cell in pixels.

    >>> bool(draw_outline(np.zeros((2, 2), dtype=bool), 1.0, "none"))
    False
    """
    if not grid.any():
        return NOTHING
    path = borders(np.pad(widen(grid, int(AROUND_CELLS / cell)), 1))
    placed = f"scale({cell:.5g}) translate(-1 -1)"
    look = {"d": path, "fill": "none", "transform": placed, "class_": "gv-outline"}
    dash = None
    if dashes != "none":
        dash = " ".join(f"{int(n) / cell:.3g}" for n in dashes.split())
    seam = node("path", **look, stroke="var(--gv-page)", stroke_width=f"{3.2 / cell:.3g}")
    return seam + node("path", **look, stroke="var(--gv-ink)", stroke_width=f"{1.6 / cell:.3g}", stroke_dasharray=dash)


def widen(grid: Mask, cells: int) -> Mask:
    """The cells and their neighbours within a distance."""
    spread = np.pad(grid, cells)
    for axis in (0, 1):
        spread = np.asarray(sliding_window_view(spread, 2 * cells + 1, axis).any(-1), dtype=np.bool_)
    return spread
