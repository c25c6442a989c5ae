"""A search for a text that only one of two machines accepts, through pairs of states, shortest texts first.

Equivalence of grammars is undecidable (Bar-Hillel, Perles and Shamir, 1961), so a result says how far it came.
"""

import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.visible import counted, visible

# Bytes from the most readable to the least; the first two beyond ASCII are those of é.
READABLE = (string.ascii_letters + string.digits + string.punctuation + " ").encode() + b"\xc3\xa9"
READABLE += bytes(byte for byte in range(0x80, 0x100) if byte not in READABLE) + b"\n\t"
READABLE += bytes(byte for byte in range(0x80) if byte not in READABLE)
RANKS = bytes(READABLE.index(byte) for byte in range(256))
KINDS = (62, 95, 95 + 128, 95 + 130)  # ranks where letters and digits end, then signs, characters beyond ASCII, blanks

Reading = tuple[int, bytes]  # the cost of a text and the ranks of its bytes; the smaller is more readable

MOST_PAIRS = 50_000  # of states; a few seconds
Pair = tuple[Any, Any]  # a state of each machine; None is dead
Level = dict[Pair, Reading]  # pairs at one distance, each with its best text


@dataclass(frozen=True)
class Equivalence:
    """The result of a search: a text that exactly one machine accepts, or how far there is none."""

    text: bytes | None
    first: bool  # whether the first machine accepts it; the other one does not
    length: int  # of the text; without one, every text of up to so many bytes was compared
    pairs: int  # of states that were met
    whole: bool  # whether there was nothing more to search

    def __str__(self) -> str:
        if self.text is not None:
            return f"only the {'first' if self.first else 'second'} accepts {visible(self.text) or 'the empty text'}"
        if self.whole:
            return "both accept the same texts"
        return f"no difference in texts of up to {counted(self.length, 'byte')}: {self.pairs:,} pairs of states"


def compare_machines(one: Machine[Any], other: Machine[Any], most: int = MOST_PAIRS) -> Equivalence:
    """Search for the shortest text that exactly one machine accepts, the most readable of several.

    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> print(compare_machines(nested, gv.regex("[(]*x[)]*")))
    only the second accepts x)
    >>> print(compare_machines(nested, gv.grammar('root ::= "(" rest | "x"\\nrest ::= root ")"'), most=100))
    no difference in texts of up to 49 bytes: 99 pairs of states
    """
    one, other = (as_machine(machine, "machines") for machine in (one, other))
    kinds = zip(one.kinds, other.kinds, strict=True)
    letters = {kind: byte for byte, kind in sorted(enumerate(kinds), key=lambda found: -RANKS[found[0]])}.values()
    level: Level = {(one.initial, other.initial): (0, b"")}
    seen, length = set(level), 0
    while level:
        apart = [
            (way, one.is_accepting(a)) for (a, b), way in level.items() if one.is_accepting(a) != other.is_accepting(b)
        ]
        if apart:
            best, first = min(apart)
            text = bytes(READABLE[rank] for rank in best[1])
            return Equivalence(text, first, length, len(seen), False)
        following = _next_level(one, other, letters, level, seen, most)
        if following is None:
            return Equivalence(None, False, length, len(seen), False)
        level, length = following, length + 1
        seen.update(level)
    return Equivalence(None, False, length - 1, len(seen), True)


def _next_level(
    one: Machine[Any], other: Machine[Any], letters: Iterable[int], level: Level, seen: set[Pair], most: int
) -> Level | None:
    """The new pairs that are one byte further; None if there are too many."""
    following: Level = {}
    for (a, b), (cost, ranks) in level.items():
        for byte in letters:
            target, rank = (one.step(a, byte), other.step(b, byte)), RANKS[byte]
            if target != (None, None) and target not in seen:
                reading = cost + sum(rank >= kind for kind in KINDS), ranks + bytes([rank])
                following[target] = min(reading, following.get(target, reading))
        if len(seen) + len(following) > most:
            return None
    return following
