"""Counted repeats: how often a part has been read, as a set of counts that is kept as intervals.

A grammar without large repeats never meets this file. In `root ::= "(" root ")" | "x"{0,5000}` the rule of `"x"` is
counted: one automaton of two nodes instead of 5,000 copies. Each "x" of a text is a *part*. An ambiguous text may have
several counts at once (counting-set automata, Turonova et al., OOPSLA 2020). Within one token most counts behave alike:
far below the lower bound a repeat cannot end, between the bounds it may also go on.
"""

from collections.abc import Iterable
from typing import NamedTuple

from guidedviz.machines.ranges import merge_ranges

# Ranges of counts, both ends included. None: the count does not matter, for a repeat may go on and may end with it, a
# limit of length is far, or the rule is not counted.
Counts = tuple[tuple[int, int], ...] | None
NO_PARTS: Counts = ((0, 0),)
NONE_LEFT: Counts = ()  # no count that may go on
FAR = -2  # any count so far below the lower bound that the repeat must go on; `merge_ranges` would join -1 and 0


class Bounds(NamedTuple):
    """How often the texts of a rule stand in a row; None means no upper bound."""

    low: int
    high: int | None

    @property
    def fewest(self) -> int:
        """How many texts of the rule must be read."""
        return self.low

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        return f"{self.low}…{'∞' if self.high is None else self.high}"

    def describe(self, counts: Counts) -> str:
        """How often a part was read so far, in words.

        >>> Bounds(0, 4096).describe(((17, 17),)), Bounds(5, None).describe(None)
        ('0…4096, now 17', '5…∞, now 5 or more')
        >>> Bounds(2, 9).describe(((2, 3), (5, 5))), Bounds(2, 9).describe(((2, 8),))
        ('2…9, now 2 or 3 or 5', '2…9, now 2 to 8')
        """
        return f"{self}, now {say_counts(counts, self.low)}"

    def may_stop(self, counts: Counts) -> bool:
        """Whether a repeat may end after so many parts."""
        return counts is None or any(high >= self.low for _, high in counts)

    def after_part(self, counts: Counts) -> tuple[Counts, bool]:
        """After one more part: the counts with which the next part may begin, and whether the repeat may end.

        A count far below the lower bound stays there.

        >>> bounds = Bounds(2, 3)
        >>> bounds.after_part(((0, 0),)), bounds.after_part(((1, 2),)), bounds.after_part(((2, 2),))
        ((((1, 1),), False), (((2, 2),), True), ((), True))
        >>> Bounds(5, None).after_part(((4, 4),)), Bounds(5, 9).after_part(((FAR, FAR),))
        ((None, True), (((-2, -2),), False))
        """
        if counts is None:
            return None, True
        done = tuple((low, high) if low == FAR else (low + 1, high + 1) for low, high in counts)
        may_end = self.may_stop(done)
        if self.high is not None:
            return tuple((low, min(high, self.high - 1)) for low, high in done if low < self.high), may_end
        if may_end:
            return None, True
        return done, False

    def merge_alike(self, counts: Counts, parts: float) -> Counts:
        """The counts as far as they matter while at most so many parts are read.

        >>> [Bounds(20, 100).merge_alike(((count, count),), 5) for count in (3, 17, 20, 94, 97)]
        [((-2, -2),), ((17, 17),), None, None, ((97, 97),)]
        """
        if counts is None:
            return None
        far = self.low - parts  # counts below cannot reach the lower bound
        near = []
        for low, high in counts:
            first = max(low, self.low)
            if first <= high and (self.high is None or first + parts < self.high):
                return None  # between the bounds, whatever is read
            if low < far:
                near.append((FAR, FAR))
            if high >= far:
                near.append((int(max(low, far)), high))
        return merge_ranges(near)


class LengthLimit(NamedTuple):
    """A rule that counts its own parts by ticks (`syntax.Tick`): at most `most`.

    Up to `most - rest` parts any tick can be passed; the last `rest` may be needed to end. It has the methods of
    `Bounds` that both kinds of limit need.
    """

    most: int
    rest: int

    @property
    def fewest(self) -> int:
        """How many texts of the rule must be read: it is not repeated."""
        return 1

    def __str__(self) -> str:
        return f"0…{self.most}"

    def describe(self, counts: Counts) -> str:
        """How many parts were read so far, in words."""
        return f"{self}, now {say_counts(counts, 0)}"

    def after_part(self, counts: Counts) -> tuple[Counts, bool]:
        """When the rule ends, no other text of it follows."""
        return NONE_LEFT, True

    def merge_alike(self, counts: Counts, parts: float) -> Counts:
        """The counts as far as they matter while at most so many parts are read.

        >>> [LengthLimit(100, 10).merge_alike(((count, count),), 5) for count in (85, 86)]
        [None, ((86, 86),)]
        """
        if counts is None or counts[0][0] + parts <= self.most - self.rest:
            return None  # every tick can be passed
        return counts


Limit = Bounds | LengthLimit  # of a rule whose parts are counted


def say_counts(counts: Counts, low: int) -> str:
    """Counts in words; None stands for every count from the lower bound on.

    >>> say_counts(((2, 3), (5, 5)), 0), say_counts(None, 5)
    ('2 or 3 or 5', '5 or more')
    """
    if counts is None:
        return f"{low} or more"
    listed = [count for first, last in counts[:3] for count in range(first, last + 1)]
    if len(listed) < 4:
        return " or ".join(map(str, listed))
    return f"{counts[0][0]} to {counts[-1][1]}"


def count_tick(counts: Counts, most: int) -> Counts:
    """The counts after one more part of a rule that counts its own parts, at most this many; `()` if none is left.

    >>> count_tick(((0, 0), (4, 7)), 6), count_tick(((6, 6),), 6)
    (((1, 1), (5, 6)), ())
    """
    if counts is None:
        return None
    return tuple((low + 1, min(high + 1, most)) for low, high in counts if low < most)


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
