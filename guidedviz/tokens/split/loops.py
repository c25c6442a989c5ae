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

from guidedviz.machines.pushdown.open_stack import OpenStack, Positions
from guidedviz.machines.pushdown.rules import FAR, Counts, RuleNodes
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.work import reach
from guidedviz.tokens.arrays import Ids, Ints, Letters
from guidedviz.tokens.move_table import MoveTable
from guidedviz.tokens.split.context import ACCEPTED, DEPENDENT, Asking, group_tokens, say
from guidedviz.tokens.split.storage import Stored, store, store_others
from guidedviz.tokens.trie import Trie, walk_levels, walk_on
from guidedviz.tokens.vocabulary import Vocabulary

MOST_STATES = 64  # of a loop
MOST_BYTES = 13  # of one way around it, as "\\ud83d\\ude00" in a string
OUTSIDE = -1  # instead of a number of parts
DEAD, LEAVE = 0, 255  # no text goes on so; the byte leads out of the loop
MOST_LOOPS = 100  # per vocabulary; 100 MB


@dataclass(frozen=True, eq=False)
class LoopWalk:
    """The tokens that stay in a loop, and the nodes of the trie at which the others leave it."""

    tokens: Ids  # those first that begin the fewest parts of a repeat
    upto: Ints  # how many of them begin no part, at most 1, at most 2 ...
    others: Ids  # all other ids
    nodes: Ints
    done: Ints  # per node: the parts that are complete before it
    source: Ints  # the state that each node is left from ...
    byte: Letters  # ... and the byte that leaves it

    def store(self, most: float, more: Ids) -> Stored:
        """The tokens of the loop that begin at most so many parts, and some that leave it."""
        size, count = len(self.tokens) + len(self.others), int(self.upto[int(min(most, len(self.upto) - 1))])
        if 2 * count < size:
            return store(np.concatenate([self.tokens[:count], more]), size)
        left = np.ones(len(self.others), dtype=np.bool_)
        left[np.searchsorted(self.others, more)] = False
        return store_others(np.concatenate([self.others[left], self.tokens[count:]]), size)


