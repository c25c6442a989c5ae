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
from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.rules import FAR, Counts, RuleNodes
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.work import reach
from guidedviz.tokens.arrays import Ids, Ints
from guidedviz.tokens.trie import MoveTable, Trie, walk_levels

REJECTED, ACCEPTED, DEPENDENT = 0, 1, 2
Answers = npt.NDArray[np.int8]  # one of the three per token
MOST_STATES = 64  # of a loop
MOST_BYTES = 13  # of one way around it, as "\\ud83d\\ude00" in a string
OUTSIDE = -1  # instead of a number of parts
LEAVE = 255  # the byte leads out of the loop; 0: no text goes on so


def say(state: State | None) -> int:
    """Whether the bytes that led to a state of a partly known stack are legal."""
    return REJECTED if state is None else ACCEPTED if state.sure else DEPENDENT


class LoopWalk(NamedTuple):
    """The tokens that stay in a loop, and the nodes of the trie at which the others leave it."""

    tokens: Ids
    begun: Ids  # per token: the parts of a repeat that it begins
    exits: Ints
    done: Ints  # per exit: the parts that are complete before it ...
    way: Ints  # ... and the place in `ways` ...
    ways: Ints  # ... of the state that it is left from and the byte that leaves it, as 256 * state + byte


@lru_cache(maxsize=100)  # 100 MB
def walk_loop(trie: Trie, table: bytes, complete: bytes) -> LoopWalk:
    """The walk of a trie from state 1 of a loop; a part of a repeat is complete in some of the states.

    >>> digits = bytes(256) + bytes([1 if byte in b"0123456789" else 255 * (byte == 44) for byte in range(256)])
    >>> loop = walk_loop(gv.Vocabulary([b"1", b"12", b"3,", b",4", b"x"]).trie, digits, b"\\1\\1")
    >>> loop.tokens.tolist(), loop.begun.tolist(), loop.done.tolist(), loop.ways[loop.way].tolist()
    ([0, 1], [1, 2], [0, 1], [300, 300])
    """
    go, ends = np.frombuffer(table, dtype=np.uint8).astype(np.intp), np.frombuffer(complete, dtype=np.uint8)
    ways, states = np.flatnonzero(go == LEAVE), len(ends)
    go[ways] = np.arange(states, states + len(ways))  # each way out is a state without moves
    go = np.concatenate((go, np.zeros(256 * len(ways), dtype=np.intp)))
    nodes, labels = walk_levels(trie, 1, lambda labels, letters: go[labels * 256 + letters])
    nodes, labels = nodes[1:], labels[1:]  # the empty text is no token of the loop
    inside = labels < states
    exits, stay, state = nodes[~inside], nodes[inside], labels[inside]
    done = np.zeros(len(trie), dtype=np.intp)
    if any(complete):
        done[stay] = ends[state]
        for low, high in zip(trie.levels[1:], trie.levels[2:], strict=False):
            done[low:high] += done[trie.parent[low:high]]
    tokens, begun = trie.tokens(stay, 1 + done[stay] + (ends[state] == 0))  # no label is 0
    way = labels[~inside] - states
    return LoopWalk(tokens.astype(np.int32), (begun - 1).astype(np.int32), exits, done[exits], way, ways)


@dataclass(frozen=True, eq=False)
class Loop:
    """The walk from a node that leads into a loop, and on where tokens leave it; the same for all counts."""

    staying: LoopWalk
    leaving: Ints  # the tokens that leave the loop and are legal on some stack,
    done: Ints  # the complete parts before each leaves,
    said: Answers  # and whether it is legal on every stack
    counted: bool  # whether the node is in the counted rule
    low: float  # how many parts the repeat must and may have
    high: float

    def split(self, counts: Counts) -> tuple[Ints, Ints] | None:
        """The legal and the context-dependent tokens after these counts; None if the walk does not tell."""
        if counts is None:
            low, high = (0.0, inf) if self.counted else (self.low, self.high)
        elif not self.counted or len(counts) > 1 or counts[0][0] != counts[0][1]:
            return None
        elif counts[0][0] == FAR:
            low, high = inf, inf
        else:
            low, high = self.low - counts[0][0], self.high - counts[0][0]
        fits = (self.done == OUTSIDE) | ((low <= self.done) & (self.done <= high))
        legal, dependent = (self.leaving[fits & (self.said == answer)] for answer in (ACCEPTED, DEPENDENT))
        return np.concatenate((self.staying.tokens[self.staying.begun <= high], legal)), dependent


