"""Callouts: the likeliest tokens of a step, each with a mark on its cell and a label above or below the map.

There a label covers no cell. A thin line joins the two. A dot in a disc is a legal token, a cross in a square an
illegal one. The page has the same placement in map-marks.js.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import Step
from guidedviz.errors import shorten
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import soft, wide, write
from guidedviz.views.vocabulary.atlas import Atlas
from guidedviz.views.words import label, shown_candidates

BAND = 32.0  # pixels above and below the map
HIGH = 20.0  # of a label
GAP = 8.0  # between two labels
SIGN = 14.0  # the width of the mark in a label
HALF = 5.5  # half of the width of the mark itself
SIZE = 12.0  # of the text
MOST_LETTERS = 16
LIKELY = 0.01  # a less likely token has no callout, unless it was chosen
READABLE = 20.0  # larger cells contain the text of their tokens: the mark is in their corner


@dataclass(frozen=True)
class Callout:
    """A likely token, and the middle of its cell in cells."""

    x: float
    y: float
    name: str
    said: str
    legal: bool
    chosen: bool

    @property
    def width(self) -> float:
        """The width of its label."""
        return wide(f"{self.name} {self.said}", SIZE) + SIGN + 14


@dataclass(frozen=True)
class Place:
    """Where a label is: the number of its callout, above (0) or below (1) the map, and its left edge."""

    callout: int
    band: int
    left: float


def callouts(made: Atlas, step: Step) -> tuple[Callout, ...]:
    """The chosen token and then the likely ones, the likeliest first; none where the model was not asked."""
    likely = [c for c in shown_candidates(step) if c.raw >= LIKELY or c.token == step.token]
    found = sorted(likely, key=lambda c: (c.token != step.token, -c.raw))
    places = (made.cells[made.rank[[c.token for c in found]]] + 0.5).tolist() if found else []
    return tuple(
        Callout(x, y, shorten(label(c.piece), MOST_LETTERS), probability(c.raw), c.legal, c.token == step.token)
        for c, (x, y) in zip(found, places, strict=True)
    )


def place_labels(spots: Sequence[tuple[float, float, float]], width: float, height: float) -> list[Place]:
    """A place for each label, given as x and y of its cell and its own width, the most important first.

    A label is on the side that is nearer to its cell, or else on the other; one for which neither has room is left out.
    On each side they are in the order of their cells, so no two lines cross.

    >>> place_labels([(50, 10, 60), (60, 20, 60), (50, 90, 60)], 200, 100)
    [Place(callout=0, band=0, left=10.0), Place(callout=1, band=0, left=78.0), Place(callout=2, band=1, left=20.0)]
    """
    bands: tuple[list[int], list[int]] = ([], [])
    for number, (_, y, wanted) in enumerate(spots):
        near = int(y > height / 2)
        for band in (near, 1 - near):
            if sum(spots[other][2] + GAP for other in bands[band]) + wanted <= width:
                bands[band].append(number)
                break
    return [
        place
        for band in (0, 1)
        for place in _place_row(spots, sorted(bands[band], key=lambda n: spots[n][0]), band, width)
    ]


def _place_row(spots: Sequence[tuple[float, float, float]], row: Sequence[int], band: int, width: float) -> list[Place]:
    """The labels of one side without overlap; the largest distance from a cell is as small as possible."""
    if not row:
        return []
    x, _, sizes = np.array([spots[number] for number in row]).T
    before = np.cumsum(sizes + GAP) - sizes - GAP  # what the labels on the left need
    free = np.clip(x - sizes / 2 - before, 0, width - before[-1] - sizes[-1])
    right, left = np.maximum.accumulate(free), np.minimum.accumulate(free[::-1])[::-1]
    lefts = before + (right + left) / 2
    return [Place(number, band, at) for number, at in zip(row, lefts.tolist(), strict=True)]


def draw_callouts(calls: Sequence[Callout], cell: float, height: float, width: float) -> tuple[Element, float, float]:
    """Lines, marks and labels of a map of this height, and the room that they need above and below it.

    Labels may be as far right as `width`.
    """
    corner = 0.5 * cell - 5 if cell >= READABLE else 0.0
    spots = [(call.x * cell + corner, call.y * cell - corner, call.width) for call in calls]
    places = place_labels(spots, width, height)
    lines = together(_line(*spots[place.callout], place, height) for place in places)
    marks = together(_mark(*spots[place.callout][:2], calls[place.callout].legal) for place in places)
    labels = together(_label(calls[place.callout], place, height) for place in places)
    above, below = (BAND if any(place.band == band for place in places) else 0.0 for band in (0, 1))
    return lines + marks + labels, above, below


def _line(x: float, y: float, wanted: float, place: Place, height: float) -> Element:
    """From a cell straight to the edge of the map, and then to its label."""
    edge, end = (height, height + BAND - HIGH) if place.band else (0.0, HIGH - BAND)
    at = min(max(x, place.left + 4), place.left + wanted - 4)
    path = {"d": f"M{x:.5g} {y:.5g}V{edge:.5g}L{at:.5g} {end:.5g}", "fill": "none"}
    seam = node("path", **path, stroke="var(--gv-page)", stroke_width=3)
    return seam + node("path", **path, stroke="var(--gv-ink)", stroke_width=1)


def _mark(x: float, y: float, legal: bool) -> Element:
    """A dot in a disc, or a cross in a square."""
    look = {"fill": "var(--gv-page)", "stroke": "var(--gv-ink)"}
    if legal:
        dot = node("circle", cx=x, cy=y, r=3.5, fill="var(--gv-blue)")
        return node("circle", cx=x, cy=y, r=HALF, **look) + dot
    cross = {"d": f"M{x - 3:.5g} {y - 3:.5g}l6 6m0 -6l-6 6", "stroke": "var(--gv-orange)", "stroke_width": 2}
    return node("rect", x=x - HALF, y=y - HALF, width=2 * HALF, height=2 * HALF, **look) + node("path", **cross)


def _label(call: Callout, place: Place, height: float) -> Element:
    top = height + BAND - HIGH if place.band else -BAND
    colour = "ink" if call.chosen else "blue" if call.legal else "orange"
    look: dict[str, Any] = {"stroke": f"var(--gv-{colour})"}
    look |= {"stroke_width": 2} if call.chosen else {} if call.legal else {"stroke_dasharray": "3 2"}
    box = node("rect", x=place.left, y=top, width=call.width, height=HIGH, rx=4, fill="var(--gv-page)", **look)
    x, base = place.left + 6 + SIGN, top + 14
    bold = {"font_weight": "bold"} if call.chosen else {}
    name = write(x, base, call.name, SIZE, mono=True, **bold)
    said = soft(x + wide(f"{call.name} ", SIZE), base, call.said, SIZE, mono=True)
    return box + _mark(place.left + 10, top + HIGH / 2, call.legal) + name + said


def callout_legend(y: float) -> Element:
    """What the marks mean."""
    words = ("likely, legal", "likely, illegal")
    signs = [_mark(5 + 130 * n, y - 4, not n) + soft(16 + 130 * n, y, said) for n, said in enumerate(words)]
    return together(signs) + soft(276, y, "with the probability before the mask")
