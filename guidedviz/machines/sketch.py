"""A machine as something that can be drawn: names and arrows, whatever kind of machine it was.

Views draw sketches and know no machine. The frames of an animated construction are sketches too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from guidedviz.machines.dfa import DFA
from guidedviz.machines.nfa import NFA
from guidedviz.machines.pda import PDA
from guidedviz.machines.rule_nodes import RuleNodes

Ranges = tuple[tuple[int, int], ...]  # bytes, both ends included


@dataclass(frozen=True)
class Arrow:
    """All the bytes that lead from one state to another; no bytes at all is a free edge, or the call of a rule."""

    source: int
    target: int
    ranges: Ranges
    call: str = ""  # the rule that is read in between
    through: tuple[int, ...] = field(default=(), repr=False)  # a chain: the states inside; the bytes come one by one


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
    rules: tuple[tuple[str, tuple[int, ...]], ...] = ()  # of a grammar: a name and its nodes, the start first
    opened: frozenset[int] = frozenset()  # the states inside chains that could be folded and are not

    @cached_property
    def folded(self) -> frozenset[int]:
        """The states inside chains that are folded."""
        return frozenset(state for arrow in self.arrows for state in arrow.through)

    def is_chain(self, arrow: Arrow) -> bool:
        """Whether an arrow is a folded chain, or one byte of an unfolded one."""
        return bool(arrow.through) or arrow.source in self.opened or arrow.target in self.opened


def is_single(ranges: Ranges) -> bool:
    """Whether it is one byte.

    >>> is_single(((97, 97),)), is_single(((97, 99),)), is_single(())
    (True, False, False)
    """
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def sketch_dfa(dfa: DFA) -> Sketch:
    """A finite machine, state 0 first.

    >>> from guidedviz.machines.regex import regex
    >>> sketch_dfa(regex("[a-cx]")).arrows
    (Arrow(source=0, target=1, ranges=((97, 99), (120, 120)), call=''),)
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
    Arrow(source=0, target=1, ranges=(), call='')
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


def sketch_pda(pda: PDA) -> Sketch:
    """The automata of a grammar's rules side by side; where one calls another there is an arrow over the call.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> from guidedviz.machines.pda import build_pda
    >>> sketch = sketch_pda(build_pda(parse_grammar('root ::= "(" root ")" | "x"')))
    >>> sketch.rules, [arrow for arrow in sketch.arrows if arrow.call]
    ((('root', (0, 1, 2, 3)),), [Arrow(source=1, target=3, ranges=(), call='root')])
    """
    nodes = pda.nodes
    bytewise: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, edges in enumerate(nodes.edges):
        for low, high, target in edges:
            bytewise.setdefault((source, target), []).append((low, high))
    arrows = [Arrow(source, target, tuple(ranges)) for (source, target), ranges in bytewise.items()]
    arrows += [
        Arrow(source, after, (), nodes.names[rule]) for source, calls in enumerate(nodes.calls) for rule, after in calls
    ]
    return Sketch(
        tuple(f"n{node}" for node in range(len(nodes))),
        tuple(arrows),
        nodes.starts[0],
        nodes.accepting,
        rules=_nodes_of_rules(nodes, arrows),
    )


def _nodes_of_rules(nodes: RuleNodes, arrows: list[Arrow]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The nodes of every rule in order; one that no arrow reaches is left out, as nothing can be finished from it."""
    used = {*nodes.starts, *(arrow.target for arrow in arrows)}
    found: list[list[int]] = [[start] for start in nodes.starts]
    for node in sorted(used - {*nodes.starts}):
        found[nodes.rule_of[node]].append(node)
    return tuple(zip(nodes.names, map(tuple, found), strict=True))
