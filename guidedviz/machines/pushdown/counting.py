"""How often the part of a counted repeat has been read: a set of counts, kept as intervals.

An ambiguous text may have several counts at once (counting-set automata, Turonova et al., OOPSLA 2020). Within one
token most counts behave alike: far below the lower bound a repeat cannot end, between the bounds it may also go on.
"""

from collections.abc import Iterable
from typing import NamedTuple

from guidedviz.machines.syntax import merge_ranges

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

    def say(self, counts: Counts) -> str:
        """How often a part was read so far, in words.

        >>> Bounds(0, 4096).say(((17, 17),)), Bounds(5, None).say(None)
        ('0…4096, now 17', '5…∞, now 5 or more')
        >>> Bounds(2, 9).say(((2, 3), (5, 5))), Bounds(2, 9).say(((2, 8),))
        ('2…9, now 2 or 3 or 5', '2…9, now 2 to 8')
        """
        if counts is None:
            return f"{self}, now {self.low} or more"
        few = [count for low, high in counts[:3] for count in range(low, high + 1)][:4]
        said = " or ".join(map(str, few)) if len(few) < 4 else f"{counts[0][0]} to {counts[-1][1]}"
        return f"{self}, now {said}"

    def may_stop(self, counts: Counts) -> bool:
        """Whether a repeat may end after so many parts."""
        return counts is None or any(high >= self.low for _, high in counts)

    def once_more(self, counts: Counts) -> tuple[Counts, bool]:
        """The counts of the repeats that go on after one more part (`()` if none does), and whether one may end.

        >>> few = Bounds(2, 3)
        >>> few.once_more(((0, 0),)), few.once_more(((1, 2),)), few.once_more(((2, 2),))
        ((((1, 1),), False), (((2, 2),), True), ((), True))
        >>> Bounds(5, None).once_more(((4, 4),)), Bounds(5, 9).once_more(((FAR, FAR),))
        ((None, True), (((-2, -2),), False))
        """
        if counts is None:
            return None, True
        done = tuple((low + 1, high + 1) if low != FAR else (low, high) for low, high in counts)
        may_end = self.may_stop(done)
        if self.high is None:
            return (None if may_end else done), may_end
        return tuple((low, min(high, self.high - 1)) for low, high in done if low < self.high), may_end

    def alike(self, counts: Counts, most: float) -> Counts:
        """The counts as far as they matter while at most so many parts are read.

        >>> [Bounds(20, 100).alike(((count, count),), 5) for count in (3, 17, 20, 94, 97)]
        [((-2, -2),), ((17, 17),), None, None, ((97, 97),)]
        >>> [Bounds(0, 100, spare=10).alike(((count, count),), 5) for count in (85, 86)]
        [None, ((86, 86),)]
        """
        if counts is None:
            return None
        if self.high is not None and self.spare is not None:
            return None if counts[0][0] + most <= self.high - self.spare else counts
        far = self.low - most  # counts below cannot reach the lower bound
        near: list[tuple[int, int]] = []
        for low, high in counts:
            first = max(low, self.low)
            if first <= high and (self.high is None or first + most < self.high):
                return None
            if low < far:
                near.append((FAR, FAR))
            if high >= far:
                near.append((int(max(low, far)), high))
        return merge_ranges(near)


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
