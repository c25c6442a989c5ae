"""The rules of a grammar as automata that call each other.

Each rule is a small DFA whose letters are the bytes and, beyond them, one letter for every rule that it may call. Set
side by side, the states of all rules are the nodes of the grammar, numbered throughout.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from guidedviz.errors import PatternError
from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.grammar import Grammar
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import Edge, build_nfa
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
        """The nodes from which the rule may end without another byte: all that is left may be empty."""
        return derive(self.accepting, self._over_calls())

    @cached_property
    def last(self) -> frozenset[int]:
        """The nodes where a rule can only end."""
        return frozenset(node for node in self.accepting if not self.edges[node] and not self.calls[node])

    def _over_calls(self) -> Iterator[Clause]:
        for node, calls in enumerate(self.calls):
            for rule, after in calls:
                yield node, (self.starts[rule], after)

    def _over_bytes(self) -> Iterator[Clause]:
        for node, edges in enumerate(self.edges):
            for _, _, target in edges:
                yield node, (target,)

    def trim(self) -> RuleNodes:
        """Without the edges and calls after which the rule can never be finished."""
        live = derive(self.accepting, (*self._over_bytes(), *self._over_calls()))
        edges = tuple(tuple(edge for edge in row if edge[2] in live) for row in self.edges)
        calls = tuple(
            tuple(call for call in row if self.starts[call[0]] in live and call[1] in live) for row in self.calls
        )
        if self.starts[0] not in live:
            where, root = "grammar", self.names[0]
            hint = "one way through it that calls no rule"
            raise PatternError(where, seen=f"the rule {root} can never finish", expected="a text", hint=hint)
        return RuleNodes(self.names, self.starts, self.rule_of, edges, calls, self.accepting)


def byte_kinds(edges: Iterable[Iterable[Edge]]) -> bytes:
    """The kind of every byte: no edges tell bytes of one kind apart.

    >>> kinds = byte_kinds([[(48, 57, 1)], [(48, 52, 2), (97, 97, 1)]])
    >>> [kinds[byte] for byte in b"049a "]
    [3, 3, 2, 1, 0]
    """
    kinds = [(1 << 256) - 1]  # as bits, one a byte
    for found in dict.fromkeys(bits for row in edges for bits in _target_bits(row)):
        if len(kinds) == 256:
            break
        kinds = [part for kind in kinds for part in (kind & ~found, kind & found) if part]
    return bytes(next(n for n, kind in enumerate(kinds) if kind >> byte & 1) for byte in range(256))


def _target_bits(row: Iterable[Edge]) -> Iterable[int]:
    """The bytes that lead to each target, as bits."""
    bits: dict[int, int] = defaultdict(int)
    for low, high, target in row:
        bits[target] |= (2 << high) - (1 << low)
    return bits.values()


def derive(facts: Iterable[int], clauses: Iterable[Clause]) -> frozenset[int]:
    """All that follows from the facts: a clause fires when everything it takes is known.

    >>> sorted(derive([1], [(2, (1,)), (3, (1, 2)), (4, (5,))]))
    [1, 2, 3]
    """
    missing: list[tuple[int, set[int]]] = []
    wanted: dict[int, list[int]] = defaultdict(list)
    for number, (conclusion, premises) in enumerate(clauses):
        missing.append((conclusion, set(premises)))
        for premise in missing[-1][1]:
            wanted[premise].append(number)
    known, waiting = set(facts), list(facts)
    while waiting:
        fact = waiting.pop()
        for number in wanted[fact]:
            conclusion, premises_left = missing[number]
            premises_left.discard(fact)
            if not premises_left and conclusion not in known:
                known.add(conclusion)
                waiting.append(conclusion)
    return frozenset(known)


def build_rule_nodes(grammar: Grammar, merge: bool = True) -> RuleNodes:
    """The automata of the root and of every rule that it needs; nodes that no text tells apart are merged.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> nodes = build_rule_nodes(parse_grammar('root ::= "(" root ")" | "x"'))
    >>> nodes, nodes.calls
    (RuleNodes(1 rule, 4 nodes), ((), ((0, 3),), (), ()))
    """
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
    return set_side_by_side(tuple(names), machines).trim()


def set_side_by_side(names: tuple[str, ...], machines: list[DFA]) -> RuleNodes:
    """The states of all machines numbered throughout, and letters that are calls told from bytes."""
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
    return RuleNodes(names, tuple(starts), tuple(rule_of), tuple(edges), tuple(calls), frozenset(accepting))
