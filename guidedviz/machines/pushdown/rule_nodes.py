"""The rules of a grammar as automata that call each other (a recursive transition network, Woods, 1970).

Each rule is a small DFA over the bytes and one extra letter per rule. The states of all rules are the nodes of the
grammar, numbered consecutively.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from guidedviz.errors import PatternError
from guidedviz.machines.byte_kinds import byte_kinds
from guidedviz.machines.fixpoint import derive
from guidedviz.machines.grammars.counted import MOST_COPIES, count_repeats
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.pushdown.counts import Bounds
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import Edge, build_nfa
from guidedviz.machines.tree import Call
from guidedviz.machines.visible import counted

CALL = 256  # this letter calls rule 0, the next one rule 1, and so on
Clause = tuple[int, tuple[int, ...]]  # what follows, and all that it takes


@dataclass(frozen=True)
class RuleNodes:
    """Nodes joined by bytes and by calls; rule 0 is the root. From every node its rule can be finished."""

    names: tuple[str, ...]  # of the rules
    starts: tuple[int, ...]  # the node where each rule begins
    rule_of: tuple[int, ...]  # the rule of each node
    edges: tuple[tuple[Edge, ...], ...]  # of each node: lowest byte, highest byte, target
    calls: tuple[tuple[tuple[int, int], ...], ...]  # of each node: a rule, the node after it
    accepting: frozenset[int]  # where a rule may end
    counts: tuple[Bounds | None, ...]  # how often the texts of each rule are repeated; None: once

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        return f"RuleNodes({counted(len(self.names), 'rule')}, {counted(len(self), 'node')})"

    def name_of(self, node: int) -> str:
        """The name of the rule that a node is in."""
        return self.names[self.rule_of[node]]

    @cached_property
    def kinds(self) -> bytes:
        """The kind of every byte: bytes of one kind move every node alike."""
        return byte_kinds(self.edges)

    @cached_property
    def ends(self) -> frozenset[int]:
        """The nodes from which the rule may end without another byte."""
        return derive([*((node, ()) for node in self.accepting), *self._over_calls()])

    @cached_property
    def skipped(self) -> frozenset[int]:
        """The rules whose calls may read nothing."""
        zero = (rule for rule, bounds in enumerate(self.counts) if bounds and bounds.low == 0)
        return frozenset([*zero, *(rule for rule, start in enumerate(self.starts) if start in self.ends)])

    @cached_property
    def last(self) -> frozenset[int]:
        """The nodes where a rule can only end."""
        return frozenset(node for node in self.accepting if not self.edges[node] and not self.calls[node])

    def _over_calls(self) -> Iterator[Clause]:
        for node, calls in enumerate(self.calls):
            for rule, after in calls:
                yield node, (self.starts[rule], after)
                if (bounds := self.counts[rule]) and bounds.low == 0:
                    yield node, (after,)

    def trim(self) -> RuleNodes:
        """The nodes without the edges and calls after which the rule can never finish."""
        over_bytes = ((node, (to,)) for node, edges in enumerate(self.edges) for _, _, to in edges)
        live = derive([*((node, ()) for node in self.accepting), *over_bytes, *self._over_calls()])
        edges = tuple(tuple(edge for edge in row if edge[2] in live) for row in self.edges)
        calls = tuple(
            tuple(call for call in row if self.starts[call[0]] in live and call[1] in live) for row in self.calls
        )
        if self.starts[0] not in live:
            where, root = "grammar", self.names[0]
            hint = "one way through it that calls no rule"
            raise PatternError(where, seen=f"the rule {root} can never finish", expected="a text", hint=hint)
        return RuleNodes(self.names, self.starts, self.rule_of, edges, calls, self.accepting, self.counts)


def build_rule_nodes(grammar: Grammar, merge: bool = True, copies: int = MOST_COPIES) -> RuleNodes:
    """The automata of the root and of all rules reachable from it; equivalent nodes are merged.

    A repeat of more than `copies` states is counted.

    >>> nodes = build_rule_nodes(gv.grammar('root ::= "(" root ")" | "x"').grammar)
    >>> nodes, nodes.calls
    (RuleNodes(1 rule, 4 nodes), ((), ((0, 3),), (), ()))
    """
    grammar, bounds = count_repeats(grammar, copies)
    numbers, names = {grammar.root: 0}, [grammar.root]

    def letter(call: Call) -> int:
        if call.name not in numbers:
            numbers[call.name] = len(names)
            names.append(call.name)
        return CALL + numbers[call.name]

    machines: list[DFA] = []
    for name in names:  # which grows as rules are called
        tree = grammar.rule(name).tree
        try:
            machine = build_dfa(build_nfa(tree, letter))
            machines.append(minimise(machine) if merge else machine)
        except PatternError as error:
            raise PatternError(f"rule {name}", seen=error.seen, expected=error.expected, hint=error.hint) from error
    counts = tuple(Bounds(*bounds[name]) if name in bounds else None for name in names)
    return set_side_by_side(tuple(names), machines, counts).trim()


def set_side_by_side(names: tuple[str, ...], machines: list[DFA], counts: tuple[Bounds | None, ...]) -> RuleNodes:
    """The states of all machines numbered consecutively, with calls separated from bytes."""
    starts: list[int] = []
    rule_of: list[int] = []
    edges: list[tuple[Edge, ...]] = []
    calls: list[tuple[tuple[int, int], ...]] = []
    accepting: set[int] = set()
    for rule, machine in enumerate(machines):
        start = len(edges)
        starts.append(start)
        for state, row in enumerate(machine.edges):
            rule_of.append(rule)
            edges.append(tuple((low, min(high, CALL - 1), start + to) for low, high, to in row if low < CALL))
            spans = ((max(low, CALL), high, start + to) for low, high, to in row if high >= CALL)
            calls.append(tuple((letter - CALL, to) for low, high, to in spans for letter in range(low, high + 1)))
            if state in machine.accepting:
                accepting.add(start + state)
    return RuleNodes(names, tuple(starts), tuple(rule_of), tuple(edges), tuple(calls), frozenset(accepting), counts)
