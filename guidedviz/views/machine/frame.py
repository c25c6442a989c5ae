"""A frame of a film of a machine: a sketch, and what is shown of it at one moment."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.views.layout.own_sketch import sketch_given
from guidedviz.views.layout.sketch import Sketch
from guidedviz.views.words import reading


@dataclass(frozen=True)
class MachineFrame:
    """A machine at one moment of a film.

    >>> start = MachineFrame(gv.views.dfa_frames("ab")[-1].sketch)
    >>> read = start.show('"a" is read.', {1}, {"0-1"})
    >>> read.words, read.lit, read.lit_arrows
    ('"a" is read.', frozenset({1}), frozenset({'0-1'}))
    """

    sketch: Sketch
    words: str = ""  # a sentence about this moment
    lit: frozenset[int] = frozenset()  # states
    lit_arrows: frozenset[str] = frozenset()  # by their keys
    lit_means: str = "now"  # what the legend says of a lit state
    tape: tuple[bytes, int] = (b"", 0)  # a text, and how many of its bytes are read
    ride: tuple[str, tuple[str, ...]] = ("", ())  # a byte that moves into this frame, and the keys of its arrows
    merged: tuple[frozenset[int], ...] = ()  # per state, the states that became it

    def show(self, words: str, lit: Iterable[int] = (), moves: Iterable[str] = (), sign: str = "") -> "MachineFrame":
        """The same with another sentence, other states and arrows lit, and a byte that moves along these arrows."""
        ride = (sign, tuple(sorted(moves)))
        return replace(self, words=words, lit=frozenset(lit), lit_arrows=frozenset(moves), ride=ride)


def frame_of(given: Any, where: str) -> MachineFrame:
    """A frame with printable words, or that of a machine on which nothing is lit; errors name a function."""
    frame = given if isinstance(given, MachineFrame) else MachineFrame(given)
    return replace(frame, sketch=sketch_given(frame.sketch, where), words=reading(frame.words))
