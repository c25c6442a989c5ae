"""A search for a text that only one of two machines accepts, through pairs of states, shortest texts first.

Equivalence of grammars is undecidable (Bar-Hillel, Perles and Shamir, 1961), so a result says how far it came.
"""

import string
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines import limits
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.regular.algebra import Pair
from guidedviz.machines.visible import counted, visible

# Bytes from the most readable to the least; the first two beyond ASCII are those of é.
READABLE_GROUPS = (
    (string.ascii_letters + string.digits).encode(),
    (string.punctuation + " ").encode(),
    b"\xc3\xa9" + bytes(byte for byte in range(0x80, 0x100) if byte not in b"\xc3\xa9"),
    b"\n\t",
    bytes(byte for byte in range(0x20) if byte not in b"\n\t") + b"\x7f",
)
READABLE_BYTES = b"".join(READABLE_GROUPS)
RANKS = bytes(READABLE_BYTES.index(byte) for byte in range(256))
COSTS = bytes(group for group, found in enumerate(READABLE_GROUPS) for _ in found)  # of the byte of each rank

ReadableText = tuple[int, bytes]  # the cost of a text and the ranks of its bytes; the smaller is more readable


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
            which = "first" if self.first else "second"
            return f"only the {which} accepts {visible(self.text) or 'the empty text'}"
        if self.whole:
            return "both accept the same texts"
        length = counted(self.length, "byte")
        return f"no difference in texts of up to {length}: {self.pairs:,} pairs of states"


def compare_machines(one: Machine[Any], other: Machine[Any], most: int = limits.COMPARED_PAIRS) -> Equivalence:
    """Search for the shortest text that exactly one machine accepts, the most readable of several.

    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> print(compare_machines(nested, gv.regex("[(]*x[)]*")))
    only the second accepts x)
    >>> print(compare_machines(nested, gv.grammar('root ::= "(" rest | "x"\\nrest ::= root ")"'), most=100))
    no difference in texts of up to 49 bytes: 99 pairs of states
    """
    search = _Search(as_machine(one, "machines"), as_machine(other, "machines"))
    length = 0
    while search.level:
        differing = search.differing()
        if differing:
            (_, ranks), first = min(differing)
            text = bytes(READABLE_BYTES[rank] for rank in ranks)
            return Equivalence(text, first, length, len(search.seen), False)
        if not search.take_level(most):
            return Equivalence(None, False, length, len(search.seen), False)
        length += 1
    return Equivalence(None, False, length - 1, len(search.seen), True)


class _Search:
    """The pairs of states that were met; each pair of the last level with its most readable text."""

    def __init__(self, one: Machine[Any], other: Machine[Any]) -> None:
        self.one = one
        self.other = other
        kinds = list(zip(one.kinds, other.kinds, strict=True))
        readable_last = reversed(READABLE_BYTES)
        self.letters = {kinds[byte]: byte for byte in readable_last}.values()  # the most readable byte of each kind
        self.level: dict[Pair, ReadableText] = {(one.initial, other.initial): (0, b"")}
        self.seen = set(self.level)

    def differing(self) -> list[tuple[ReadableText, bool]]:
        """The texts of the level that one machine accepts and the other does not; True if the first one does."""
        found = []
        for (state, partner), reading in self.level.items():
            first = self.one.is_accepting(state)
            if first != self.other.is_accepting(partner):
                found.append((reading, first))
        return found

    def take_level(self, most: int) -> bool:
        """Go on by one byte; False if that would be more than so many pairs."""
        following: dict[Pair, ReadableText] = {}
        for (state, partner), (cost, ranks) in self.level.items():
            for byte in self.letters:
                target = self.one.step(state, byte), self.other.step(partner, byte)
                if target != (None, None) and target not in self.seen:
                    rank = RANKS[byte]
                    reading = cost + COSTS[rank], ranks + bytes([rank])
                    following[target] = min(reading, following.get(target, reading))
            if len(self.seen) + len(following) > most:
                return False
        self.level = following
        self.seen.update(following)
        return True


def shortest_difference(one: Machine[Any], other: Machine[Any]) -> bytes | None:
    """The shortest text that exactly one machine accepts, the most readable of several; None if they are equal.

    If a machine is not finite, the search may not end; an error then says how much was compared.

    >>> shortest_difference(gv.regex("[0-9]+"), gv.regex("[0-9]*"))
    b''
    >>> shortest_difference(gv.regex("[^a]b"), gv.regex("[^a]c"))
    b'bb'
    """
    found = compare_machines(one, other, limits.DIFFERENCE_PAIRS)
    if found.text is None and not found.whole:
        hint = "gv.machines.compare_machines reports how much was compared"
        raise PatternError("machines", seen=str(found), expected="a difference, or a finished search", hint=hint)
    return found.text
