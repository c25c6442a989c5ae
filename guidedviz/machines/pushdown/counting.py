"""Counted repeats: how many parts of a repeat have been read.

    root ::= "<" "ab"{2,5000} ">"       After "<ababab" three parts are read: the counts are ((3, 3),). A fourth part
                                        may begin, and the repeat may end.
    root ::= ("a" | "aa"){2,5000}       After "aaa" two or three parts are read: ((2, 3),).

The rule that is repeated is *counted*: it has one automaton instead of 5,000 copies. An ambiguous text may have several
counts at once, which are kept as ranges (counting-set automata, Turonova et al., OOPSLA 2020). Within one token most
counts behave alike: far below the lower bound the repeat cannot end, and far from both bounds it may end or go on. A
grammar without large repeats never meets this file.
"""

from collections.abc import Iterable
from sys import maxsize
from typing import NamedTuple

from guidedviz.machines.ranges import merge_ranges

Counts = tuple[tuple[int, int], ...]  # ranges of counts, both ends included
NO_PARTS: Counts = ((0, 0),)
NONE_LEFT: Counts = ()  # no part may be read any more
FAR = -2  # any count so far below the lower bound that the repeat must go on; `merge_ranges` would join -1 and 0
ANY_COUNT: Counts = ((FAR, maxsize),)  # no bound of the rule is near, or it has none: all counts behave alike


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

        >>> Bounds(0, 4096).describe(((17, 17),)), Bounds(5, None).describe(ANY_COUNT)
        ('0…4096, now 17', '5…∞, now 5 or more')
        >>> Bounds(2, 9).describe(((2, 3), (5, 5))), Bounds(2, 9).describe(((2, 8),))
        ('2…9, now 2 or 3 or 5', '2…9, now 2 to 8')
        """
        return f"{self}, now {say_counts(counts, self.low)}"

    def may_stop(self, counts: Counts) -> bool:
        """Whether a repeat may end after so many parts."""
        return any(high >= self.low for _, high in counts)

    def after_part(self, counts: Counts) -> tuple[Counts, bool]:
        """After one more part: the counts with which the next part may begin, and whether the repeat may end.

        A count far below the lower bound stays there.

        >>> bounds = Bounds(2, 3)
        >>> bounds.after_part(((0, 0),)), bounds.after_part(((1, 2),)), bounds.after_part(((2, 2),))
        ((((1, 1),), False), (((2, 2),), True), ((), True))
        >>> Bounds(5, 9).after_part(((FAR, FAR),)), Bounds(5, None).after_part(((4, 4),)) == (ANY_COUNT, True)
        ((((-2, -2),), False), True)
        """
        if counts == ANY_COUNT:
            return ANY_COUNT, True
        done = tuple((low, high) if low == FAR else (low + 1, high + 1) for low, high in counts)
        may_end = self.may_stop(done)
        if self.high is not None:
            return tuple((low, min(high, self.high - 1)) for low, high in done if low < self.high), may_end
        if may_end:
            return ANY_COUNT, True
        return done, False

    def merge_alike(self, counts: Counts, parts: float) -> Counts:
        """Merge the counts that behave alike while at most so many parts are read.

        >>> [Bounds(20, 100).merge_alike(((count, count),), 5) for count in (3, 17, 97)]
        [((-2, -2),), ((17, 17),), ((97, 97),)]
        >>> [Bounds(20, 100).merge_alike(((count, count),), 5) == ANY_COUNT for count in (17, 20, 94, 97)]
        [False, True, True, False]
        """
        if counts == ANY_COUNT:
            return ANY_COUNT
        far = self.low - parts  # counts below cannot reach the lower bound
        near = []
        for low, high in counts:
            first = max(low, self.low)
            if first <= high and (self.high is None or first + parts < self.high):
                return ANY_COUNT  # between the bounds, whatever is read
            if low < far:
                near.append((FAR, FAR))
            if high >= far:
                near.append((int(max(low, far)), high))
        return merge_ranges(near)


class LengthLimit(NamedTuple):
    """A rule that counts its own parts by ticks (`syntax.Tick`): it has at most `most`.

    While at most `most - rest` parts are read, every tick can be passed; near the end the last `rest` parts may be
    needed to finish. It has the methods of `Bounds` that both limits need.
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
        """The same counts, or all counts if every tick can be passed while at most so many parts are read.

        >>> [LengthLimit(100, 10).merge_alike(((count, count),), 5) == ANY_COUNT for count in (85, 86)]
        [True, False]
        """
        return ANY_COUNT if counts[0][0] + parts <= self.most - self.rest else counts


Limit = Bounds | LengthLimit  # of a rule whose parts are counted


def say_counts(counts: Counts, low: int) -> str:
    """Counts in words; that all counts are possible is known only from the lower bound on.

    >>> say_counts(((2, 3), (5, 5)), 0), say_counts(ANY_COUNT, 5)
    ('2 or 3 or 5', '5 or more')
    """
    if counts == ANY_COUNT:
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
    if counts == ANY_COUNT:
        return ANY_COUNT
    return tuple((low + 1, min(high + 1, most)) for low, high in counts if low < most)


def join_counts(parts: Iterable[Counts]) -> Counts:
    """All these counts together.

    >>> join_counts([((0, 2),), ((3, 3), (7, 7))]), join_counts([ANY_COUNT, ((0, 0),)]) == ANY_COUNT
    (((0, 3), (7, 7)), True)
    """
    found: list[tuple[int, int]] = []
    for counts in parts:
        if counts == ANY_COUNT:
            return ANY_COUNT
        found += counts
    return merge_ranges(found)
