"""How often the part of a counted repeat has been read: a set of counts, kept as intervals.

An ambiguous text may have several counts at once (counting-set automata, Turonova et al., OOPSLA 2020). Within one
token most counts behave alike: far below the lower bound a repeat cannot end, between the bounds it may also go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from guidedviz.machines.tree import merge_ranges

Counts = tuple[tuple[int, int], ...] | None  # None: a count that may go on and may end, or no repeat
FIRST: Counts = ((0, 0),)
FAR = -2  # any count so far below the lower bound that the repeat must go on


class Bounds(NamedTuple):
    """How often a part is repeated; None means no upper bound."""

    low: int
    high: int | None
    spare: int | None = None  # of a rule that counts its own parts: the most that a text may need to end; see `Tick`

    @property
    def texts(self) -> int:
        """The fewest texts of the rule in a row."""
        return self.low if self.spare is None else 1

    def __str__(self) -> str:
        return f"{self.low}…{'∞' if self.high is None else self.high}" if self.low != self.high else str(self.low)


def say_count(counts: Counts, bounds: Bounds) -> str:
    """How often a part was read so far, in words.

    >>> say_count(((17, 17),), Bounds(0, 4096)), say_count(None, Bounds(5, None))
    ('0…4096, now 17', '5…∞, now 5 or more')
    >>> say_count(((2, 3), (5, 5)), Bounds(2, 9)), say_count(((2, 8),), Bounds(2, 9))
    ('2…9, now 2 or 3 or 5', '2…9, now 2 to 8')
    """
    if counts is None:
        return f"{bounds}, now {bounds.low} or more"
    few = [count for low, high in counts[:3] for count in range(low, high + 1)][:4]
    said = " or ".join(map(str, few)) if len(few) < 4 else f"{counts[0][0]} to {counts[-1][1]}"
    return f"{bounds}, now {said}"


def may_stop(counts: Counts, bounds: Bounds) -> bool:
    """Whether a repeat may end after so many parts."""
    return counts is None or any(high >= bounds.low for _, high in counts)


def count_once(counts: Counts, bounds: Bounds) -> tuple[Counts, bool]:
    """The counts of the repeats that go on after one more part (`()` if none does), and whether one may end.

    >>> count_once(((0, 0),), Bounds(2, 3)), count_once(((1, 2),), Bounds(2, 3)), count_once(((2, 2),), Bounds(2, 3))
    ((((1, 1),), False), (((2, 2),), True), ((), True))
    >>> count_once(((4, 4),), Bounds(5, None)), count_once(((FAR, FAR),), Bounds(5, 9))
    ((None, True), (((-2, -2),), False))
    """
    if counts is None:
        return None, True
    done = tuple((low + 1, high + 1) if low != FAR else (low, high) for low, high in counts)
    may_end = may_stop(done, bounds)
    if bounds.high is None:
        return (None if may_end else done), may_end
    return tuple((low, min(high, bounds.high - 1)) for low, high in done if low < bounds.high), may_end


def count_tick(counts: Counts, most: int) -> Counts:
    """The counts after one more part of a rule that counts its own parts, at most this many; `()` if none is left.

    >>> count_tick(((0, 0), (4, 7)), 6), count_tick(((6, 6),), 6)
    (((1, 1), (5, 6)), ())
    """
    return None if counts is None else tuple((low + 1, min(high + 1, most)) for low, high in counts if low < most)


def join_counts(parts: Iterable[Counts]) -> Counts:
    """All these counts together.

    >>> join_counts([((0, 2),), ((3, 3), (7, 7))]), join_counts([None, ((0, 0),)])
    (((0, 3), (7, 7)), None)
    """
    found: list[tuple[int, int]] = []
    for counts in parts:
        if counts is None:
            return None
        found += counts
    return merge_ranges(found)


def alike_counts(counts: Counts, bounds: Bounds, most: float) -> Counts:
    """The counts as far as they matter while at most so many parts are read.

    >>> [alike_counts(((count, count),), Bounds(20, 100), 5) for count in (3, 17, 20, 94, 97)]
    [((-2, -2),), ((17, 17),), None, None, ((97, 97),)]
    >>> [alike_counts(((count, count),), Bounds(0, 100, spare=10), 5) for count in (85, 86)]
    [None, ((86, 86),)]
    """
    if counts is None:
        return None
    if bounds.high is not None and bounds.spare is not None:
        return None if counts[0][0] + most <= bounds.high - bounds.spare else counts
    far = bounds.low - most  # counts below cannot reach the lower bound
    near: list[tuple[int, int]] = []
    for low, high in counts:
        first = max(low, bounds.low)
        if first <= high and (bounds.high is None or first + most < bounds.high):
            return None
        if low < far:
            near.append((FAR, FAR))
        if high >= far:
            near.append((int(max(low, far)), high))
    return merge_ranges(near)
