"""Machines over characters instead of bytes: an edge is a range of code points.

A tree that is computed from such a machine can still be escaped or intersected, as JSON Schema does with patterns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise

from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import Shape, build_nfa
from guidedviz.machines.tree import EMPTY, LAST, NOTHING, Call, Chars, Net, Range, Tree, common_ranges, merge_ranges

WITH_BYTES = ((0, 0xD7FF), (0xE000, LAST))  # all characters but surrogates


def shape_codes(chars: Chars) -> Shape:
    """One edge per range of code points; surrogates have no bytes.

    >>> shape_codes(Chars(((0x41, 0x41), (0xD000, 0xE000))))
    (0, ((0, 65, 65, 1), (0, 53248, 55295, 1), (0, 57344, 57344, 1)))
    """
    return 0, tuple((0, low, high, 1) for low, high in common_ranges(chars.ranges, WITH_BYTES))


def code_machine(tree: Tree, letter: Callable[[Call], int]) -> DFA:
    """The minimal machine over characters; a call is an edge with its own letter above the last code point."""
    return minimise(build_dfa(build_nfa(tree, letter, shape_codes)))


def split_letters(found: Iterable[Iterable[Range]]) -> list[tuple[Range, ...]]:
    """The coarsest classes from which all these classes are composed.

    >>> split_letters([[(1, 9)], [(5, 12), (20, 20)]])
    [((1, 4),), ((5, 9),), ((10, 12), (20, 20))]
    """
    changes: dict[int, set[int]] = defaultdict(set)  # code point -> the classes that begin or end there
    for number, ranges in enumerate(found):
        for low, high in merge_ranges(ranges):
            changes[low] ^= {number}
            changes[high + 1] ^= {number}
    inside: frozenset[int] = frozenset()
    letters: dict[frozenset[int], list[Range]] = defaultdict(list)
    for low, after in pairwise(sorted(changes)):
        inside ^= changes[low]
        letters[inside].append((low, after - 1))
    return [tuple(ranges) for classes, ranges in letters.items() if classes]


def code_net(dfa: DFA) -> Tree:
    """A machine over characters as a tree: its states, joined by classes of characters."""
    if not dfa.accepting:
        return NOTHING
    edges: list[tuple[int, Tree, int]] = [(state, EMPTY, len(dfa)) for state in sorted(dfa.accepting)]
    for state, row in enumerate(dfa.edges):
        ranges: dict[int, list[Range]] = defaultdict(list)
        for low, high, target in row:
            ranges[target].append((low, high))
        edges += [(state, Chars(merge_ranges(found)), target) for target, found in ranges.items()]
    return Net(len(dfa) + 1, tuple(edges))
