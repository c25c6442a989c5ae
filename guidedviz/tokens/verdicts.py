"""What a walk on a partly known stack finds of a token: it is legal on every stack, on none, or on some.

root ::= "<" item ">" | "[" item "]"        inside item: "ab" is legal on every stack, "?" on none, and "b>" where
item ::= [a-z]+                             "<" has opened item: it depends on the stack

The start of a counted repeat is walked once for all counts. Each token then has a number of parts, and after a given
count those are legal that fit between the bounds.

root ::= "<" [a-z]{0,40} ">"        "ab" reads two parts and stays in the repeat: legal while the count is at most 38.
                                    "b>" reads one part and leaves it: legal while the count is at most 39.
"""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import FAR, Bounds, Counts
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.lazy import Slice, build_slices, find_slice
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import MoveTable

REJECTED = 0
ACCEPTED = 1
DEPENDENT = 2
Verdicts = npt.NDArray[np.int8]  # one of the three per token


def classify(state: State | None) -> int:
    """The verdict on the bytes that led to a state of a partly known stack."""
    if state is None:
        return REJECTED
    return ACCEPTED if state.sure else DEPENDENT


class UnknownWalk(NamedTuple):
    """A slice whose tokens are legal on every stack, and a walk of the others."""

    part: Slice | None
    trie: Trie  # of the other tokens
    nodes: Ints  # of this trie: those that are live
    labels: Ints  # of each of them: the state there, in the table of the walk


def walk_unknown(
    unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, start: State, must_loop: bool = False
) -> UnknownWalk:
    """Walk from a state of a partly known stack; a slice that is legal on every stack is not walked.

    If the slice loops, a walk of another token skips the prefix that is a text of the slice. Inside a key a slice does
    not loop: then the other tokens are walked from their first byte. With `must_loop` such a slice is not taken.
    """
    trie = vocabulary.trie
    slices = build_slices(vocabulary, unknown.reads_controls)
    part = find_slice(unknown.sure_step, unknown.kinds_in, slices, start)
    if part is not None:
        trie = part.rest
    elif not must_loop:
        part = find_slice(unknown.sure_step, unknown.kinds_in, slices, start, must_loop=False)
        if part is not None:
            trie = part.others
    return UnknownWalk(part, trie, *table.walk(trie, start))


def join_slice(part: Slice | None, tokens: Ints, most: float = inf) -> Ints:
    """These tokens, and those of a slice with at most so many characters."""
    return tokens if part is None else np.concatenate((part.tokens(most), tokens))


# Where in a counted repeat a walk stands.
AFTER_REPEAT = 0
BETWEEN_PARTS = 1
WITHIN_PART = 2
UNCLEAR = 3


@dataclass(frozen=True, eq=False)
class RepeatTokens:
    """The tokens that are live at the start of a counted repeat; the same for all counts."""

    part: Slice | None  # each character of its tokens is a part, and they end in the repeat
    tokens: Ints  # the others
    verdicts: Verdicts  # of each token, as if its parts fitted between the bounds
    inside: Mask  # per token: whether it ends in the repeat
    parts: Ints  # per token: how many parts of the repeat it begins
    bounds: Bounds
    called: bool  # whether the node calls the repeat; otherwise it is the node where each part begins

    def split(self, counts: Counts) -> tuple[Ints, Ints] | None:
        """The accepted and the context-dependent tokens after these counts; None if there are several counts."""
        room = self._room(counts)
        if room is None:
            return None
        fewest, most = room
        fits = (self.parts <= most) & (self.inside | (self.parts >= fewest))
        accepted = self.tokens[fits & (self.verdicts == ACCEPTED)]
        dependent = self.tokens[fits & (self.verdicts == DEPENDENT)]
        return join_slice(self.part, accepted, most), dependent

    def _room(self, counts: Counts) -> tuple[float, float] | None:
        """The fewest parts that a token must begin before it leaves the repeat, and the most that it may begin.

        Between two parts a token begins at least one: what comes after the repeat is read at another node. In the
        example at the top of this file with a count of 2, a token may begin from 1 to 38 parts.
        """
        low = float(self.bounds.low)
        high = inf if self.bounds.high is None else float(self.bounds.high)
        if self.called:
            return low, high
        if counts is None:
            return 1, inf
        if len(counts) > 1 or counts[0][0] != counts[0][1]:
            return None
        done = counts[0][0]
        if done == FAR:
            return inf, inf
        return max(low - done, 1), high - done


