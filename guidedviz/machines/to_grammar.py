"""The grammar of a machine, and its text as GBNF.

In a machine over bytes, a path of one to four bytes that encodes whole characters becomes one edge of a grammar.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from guidedviz.errors import PatternError, expect
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.show_grammar import show_gbnf
from guidedviz.machines.grammars.ticks import without_ticks
from guidedviz.machines.graph import grouped
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.ranges import LAST, Range, merge_ranges
from guidedviz.machines.regular.algebra import difference
from guidedviz.machines.regular.build import build_machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.utf8 import utf8_rows
from guidedviz.machines.syntax import ANYTHING, Chars, Tree, build_net
from guidedviz.machines.work import limited_work, spend

TAIL = (0x80, 0xBF)  # the bytes of a character after its first one
ROWS = tuple(utf8_rows(0, LAST))
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
    finite: DFA = expect(machine, DFA, "machine", "a finite or a pushdown machine")
    return Grammar((Rule("root", character_net(finite)),))


@limited_work()
def character_net(dfa: DFA) -> Tree:
    """The same machine over characters; raises PatternError if some text is not UTF-8.

    >>> character_net(gv.regex("é")).edges
    ((0, Chars(ranges=((233, 233),)), 1), (1, Concat(parts=()), 2))
    """
    if dfa.accepting and difference(dfa, build_machine(ANYTHING)).accepting:
        raise PatternError("machine", seen="a text that is not UTF-8", expected="a machine whose texts are all UTF-8")

    def moves(state: int) -> Iterator[tuple[Tree, int]]:
        ranges = grouped((target, (low, high)) for low, high, target in _characters(dfa, state))
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
        spend(5)
        yield way
        return
    least, most, state = way
    for low, high, target in dfa.edges[state]:
        low, high = max(low, tail[0][0]), min(high, tail[0][1])
        whole = [(least, most)] if (low, high) == TAIL else [(value, value) for value in range(least, most + 1)]
        for one, other in whole if low <= high else ():
            yield from _tails(dfa, (one << 6 | low & 0x3F, other << 6 | high & 0x3F, target), tail[1:])
