"""Two machines side by side, whatever they are, until a text tells them apart.

Of two grammars nobody can decide whether they have the same texts (Bar-Hillel, Perles and Shamir, 1961). So this is a
search through pairs of states, the shortest texts first; it says how far it came.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import Machine, check_machine
from guidedviz.machines.readable import RANKS, READABLE, Reading, read_on, text_of
from guidedviz.machines.rule_nodes import byte_kinds
from guidedviz.machines.visible import counted, visible

MOST_PAIRS = 50_000  # of states; a few seconds
Pair = tuple[Any, Any]  # a state of each machine; None for one that has died
Level = dict[Pair, Reading]  # pairs that are so many bytes away, and the best text to each


@dataclass(frozen=True)
class Comparison:
    """What a search has found: a text that exactly one of two machines accepts, or how far there is none."""

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


def compare_machines(one: Machine, other: Machine, most: int = MOST_PAIRS) -> Comparison:
    """Search for the shortest text that exactly one of two machines accepts, the best to read of several.

    >>> from guidedviz.machines.pda import grammar
    >>> from guidedviz.machines.regex import regex
    >>> nested = grammar('root ::= "(" root ")" | "x"')
    >>> print(compare_machines(nested, regex("[(]*x[)]*")))
    only the second accepts x)
    >>> print(compare_machines(nested, grammar('root ::= "(" rest | "x"\\nrest ::= root ")"'), most=100))
    no difference in texts of up to 49 bytes: 99 pairs of states
    """
    for machine in (one, other):
        check_machine(machine, "machines")
    letters = list(_letters(kinds_of(one), kinds_of(other)))
    level: Level = {(one.initial, other.initial): (0, b"")}
    seen, length = set(level), 0
    while level:
        apart = [(way, _accepts(one, a)) for (a, b), way in level.items() if _accepts(one, a) != _accepts(other, b)]
        if apart:
            best, first = min(apart)
            return Comparison(text_of(best), first, length, len(seen), False)
        following = _next_level(one, other, letters, level, seen, most)
        if following is None:
            return Comparison(None, False, length, len(seen), False)
        level, length = following, length + 1
        seen.update(level)
    return Comparison(None, False, length - 1, len(seen), True)


def _accepts(machine: Machine, state: Hashable | None) -> bool:
    return state is not None and machine.is_accepting(state)


def _next_level(
    one: Machine, other: Machine, letters: Iterable[int], level: Level, seen: set[Pair], most: int
) -> Level | None:
    """The pairs that are one byte further and were not met before; None if that makes too many."""
    following: Level = {}
    for (a, b), way in level.items():
        for byte in letters:
            target = (None if a is None else one.step(a, byte)), (None if b is None else other.step(b, byte))
            if target != (None, None) and target not in seen:
                reading = read_on(way, RANKS[byte])
                following[target] = min(reading, following.get(target, reading))
        if len(seen) + len(following) > most:
            return None
    return following


def kinds_of(machine: Any) -> bytes:
    """The kind of every byte: bytes of one kind move every state alike; of a machine that does not say, each its own.

    >>> from guidedviz.machines.regex import regex
    >>> kinds = kinds_of(regex("[0-9]+x"))
    >>> kinds[ord("3")] == kinds[ord("7")] != kinds[ord("x")], len(set(kinds))
    (True, 3)
    """
    if isinstance(machine, DFA):
        return byte_kinds(machine.edges)
    kinds: bytes = getattr(machine, "kinds", bytes(range(256)))
    return kinds


def _letters(some: bytes, others: bytes) -> Iterable[int]:
    """Of the bytes that move both machines alike the one that reads best."""
    chosen: dict[tuple[int, int], int] = {}
    for byte in READABLE:
        chosen.setdefault((some[byte], others[byte]), byte)
    return chosen.values()
