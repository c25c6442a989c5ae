"""Loops, such as the inside of a string or of a number: their tokens are found once per vocabulary, for all grammars.

A loop is a table from state and byte to state. Two grammars with the same table share the walk of the trie: for a JSON
string that are 123,000 of the 128,256 tokens of Llama 3. Only tokens that leave the loop are walked for each grammar
(XGrammar-2 shares the automata of equal parts in the same way, arXiv 2601.04426). In a counted repeat the loop is read
without its count, and tokens with too few or too many parts are dropped afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from guidedviz.machines.byte_kinds import first_bytes
from guidedviz.machines.fixpoint import reach
from guidedviz.machines.pushdown.counts import FAR, Counts
from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.rule_nodes import RuleNodes
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.tokens.arrays import Ids, Ints, Letters
from guidedviz.tokens.move_table import MoveTable
from guidedviz.tokens.split.context import ACCEPTED, DEPENDENT, say
from guidedviz.tokens.trie import Trie, walk_levels, walk_on

MOST_STATES = 64  # of a loop
MOST_BYTES = 13  # of one way around it, as "\\ud83d\\ude00" in a string
OUTSIDE = -1  # instead of a number of parts
DEAD, LEAVE = 0, 255  # no text goes on so; the byte leads out of the loop
MOST_LOOPS = 100  # per vocabulary; 100 MB


@dataclass(frozen=True, eq=False)
class LoopWalk:
    """The tokens that stay in a loop, and the nodes of the trie at which the others leave it."""

    tokens: Ids
    begun: Ints  # per token: the parts of a repeat that it begins
    nodes: Ints
    done: Ints  # per node: the parts that are complete before it
    source: Ints  # the state that each node is left from ...
    byte: Letters  # ... and the byte that leaves it


def walk_loop(trie: Trie, table: bytes, complete: bytes) -> LoopWalk:
    """The walk of a trie from state 1 of a loop; a part of a repeat is complete in some of the states.

    >>> digits = bytes(256) + bytes([1 if byte in b"0123456789" else 255 * (byte == 44) for byte in range(256)])
    >>> loop = walk_loop(gv.Vocabulary([b"1", b"12", b"3,", b",4", b"x"]).trie, digits, b"\\1\\1")
    >>> loop.tokens.tolist(), loop.begun.tolist(), loop.byte.tolist(), loop.done.tolist()
    ([0, 1], [1, 2], [44, 44], [0, 1])
    """
    key = table + complete
    if (found := trie.loops.get(key)) is None:
        go, ends = np.frombuffer(table, dtype=np.uint8), np.frombuffer(complete, dtype=np.uint8)
        stay = np.where(go == LEAVE, DEAD, go).astype(np.intp)
        nodes, labels = walk_levels(trie, 1, lambda states, letters: stay[states * 256 + letters])
        state = np.zeros(len(trie), dtype=np.intp)
        state[nodes] = labels
        done = ends[state].astype(np.intp)
        done[0] = 0
        for low, high in zip(trie.levels[1:], trie.levels[2:], strict=False):
            done[low:high] += done[trie.parent[low:high]]
        leave = np.flatnonzero(go[state[trie.parent] * 256 + trie.byte] == LEAVE)
        leave = leave[leave > 0]
        state[0] = 0  # ids without a node, which are at -1, and the empty text are no tokens of the loop
        of = trie.node_of
        ids = np.flatnonzero((state[of] > 0) & (of >= 0)).astype(np.int32)
        begun = (done + (ends[state] == 0))[of[ids]]
        state[0] = 1
        above = trie.parent[leave]
        found = LoopWalk(ids, begun, leave, done[above], state[above], trie.byte[leave])
        if len(trie.loops) >= MOST_LOOPS:
            trie.loops.clear()
        trie.loops[key] = found
    return found


@dataclass(frozen=True, eq=False)
class Loop:
    """The walk from a node that leads into a loop, and on where tokens leave it; the same for all counts."""

    staying: LoopWalk
    tokens: Ids  # that leave the loop ...
    said: Ints  # ... and whether each is legal
    done: Ints  # the complete parts before each leaves
    counted: bool  # whether the node is in the counted rule
    low: float  # how many parts the repeat must and may have
    high: float

    def chosen(self, counts: Counts) -> tuple[Ids, Ids] | None:
        """The legal and the context-dependent tokens after these counts; None if the walk does not tell."""
        if counts is None:
            low, high = (0.0, inf) if self.counted else (self.low, self.high)
        elif not self.counted or len(counts) > 1 or counts[0][0] != counts[0][1]:
            return None
        elif counts[0][0] == FAR:
            low, high = inf, inf
        else:
            low, high = self.low - counts[0][0], self.high - counts[0][0]
        staying = self.staying.tokens if high == inf else self.staying.tokens[self.staying.begun <= high]
        fits = (self.done == OUTSIDE) | ((low <= self.done) & (self.done <= high))
        yes, ask = (self.tokens[fits & (self.said == answer)] for answer in (ACCEPTED, DEPENDENT))
        return np.concatenate([staying, yes]), ask


def read_loop(unknown: OpenStack, trie: Trie, node: int) -> Loop | None:
    """The walk from a node that leads into a loop; None if it leads into none, or if its texts have several counts.

    >>> unknown = OpenStack(gv.grammar('root ::= "<" [a-z]{0,5000} ">" "!"'))
    >>> loop = read_loop(unknown, gv.Vocabulary([b"a", b"ab", b"b>!", b"b>>"]).trie, 5)
    >>> [tuple(part.tolist() for part in loop.chosen(counts)) for counts in (None, ((4999, 4999),))]
    [([0, 1], [2]), ([0], [2])]
    """
    if (states := find_states(unknown, node)) is None:
        return None
    walk, table = walk_loop(trie, states.table, states.complete), MoveTable[State](unknown)
    ways, way = np.unique(walk.source * 256 + walk.byte, return_inverse=True)
    after = [table.label(unknown.step(states.states[(key >> 8) - 1], key & 255)) for key in ways.tolist()]
    nodes, labels, origin = walk_on(trie, walk.nodes, np.array(after, dtype=np.intp)[way], table.moves.step)
    tokens, place = trie.tokens(nodes, np.arange(1, len(nodes) + 1))
    ids = np.arange(len(trie.node_of), dtype=np.int32)[tokens][place > 0]
    place = place[place > 0] - 1
    said = np.array(list(map(say, table.states)))[labels[place]]
    done = np.where((walk.source == 1) & states.outside, OUTSIDE, walk.done)[origin[place]]
    bounds = unknown.nodes.counts[states.rule] if states.rule is not None else None
    low, high = (0.0, inf) if bounds is None else (bounds.low, inf if bounds.high is None else bounds.high)
    return Loop(walk, ids, said, done, bounds is not None and not states.outside, low, high)


class States(NamedTuple):
    """A state and those of the loop after it in the order of their bytes."""

    states: list[State]
    table: bytes  # of the states, numbered from 1, and the bytes
    complete: bytes  # whether a part of the repeat is complete in each state
    rule: int | None  # the rule that is repeated, if it is counted
    outside: bool  # whether the first state is outside the loop


def find_states(unknown: OpenStack, node: int) -> States | None:
    """The loop that a node leads into by one byte; None if there is none that can be read without counts."""
    if (ring := find_ring(unknown, node)) is None:
        return None
    start = unknown.at(node)
    states, numbers, rows, complete = [start], {start: 1}, [bytes(256)], [0]
    kinds, first = np.frombuffer(unknown.kinds, dtype=np.uint8), first_bytes(unknown.kinds)
    for state in states:  # it grows while it is read
        row, reads = np.zeros(len(first), dtype=np.uint8), unknown.reads(state)
        for kind, byte in first.items():
            if byte in reads and (after := unknown.step(state, byte)) is not None:
                try:
                    staying = ring.stay(state, byte, after)
                except TwoWays:
                    return None
                if staying and staying not in numbers:
                    states.append(staying)
                    numbers[staying] = len(states)
                row[kind] = numbers[staying] if staying else LEAVE
        rows.append(row[kinds].tobytes())
        complete.append(ring.rule is not None and unknown.nodes.starts[ring.rule] in sure_nodes(state))
        if len(states) > MOST_STATES:
            return None
    return States(states, b"".join(rows), bytes(complete), ring.rule, node not in ring.nodes)


class TwoWays(Exception):
    """A text at whose end a repeat may go on and may have ended, or that goes on in a part but out of the loop."""


class Ring(NamedTuple):
    """The nodes of a loop, and the rule that is repeated if it is counted."""

    unknown: OpenStack
    nodes: frozenset[int]
    rule: int | None

    def stay(self, state: State, byte: int, after: State) -> State | None:
        """The next state without counts; None if it is not in the loop."""
        if self.rule is None:
            return after if self.nodes & sure_nodes(after) else None
        inside = {self.unknown.reads_in(node, byte, self.rule) for node, _ in state.tops} - {None}
        if inside == {False}:
            return None
        after = self.unknown.without_counts(after)
        if len(inside) > 1 or not self.nodes & sure_nodes(after):
            raise TwoWays
        return after


def find_ring(unknown: OpenStack, node: int) -> Ring | None:
    """The loop that a node leads into by one byte, if there is one."""
    start, nodes = unknown.at(node), unknown.nodes
    reads = unknown.reads(start)
    after = {
        to
        for byte in first_bytes(unknown.kinds).values()
        if byte in reads
        for to in sure_nodes(unknown.step(start, byte))
    }
    rules = {nodes.rule_of[to] for to in after if nodes.counts[nodes.rule_of[to]] is not None}
    rule = min(rules, default=None)
    inside = loop_nodes(nodes, [to for to in after if rule in (None, nodes.rule_of[to])])
    bounds = nodes.counts[rule] if rule is not None else None
    unclear = rule in unknown.entered or (bounds is not None and bounds.spare is not None)  # it counts within its parts
    return Ring(unknown, inside, rule) if inside and len(rules) < 2 and not unclear else None


def sure_nodes(state: State | None) -> set[int]:
    """The nodes of a state at which its text is legal on every stack."""
    return {node for node, cells in state.tops if any(cell.sure for cell in cells)} if state else set()


def loop_nodes(nodes: RuleNodes, starts: Collection[int]) -> frozenset[int]:
    """The nodes from which a text comes back to one of the starts by few bytes of the same rule.

    >>> nodes = gv.grammar('root ::= "<" ([a-z] | "." [0-9])* ">"').nodes
    >>> [sorted(loop_nodes(nodes, [node])) for node in range(4)]
    [[], [1, 2], [1, 2], []]
    """
    before: dict[int, list[int]] = defaultdict(list)
    level, met = set(starts), set(starts)
    for _ in range(MOST_BYTES):
        ways = {(at, to) for at in level for to in _following(nodes, at)}
        for at, to in ways:
            before[to].append(at)
        level = {to for _, to in ways} - met
        met |= level
    return frozenset(reach(before.keys() & starts, before.__getitem__))


def _following(nodes: RuleNodes, node: int) -> Iterator[int]:
    """The nodes after one more byte in the same rule, or in its next repeat."""
    for *_, to in nodes.edges[node]:
        yield to
        if to in nodes.accepting and nodes.counts[rule := nodes.rule_of[to]] is not None:
            yield nodes.starts[rule]