def walk_loop(trie: Trie, table: bytes, complete: bytes) -> LoopWalk:
    """The walk of a trie from state 1 of a loop; a part of a repeat is complete in some of the states.

    >>> digits = bytes(256) + bytes([1 if byte in b"0123456789" else 255 * (byte == 44) for byte in range(256)])
    >>> loop = walk_loop(gv.Vocabulary([b"1", b"12", b"3,", b",4", b"x"]).trie, digits, b"\\1\\1")
    >>> loop.tokens.tolist(), loop.upto.tolist(), loop.byte.tolist(), loop.done.tolist()
    ([0, 1], [0, 1, 2], [44, 44], [0, 1])
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
        stays = (state[of] > 0) & (of >= 0)
        ids = np.flatnonzero(stays).astype(np.int32)
        begun = (done + (ends[state] == 0))[of[ids]]
        ids, upto = ids[np.argsort(begun, kind="stable")], np.cumsum(np.bincount(begun, minlength=1))
        others = np.flatnonzero(~stays).astype(np.int32)
        state[0] = 1
        above = trie.parent[leave]
        found = LoopWalk(ids, upto, others, leave, done[above], state[above], trie.byte[leave])
        if len(trie.loops) >= MOST_LOOPS:
            trie.loops.clear()
        trie.loops[key] = found
    return found


@dataclass(frozen=True, eq=False)
class Loop:
    """The walk from a node that leads into a loop, and on where tokens leave it; the same for all counts."""

    staying: LoopWalk
    legal: Ids  # the tokens that leave the loop and are legal on every stack ...
    done: Ints  # ... and the complete parts before each leaves
    asking: Asking  # the context-dependent tokens; they all leave the loop ...
    asking_done: Ints  # ... after so many parts
    counted: bool  # whether the node is in the counted rule
    low: float  # how many parts the repeat must and may have
    high: float

    def chosen(self, counts: Counts) -> tuple[Stored, Asking] | None:
        """The legal and the context-dependent tokens after these counts; None if the walk does not tell."""
        if counts is None:
            low, high = (0.0, inf) if self.counted else (self.low, self.high)
        elif not self.counted or len(counts) > 1 or counts[0][0] != counts[0][1]:
            return None
        elif counts[0][0] == FAR:
            low, high = inf, inf
        else:
            low, high = self.low - counts[0][0], self.high - counts[0][0]
        legal, asking = ((done == OUTSIDE) | ((low <= done) & (done <= high)) for done in (self.done, self.asking_done))
        return self.staying.store(high, self.legal[legal]), self.asking.where(asking)


def read_loop(unknown: OpenStack, vocabulary: Vocabulary, node: int) -> Loop | None:
    """The walk from a node that leads into a loop; None if it leads into none, or if its texts have several counts.

    >>> unknown = OpenStack(gv.grammar('root ::= "<" [a-z]{0,5000} ">" "!"'))
    >>> loop = read_loop(unknown, gv.Vocabulary([b"a", b"ab", b"b>!", b"b>>"]), 5)
    >>> for counts in (None, ((4999, 4999),)):
    ...     print(*loop.chosen(counts))
    Stored(2 of 4 ids as bits, 1 bytes) Asking(tokens=array([2], dtype=int32), group=array([0], dtype=int32))
    Stored(1 of 4 ids as bits, 1 bytes) Asking(tokens=array([2], dtype=int32), group=array([0], dtype=int32))
    """
    if (states := find_states(unknown, node)) is None:
        return None
    trie = vocabulary.trie
    walk, table = walk_loop(trie, states.table, states.complete), MoveTable[State](unknown)
    ways, way = np.unique(walk.source * 256 + walk.byte, return_inverse=True)
    after = [table.label(unknown.step(states.states[(key >> 8) - 1], key & 255)) for key in ways.tolist()]
    nodes, labels, origin = walk_on(trie, walk.nodes, np.array(after, dtype=np.intp)[way], table.moves.step)
    tokens, place = trie.tokens(nodes, np.arange(1, len(nodes) + 1))
    ids = np.arange(len(vocabulary), dtype=np.int32)[tokens][place > 0]
    place = place[place > 0] - 1
    said = np.array(list(map(say, table.states)))[labels[place]]
    done = np.zeros(len(vocabulary), dtype=np.intp)  # of each token
    done[ids] = np.where((walk.source == 1) & states.outside, OUTSIDE, walk.done)[origin[place]]
    legal, asking = ids[said == ACCEPTED], group_tokens(unknown, vocabulary, ids[said == DEPENDENT], states.states[0])
    bounds = unknown.nodes.counts[states.rule] if states.rule is not None else None
    low, high = (0.0, inf) if bounds is None else (bounds.low, inf if bounds.high is None else bounds.high)
    counted = bounds is not None and not states.outside
    return Loop(walk, legal, done[legal], asking, done[asking.tokens], counted, low, high)


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
    start, kinds = unknown.at(node), unknown.kinds
    states, numbers, rows, complete = [start], {start: 1}, [bytes(256)], [0]
    for state in states:  # it grows while it is read
        row = bytearray(256)  # by the kind of a byte
        for read, some in unknown.ways(state).items():
            if (after := unknown.step(state, some[0])) is not None:
                try:
                    staying = ring.stay(read, after)
                except TwoWays:
                    return None
                if staying and staying not in numbers:
                    states.append(staying)
                    numbers[staying] = len(states)
                for byte in some:
                    row[kinds[byte]] = numbers[staying] if staying else LEAVE
        rows.append(kinds.translate(row))
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

    def stay(self, read: tuple[Positions, ...], after: State) -> State | None:
        """The state after a byte without counts; None if it is not in the loop. The byte was read as `read` says."""
        if self.rule is None:
            return after if self.nodes & sure_nodes(after) else None
        inside = {self.unknown.lead_into(positions, self.rule) for positions in read if positions}
        if inside == {False}:
            return None
        after = self.unknown.without_counts(after)
        if len(inside) > 1 or not self.nodes & sure_nodes(after):
            raise TwoWays
        return after


def find_ring(unknown: OpenStack, node: int) -> Ring | None:
    """The loop that a node leads into by one byte, if there is one."""
    start, nodes = unknown.at(node), unknown.nodes
    after = {to for some in unknown.ways(start).values() for to in sure_nodes(unknown.step(start, some[0]))}
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
