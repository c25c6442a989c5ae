"""Counted repeats, such as a string of at most 40 characters: their tokens are found once for all counts.

The trie is walked as if the repeat could go on and end after every part. Each token then has a number of parts, and
after a given count those are legal that fit between the bounds.

    root ::= "<" [a-z]{0,40} ">"        "ab" reads two parts and stays in the repeat: legal while the count is at most
                                        38. "b>" reads one part and leaves it: legal while the count is at most 39.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from guidedviz.machines.pushdown.counting import FAR, Bounds, Counts
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, Verdicts, classify, walk_unknown
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import MoveTable

AFTER_REPEAT = 0
BETWEEN_PARTS = 1
WITHIN_PART = 2
UNCLEAR = 3


@dataclass(frozen=True, eq=False)
class RepeatTokens:
    """The tokens that are live at the start of a counted repeat; the same for all counts."""

    tokens: Ints
    verdicts: Verdicts
    inside: Mask  # per token: whether it ends in the repeat
    parts: Ints  # the parts that it begins, or of one that leaves the repeat the parts before that
    bounds: Bounds
    called: bool  # whether the repeat is called at the node; otherwise the node is where its part begins

    def split(self, counts: Counts) -> tuple[Ints, Ints] | None:
        """The legal and the context-dependent tokens after these counts; None if there are several."""
        room = self._room(counts)
        if room is None:
            return None
        fewest, most = room
        fits = (self.parts <= most) & (self.inside | (self.parts >= fewest))
        accepted = self.tokens[fits & (self.verdicts == ACCEPTED)]
        dependent = self.tokens[fits & (self.verdicts == DEPENDENT)]
        return accepted, dependent

    def _room(self, counts: Counts) -> tuple[float, float] | None:
        """The fewest parts that must follow before the repeat may end, and the most that may follow."""
        low = float(self.bounds.low)
        high = inf if self.bounds.high is None else float(self.bounds.high)
        if self.called:
            return low, high
        if counts is None:
            return 1, inf  # the end before the next part is another node
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
    walk = walk_unknown(unknown, table, vocabulary, start)
    places = table.number(walk.labels, lambda state: find_place(unknown, rule, state))
    if (places == UNCLEAR).any():
        return None
    places[0] = WITHIN_PART  # at the root no part is complete
    trie = walk.trie
    left = np.zeros(len(trie), dtype=np.intp)
    left[walk.nodes] = places == AFTER_REPEAT
    inside = trie.sum_down(left) == 0
    completed = np.zeros(len(trie), dtype=np.intp)
    completed[walk.nodes] = places == BETWEEN_PARTS
    parts = trie.sum_down(completed * inside)
    parts[walk.nodes] += places == WITHIN_PART
    tokens, order = trie.tokens(walk.nodes, np.arange(1, len(walk.nodes) + 1))  # no label is 0
    ends = walk.nodes[order - 1]  # the node of each token
    cut = vocabulary.trie.characters[tokens] - trie.characters[tokens]  # parts that a slice has cut off its beginning
    verdicts = table.number(walk.labels, classify)[order - 1]
    whole = walk.whole
    return RepeatTokens(
        tokens=np.concatenate((whole, tokens)),
        verdicts=np.concatenate((np.full(len(whole), ACCEPTED, dtype=np.int8), verdicts)),
        inside=np.concatenate((np.ones(len(whole), dtype=np.bool_), inside[ends])),
        parts=np.concatenate((vocabulary.trie.characters[whole], parts[ends] + cut)),
        bounds=bounds,
        called=unknown.nodes.rule_of[node] != rule,
    )


def find_place(unknown: UnknownBottom, rule: int, state: State | None) -> int:
    """Where a state is; unclear if it is at two places of the repeat, or if a byte goes on both in it and after it."""
    if state is None:
        return AFTER_REPEAT
    nodes = unknown.nodes
    in_repeat: list[int] = []  # the nodes of the repeat, one per stack
    after_bytes = set[int]()  # what may come elsewhere
    for node, cells in state.tops:
        if nodes.rule_of[node] == rule and any(cell.rule == rule and cell.counts is None for cell in cells):
            in_repeat += [node for _ in cells]
    if not in_repeat:
        return AFTER_REPEAT
    place = in_repeat[0]
    for node, _ in state.tops:
        if node != place:
            after_bytes |= unknown.reads_at(node)
    if len(in_repeat) > 1 or not after_bytes.isdisjoint(unknown.reads_at(place)):
        return UNCLEAR
    return BETWEEN_PARTS if place in nodes.starts else WITHIN_PART
