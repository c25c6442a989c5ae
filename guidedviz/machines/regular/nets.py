"""A machine as a syntax tree again: a net of its states, joined by classes of characters.

Machines may be built over characters instead of bytes: an edge is then a range of code points. A tree that is computed
from such a machine can still be escaped or intersected, as JSON Schema does with patterns. In a machine over bytes, a
path of one to four bytes that encodes whole characters becomes one edge with these characters.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from guidedviz.errors import PatternError
from guidedviz.machines.regular.algebra import difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import build_machine
from guidedviz.machines.regular.nfa import utf8_rows
from guidedviz.machines.syntax import ANYTHING, EMPTY, LAST, NOTHING, Chars, Net, Range, Tree, merge_ranges
from guidedviz.machines.work import Numbers, grouped, reach

T = TypeVar("T", bound=Hashable)
MOST_RANGES = 200_000
TAIL = (0x80, 0xBF)  # the bytes of a character after its first one
ROWS = tuple(utf8_rows(0, LAST))
Way = tuple[int, int, int]  # lowest character, highest character, next state


def code_machine(tree: Tree) -> DFA:
    """The minimal machine of a tree, whose edges are ranges of characters."""
    return build_machine(tree, shape=lambda chars: (0, tuple((0, *pair, 1) for pair in chars.ranges)))


def code_net(dfa: DFA) -> Tree:
    """A machine over characters as a tree: its states, joined by classes of characters."""

    def moves(state: int) -> Iterator[tuple[Tree, int]]:
        ranges = grouped((target, (low, high)) for low, high, target in dfa.edges[state])
        return ((Chars(merge_ranges(found)), target) for target, found in ranges.items())

    return build_net(dfa.initial, moves, dfa.is_accepting)


def build_net(start: T, moves: Callable[[T], Iterable[tuple[Tree, T]]], may_end: Callable[[T], bool]) -> Tree:
    """An automaton by its moves, from place to place, as a net without dead ends; NOTHING if no text ends.

    >>> a = Chars(((97, 97),))
    >>> net = build_net(0, lambda place: [(a, place + 1)] if place < 2 else [], lambda place: place == 1)
    >>> [(source, target) for source, _, target in net.edges]
    [(0, 1), (1, 3)]
    """
    numbers = Numbers(start)
    edges = [(numbers[place], part, numbers[target]) for place in numbers.met for part, target in moves(place)]
    last = len(numbers)
    edges += [(number, EMPTY, last) for place, number in numbers.items() if may_end(place)]
    sources = grouped((to, source) for source, _, to in edges)
    live = {*reach([last], sources.__getitem__)}
    return Net(last + 1, tuple(edge for edge in edges if edge[2] in live)) if 0 in live else NOTHING


def character_net(dfa: DFA) -> Tree:
    """The same machine over characters; raises PatternError if some text is not UTF-8.

    >>> character_net(gv.regex("é")).edges
    ((0, Chars(ranges=((233, 233),)), 1), (1, Concat(parts=()), 2))
    """
    if dfa.accepting and difference(dfa, build_machine(ANYTHING)).accepting:
        raise PatternError("machine", seen="a text that is not UTF-8", expected="a machine whose texts are all UTF-8")
    left = MOST_RANGES

    def moves(state: int) -> Iterator[tuple[Tree, int]]:
        nonlocal left
        ranges: defaultdict[int, list[Range]] = defaultdict(list)
        for low, high, target in _characters(dfa, state):
            ranges[target].append((low, high))
            left -= 1
            if left < 0:
                raise PatternError("machine", seen=f"more than {MOST_RANGES:,} ranges", expected="a smaller machine")
        return ((Chars(_over_surrogates(found)), target) for target, found in ranges.items())

    return build_net(dfa.initial, moves, dfa.is_accepting)


def _over_surrogates(ranges: list[Range]) -> tuple[Range, ...]:
    """Join ranges on both sides of the surrogates, so that [^"] stays [^"]; UTF-8 cannot encode surrogates."""
    around = {0xD7FF, 0xE000} <= {end for pair in ranges for end in pair}
    return merge_ranges([*ranges, *[(0xD800, 0xDFFF)] * around])


def _characters(dfa: DFA, state: int) -> Iterator[Way]:
    """The edges of a state, over whole characters."""
    for (first, last), *tail in ROWS:
        for low, high, target in dfa.edges[state]:
            leads = range(max(low, first), min(high, last) + 1)
            for lead in leads if tail else ():
                bits = lead & 0x3F >> len(tail)
                yield from _tails(dfa, (bits, bits, target), tail)
            if leads and not tail:
                yield leads[0], leads[-1], target


def _tails(dfa: DFA, way: Way, tail: Sequence[Range]) -> Iterator[Way]:
    """The edges for the remaining bytes of a character, given the range of its first bits."""
    if not tail:
        yield way
        return
    least, most, state = way
    for low, high, target in dfa.edges[state]:
        low, high = max(low, tail[0][0]), min(high, tail[0][1])
        whole = [(least, most)] if (low, high) == TAIL else [(value, value) for value in range(least, most + 1)]
        for one, other in whole if low <= high else ():
            yield from _tails(dfa, (one << 6 | low & 0x3F, other << 6 | high & 0x3F, target), tail[1:])
