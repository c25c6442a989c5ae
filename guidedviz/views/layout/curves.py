"""Curves: measured, cut into parts of equal length, and written as the path data of SVG.

A curve is a tuple of points: a start, then three points per Bézier segment.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import dist

import numpy as np
import numpy.typing as npt

Point = tuple[float, float]
Points = npt.NDArray[np.float64]  # x and y in the last dimension
Curve = tuple[Point, ...]


def bezier(count: int) -> Points:
    """The weights of the four points of a Bézier segment, one row per place; the last of `count` is its end."""
    t = np.arange(1, count + 1) / count
    u = 1 - t
    second_weight = 3 * u**2 * t
    third_weight = 3 * u * t**2
    return np.column_stack([u**3, second_weight, third_weight, t**3])


SEGMENT_WEIGHTS = bezier(12)  # a curve is measured and cut as so many straight lines per segment


def straight(*points: Point) -> Curve:
    """Straight lines from point to point, as a curve.

    >>> straight((0, 0), (3, 0))
    ((0, 0), (1.0, 0.0), (2.0, 0.0), (3, 0))
    """
    curve = [points[0]]
    for (a, b), (c, d) in pairwise(points):
        one_third = (2 * a + c) / 3, (2 * b + d) / 3
        two_thirds = (a + 2 * c) / 3, (b + 2 * d) / 3
        curve += [one_third, two_thirds, (c, d)]
    return tuple(curve)


def move(points: Iterable[Point], x: float, y: float) -> tuple[Point, ...]:
    """The same points or curve at another place."""
    return tuple((a + x, b + y) for a, b in points)


def sample_curve(curve: Curve) -> Points:
    """Points along the curve at short distances."""
    points = np.array(curve, dtype=float)
    starts = range(0, len(curve) - 3, 3)
    parts = [SEGMENT_WEIGHTS @ points[first : first + 4] for first in starts]
    return np.concatenate([points[:1], *parts])


def along(curve: Curve, shares: Sequence[float]) -> list[Point]:
    """The points at these fractions of the curve's length.

    >>> along(straight((0, 0), (8, 0)), [0.25, 1])
    [(2.0, 0.0), (8.0, 0.0)]
    """
    points = sample_curve(curve)
    steps = np.diff(points, axis=0, prepend=points[:1])
    lengths = np.hypot(*steps.T).cumsum()
    wanted = np.multiply(shares, lengths[-1])
    columns = [np.interp(wanted, lengths, column) for column in points.T]
    return list(map(tuple, np.transpose(columns).tolist()))


def cut(curve: Curve, count: int) -> list[Curve]:
    """The curve in `count` parts of equal length, each as four straight lines."""
    lines = 4 * count
    shares = [number / lines for number in range(lines + 1)]
    points = along(curve, shares)
    return [straight(*points[first : first + 5]) for first in range(0, lines, 4)]


def above_middle(curve: Curve) -> Point:
    """The position of a label: above the point at half the length."""
    [(x, y)] = along(curve, [0.5])
    return x, y - 9


def write_path(curve: Curve) -> str:
    """The curve as the path data of SVG.

    >>> write_path(((0, 0), (1, 0), (2, 0), (3.25, 0)))
    'M0,0C1,0 2,0 3.2,0'
    """
    first, *others = [f"{_one_digit(x)},{_one_digit(y)}" for x, y in curve]
    return f"M{first}C{' '.join(others)}"


def _one_digit(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def head(curve: Curve, long: float = 8.0, broad: float = 3.4) -> str:
    """The arrowhead at the end of a curve, as the points of a polygon."""
    x, y = curve[-1]
    behind = [point for point in curve if point != (x, y)] or [(x, y)]
    from_x, from_y = behind[-1]
    far = dist((from_x, from_y), (x, y)) or 1.0
    along_x = (x - from_x) / far  # the direction of the head, of length 1
    along_y = (y - from_y) / far
    base_x = x - long * along_x
    base_y = y - long * along_y
    left = (base_x - broad * along_y, base_y + broad * along_x)
    right = (base_x + broad * along_y, base_y - broad * along_x)
    corners = [(x, y), left, right]
    return " ".join(f"{corner_x:.1f},{corner_y:.1f}" for corner_x, corner_y in corners)
