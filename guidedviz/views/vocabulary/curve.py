"""A curve through every cell of a rectangle, on which consecutive cells are adjacent.

It generalises Hilbert's curve to rectangles (J. Červený, 2019): cut a long rectangle into two parts and a squarer one
into three, such that each part ends where the next begins.
"""

from functools import lru_cache
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.int32]
MAP_ASPECT = 2.0  # width divided by height of a map


def size_for(count: int) -> tuple[int, int]:
    """Width and height of a rectangle for `count` cells; both are even, so that no step is diagonal.

    >>> size_for(128_256), size_for(4_096), size_for(30)
    ((506, 254), (90, 46), (8, 4))
    """
    height = 2 * max(1, round(sqrt(count / MAP_ASPECT) / 2))
    return max(2, 2 * ceil(count / height / 2)), height


@lru_cache(maxsize=64)
def curve(width: int, height: int) -> Cells:
    """Column and row of every cell, from the top left corner to the top right one.

    >>> curve(4, 2).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0], [2, 0], [2, 1], [3, 1], [3, 0]]
    """
    places = np.concatenate(_curve_parts(width, height), dtype=np.int32)
    places.flags.writeable = False
    return places


def _curve_parts(width: int, height: int) -> list[Cells]:
    if height == 1 or width == 1:
        return [np.argwhere(np.ones((width, height))).astype(np.int32)]
    half = _even_half(width)
    if 2 * width > 3 * height:
        return [curve(half, height), np.add(curve(width - half, height), (half, 0))]
    low = _even_half(height)
    down = curve(low, half)[:, ::-1]
    along = np.add(curve(width, height - low), (0, low))
    up = curve(low, width - half)[:, ::-1]
    return [down, along, np.subtract((width - 1, low - 1), up)]


def _even_half(length: int) -> int:
    half = length // 2
    if half % 2 and length > 2:
        return half + 1
    return half
