"""A machine as something that can be drawn: names and arrows, whatever kind of machine it was.

Views draw sketches and know no machine. The frames of an animated construction are sketches too.
"""

from __future__ import annotations

from dataclasses import dataclass

from guidedviz.machines.dfa import DFA
from guidedviz.machines.nfa import NFA

Ranges = tuple[tuple[int, int], ...]  # bytes, both ends included


@dataclass(frozen=True)
class Arrow:
    """All the bytes that lead from one state to another; no bytes at all is a free edge."""

    source: int
    target: int
    ranges: Ranges


@dataclass(frozen=True)
class Sketch:
    """States are places in `names`; what a frame of an animation is about is lit."""

    names: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    initial: int
    accepting: frozenset[int]
    groups: tuple[tuple[str, frozenset[int]], ...] = ()  # drawn with a frame around: a title and its states
    words: str = ""  # one sentence about this frame
    lit: frozenset[int] = frozenset()
    lit_arrows: frozenset[tuple[int, int]] = frozenset()


def sketch_dfa(dfa: DFA) -> Sketch:
    """A finite machine, state 0 first.

    >>> from guidedviz.machines.regex import regex
    >>> sketch_dfa(regex("[a-cx]")).arrows
    (Arrow(source=0, target=1, ranges=((97, 99), (120, 120))),)
    """
    arrows: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, edges in enumerate(dfa.edges):
        for low, high, target in edges:
            arrows.setdefault((source, target), []).append((low, high))
    return Sketch(
        tuple(f"q{state}" for state in range(len(dfa))),
        tuple(Arrow(source, target, tuple(ranges)) for (source, target), ranges in arrows.items()),
        dfa.initial,
        dfa.accepting,
    )


def sketch_nfa(nfa: NFA) -> Sketch:
    """A machine that may be in several states, with its free edges.

    >>> from guidedviz.machines.regex import parse_regex
    >>> from guidedviz.machines.nfa import build_nfa
    >>> sketch_nfa(build_nfa(parse_regex("a?"))).arrows[-1]
    Arrow(source=0, target=1, ranges=())
    """
    arrows: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
    for source in range(len(nfa)):
        for low, high, target in nfa.edges[source]:
            arrows.setdefault((source, target, False), []).append((low, high))
        for target in nfa.free[source]:
            arrows[source, target, True] = []
    return Sketch(
        tuple(f"n{state}" for state in range(len(nfa))),
        tuple(Arrow(source, target, tuple(sorted(ranges))) for (source, target, _), ranges in arrows.items()),
        nfa.initial,
        frozenset({nfa.accepting}),
    )
