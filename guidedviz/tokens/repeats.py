"""Counted repeats, such as a string of at most 40 characters: their tokens are found once for all counts.

The trie is walked as if the repeat could go on and end after every part. Each token then has a number of parts, and
after a given count those are legal that fit between the bounds.
"""

from dataclasses import dataclass
from itertools import chain
from math import inf

import numpy as np

from guidedviz.machines.pushdown.counting import FAR, Bounds, Counts
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, Answers, say, walk_open
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import MoveTable

AFTER, BETWEEN, WITHIN, UNCLEAR = 0, 1, 2, 3  # where a state is: after the repeat, between two parts, within one


@dataclass(frozen=True, eq=False)
class OpenRepeat:
    """The tokens that are live at the start of a counted repeat; the same for all counts."""

    tokens: Ints
    said: Answers
    inside: Mask  # per token: whether it ends in the repeat
    parts: Ints  # the parts that it begins, or of one that leaves the repeat the parts before that
    bounds: Bounds
    called: bool  # whether the repeat is called at the node; otherwise the node is where its part begins

    def split(self, counts: Counts) -> tuple[Ints, Ints] | None:
        """The legal and the context-dependent tokens after these counts; None if there are several."""
        low, high = float(self.bounds.low), inf if self.bounds.high is None else float(self.bounds.high)
        if not self.called:
            if counts is None:
                low, high = 0, inf
            elif len(counts) > 1 or counts[0][0] != counts[0][1]:
                return None
            else:
                done = counts[0][0]
                low, high = (inf, inf) if done == FAR else (low - done, high - done)
            low = max(low, 1)  # the end before the next part is another node
        fits = (self.parts <= high) & (self.inside | (self.parts >= low))
        return self.tokens[fits & (self.said == ACCEPTED)], self.tokens[fits & (self.said == DEPENDENT)]


def read_repeat(
    unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, node: int, counts: Counts
) -> OpenRepeat | None:
    """The tokens at the start of a repeat or at its call; None if there is none, or if a text has several counts.

    >>> unknown = UnknownBottom(gv.grammar('root ::= "<" [a-z]{0,5000} ">" "!"'))
    >>> table = MoveTable(unknown.step, unknown.kinds)
    >>> repeat = read_repeat(unknown, table, gv.Vocabulary([b"a", b"ab", b"b>!", b"b>>"]), 5, None)
    >>> for counts in (None, ((4999, 4999),)):
    ...     print(*repeat.split(counts))
    [0 1] [2]
    [0] [2]
    """
    if (found := unknown.start_repeat(node, counts)) is None:
        return None
    rule, start = found
    bounds = unknown.nodes.counts[rule]
    assert isinstance(bounds, Bounds)
    whole, trie, nodes, labels = walk_open(unknown, table, vocabulary, start)
    place = table.say(labels, lambda state: _find_place(unknown, rule, state) if state else AFTER)
    if (place == UNCLEAR).any():
        return None
    place[0] = WITHIN  # at the root no part is complete
    left, between = np.zeros((2, len(trie)), dtype=np.intp)
    left[nodes], between[nodes] = place == AFTER, place == BETWEEN
    inside = trie.sum_down(left) == 0
    parts = trie.sum_down(between * inside)
    parts[nodes] += place == WITHIN
    tokens, order = trie.tokens(nodes, np.arange(1, len(nodes) + 1))  # no label is 0
    at = nodes[order - 1]
    begun = parts[at] + vocabulary.trie.characters[tokens] - trie.characters[tokens]  # a slice reads one per character
    return OpenRepeat(
        np.concatenate((whole, tokens)),
        np.concatenate((np.full(len(whole), ACCEPTED, dtype=np.int8), table.say(labels, say)[order - 1])),
        np.concatenate((np.ones(len(whole), dtype=np.bool_), inside[at])),
        np.concatenate((vocabulary.trie.characters[whole], begun)),
        bounds,
        unknown.nodes.rule_of[node] != rule,
    )


def _find_place(unknown: UnknownBottom, rule: int, state: State) -> int:
    """Where a state is; unclear if it is at two places of the repeat, or if a byte goes on both in it and after it."""
    nodes = unknown.nodes
    here = [
        (node, cells)
        for node, cells in state.tops
        if nodes.rule_of[node] == rule and any(cell.rule == rule and cell.counts is None for cell in cells)
    ]
    if not here:
        return AFTER
    ((node, cells), *others) = here
    after = (unknown.reads_at(other) for other, _ in state.tops if other != node)
    if others or len(cells) > 1 or not unknown.reads_at(node).isdisjoint(chain.from_iterable(after)):
        return UNCLEAR
    return BETWEEN if node in nodes.starts else WITHIN
