"""Convert a machine back to a grammar or a regex, for engines that do not accept machines.

A finite machine over bytes becomes a net over characters: a path of one to four bytes that encodes whole characters
becomes one edge with these characters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.counted import without_ticks
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.assertions import build_net
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.tree import Chars, Range, Tree, merge_ranges

MOST_RANGES = 200_000
TAIL = (0x80, 0xBF)
LEADS = ((0xC2, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF4, 3))  # lowest lead byte, highest, number of tail bytes
SECOND = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}  # otherwise TAIL
Way = tuple[int, int, int]  # lowest character, highest character, next state


def to_gbnf(machine: Machine[Any]) -> str:
    """The rules of a pushdown machine, or the one rule of a finite machine, as GBNF text.

    >>> print(to_gbnf(gv.json_schema({"type": "array", "items": {"$ref": "#"}})))
    root ::= "[" (root ("," " "? root)*)? "]"
    """
    return show_gbnf(without_ticks(machine_grammar(machine)))


def machine_grammar(machine: Machine[Any]) -> Grammar:
    """The grammar of a pushdown machine, or a grammar of one rule for a finite machine, with the same language.

    >>> machine_grammar(gv.regex("(a|é)+b")).rules[0].tree.places
    4
    """
    if isinstance(machine, PDA):
        return machine.grammar
    if not isinstance(machine, DFA):
        raise PatternError("machine", seen="another machine", expected="a finite or a pushdown machine")
    return Grammar((Rule("root", character_net(machine), (0, 0)),))


def character_net(dfa: DFA) -> Tree:
    """The same machine over characters; raises PatternError if some text is not UTF-8.

    >>> character_net(gv.regex("é")).edges
    ((0, Chars(ranges=((233, 233),)), 1), (1, Concat(parts=()), 2))
    """
    met, left = {dfa.initial}, MOST_RANGES

    def moves(state: int) -> Iterator[tuple[Tree, int]]:
        nonlocal left
        ranges: defaultdict[int, list[Range]] = defaultdict(list)
        for low, high, target in _characters(dfa, state):
            ranges[target].append((low, high))
            left -= 1
            if left < 0:
                raise PatternError("machine", seen=f"more than {MOST_RANGES:,} ranges", expected="a smaller machine")
        met.update(ranges)
        return ((Chars(_over_surrogates(found)), target) for target, found in ranges.items())

    net = build_net(dfa.initial, moves, dfa.is_accepting)
    if dfa.accepting - met:
        raise _no_text("an end")
    return net


def _over_surrogates(ranges: list[Range]) -> tuple[Range, ...]:
    """Join ranges on both sides of the surrogates, so that [^"] stays [^"]; UTF-8 cannot encode surrogates."""
    around = {0xD7FF, 0xE000} <= {end for pair in ranges for end in pair}
    return merge_ranges([*ranges, *[(0xD800, 0xDFFF)] * around])


def _characters(dfa: DFA, state: int) -> Iterator[Way]:
    """The edges of a state, over whole characters."""
    for low, high, target in dfa.edges[state]:
        if low < 0x80:
            yield low, min(high, 0x7F), target
        for lead in range(max(low, 0x80), high + 1):
            tail = next((tail for first, last, tail in LEADS if first <= lead <= last), 0)
            if not tail:
                raise _no_text(f"the byte {lead:02X}")
            bits = lead & (0x3F >> tail)
            yield from _tails(dfa, (bits, bits, target), tail, SECOND.get(lead, TAIL))


def _tails(dfa: DFA, way: Way, tail: int, allowed: Range = TAIL) -> Iterator[Way]:
    """The edges for the remaining bytes of a character, given the range of its first bits."""
    if not tail:
        yield way
        return
    least, most, state = way
    for low, high, target in dfa.edges[state]:
        if low < allowed[0] or high > allowed[1]:
            raise _no_text(f"the bytes {low:02X} to {high:02X}")
        pairs = [(least, most)] if (low, high) == TAIL else [(value, value) for value in range(least, most + 1)]
        for one, other in pairs:
            yield from _tails(dfa, (one << 6 | low & 0x3F, other << 6 | high & 0x3F, target), tail - 1)


def _no_text(seen: str) -> PatternError:
    return PatternError("machine", seen=f"{seen} inside a character", expected="a machine whose texts are all UTF-8")
