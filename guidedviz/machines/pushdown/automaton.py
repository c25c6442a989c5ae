"""The rules of a grammar as automata that call each other (a recursive transition network, Woods, 1970).

Each rule is a small DFA over the bytes and one extra letter per rule. The states of all rules are the nodes of the
grammar, numbered consecutively.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Self

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.counted import MOST_COPIES, count_repeats
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.machine import byte_kinds
from guidedviz.machines.pushdown.counting import Bounds
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import build_machine, sources_of
from guidedviz.machines.regular.nfa import Edge, count_states
from guidedviz.machines.syntax import Call, Tick, Tree, walk
from guidedviz.machines.visible import counted
from guidedviz.machines.work import Numbers, derive, reach, working_on

MOST_KEPT = 400  # states of a rule that is kept for the next grammar
CALL = 256  # this letter calls rule 0, the next one rule 1, and so on
Limit = tuple[int, int] | None  # at a tick: up to which count, and the node where it leads


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
    ticks: tuple[Limit, ...]  # of each node: see `Tick`

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
        zero = (rule for rule, bounds in enumerate(self.counts) if bounds and bounds.texts == 0)
        return frozenset([*zero, *(rule for rule, start in enumerate(self.starts) if start in self.ends)])

    @cached_property
    def last(self) -> frozenset[int]:
        """The nodes at which no text stands: a rule can only end there, or goes on elsewhere."""
        ends = (node for node in self.accepting if not self.edges[node] and not self.calls[node])
        return frozenset([*ends, *(node for node, tick in enumerate(self.ticks) if tick and tick[1] != node)])

    def settled(self, node: int) -> int:
        """The node at which a text stands that has been read up to this one."""
        tick = self.ticks[node]
        return tick[1] if tick else node

    def _over_calls(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """For each call what follows, and all that it takes."""
        for node, calls in enumerate(self.calls):
            for rule, after in calls:
                yield node, (self.starts[rule], after)
                if (bounds := self.counts[rule]) and bounds.texts == 0:
                    yield node, (after,)

    def trim(self) -> Self:
        """The nodes without the edges and calls after which the rule can never finish."""
        over_bytes = ((node, (to,)) for node, edges in enumerate(self.edges) for _, _, to in edges)
        over_ticks = ((node, (tick[1],)) for node, tick in enumerate(self.ticks) if tick)
        live = derive([*((node, ()) for node in self.accepting), *over_bytes, *over_ticks, *self._over_calls()])
        edges = tuple(tuple(edge for edge in row if edge[2] in live) for row in self.edges)
        ends = {rule for rule, start in enumerate(self.starts) if start in live}
        calls = tuple(tuple(call for call in row if call[0] in ends and call[1] in live) for row in self.calls)
        if 0 not in ends:
            seen, hint = f"the rule {self.names[0]} can never finish", "one way through it that calls no rule"
            raise PatternError("grammar", seen=seen, expected="a text", hint=hint)
        return replace(self, edges=edges, calls=calls)


@lru_cache(maxsize=64)
def build_rule(tree: Tree, letters: tuple[tuple[Call | Tick, int], ...]) -> DFA:
    """The machine of a rule; most grammars of a schema have the rules of JSON."""
    return build_machine(tree, dict(letters).__getitem__)


def build_rule_nodes(grammar: Grammar, copies: int = MOST_COPIES) -> RuleNodes:
    """The automata of the root and of all rules reachable from it; equivalent nodes are merged.

    A repeat of more than `copies` states is counted.

    >>> nodes = build_rule_nodes(gv.grammar('root ::= "(" root ")" | "x"').grammar)
    >>> nodes, nodes.calls
    (RuleNodes(1 rule, 4 nodes), ((), ((0, 3),), (), ()))
    """
    grammar, bounds = count_repeats(grammar, copies)
    numbers = Numbers(grammar.root)
    ticks: dict[Tick, int] = {}  # their letters come after those of all rules

    def letter(call: Call | Tick) -> int:
        if isinstance(call, Tick):
            return CALL + len(grammar.rules) + ticks.setdefault(call, len(ticks))
        return CALL + numbers[call.name]

    machines: list[DFA] = []
    for name in (names := numbers.met):  # which grows as rules are called
        tree = grammar.named[name].tree
        letters = tuple((part, letter(part)) for part in walk(tree) if isinstance(part, Call | Tick))
        try:
            small = count_states(tree) <= MOST_KEPT
            with working_on(f"the rule {name}"):
                machines.append(build_rule(tree, letters) if small else build_machine(tree, letter))
        except PatternError as error:
            raise PatternError(f"rule {name}", seen=error.seen, expected=error.expected, hint=error.hint) from error
    counts = [Bounds(*bounds[name]) if name in bounds else None for name in names]
    return set_side_by_side(tuple(names), machines, counts, {letter(tick): tick for tick in ticks}).trim()


def set_side_by_side(
    names: tuple[str, ...], machines: list[DFA], counts: list[Bounds | None], letters: Mapping[int, Tick]
) -> RuleNodes:
    """The states of all machines numbered consecutively, with calls and ticks separated from bytes."""
    starts: list[int] = []
    edges: list[tuple[Edge, ...]] = []
    calls: list[tuple[tuple[int, int], ...]] = []
    ticks: list[Limit] = []
    accepting: set[int] = set()
    for rule, machine in enumerate(machines):
        start = len(edges)
        starts.append(start)
        accepting |= {start + state for state in machine.accepting}
        for row in machine.edges:
            edges.append(tuple((low, min(high, CALL - 1), start + to) for low, high, to in row if low < CALL))
            spans = ((max(low, CALL), high, start + to) for low, high, to in row if high >= CALL)
            over = [(letter, to) for low, high, to in spans for letter in range(low, high + 1)]
            calls.append(tuple((letter - CALL, to) for letter, to in over if letter not in letters))
            ticks.append(None)
            for letter, to in over:
                if tick := letters.get(letter):  # the only way on from its node
                    ticks[-1], known = (tick.most - tick.rest, to), counts[rule]
                    counts[rule] = Bounds(0, tick.most, max(tick.rest, (known and known.spare) or 0))
    rule_of = tuple(rule for rule, machine in enumerate(machines) for _ in machine.edges)
    limit_inside(edges, accepting, ticks)
    over_nodes = tuple(edges), tuple(calls), frozenset(accepting)
    return RuleNodes(names, tuple(starts), rule_of, *over_nodes, tuple(counts), tuple(ticks))


def limit_inside(edges: Sequence[Iterable[Edge]], accepting: Iterable[int], ticks: list[Limit]) -> None:
    """Inside a character the count is already so low that one of the ticks after it can be passed."""
    back = sources_of(edges)
    free = set(reach(accepting, back.__getitem__))  # a text may end without a tick
    found = sorted((tick[0], node) for node, tick in enumerate(ticks) if tick)
    for most, node in reversed(found):  # the highest first
        for at in reach([node], lambda to: (one for one in back[to] if one not in free and ticks[one] is None)):
            ticks[at] = ticks[at] or (most, at)
