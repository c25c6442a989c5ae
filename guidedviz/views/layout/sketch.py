"""What is drawn of a machine, of any kind: its state names and arrows.

The frames of an animated construction are sketches too. Next: views/machine/picture.py draws them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from guidedviz.machines.names import name_node, name_state
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.rule_nodes import RuleNodes
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.visible import byte_ranges
from guidedviz.tokens.by_hand.fsm import GuidedFSM

Ranges = tuple[tuple[int, int], ...]  # of bytes, both ends included


@dataclass(frozen=True)
class Arrow:
    """All bytes that lead from one state to another; without bytes it is an epsilon edge or the call of a rule."""

    source: int
    target: int
    ranges: Ranges
    call: str = ""  # the called rule
    loop: str = field(default="", repr=False)  # of a counted rule, from its end to its start: how often
    through: tuple[int, ...] = field(default=(), repr=False)  # the states inside a folded chain or loop
    folds_loop: bool = field(default=False, repr=False)  # the states inside come back to the source in several ways


@dataclass(frozen=True)
class Sketch:
    """States are indices into `names`; a frame of an animation highlights its subject."""

    names: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    initial: int
    accepting: frozenset[int]
    groups: tuple[tuple[str, frozenset[int]], ...] = ()  # titles and their states, drawn with a mark
    words: str = ""  # a sentence about this frame
    lit: frozenset[int] = frozenset()
    lit_arrows: frozenset[tuple[int, int]] = frozenset()
    rules: tuple[tuple[str, tuple[int, ...]], ...] = ()  # of a grammar: names and nodes, the start first
    repeats: tuple[tuple[str, str], ...] = ()  # the counted rules, and how often each is repeated
    opened: frozenset[int] = frozenset()  # the states inside unfolded chains

    @cached_property
    def folded(self) -> frozenset[int]:
        """The states inside folded chains and loops."""
        return frozenset(state for arrow in self.arrows for state in arrow.through)

    def is_chain(self, arrow: Arrow) -> bool:
        """Whether an arrow is a folded chain or one byte of an unfolded one."""
        return bool(arrow.through) or arrow.source in self.opened or arrow.target in self.opened


def is_single(ranges: Ranges) -> bool:
    """Whether the ranges are one byte.

    >>> is_single(((97, 97),)), is_single(((97, 99),)), is_single(())
    (True, False, False)
    """
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def sketch_dfa(dfa: DFA) -> Sketch:
    """A DFA, state 0 first.

    >>> sketch_dfa(gv.regex("[a-cx]")).arrows
    (Arrow(source=0, target=1, ranges=((97, 99), (120, 120)), call=''),)
    """
    arrows: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, edges in enumerate(dfa.edges):
        for low, high, target in edges:
            arrows.setdefault((source, target), []).append((low, high))
    return Sketch(
        tuple(map(name_state, range(len(dfa)))),
        tuple(Arrow(source, target, tuple(ranges)) for (source, target), ranges in arrows.items()),
        dfa.initial,
        dfa.accepting,
    )


def sketch_nfa(nfa: NFA) -> Sketch:
    """An NFA with its epsilon edges.

    >>> sketch_nfa(gv.machines.machine_stages("a?")[0]).arrows[-1]
    Arrow(source=0, target=1, ranges=(), call='')
    """
    arrows: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
    for source in range(len(nfa)):
        for low, high, target in nfa.edges[source]:
            arrows.setdefault((source, target, False), []).append((low, high))
        for target in nfa.epsilon[source]:
            arrows[source, target, True] = []
    return Sketch(
        tuple(map(name_node, range(len(nfa)))),
        tuple(Arrow(source, target, tuple(sorted(ranges))) for (source, target, _), ranges in arrows.items()),
        nfa.initial,
        frozenset({nfa.accepting}),
    )


def sketch_fsm(fsm: GuidedFSM) -> Sketch:
    """A machine over tokens under its own names; where a token has several bytes, the smallest DFA.

    >>> fsm = gv.GuidedFSM(gv.Vocabulary([b"a", b"b"]), start="start")
    >>> fsm.add_transition("start", {0, 1}, "end")
    >>> sketch_fsm(fsm).names, sketch_fsm(fsm).arrows
    (('start', 'end'), (Arrow(source=0, target=1, ranges=((97, 98),), call=''),))
    """
    pieces, number = fsm.vocabulary.pieces, {state: n for n, state in enumerate(fsm.transitions)}
    between: dict[tuple[int, int], list[int]] = {}
    for source, ways in fsm.transitions.items():
        for token, target in ways.items():
            if len(pieces[token]) > 1:
                return sketch_dfa(fsm.machine())
            between.setdefault((number[source], number[target]), []).append(pieces[token][0])
    arrows = tuple(Arrow(*ends, tuple(byte_ranges(values))) for ends, values in between.items())
    accepting = frozenset(number[state] for state in fsm.transitions if fsm.is_accepting(state))
    return Sketch(tuple(map(str, fsm.transitions)), arrows, number[fsm.start], accepting)


def sketch_pda(pda: PDA) -> Sketch:
    """The automata of a grammar's rules; a call is an arrow with the rule's name.

    >>> sketch = sketch_pda(gv.grammar('root ::= "(" root ")" | "x"'))
    >>> sketch.rules, [arrow for arrow in sketch.arrows if arrow.call]
    ((('root', (0, 1, 2, 3)),), [Arrow(source=1, target=3, ranges=(), call='root')])
    """
    nodes = pda.nodes
    bytewise: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, edges in enumerate(nodes.edges):
        for low, high, target in edges:
            bytewise.setdefault((source, nodes.settled(target)), []).append((low, high))
    arrows = [Arrow(source, target, tuple(ranges)) for (source, target), ranges in bytewise.items()]
    arrows += [
        Arrow(source, after, (), nodes.names[rule]) for source, calls in enumerate(nodes.calls) for rule, after in calls
    ]
    names, rules = tuple(map(name_node, range(len(nodes)))), _nodes_of_rules(nodes, arrows)
    repeats = tuple((nodes.names[rule], str(bounds)) for rule, bounds in enumerate(nodes.counts) if bounds)
    arrows += [
        Arrow(end, nodes.starts[nodes.rule_of[end]], (), loop=str(bounds))
        for end in sorted(nodes.accepting)
        if (bounds := nodes.counts[nodes.rule_of[end]]) and bounds.spare is None
    ]
    return Sketch(names, tuple(arrows), nodes.starts[0], nodes.accepting, rules=rules, repeats=repeats)


def _nodes_of_rules(nodes: RuleNodes, arrows: list[Arrow]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The nodes of every rule in order, without those that no arrow reaches: nothing can be completed from them."""
    used = {*nodes.starts, *(arrow.target for arrow in arrows)}
    found: list[list[int]] = [[start] for start in nodes.starts]
    for node in sorted(used - {*nodes.starts}):
        found[nodes.rule_of[node]].append(node)
    return tuple(zip(nodes.names, map(tuple, found), strict=True))
