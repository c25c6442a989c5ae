"""The minimal machine of a tree, over bytes or over characters.

In a machine over characters an edge is a range of code points, and the machine can be a syntax tree again.
"""

from collections.abc import Callable, Iterable, Iterator

from guidedviz.machines.graph import grouped
from guidedviz.machines.ranges import Range, merge_ranges
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import Edge, Letter, ShapeOf, build_nfa
from guidedviz.machines.regular.utf8 import Shape, shape_chars
from guidedviz.machines.syntax import Chars, Tree, build_net, no_rules


def build_machine(tree: Tree, letter: Letter = no_rules, shape: ShapeOf = shape_chars) -> DFA:
    """The minimal machine of a tree; see `build_nfa`."""
    return minimise(build_dfa(build_nfa(tree, letter, shape)))


def code_machine(tree: Tree) -> DFA:
    """The minimal machine of a tree, whose edges are ranges of characters."""
    return build_machine(tree, shape=_one_edge_per_range)


def _one_edge_per_range(ranges: tuple[Range, ...]) -> Shape:
    return 0, tuple([(0, low, high, 1) for low, high in ranges])


def code_net(dfa: DFA) -> Tree:
    """A machine over characters as a tree: its states, joined by classes of characters."""
    return class_net(dfa, dfa.edges.__getitem__, merge_ranges)


def class_net(
    dfa: DFA,
    edges_of: Callable[[int], Iterable[Edge]],
    merge: Callable[[list[Range]], tuple[Range, ...]],
) -> Tree:
    """The states of a machine, joined by classes: the edges of each state are over characters."""

    def moves(state: int) -> Iterator[tuple[Tree, int]]:
        ranges = grouped((target, (low, high)) for low, high, target in edges_of(state))
        return ((Chars(merge(found)), target) for target, found in ranges.items())

    return build_net(dfa.initial, moves, dfa.is_accepting)
