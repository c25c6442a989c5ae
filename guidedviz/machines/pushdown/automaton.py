"""The rules of a grammar as automata that call each other (a recursive transition network, Woods, 1970).

    root ::= "(" root ")" | "x"         0 --(--> 1 --root--> 3 --)--> 2        0 --x--> 2, where the rule may end

Each rule is a small DFA whose letters are the bytes, and one more letter per rule that it calls. The states of all
rules are the *nodes* of the grammar, numbered consecutively.

    (a|bc)*, at most 5,000 letters      0 --a--> 1 --tick--> 0          0 --b--> 2 --tick--> 3 --c--> 1

A *tick* is a letter too: it reads no byte, and counts one more part of its rule (`syntax.Tick`). Only a length beside a
pattern has ticks (`schema/text_sets.py`).

Next: `machines/pushdown/stack.py`.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple, Self

from guidedviz.errors import PatternError
from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import count_repeats
from guidedviz.machines.graph import Numbers, derive, reach
from guidedviz.machines.machine import byte_kinds
from guidedviz.machines.pushdown.counting import Bounds, LengthLimit, Limit
from guidedviz.machines.regular.algebra import build_machine, put_before, without_texts
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import sources_of
from guidedviz.machines.regular.nfa import EdgeRow
from guidedviz.machines.syntax import Call, Chars, Concat, Less, Net, Repeat, Tick, Times, Tree, concat, one_character
from guidedviz.machines.visible import counted
from guidedviz.machines.work import spend, working_on

MOST_KEPT_STATES = 2_500  # states of a rule that is kept for the next grammar
QUOTE = one_character('"')
CALL = 256  # the first letter of a rule that is no byte
Letters = tuple[str | Tick, ...]  # of one rule, from `CALL` on: the name of a called rule, or a tick
Implication = tuple[int, tuple[int, ...]]  # a node from which the rule can be finished if it can be from all of these


class NodeTick(NamedTuple):
    """The tick that comes after a node: the highest count that it may lead to, and the next node."""

    highest: int
    after: int


@dataclass(frozen=True)
class RuleNodes:
    """Nodes joined by bytes and by calls; rule 0 is the root. Every node that is reached can finish its rule."""

    names: tuple[str, ...]  # of the rules
    starts: tuple[int, ...]  # the node where each rule begins
    rule_of: tuple[int, ...]  # the rule of each node
    edges: tuple[EdgeRow, ...]  # of each node: lowest byte, highest byte, target
    calls: tuple[tuple[tuple[int, int], ...], ...]  # of each node: a rule, the node after it
    accepting: frozenset[int]  # the accepting states of the automata; `ends` has more nodes
    counts: tuple[Limit | None, ...]  # of each rule: how its parts are counted (`counting.py`); None: they are not
    ticks: Mapping[int, NodeTick]  # by node
    checks: Mapping[int, int]  # by each other node from which a tick must be passed: the highest count after it

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
        """The nodes from which the rule may end without another byte, also over calls that may read nothing."""
        return derive([*self._ending(), *self._over_calls()])

    @cached_property
    def skipped(self) -> frozenset[int]:
        """The rules whose calls may read nothing."""
        uncalled = {rule for rule, limit in enumerate(self.counts) if limit and limit.fewest == 0}
        empty = {rule for rule, start in enumerate(self.starts) if start in self.ends}
        return frozenset(uncalled | empty)

    @cached_property
    def byteless(self) -> frozenset[int]:
        """The nodes at which no byte is read: the rule can only end there, or goes on after a tick.

        No call leads to a node before a tick, because rules with ticks call no rules.
        """
        at_end = {node for node in self.accepting if not self.edges[node] and not self.calls[node]}
        return frozenset(at_end.union(self.ticks))

    def past_tick(self, node: int) -> int:
        """The node after the tick of a node; without a tick the node itself."""
        return self.ticks[node].after if node in self.ticks else node

    def _ending(self) -> Iterator[Implication]:
        """The rule of an accepting node is finished."""
        for node in self.accepting:
            yield node, ()

    def _over_calls(self) -> Iterator[Implication]:
        """A rule can be finished over a call if the called rule can be, and its own rest can be."""
        for node, calls in enumerate(self.calls):
            for rule, after in calls:
                yield node, (self.starts[rule], after)
                limit = self.counts[rule]
                if limit and limit.fewest == 0:
                    yield node, (after,)

    def _over_bytes(self) -> Iterator[Implication]:
        """A rule can be finished over a byte or a tick if its rest can be."""
        for node, edges in enumerate(self.edges):
            for target in {target for _, _, target in edges}:
                yield node, (target,)
        for node, tick in self.ticks.items():
            yield node, (tick.after,)

    def trim(self) -> Self:
        """The same without edges and calls after which a rule can never finish."""
        live = derive([*self._ending(), *self._over_bytes(), *self._over_calls()])
        if self.starts[0] not in live:
            seen = f"the rule {self.names[0]} can never finish"
            hint = "one way through it that calls no rule"
            raise PatternError("grammar", seen=seen, expected="a text", hint=hint)
        if len(live) == len(self):
            return self
        edges = tuple(tuple(edge for edge in row if edge[2] in live) for row in self.edges)
        calls = tuple(
            tuple((rule, after) for rule, after in row if {self.starts[rule], after} <= live) for row in self.calls
        )
        return replace(self, edges=edges, calls=calls)


def build_rule_nodes(grammar: Grammar, copies: int = limits.COPIED_STATES) -> RuleNodes:
    """The automata of the root and of all rules reachable from it; equivalent nodes of a rule are merged.

    A repeat of more than `copies` states is counted.

    >>> nodes = build_rule_nodes(gv.grammar('root ::= "(" root ")" | "x"').grammar)
    >>> nodes, nodes.calls
    (RuleNodes(1 rule, 4 nodes), ((), ((0, 3),), (), ()))
    """
    grammar, bounds = count_repeats(grammar, copies)
    numbers = Numbers(grammar.root)  # of the rules, in the order of their first call
    starts: list[int] = []
    counts: list[Limit | None] = []
    accepting: list[int] = []
    rows: list[NodeRow] = []
    for name in numbers.met:  # it grows when a rule is first called
        rule = grammar.named[name]
        letters: Letters = (*rule.ticks, *sorted(rule.calls, key=numbers.__getitem__))
        automaton = build_rule(rule, letters)
        start = len(rows)
        starts.append(start)
        counts.append(limit_of(bounds.get(name), rule.ticks))
        accepting.extend(start + state for state in automaton.accepting)
        states = part_states(automaton.edges) if name in bounds else automaton.edges
        read = [part if isinstance(part, Tick) else numbers[part] for part in letters]
        rows.extend(read_row(edges, start, read) for edges in states)
    edges, calls, next_ticks = zip(*rows, strict=True)
    spend(6 * len(rows))  # each is read, joined and trimmed
    ticks = dict(filter(itemgetter(1), enumerate(next_ticks)))  # of the nodes that have one
    checks = find_checks(edges, accepting, ticks) if ticks else {}
    rule_of = tuple(bisect_right(starts, node) - 1 for node in range(len(rows)))
    names = tuple(numbers.met)
    nodes = RuleNodes(names, tuple(starts), rule_of, edges, calls, frozenset(accepting), tuple(counts), ticks, checks)
    return nodes.trim()


def part_states(states: tuple[EdgeRow, ...]) -> tuple[EdgeRow, ...]:
    """The states of a counted part, the start first; a part that comes back to its start comes back to a copy of it.

    So a text at the start is between two parts, and the repeat may end there. The start accepts nothing, because no
    part is empty.

    >>> part_states((((97, 97, 1), (99, 99, 2)), ((98, 98, 0),), ()))
    (((97, 97, 1), (99, 99, 2)), ((98, 98, 3),), (), ((97, 97, 1), (99, 99, 2)))
    """
    copy = len(states)
    if all(to != 0 for row in states for _, _, to in row):
        return states
    rows = [tuple((low, high, to or copy) for low, high, to in row) for row in states]
    return (*rows, rows[0])


def limit_of(times: Times | None, ticks: Collection[Tick]) -> Limit | None:
    """How the parts of a rule are counted: in repeats, or by its own ticks."""
    if times:
        return Bounds(*times)
    if ticks:
        return LengthLimit(max(tick.most for tick in ticks), max(tick.rest for tick in ticks))
    return None


class NodeRow(NamedTuple):
    """A state of an automaton as a node."""

    edges: EdgeRow
    calls: tuple[tuple[int, int], ...]
    tick: NodeTick | None


def read_row(edges: EdgeRow, start: int, letters: Sequence[int | Tick]) -> NodeRow:
    """A state, with its bytes, calls and ticks told apart; `start` is the number of the first node of its rule."""
    over_bytes = tuple([(low, min(high, CALL - 1), start + to) for low, high, to in edges if low < CALL])
    calls: list[tuple[int, int]] = []
    tick = None
    for low, high, to in edges:
        if high < CALL:
            continue
        for part in letters[max(low - CALL, 0) : high + 1 - CALL]:
            if isinstance(part, Tick):
                tick = NodeTick(part.most - part.rest, start + to)
            else:
                calls.append((part, start + to))
    return NodeRow(over_bytes, tuple(calls), tick)


def build_rule(rule: Rule, letters: Letters) -> DFA:
    """The automaton of one rule; a small one is kept, because schemas have equal rules, and most have those of JSON."""
    try:
        with working_on(f"the rule {rule.name}"):
            if rule.tree.weight.states > MOST_KEPT_STATES:
                return build_letters(rule.tree, letters)
            return build_from_kept(rule.tree, letters) or build_small_rule(rule.tree, letters)
    except PatternError as error:
        raise PatternError(f"rule {rule.name}", seen=error.seen, expected=error.expected, hint=error.hint) from error


def build_from_kept(tree: Tree, letters: Letters) -> DFA | None:
    """The same automaton, from one that several rules of a schema have inside, or None: most of it is written down.

    Of a member `"name": value` that is the value, of all other members one whose key may be any text.
    """
    match tree:
        case Concat((before, Net(less=Less(every, texts)), after, *rest)) if before == after == QUOTE:
            kept = build_small_rule(concat(before, every, after, *rest), letters)
            return without_texts(kept, [f'"{text}"'.encode() for text in texts])
    row, others = split_row(tree, letters)
    return put_before(row, build_small_rule(others, letters)) if row else None


def split_row(tree: Tree, letters: Letters) -> tuple[list[tuple[int, int, bool]], Tree]:
    """The ASCII characters and calls with which a tree begins, as `put_before` takes them, and what comes behind."""
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    row = []
    for part in parts:
        is_optional = isinstance(part, Repeat) and (part.low, part.high) == (0, 1)
        inner = part.part if isinstance(part, Repeat) and is_optional else part
        match inner:
            case Call(name):
                row.append((CALL + letters.index(name), CALL + letters.index(name), is_optional))
            case Chars(((low, high),)) if high < 128:
                row.append((low, high, is_optional))
            case _:
                break
    while row and row[-1][2]:  # what is optional stays with what comes behind it
        row.pop()
    return row, concat(*parts[len(row) :])


def build_letters(tree: Tree, letters: Letters) -> DFA:
    """The automaton of a tree over bytes and letters."""
    number = {part: CALL + place for place, part in enumerate(letters)}
    return build_machine(tree, lambda part: number[part.name if isinstance(part, Call) else part])


build_small_rule = lru_cache(maxsize=256)(build_letters)  # the latest automata


def find_checks(edges: Sequence[EdgeRow], accepting: Iterable[int], ticks: Mapping[int, NodeTick]) -> dict[int, int]:
    """By each node without a tick from which the rule ends only over one: the highest count that this may lead to.

    A text that arrives at the node is checked there, and not counted. So one over the limit is refused at the first
    byte of its next character, not at the last. Of several ticks that may come next, the highest count is taken.

    >>> edges = ((97, 97, 1),), ((98, 98, 2),), ()
    >>> find_checks(edges, {0}, {2: NodeTick(9, 0)})
    {1: 9}
    """
    back = sources_of(edges)
    unticked = set(reach(accepting, back.__getitem__))  # from these nodes the rule may end without another tick
    checks: dict[int, int] = {}

    def unchecked(node: int) -> set[int]:
        return {*back[node]} - unticked - ticks.keys() - checks.keys()

    at_ticks = sorted((tick.highest, node) for node, tick in ticks.items())
    for highest, start in reversed(at_ticks):  # the highest first
        _, *before = reach([start], unchecked)
        checks |= dict.fromkeys(before, highest)
    return checks
