"""The smallest DFA: drop states that lead nowhere, merge states that no text tells apart (Hopcroft, 1971), number anew.

Two patterns with the same texts end in the very same machine, so `==` on machines is equality of languages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from guidedviz.machines.dfa import DFA, merge_edges
from guidedviz.machines.steps import drain

Ranges = tuple[tuple[int, int], ...]  # bytes, both ends included


class MinStep(NamedTuple):
    """Some states of a block go into a set by some bytes and the others do not: a new block for those that go."""

    block: int
    new: int
    moved: frozenset[int]
    into: frozenset[int]
    by: Ranges


def minimise(dfa: DFA) -> DFA:
    """The one smallest machine with the same texts.

    >>> from guidedviz.machines.regex import regex
    >>> regex("aa*|b") == regex("b|a+"), len(regex("(ab|cb)*"))
    (True, 2)
    """
    trimmed = trim(dfa)
    block_of = same_ends(trimmed)
    if block_of is None:
        block_of = drain(split_steps(trimmed))
    return number_states(merge_states(trimmed, block_of))


def same_ends(dfa: DFA) -> list[int] | None:
    """For every state the number of its block where no way leads back (Revuz, 1992); None where one does.

    From the last states up: two are one if both may end or neither, and the same bytes lead to the same blocks.
    The quick twin of `split_steps`, for the many machines that only count.

    >>> from guidedviz.machines.regex import machine_stages
    >>> [same_ends(machine_stages(text)[1]) for text in ("ab|cb", "ab*")]
    [[2, 1, 1, 0], None]
    """
    sources, left = sources_of(dfa), [len(edges) for edges in dfa.edges]
    block_of, known = [-1] * len(dfa), dict[object, int]()
    for state in (done := [state for state, edges in enumerate(dfa.edges) if not edges]):
        row = merge_edges((low, high, block_of[target]) for low, high, target in dfa.edges[state])
        block_of[state] = known.setdefault((state in dfa.accepting, row), len(known))
        for source in sources[state]:
            left[source] -= 1
            if not left[source]:
                done.append(source)
    return block_of if len(done) == len(dfa) else None


def minimise_steps(dfa: DFA) -> Generator[MinStep, None, DFA]:
    """The same split by split; the states are those of `trim(dfa)`, the first blocks those of `first_blocks`."""
    trimmed = trim(dfa)
    block_of = yield from split_steps(trimmed)
    return number_states(merge_states(trimmed, block_of))


def trim(dfa: DFA) -> DFA:
    """Without the edges into states from which no complete text can be reached."""
    sources = sources_of(dfa)
    live, waiting = set(dfa.accepting), list(dfa.accepting)
    while waiting:
        for source in sources[waiting.pop()]:
            if source not in live:
                live.add(source)
                waiting.append(source)
    if len(live) == len(dfa):
        return dfa
    return DFA(tuple(tuple(edge for edge in edges if edge[2] in live) for edges in dfa.edges), dfa.accepting)


def sources_of(dfa: DFA) -> list[list[int]]:
    """For every state those that lead into it, one for each edge."""
    sources: list[list[int]] = [[] for _ in dfa.edges]
    for state, edges in enumerate(dfa.edges):
        for _, _, target in edges:
            sources[target].append(state)
    return sources


def first_blocks(dfa: DFA) -> list[set[int]]:
    """The accepting states and the others; a text of no byte tells them apart."""
    accepting = set(dfa.accepting)
    return [block for block in (accepting, set(range(len(dfa))) - accepting) if block]


def split_steps(dfa: DFA) -> Generator[MinStep, None, list[int]]:
    """For every state the number of its block; states of one block cannot be told apart.

    A block that some byte leads into from only part of another splits that other one. Of the two parts only the
    smaller must be looked at again: that makes it quick.
    """
    letters = byte_classes(dfa)
    incoming = _incoming(dfa, letters)
    blocks = first_blocks(dfa)
    block_of = [0] * len(dfa)
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number
    waiting = set(range(len(blocks)))
    while waiting:
        into = frozenset(blocks[waiting.pop()])
        for sources, letter in _preimages(into, incoming):
            for number, new, moved in _split_blocks(sources, blocks, block_of, waiting):
                yield MinStep(number, new, moved, into, letters[letter])
    return block_of


def byte_classes(dfa: DFA) -> list[Ranges]:
    """The letters of a machine: bytes that every state treats alike are one letter.

    >>> from guidedviz.machines.regex import regex
    >>> byte_classes(regex("[a-z]+|7"))
    [((55, 55),), ((97, 122),)]
    """
    spans = {(low, high) for edges in dfa.edges for low, high, _ in edges}
    cuts = sorted({cut for low, high in spans for cut in (low, high + 1)})
    alike: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = defaultdict(list)
    for low, after in pairwise(cuts):
        inside = tuple(span for span in spans if span[0] <= low <= span[1])
        alike[inside].append((low, after - 1))
    return [tuple(ranges) for inside, ranges in alike.items() if inside]


def _incoming(dfa: DFA, letters: list[Ranges]) -> list[list[tuple[int, int]]]:
    """For every state (letter, source)."""
    spelled: dict[tuple[int, int], list[int]] = {}
    incoming: list[list[tuple[int, int]]] = [[] for _ in dfa.edges]
    for state, edges in enumerate(dfa.edges):
        for low, high, target in edges:
            if (low, high) not in spelled:
                spelled[low, high] = [n for n, ranges in enumerate(letters) if low <= ranges[0][0] <= high]
            incoming[target].extend([(letter, state) for letter in spelled[low, high]])
    return incoming


def _preimages(block: frozenset[int], incoming: list[list[tuple[int, int]]]) -> Iterable[tuple[tuple[int, ...], int]]:
    """The states that one letter leads from into the block, and a letter that does; the same states only once."""
    sources: dict[int, list[int]] = defaultdict(list)
    for state in block:
        for letter, source in incoming[state]:
            sources[letter].append(source)
    return {tuple(states): letter for letter, states in sources.items()}.items()


def _split_blocks(
    sources: tuple[int, ...], blocks: list[set[int]], block_of: list[int], waiting: set[int]
) -> Iterator[tuple[int, int, frozenset[int]]]:
    touched: dict[int, set[int]] = defaultdict(set)
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
        waiting.add(new if number in waiting or len(inside) <= len(blocks[number]) else number)
        yield number, new, frozenset(inside)


def merge_states(dfa: DFA, block_of: list[int]) -> DFA:
    """One state a block; the block of the initial state becomes state 0."""
    names: dict[int, int] = {}
    for block in block_of:
        names.setdefault(block, len(names))
    rows: dict[int, tuple[tuple[int, int, int], ...]] = {}
    for state, edges in enumerate(dfa.edges):
        name = names[block_of[state]]
        if name not in rows:
            rows[name] = merge_edges((low, high, names[block_of[target]]) for low, high, target in edges)
    accepting = frozenset(names[block_of[state]] for state in dfa.accepting)
    return DFA(tuple(rows[name] for name in range(len(rows))), accepting)


def number_states(dfa: DFA) -> DFA:
    """States in the order in which they are first met, level by level, bytes in order; unmet ones are dropped."""
    order = {0: 0}
    for state in (queue := [0]):
        for _, _, target in dfa.edges[state]:
            if target not in order:
                order[target] = len(order)
                queue.append(target)
    edges = (tuple((low, high, order[target]) for low, high, target in dfa.edges[state]) for state in queue)
    return DFA(tuple(edges), frozenset(order[state] for state in dfa.accepting if state in order))
