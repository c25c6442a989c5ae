"""A part of the map enlarged, with the text of every token: the part that has most of the outlined cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from guidedviz.errors import shorten
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.arrays import Mask
from guidedviz.views.figure import soft, write
from guidedviz.views.vocabulary.atlas import Atlas
from guidedviz.views.vocabulary.map import EDGE, READABLE, WIDTH, Kind, ink_on, width_of_cell
from guidedviz.views.words import label

COLUMNS, ROWS = 12, 5  # cells that are enlarged, at most
HIGH = 24.0  # of an enlarged cell
GAP = 22.0  # between the map and the enlarged part


def draw_zoom(made: Atlas, kinds: Sequence[Kind]) -> tuple[Element, float]:
    """The enlarged part below a map, a frame around it on the map, and its height; nothing where it is not needed."""
    cell = width_of_cell(made)
    outlined = np.logical_or.reduce([kind.cells for kind in kinds if kind.outline])
    if cell >= READABLE or not outlined.any():
        return NOTHING, 0.0
    left, top, wide, high = find_window(made.grid(outlined) > 0)
    column, row = made.cells.T
    inside = np.flatnonzero((left <= column) & (column < left + wide) & (top <= row) & (row < top + high))
    long, start = (WIDTH - 2 * EDGE) / wide, made.height * cell + GAP
    parts = [_frame(left * cell, top * cell, wide * cell, high * cell, start)]
    for rank in inside.tolist():
        kind = next(kind for kind in reversed(kinds) if kind.cells[rank])
        x, y = long * float(column[rank] - left), start + HIGH * float(row[rank] - top)
        parts.append(_cell(made, kinds, kind, rank, (x, y, long)))
    foot, shown = start + HIGH * high, outlined[inside].sum()
    said = f"enlarged: {shown:,} of the {outlined.sum():,} outlined cells, each with the text of its token"
    parts.append(soft(0, foot + 16, said))
    return together(parts), GAP + HIGH * high + 24


def find_window(grid: Mask) -> tuple[int, int, int, int]:
    """Left, top, width and height of the part of a picture that has most of the cells.

    >>> find_window(np.pad(np.ones((2, 3), dtype=bool), ((20, 3), (30, 9))))
    (25, 18, 12, 5)
    """
    high, wide = min(ROWS, grid.shape[0]), min(COLUMNS, grid.shape[1])
    sums = sliding_window_view(grid, (high, wide)).sum((2, 3))
    best = np.argwhere(sums == sums.max())
    top, left = best[((best - best.mean(0)) ** 2).sum(1).argmin()].tolist()
    return left, top, wide, high


def _frame(x: float, y: float, width: float, height: float, start: float) -> Element:
    """The frame on the map, and two lines from it to the enlarged part."""
    box = node("rect", x=x, y=y, width=width, height=height, fill="none", stroke="var(--gv-ink)", stroke_width=2)
    way = f"M{x:.5g} {y + height:.5g}L0 {start:.5g}M{x + width:.5g} {y + height:.5g}L{WIDTH - 2 * EDGE:.5g} {start:.5g}"
    line = node("path", d=way, fill="none", stroke="var(--gv-ink)", stroke_width=1, opacity=0.55)
    return line + box


def _cell(made: Atlas, kinds: Sequence[Kind], kind: Kind, rank: int, place: tuple[float, float, float]) -> Element:
    """An enlarged cell with the text of its token."""
    x, y, long = place
    size = {"x": x + 1, "y": y + 1, "width": long - 2, "height": HIGH - 2, "rx": 3}
    dashes = {"stroke_dasharray": kind.outline} if kind.outline not in ("", "none") else {}
    line = {"stroke": f"var(--gv-{kind.colour})", "stroke_width": 2.4} | dashes if kind.outline else {}
    box = node("rect", **size, fill=f"var(--gv-{kind.colour})", fill_opacity=0.3 if line else kind.opacity, **line)
    words = shorten(label(made.vocabulary.pieces[made.order[rank]]), int(long / 7))
    ink = {"font_weight": "bold"} if line else ink_on(kinds, rank, rank + 1)
    return box + write(x + long / 2, y + HIGH / 2 + 4, words, 11, mono=True, text_anchor="middle", **ink)