def read_loop(unknown: OpenStack, table: MoveTable[State], trie: Trie, node: int) -> Loop | None:
    """The walk from a node that leads into a loop; None if it leads into none, or if its texts have several counts.

    >>> unknown = OpenStack(gv.grammar('root ::= "<" [a-z]{0,5000} ">" "!"'))
    >>> table = MoveTable(unknown.step, unknown.kinds, unknown.reads)
    >>> loop = read_loop(unknown, table, gv.Vocabulary([b"a", b"ab", b"b>!", b"b>>"]).trie, 5)
    >>> for counts in (None, ((4999, 4999),)):
    ...     print(*loop.split(counts))
    [0 1] [2]
    [0] [2]
    """
    if (found := find_states(unknown, node)) is None:
        return None
    walk = walk_loop(trie, found.table, found.complete)
    after = [unknown.step(found.states[(way >> 8) - 1], way & 255) for way in walk.ways.tolist()]
    nodes, labels, origin = table.walk_on(trie, walk.exits, after, walk.way)
    leaving, place = trie.tokens(nodes, np.arange(1, len(nodes) + 1))  # no label is 0
    left = origin[place - 1]
    first = walk.ways[walk.way[left]] >> 8 == 1  # the state that the token leaves from
    done = np.where(first & found.outside, OUTSIDE, walk.done[left])
    bounds = unknown.nodes.counts[found.rule] if found.rule is not None else None
    low, high = (0.0, inf) if bounds is None else (bounds.low, inf if bounds.high is None else bounds.high)
    counted = bounds is not None and not found.outside
    return Loop(walk, leaving, done, table.say(labels[place - 1], say), counted, low, high)


class States(NamedTuple):
    """A state and those of the loop after it in the order of their bytes."""

    states: list[State]
    table: bytes  # of the states, numbered from 1, and the bytes
    complete: bytes  # whether a part of the repeat is complete in each state
    rule: int | None  # the rule that is repeated, if it is counted
    outside: bool  # whether the first state is outside the loop


def find_states(unknown: OpenStack, node: int) -> States | None:
    """The loop that a node leads into by one byte; None if there is none that can be read without counts.

    It cannot if a text may end one part and stay within another, or if it goes on in a part but out of the loop.
    """
    if (found := find_nodes(unknown, node)) is None:
        return None
    inside, rule = found
    start, kinds = unknown.at(node), unknown.kinds
    states, numbers, rows, complete = [start], {start: 1}, [bytes(256)], [0]
    for state in states:  # it grows while it is read
        row = bytearray(256)  # by the kind of a byte
        for read, some in unknown.ways(state).items():
            if (after := unknown.step(state, some[0])) is None:
                continue
            staying = {rule is None or unknown.lead_into(positions, rule) for positions in read if positions}
            if rule is not None and True in staying:
                after = unknown.without_counts(after)
            stays = True in staying and bool(inside & sure_nodes(after))
            if len(staying) > 1 or (rule is not None and stays not in staying):
                return None
            if stays and after not in numbers:
                states.append(after)
                numbers[after] = len(states)
            for byte in some:
                row[kinds[byte]] = numbers[after] if stays else LEAVE
        rows.append(kinds.translate(row))
        complete.append(rule is not None and unknown.nodes.starts[rule] in sure_nodes(state))
        if len(states) > MOST_STATES:
            return None
    return States(states, b"".join(rows), bytes(complete), rule, node not in inside)


def find_nodes(unknown: OpenStack, node: int) -> tuple[frozenset[int], int | None] | None:
    """The nodes of the loop that a node leads into by one byte, and the rule that is repeated if it is counted."""
    start, nodes = unknown.at(node), unknown.nodes
    after = {to for some in unknown.ways(start).values() for to in sure_nodes(unknown.step(start, some[0]))}
    rules = {nodes.rule_of[to] for to in after if nodes.counts[nodes.rule_of[to]] is not None}
    rule = min(rules, default=None)
    inside = loop_nodes(nodes, [to for to in after if rule in (None, nodes.rule_of[to])])
    bounds = nodes.counts[rule] if rule is not None else None
    unclear = rule in unknown.entered or (bounds is not None and bounds.spare is not None)  # it counts within its parts
    return (inside, rule) if inside and len(rules) < 2 and not unclear else None


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
