"""Machines and trees: each becomes the other, and set operations on two machines are a product (Rabin and Scott, 1959).

Every machine here is minimal, so `==` compares languages. An edge is a range of bytes, or of characters
(`code_machine`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from guidedviz.errors import PatternError, expect
from guidedviz.machines import limits
from guidedviz.machines.graph import Numbers, grouped
from guidedviz.machines.machine import CONTINUING
from guidedviz.machines.ranges import LAST, SINGLE_BYTES, Range, Ranges, Shape, merge_ranges, shape_chars, utf8_rows
from guidedviz.machines.regular.dfa import DFA, build_dfa, disjoint, merge_edges
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import Edge, EdgeRow, Letter, ShapeOf, build_nfa, machine_too_large
from guidedviz.machines.syntax import Chars, NetMoves, Repeat, Tree, build_net, no_rules
from guidedviz.machines.work import limited_work, spend

Pair = tuple[Any, Any]  # a state of each machine; None is dead


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
    rows: list[EdgeRow] = []
    accepting = set()
    visited = 0
    for pair in numbers.met:  # it grows
        if pair[0] in one.accepting and (pair[1] in other.accepting) == both:
            accepting.add(len(rows))
        row = []
        for low, high, target in pair_moves(one, other, pair):
            if None not in (target if both else target[:1]):
                row.append((low, high, numbers[target]))
        rows.append(merge_edges(row))
        visited += len(row)
        spend(2 + len(row))
        if len(numbers) > limits.DFA_STATES or visited > limits.PRODUCT_EDGES:
            seen = f"a product of more than {limits.DFA_STATES:,} states or {limits.PRODUCT_EDGES:,} edges"
            raise machine_too_large(seen)
    return minimise(DFA(tuple(rows), frozenset(accepting)))


def without_texts(machine: DFA, texts: Iterable[bytes]) -> DFA:
    """The texts of a machine that begin with none of these, of which none begins another; minimal like the machine.

    A state is one of the machine, and what is left of the texts.

    >>> without_texts(gv.regex('"[a-z]*":x?'), [b'"a"']) == gv.regex('"([b-z]?|[a-z]{2,})":x?')
    True
    """
    numbers = Numbers((machine.initial, frozenset(texts)))
    rows = []
    for state, rests in numbers.met:  # it grows
        row = []
        for low, high, pair in cut_edges(machine.edges[state], rests):
            if low <= high and b"" not in pair[1]:
                row.append((low, high, numbers[pair]))
        spend(2 + len(row))
        rows.append(merge_edges(row))
    accepting = [number for (state, _), number in numbers.items() if state in machine.accepting]
    return DFA(tuple(rows), frozenset(accepting))


def cut_edges(edges: EdgeRow, texts: frozenset[bytes]) -> Iterator[tuple[int, int, tuple[int, frozenset[bytes]]]]:
    """Edges cut at the bytes with which texts begin; each leads to its target, and to what is left of such texts."""
    following = grouped((text[0], text[1:]) for text in texts)
    for low, high, target in edges:
        start = low
        for byte in sorted(following):
            if low <= byte <= high:
                yield start, byte - 1, (target, frozenset())
                yield byte, byte, (target, frozenset(following[byte]))
                start = byte + 1
        yield start, high, (target, frozenset())


def pair_moves(one: DFA, other: DFA, pair: Pair) -> Iterator[tuple[int, int, Pair]]:
    """Lowest byte, highest byte, next pair: the edges of both states, split at every start and end of an edge."""
    state, partner = pair
    edges: list[tuple[int, int, tuple[bool, int]]] = []
    if state is not None:
        edges += [(low, high, (True, target)) for low, high, target in one.edges[state]]
    if partner is not None:
        edges += [(low, high, (False, target)) for low, high, target in other.edges[partner]]
    spend(1 + 5 * len(edges))
    for low, high, reached in disjoint(edges):
        targets = dict(reached)
        yield low, high, (targets.get(True), targets.get(False))


def build_machine(tree: Tree, letter: Letter = no_rules, shape: ShapeOf = shape_chars) -> DFA:
    """The minimal machine of a tree; see `build_nfa`."""
    return minimise(build_dfa(build_nfa(tree, letter, shape, share=True)))


def put_before(row: Sequence[tuple[int, int, bool]], machine: DFA) -> DFA | None:
    """The texts of a row and then of a minimal machine: the row's lowest and highest bytes, and what may be left out.

    It is minimal as it stands. None if it is not, or if what may be left out is not below all that may follow.

    >>> put_before([(97, 97, False), (32, 32, True), (98, 98, False)], gv.regex("c")).edges
    (((97, 97, 1),), ((32, 32, 2), (98, 98, 3)), ((98, 98, 3),), ((99, 99, 4),), ())
    """
    size = len(row)
    rows = [tuple([(low, high, size + target) for low, high, target in edges]) for edges in machine.edges]
    known = set(rows)
    following = rows[0]
    before: list[EdgeRow] = []
    for place in range(size, 0, -1):
        low, high, is_optional = row[place - 1]
        if is_optional and following[0][0] <= high:
            return None
        following = ((low, high, place), *(following if is_optional else ()))
        if following in known:
            return None
        before.append(following)
    spend(size)
    return DFA((*reversed(before), *rows), frozenset(size + state for state in machine.accepting))


def code_machine(tree: Tree) -> DFA:
    """The minimal machine of a tree, whose edges are ranges of characters."""
    return build_machine(tree, shape=_one_edge_per_range)


def _one_edge_per_range(ranges: Ranges) -> Shape:
    return 0, tuple([(0, low, high, 1) for low, high in ranges])


def code_net(dfa: DFA) -> Tree:
    """A machine over characters as a tree: its states, joined by classes of characters."""
    return class_net(dfa, dfa.edges.__getitem__, merge_ranges)


def class_net(
    dfa: DFA,
    edges_of: Callable[[int], Iterable[Edge]],
    merge: Callable[[list[Range]], Ranges],
) -> Tree:
    """The states of a machine, joined by classes: the edges of each state are over characters."""

    def moves(state: int) -> NetMoves[int]:
        ranges = grouped((target, (low, high)) for low, high, target in edges_of(state))
        return ((Chars(merge(found)), target) for target, found in ranges.items())

    return build_net(dfa.initial, moves, dfa.is_accepting)


UTF8_ROWS = tuple(utf8_rows(0, LAST))
NAMES_TOO = Repeat(Chars(((0, LAST), *((code, code) for code in SINGLE_BYTES))), 0, None)  # and around special tokens


@limited_work()
def character_net(dfa: DFA) -> Tree:
    """The same machine over characters; raises PatternError if some text is not UTF-8.

    >>> character_net(gv.regex("é")).edges
    ((0, Chars(ranges=((233, 233),)), 1), (1, Concat(parts=()), 2))
    """
    if dfa.accepting and difference(dfa, build_machine(NAMES_TOO)).accepting:
        raise PatternError("machine", seen="a text that is not UTF-8", expected="a machine whose texts are all UTF-8")
    return class_net(dfa, partial(_characters, dfa), _over_surrogates)


def _over_surrogates(ranges: list[Range]) -> Ranges:
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
    for code, byte in SINGLE_BYTES.items():
        for low, high, target in dfa.edges[state]:
            if low <= byte <= high:
                yield code, code, target


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