def read_repeat(
    unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, node: int, counts: Counts
) -> RepeatTokens | None:
    """The tokens at the start of a repeat or at its call; None if there is none, or if a text has several counts.

    >>> unknown = UnknownBottom(gv.grammar('root ::= "<" [a-z]{0,5000} ">" "!"'))
    >>> table = MoveTable(unknown.step, unknown.kinds)
    >>> repeat = read_repeat(unknown, table, gv.Vocabulary([b"a", b"ab", b"b>!", b"b>>"]), 5, None)
    >>> for counts in (None, ((4999, 4999),)):
    ...     print(*repeat.split(counts))
    [0 1] [2]
    [0] [2]
    """
    found = unknown.start_repeat(node, counts)
    if found is None:
        return None
    rule, start = found
    bounds = unknown.nodes.counts[rule]
    assert isinstance(bounds, Bounds)  # the rules that are repeated as a whole
    walk = walk_unknown(unknown, table, vocabulary, start, must_loop=True)
    standings = table.judge(walk.labels, lambda state: locate(unknown, rule, state))
    if (standings == UNCLEAR).any():
        return None
    standings[0] = WITHIN_PART  # not BETWEEN_PARTS, because at the root of the trie no part was completed
    trie = walk.trie
    left = np.zeros(len(trie), dtype=np.intp)
    left[walk.nodes] = standings == AFTER_REPEAT
    inside = trie.sum_down(left) == 0
    # a token begins the parts that it completes in the repeat, and the one that it ends in
    completed = np.zeros(len(trie), dtype=np.intp)
    completed[walk.nodes] = standings == BETWEEN_PARTS
    parts = trie.sum_down(completed * inside)
    parts[walk.nodes] += standings == WITHIN_PART
    tokens, order = trie.tokens(walk.nodes, np.arange(1, len(walk.nodes) + 1))  # `tokens` leaves out the label 0
    ends = walk.nodes[order - 1]  # the node of each token
    cut = vocabulary.trie.characters[tokens] - trie.characters[tokens]  # parts that a slice cut off: a character each
    return RepeatTokens(
        part=walk.part,
        tokens=tokens,
        verdicts=table.judge(walk.labels, classify)[order - 1],
        inside=inside[ends],
        parts=parts[ends] + cut,
        bounds=bounds,
        called=unknown.nodes.rule_of[node] != rule,
    )


def locate(unknown: UnknownBottom, rule: int, state: State | None) -> int:
    """Where a state is; unclear if it is at two nodes of the repeat, or if a byte goes on both in it and after it."""
    if state is None:
        return AFTER_REPEAT
    in_repeat = list_nodes(unknown.nodes, rule, state)
    if not in_repeat:
        return AFTER_REPEAT
    if len(in_repeat) > 1:
        return UNCLEAR
    inside = in_repeat[0]
    kinds = unknown.kinds_at(inside)
    for node, _ in state.tops:
        if node != inside and not kinds.isdisjoint(unknown.kinds_at(node)):
            return UNCLEAR
    return BETWEEN_PARTS if inside in unknown.nodes.starts else WITHIN_PART


def list_nodes(nodes: RuleNodes, rule: int, state: State) -> list[int]:
    """The nodes of a repeat at which a state stands, one per stack."""
    found: list[int] = []
    for node, cells in state.tops:
        if nodes.rule_of[node] == rule and any(cell.rule == rule and cell.counts is None for cell in cells):
            found += [node for _ in cells]
    return found
