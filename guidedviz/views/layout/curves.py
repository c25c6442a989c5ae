"""A curve is a tuple of points: a start, then three points per Bézier segment.

It can be measured, cut into parts of equal length, and written as the path data of SVG.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import dist

import numpy as np
import numpy.typing as npt

Point = tuple[float, float]
Points = npt.NDArray[np.float64]  # x and y in the last dimension
Curve = tuple[Point, ...]


def bezier(count: int) -> Points:
    """The weights of the four points of a Bézier segment at `count` places after its start."""
    t = np.arange(1, count + 1)[:, None] / count
    return np.hstack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3])


SEGMENT = bezier(12)  # a curve is measured and cut as so many straight lines per segment


def straight(start: Point, end: Point) -> Curve:
    """A straight line.

    >>> straight((0, 0), (3, 0))
    ((0, 0), (1.0, 0.0), (2.0, 0.0), (3, 0))
    """
    (a, b), (c, d) = start, end
    return (start, ((2 * a + c) / 3, (2 * b + d) / 3), ((a + 2 * c) / 3, (b + 2 * d) / 3), end)


def sample(curve: Curve) -> Points:
    """Points along the curve at short distances."""
    points = np.array(curve, dtype=float)
    parts = [SEGMENT @ points[first : first + 4] for first in range(0, len(curve) - 3, 3)]
    return np.concatenate([points[:1], *parts])


def along(curve: Curve, shares: Sequence[float]) -> list[Point]:
    """The points at these fractions of the curve's length.

    >>> along(straight((0, 0), (8, 0)), [0.25, 1])
    [(2.0, 0.0), (8.0, 0.0)]
    """
    points = sample(curve)
    lengths = np.concatenate([[0.0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
    at = np.multiply(shares, lengths[-1])
    return list(zip(*(np.interp(at, lengths, values).tolist() for values in points.T), strict=True))


def cut(curve: Curve, count: int) -> list[Curve]:
    """The curve in `count` parts of equal length."""
    points = along(curve, [number / (4 * count) for number in range(4 * count + 1)])
    pieces = [straight(a, b) for a, b in pairwise(points)]
    rows = (pieces[4 * n : 4 * n + 4] for n in range(count))
    return [(row[0][0], *(point for piece in row for point in piece[1:])) for row in rows]


def above_middle(curve: Curve) -> Point:
    """The position of a label: above the point at half the length."""
    x, y = along(curve, [0.5])[0]
    return x, y - 9


def write_path(curve: Curve) -> str:
    """The curve as the path data of SVG.

    >>> write_path(((0, 0), (1, 0), (2, 0), (3.25, 0)))
    'M0,0C1,0 2,0 3.2,0'
    """
    points = [f"{x:.1f}".removesuffix(".0") + "," + f"{y:.1f}".removesuffix(".0") for x, y in curve]
    return f"M{points[0]}C{' '.join(points[1:])}"


def head(curve: Curve, long: float = 8.0, broad: float = 3.4) -> str:
    """The arrowhead at the end of a curve, as the points of a polygon."""
    (x, y) = curve[-1]
    (a, b) = next((p for p in sample(curve)[::-1].tolist() if dist(p, (x, y)) >= long), curve[0])
    far = dist((a, b), (x, y)) or 1.0
    u, v = (x - a) / far, (y - b) / far
    base = ((x - long * u - side * v, y - long * v + side * u) for side in (broad, -broad))
    return " ".join(f"{p:.1f},{q:.1f}" for p, q in ((x, y), *base))
