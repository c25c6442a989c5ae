"""Pairs of states of two machines: set operations by the product construction (Rabin and Scott, 1959), and a search for
a text that only one of the two accepts.

Every machine that the operations return is minimal, so `==` compares languages.
"""

import string
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from guidedviz.errors import PatternError, expect
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.regular.dfa import DFA, MOST_STATES, merge_edges
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import Edge, too_large
from guidedviz.machines.visible import counted, visible
from guidedviz.machines.work import Numbers, spend

Pair = tuple[Any, Any]  # a state of each machine; None is dead

MOST_COMPARED = 50_000  # pairs of states in a comparison; a few seconds
MOST_PAIRS = 100_000  # until a difference must be found
MOST_EDGES = 1_000_000  # visited in a product


def intersection(one: DFA, other: DFA) -> DFA:
    """The texts that both machines accept.

    >>> intersection(gv.regex("(aa)*"), gv.regex("(aaa)*")) == gv.regex("(a{6})*")
    True
    """
    return product(one, other, both=True)


def difference(one: DFA, other: DFA) -> DFA:
    """The texts that the first machine accepts and the second does not.

    >>> difference(gv.regex("[ab]*"), gv.regex("a*|b*")) == gv.regex("(a+b|b+a)[ab]*")
    True
    """
    return product(one, other, both=False)


def product(one: DFA, other: DFA, both: bool) -> DFA:
    """The product machine, of the texts that both machines accept or that only the first one accepts."""
    for machine in (one, other):
        expect(machine, DFA, "machines", "a finite machine", "gv.regex(text)")
    numbers = Numbers[Pair]((0, 0))
    edges: list[tuple[Edge, ...]] = []
    looked_at = 0
    for pair in numbers.met:
        row = []
        for low, high, target in pair_moves(one, other, pair):
            if target[0] is not None and (target[1] is not None or not both):
                row.append((low, high, numbers[target]))
        edges.append(merge_edges(row))
        looked_at += len(row)
        spend(2 + len(row))
        if len(numbers) > MOST_STATES or looked_at > MOST_EDGES:
            raise too_large(f"a product of more than {MOST_STATES:,} states or {MOST_EDGES:,} edges")
    ends = (number for (a, b), number in numbers.items() if a in one.accepting and (b in other.accepting) == both)
    return minimise(DFA(tuple(edges), frozenset(ends)))


def pair_moves(one: DFA, other: DFA, pair: Pair) -> Iterator[tuple[int, int, Pair]]:
    """Lowest byte, highest byte, next pair: the edges of both states, split at every start and end of an edge."""
    first = one.edges[pair[0]] if pair[0] is not None else ()
    second = other.edges[pair[1]] if pair[1] is not None else ()
    cuts = sorted({cut for low, high, _ in (*first, *second) for cut in (low, high + 1)})
    spend(1 + 3 * len(cuts))
    at = beside = 0
    for low, after in pairwise(cuts):
        while at < len(first) and first[at][1] < low:
            at += 1
        while beside < len(second) and second[beside][1] < low:
            beside += 1
        target = first[at][2] if at < len(first) and first[at][0] <= low else None
        partner = second[beside][2] if beside < len(second) and second[beside][0] <= low else None
        if (target, partner) != (None, None):
            yield low, after - 1, (target, partner)


# A search for a text that only one of two machines accepts, through pairs of states, shortest texts first.
#
# Equivalence of grammars is undecidable (Bar-Hillel, Perles and Shamir, 1961), so a result says how far it came.

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
