"""The boxes of names, the discs, and the points of curves in a drawing, read from its SVG."""

import re
from functools import lru_cache
from itertools import combinations
from math import hypot
from xml.etree import ElementTree

import numpy as np

from guidedviz.views.figure import wide

ASCENT = 0.72  # of the font size, above and below the baseline
DESCENT = 0.2
Box = tuple[float, float, float, float]


def of_class(svg, name):
    """The elements of a class in a drawing."""
    return [e for e in ElementTree.fromstring(svg).iter() if name in e.get("class", "").split()]


@lru_cache(maxsize=4)
def machine(svg):
    """The diagram inside a drawing."""
    return of_class(svg, "gv-machine")[0]


def parts(svg, name):
    """The elements of a class, inside the diagram."""
    return [e for e in machine(svg).iter() if name in e.get("class", "").split()]


def text_box(text, width=0.0):
    """The box of a text; `width` is that of a text that is still to come."""
    size, x, y = (float(text.get(key, 0)) for key in ("font-size", "x", "y"))
    width = width or wide(text.text or "", size)
    left = x
    if text.get("text-anchor") == "middle":
        left = x - width / 2
    top = y - ASCENT * size
    bottom = y + DESCENT * size
    return left, top, left + width, bottom


def names(svg):
    """Every label, count and title, and the boxes of calls."""
    calls = {e for call in parts(svg, "gv-call") for e in call.iter()}
    found = [e for kind in ("gv-label", "gv-rule") for e in parts(svg, kind) if e not in calls]
    boxes = [(e.text or "", text_box(e)) for e in found]
    counts = enumerate(parts(svg, "gv-nth"))
    for n, e in counts:
        boxes.append((f"count {n}", text_box(e, 42.0)))
    return boxes + [(f"call {n}", _rect(e)) for n, e in enumerate(parts(svg, "gv-box")) if e.tag.endswith("rect")]


def discs(svg):
    """Every state: its number, and the box of its disc."""
    states = parts(svg, "gv-state")
    return [(e.get("data-state", ""), _rect(next(c for c in e if c.get("class") == "gv-disc"))) for e in states]


def _rect(e):
    x, y, width, height = (float(e.get(key, 0)) for key in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def overlap(one, other):
    """Whether two boxes share more than a hair."""
    left, top, right, bottom = zip(one, other, strict=True)
    wide = min(right) - max(left)
    high = min(bottom) - max(top)
    return wide > 0.5 and high > 0.5


def on_disc(name, disc):
    """Whether a box overlaps a disc with round ends."""
    left, top, right, bottom = disc
    radius = (bottom - top) / 2
    across = max(0.0, name[0] - right + radius, left + radius - name[2])
    down = max(0.0, name[1] - top - radius, top + radius - name[3])
    return hypot(across, down) < radius - 0.5


def collisions(svg):
    """Names that overlap each other or a state."""
    every = names(svg)
    states = discs(svg)
    pairs = combinations(every, 2)
    found = [f"{a} on {b}" for (a, one), (b, other) in pairs if overlap(one, other)]
    return found + [f"{name} on state {state}" for name, box in every for state, disc in states if on_disc(box, disc)]


def struck(svg):
    """Names that an arrow to a rule, or back from it, passes through; the discs at its two ends are its own."""
    every = [(name, box) for name, box in names(svg) if not name.startswith("count")]
    high = [(f"state {n}", box) for n, box in discs(svg) if box[3] - box[1] > 10]  # dots have no names
    found = []
    for path in [*parts(svg, "gv-push"), *parts(svg, "gv-pop")]:
        points = curve_points(path.get("d", ""))
        ends = points[0], points[-1]
        others = [(name, box) for name, box in high if not any(_near(box, end) for end in ends)]
        found += [f"{path.get('class')} through {name}" for name, box in every + others if passes(points, box)]
    return found


def passes(points, box):
    """Whether a point lies in a box, more than a pixel from its sides."""
    x, y = points.T
    left, top, right, bottom = box
    across = (left + 1 < x) & (x < right - 1)
    down = (top + 1 < y) & (y < bottom - 1)
    return bool((across & down).any())


def _near(disc, end):
    left, top, right, bottom = disc
    x, y = end
    return bool(left - 2 <= x <= right + 2 and top - 2 <= y <= bottom + 2)


def curve_points(data):
    """Points along a path of Bézier curves, less than two pixels apart."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", data)
    coordinates = [float(n) for n in numbers]
    spots = np.array(coordinates).reshape(-1, 2)
    points = [spots[:1]]
    for first in range(0, len(spots) - 3, 3):
        four = spots[first : first + 4]
        moves = np.abs(np.diff(four, axis=0))
        count = 2 + int(moves.sum())
        t = np.arange(1, count + 1) / count
        points.append(np.stack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3], axis=1) @ four)
    return np.concatenate(points)
