"""The minimal DFA: drop dead states, merge equivalent states (Hopcroft, 1971), renumber.

Patterns with the same language give equal machines, so `==` on machines compares languages.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from typing import Any, NamedTuple

from guidedviz.machines.graph import Numbers, grouped, reach
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.regular.dfa import DFA, disjoint, drain, merge_edges
from guidedviz.machines.regular.nfa import Edge
from guidedviz.machines.work import spend

LetterRanges = tuple[tuple[int, int], ...]  # bytes, both ends included
Incoming = list[list[tuple[int, int]]]  # the edges into every state: the number of a letter, the source


class MinStep(NamedTuple):
    """One split: the states of a block that lead into a set by these bytes become a new block."""

    block: int
    new: int
    moved: frozenset[int]
    into: frozenset[int]
    by: LetterRanges


def minimise(dfa: DFA) -> DFA:
    """The minimal machine with the same language.

    >>> gv.regex("aa*|b") == gv.regex("b|a+"), len(gv.regex("(ab|cb)*"))
    (True, 2)
    """
    edges = sum(map(len, dfa.edges))
    spend(20 + 3 * len(dfa) + 4 * edges)
    return drain(minimise_steps(dfa))


def minimise_steps(dfa: DFA) -> Generator[MinStep, None, DFA]:
    """`minimise` in steps of one split, on the states of `trim(dfa)`, starting from `first_blocks`.

    States of one block are equivalent as far as is known. If a byte leads into a block from only some states of another
    block, that other block is split. Only the smaller part is processed again, so the time is O(n log n).
    """
    dfa = trim(dfa)
    classes = byte_classes(dfa)
    letters = list(classes.values())
    incoming = _incoming(dfa, classes)
    blocks = first_blocks(dfa)
    block_of = [0 for _ in dfa.edges]
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number
    waiting = set(range(len(blocks)))
    while waiting:
        into = frozenset(blocks[waiting.pop()])
        for sources, letter in _preimages(into, incoming):
            for number, new, moved in _split_blocks(sources, blocks, block_of, waiting):
                yield MinStep(number, new, moved, into, letters[letter])
    return merge_states(dfa, block_of)


def trim(dfa: DFA) -> DFA:
    """The machine without edges into dead states; itself if it has none."""
    sources = sources_of(dfa.edges)
    live = reach(dfa.accepting, sources.__getitem__)
    if len(live) == len(dfa):
        return dfa
    rows = tuple([tuple([edge for edge in edges if edge[2] in live]) for edges in dfa.edges])
    return dfa if rows == dfa.edges else DFA(rows, dfa.accepting)


def live_machine(given: object, where: str) -> Machine[Any]:
    """A machine without edges into dead states; a machine of one's own is wrapped."""
    machine = as_machine(given, where)
    return trim(machine) if isinstance(machine, DFA) else machine


def sources_of(edges: Iterable[Iterable[Edge]]) -> defaultdict[int, list[int]]:
    """The sources of the edges into every state, from the edges out of every state."""
    sources = defaultdict(list)
    for state, row in enumerate(edges):
        for _, _, target in row:
            sources[target].append(state)
    return sources


def first_blocks(dfa: DFA) -> list[set[int]]:
    """The accepting states and the others; the empty text distinguishes them."""
    accepting = set(dfa.accepting)
    others = set(range(len(dfa))) - accepting
    return [block for block in (accepting, others) if block]


def byte_classes(dfa: DFA) -> dict[frozenset[tuple[int, int]], LetterRanges]:
    """The letters of a machine: bytes that the same edges hold are one letter; each with the bounds of these edges.

    >>> list(byte_classes(gv.regex("[a-z]+|7")).values())
    [((55, 55),), ((97, 122),)]
    """
    bounds = {(low, high) for edges in dfa.edges for low, high, _ in edges}
    spans = disjoint([(low, high, (low, high)) for low, high in bounds])
    letters = grouped((held, (low, high)) for low, high, held in spans)
    return {held: tuple(ranges) for held, ranges in letters.items()}


def _incoming(dfa: DFA, letters: Iterable[Iterable[tuple[int, int]]]) -> Incoming:
    """The edges into every state."""
    spelled = grouped((bounds, letter) for letter, held in enumerate(letters) for bounds in held)
    incoming: Incoming = [[] for _ in dfa.edges]
    for state, edges in enumerate(dfa.edges):
        for low, high, target in edges:
            incoming[target].extend([(letter, state) for letter in spelled[low, high]])
    return incoming


def _preimages(block: frozenset[int], incoming: Incoming) -> Iterable[tuple[tuple[int, ...], int]]:
    """The sets of states from which a letter leads into the block, each with one such letter."""
    sources = defaultdict(list)
    for state in block:
        spend(1 + len(incoming[state]))
        for letter, source in incoming[state]:
            sources[letter].append(source)
    return {tuple(states): letter for letter, states in sources.items()}.items()


def _split_blocks(
    sources: tuple[int, ...], blocks: list[set[int]], block_of: list[int], waiting: set[int]
) -> Iterator[tuple[int, int, frozenset[int]]]:
    spend(1 + len(sources))
    touched = defaultdict(set)
    for source in sources:
        touched[block_of[source]].add(source)
    for number, inside in touched.items():
        if len(inside) == len(blocks[number]):
            continue
        blocks[number] -= inside
        new = len(blocks)
        blocks.append(inside)
        for state in inside:
            block_of[state] = new
        if number in waiting or len(inside) <= len(blocks[number]):
            waiting.add(new)
        else:
            waiting.add(number)
        yield number, new, frozenset(inside)


def merge_states(dfa: DFA, block_of: list[int]) -> DFA:
    """One state per reachable block, in breadth-first order by byte; the block of the initial state is state 0."""
    first: dict[int, int] = {}
    for state, block in enumerate(block_of):
        first.setdefault(block, state)
    numbers = Numbers(block_of[0])
    rows = []
    for block in numbers.met:
        row = merge_edges((low, high, block_of[target]) for low, high, target in dfa.edges[first[block]])
        rows.append(tuple([(low, high, numbers[target]) for low, high, target in row]))
    accepting = {block_of[state] for state in dfa.accepting}
    return DFA(tuple(rows), frozenset(numbers[block] for block in numbers.met if block in accepting))
