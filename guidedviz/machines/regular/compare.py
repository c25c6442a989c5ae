"""A search for a text that only one of two machines accepts, through pairs of states, shortest texts first.

Equivalence of grammars is undecidable (Bar-Hillel, Perles and Shamir, 1961), so a result says how far it came.
"""

import string
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.regular.algebra import Pair
from guidedviz.machines.visible import counted, visible

MOST_COMPARED = 50_000  # pairs of states in a comparison; a few seconds
MOST_PAIRS = 100_000  # until a difference must be found


# Bytes from the most readable to the least; the first two beyond ASCII are those of é.
READABLE = (string.ascii_letters + string.digits + string.punctuation + " ").encode() + b"\xc3\xa9"
READABLE += bytes(byte for byte in range(0x80, 0x100) if byte not in READABLE) + b"\n\t"
READABLE += bytes(byte for byte in range(0x80) if byte not in READABLE)
RANKS = bytes(READABLE.index(byte) for byte in range(256))
KINDS = (62, 95, 95 + 128, 95 + 130)  # ranks where letters and digits end, then signs, characters beyond ASCII, blanks

Reading = tuple[int, bytes]  # the cost of a text and the ranks of its bytes; the smaller is more readable


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


def compare_machines(one: Machine[Any], other: Machine[Any], most: int = MOST_COMPARED) -> Equivalence:
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
    level: dict[Pair, Reading] = {(one.initial, other.initial): (0, b"")}  # pairs at one distance
    seen, length = set(level), 0
    while level:
        differing = [
            (way, one.is_accepting(a)) for (a, b), way in level.items() if one.is_accepting(a) != other.is_accepting(b)
        ]
        if differing:
            (_, ranks), first = min(differing)
            return Equivalence(bytes(READABLE[rank] for rank in ranks), first, length, len(seen), False)
        following: dict[Pair, Reading] = {}
        for (a, b), (cost, ranks) in level.items():
            for byte in letters:
                target, rank = (one.step(a, byte), other.step(b, byte)), RANKS[byte]
                if target != (None, None) and target not in seen:
                    reading = cost + sum(rank >= kind for kind in KINDS), ranks + bytes([rank])
                    following[target] = min(reading, following.get(target, reading))
            if len(seen) + len(following) > most:
                return Equivalence(None, False, length, len(seen), False)
        level, length = following, length + 1
        seen.update(level)
    return Equivalence(None, False, length - 1, len(seen), True)


def shortest_difference(one: Machine[Any], other: Machine[Any]) -> bytes | None:
    """The shortest text that exactly one machine accepts, the most readable of several; None if they are equal.

    If a machine is not finite, the search may not end; an error then says how much was compared.

    >>> shortest_difference(gv.regex("[0-9]+"), gv.regex("[0-9]*"))
    b''
    >>> shortest_difference(gv.regex("[^a]b"), gv.regex("[^a]c"))
    b'bb'
    """
    found = compare_machines(one, other, MOST_PAIRS)
    if found.text is None and not found.whole:
        hint = "gv.machines.compare_machines reports how much was compared"
        raise PatternError("machines", seen=str(found), expected="a difference, or a finished search", hint=hint)
    return found.text
