"""The smallest DFA: drop states that lead nowhere, merge states that no text tells apart (Hopcroft, 1971), number anew.

Two patterns with the same texts end in the very same machine, so `==` on machines is equality of languages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from guidedviz.machines.dfa import DFA, merge_edges


def minimise(dfa: DFA) -> DFA:
    """The one smallest machine with the same texts.

    >>> from guidedviz.machines.regex import regex
    >>> regex("aa*|b") == regex("b|a+"), len(regex("(ab|cb)*"))
    (True, 2)
    """
    trimmed = trim(dfa)
    return number_states(merge_states(trimmed, same_states(trimmed)))


def trim(dfa: DFA) -> DFA:
    """Without the edges into states from which no complete text can be reached."""
    sources: dict[int, list[int]] = defaultdict(list)
    for state, edges in enumerate(dfa.edges):
        for _, _, target in edges:
            sources[target].append(state)
    live, waiting = set(dfa.accepting), list(dfa.accepting)
    while waiting:
        for source in sources[waiting.pop()]:
            if source not in live:
                live.add(source)
                waiting.append(source)
    return DFA(tuple(tuple(edge for edge in edges if edge[2] in live) for edges in dfa.edges), dfa.accepting)


def same_states(dfa: DFA) -> list[int]:
    """For every state the number of its block; states of one block cannot be told apart.

    Begin with two blocks, accepting and not. A block that some byte leads into from only part of another splits that
    other one. Of the two parts only the smaller must be looked at again: that makes it quick.
    """
    incoming = _incoming(dfa)
    accepting = set(dfa.accepting)
    blocks = [block for block in (accepting, set(range(len(dfa))) - accepting) if block]
    block_of = [0] * len(dfa)
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number
    waiting = set(range(len(blocks)))
    while waiting:
        for sources in _preimages(blocks[waiting.pop()], incoming):
            _split_blocks(sources, blocks, block_of, waiting)
    return block_of


def _incoming(dfa: DFA) -> list[list[tuple[int, int]]]:
    """For every state (letter, source); a letter is a range of bytes that no edge of the machine cuts."""
    cuts = sorted({cut for edges in dfa.edges for low, high, _ in edges for cut in (low, high + 1)})
    place = {cut: number for number, cut in enumerate(cuts)}
    incoming: list[list[tuple[int, int]]] = [[] for _ in dfa.edges]
    for state, edges in enumerate(dfa.edges):
        for low, high, target in edges:
            incoming[target].extend((letter, state) for letter in range(place[low], place[high + 1]))
    return incoming


def _preimages(block: set[int], incoming: list[list[tuple[int, int]]]) -> Iterable[list[int]]:
    sources: dict[int, list[int]] = defaultdict(list)
    for state in block:
        for letter, source in incoming[state]:
            sources[letter].append(source)
    return sources.values()


def _split_blocks(sources: list[int], blocks: list[set[int]], block_of: list[int], waiting: set[int]) -> None:
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
        if number in waiting or len(inside) <= len(blocks[number]):
            waiting.add(new)
        else:
            waiting.add(number)


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
