"""A machine over bytes as a tree over characters."""

from collections.abc import Iterator, Sequence
from functools import partial

from guidedviz.errors import PatternError
from guidedviz.machines.machine import CONTINUING
from guidedviz.machines.ranges import LAST, Range, merge_ranges
from guidedviz.machines.regular.algebra import difference
from guidedviz.machines.regular.build import build_machine, class_net
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import Edge
from guidedviz.machines.regular.utf8 import utf8_rows
from guidedviz.machines.syntax import ANYTHING, Tree
from guidedviz.machines.work import limited_work, spend

UTF8_ROWS = tuple(utf8_rows(0, LAST))


@limited_work()
def character_net(dfa: DFA) -> Tree:
    """The same machine over characters; raises PatternError if some text is not UTF-8.

    >>> character_net(gv.regex("é")).edges
    ((0, Chars(ranges=((233, 233),)), 1), (1, Concat(parts=()), 2))
    """
    if dfa.accepting and difference(dfa, build_machine(ANYTHING)).accepting:
        raise PatternError("machine", seen="a text that is not UTF-8", expected="a machine whose texts are all UTF-8")
    return class_net(dfa, partial(_characters, dfa), _over_surrogates)


def _over_surrogates(ranges: list[Range]) -> tuple[Range, ...]:
    """Join ranges on both sides of the surrogates, so that [^"] stays [^"]; UTF-8 cannot encode surrogates."""
    ends = {end for pair in ranges for end in pair}
    if {0xD7FF, 0xE000} <= ends:
        ranges.append((0xD800, 0xDFFF))
    return merge_ranges(ranges)


def _characters(dfa: DFA, state: int) -> Iterator[Edge]:
    """The edges of a state, over whole characters."""
    for (first, last), *tail in UTF8_ROWS:
        for low, high, target in dfa.edges[state]:
            leads = range(max(low, first), min(high, last) + 1)
            if tail:
                for lead in leads:
                    bits = lead & 0x3F >> len(tail)  # of the character; the others say how many bytes follow
                    yield from _tails(dfa, (bits, bits, target), tail)
            elif leads:
                yield leads[0], leads[-1], target


def _tails(dfa: DFA, edge: Edge, tail: Sequence[Range]) -> Iterator[Edge]:
    """The edges for the remaining bytes of a character, given the edge over its first bits."""
    if not tail:
        spend(5)
        yield edge
        return
    least, most, state = edge
    for low, high, target in dfa.edges[state]:
        bytes_read = range(max(low, tail[0][0]), min(high, tail[0][1]) + 1)
        if not bytes_read:
            continue
        first = bytes_read[0] & 0x3F
        last = bytes_read[-1] & 0x3F
        if bytes_read == CONTINUING:
            yield from _tails(dfa, (least << 6 | first, most << 6 | last, target), tail[1:])
        else:
            for bits in range(least, most + 1):
                yield from _tails(dfa, (bits << 6 | first, bits << 6 | last, target), tail[1:])
