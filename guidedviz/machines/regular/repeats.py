"""How many characters of a counted repeat were read: `[a-z]{1,20}` is a row of states whose edges have one label.

Back along the row stand the characters that were read, on along it those that may still come. A repeat of several
parts, such as `(ab){3}`, is not such a row.
"""

from functools import cached_property

from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import LetterRanges, sources_of

LEAST_COUNTED = 3  # characters of a row that count as a repeat


class RepeatRows:
    """The rows of a DFA.

    >>> from guidedviz.machines.machine import read_path
    >>> name = gv.regex("<[a-z]{1,20}>")
    >>> [RepeatRows(name).count(state) for state in read_path(name, b"<ab>")]
    [None, None, (1, 20), (2, 20), None]
    """

    def __init__(self, dfa: DFA) -> None:
        self._edges = dfa.edges

    @cached_property
    def _sources(self) -> dict[int, list[int]]:
        return sources_of(self._edges)

    def count(self, state: int) -> tuple[int, int] | None:
        """How many characters of a repeat were read in this state, and how many it has at most; None outside of one."""
        labels = [self._label(source, state) for source in self._sources[state]]
        if not labels:
            return None
        label = max(labels, key=_letters)
        read = self._length(state, label, back=True)
        left = self._length(state, label, back=False)
        if read is None or left is None or read + left < LEAST_COUNTED:
            return None
        return read, read + left

    def _label(self, source: int, target: int) -> LetterRanges:
        """The letters that lead from one state to another."""
        return tuple((low, high) for low, high, other in self._edges[source] if other == target)

    def _length(self, state: int, label: LetterRanges, back: bool) -> int | None:
        """How many edges of this label follow each other; None on a loop, and where it is not one row."""
        length = 0
        met = {state}
        while following := self._neighbours(state, label, back):
            if len(following) > 1 or following & met:
                return None
            (state,) = following
            met.add(state)
            length += 1
        return length

    def _neighbours(self, state: int, label: LetterRanges, back: bool) -> set[int]:
        """The states behind or before a state that an edge of this label joins to it."""
        if back:
            return {source for source in self._sources[state] if self._label(source, state) == label}
        return {target for _, _, target in self._edges[state] if self._label(state, target) == label}


def _letters(label: LetterRanges) -> int:
    return sum(high - low + 1 for low, high in label)
