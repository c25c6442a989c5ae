"""What a walk on a partly known stack finds of a token: it is legal on every stack, on none, or on some.

    root ::= "<" item ">" | "[" item "]"    Inside item "ab" is legal on every stack: it is accepted. "?" is legal on
    item ::= [a-z]+                         none: it is rejected. "b>" is legal on some, those where "<" has opened
                                            item: it is context-dependent.

The start of a counted repeat is walked once for all counts. This says how many parts each token begins. After a given
count those tokens are legal that fit between the bounds.

    root ::= "<" [a-z]{0,40} ">"            "ab" begins two parts and stays in the repeat: it is legal after at most 38
                                            parts. "b>" begins one part and leaves the repeat: legal after at most 39.
"""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import ANY_COUNT, FAR, Bounds, Counts
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.arrays import Ints, Mask
from guidedviz.tokens.lazy import Slice, find_slice
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
    """A slice whose tokens are all legal on every stack, if there is one, and the walk of the other tokens."""

    whole_slice: Slice | None
    trie: Trie  # of the other tokens
    nodes: Ints  # of this trie: those that are live
    labels: Ints  # of each of them: the state there, in the table of the walk


def walk_unknown(unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, start: State) -> UnknownWalk:
    """Walk from a state of a partly known stack; a slice that is legal on every stack is not walked.

    A token outside the slice is walked from the end of its longest prefix inside it.
    """
    whole_slice = find_slice(unknown.sure_step, unknown.span, vocabulary, start)
    trie = vocabulary.trie if whole_slice is None else whole_slice.rest
    return UnknownWalk(whole_slice, trie, *table.walk(trie, start))


class SortedTokens(NamedTuple):
    """The accepted and the context-dependent tokens, and the mask of a slice whose tokens are accepted, too."""

    accepted: Ints
    dependent: Ints
    sliced: Mask | None


def sort_tokens(tokens: Ints, verdicts: Verdicts, whole_slice: Slice | None = None, most: float = inf) -> SortedTokens:
    """Sort tokens by their verdicts, beside those of a slice with at most so many characters."""
    sliced = None if whole_slice is None else whole_slice.short(most)
    return SortedTokens(tokens[verdicts == ACCEPTED], tokens[verdicts == DEPENDENT], sliced)


# Where a state of a walk that began in a counted repeat is.
AFTER_REPEAT = 0
BETWEEN_PARTS = 1
WITHIN_PART = 2
UNCLEAR = 3


@dataclass(frozen=True, eq=False)
class RepeatTokens:
    """What is legal at the start of a counted repeat if the bounds are left aside; the same for all counts."""

    whole_slice: Slice | None  # each character of its tokens is a part, and they end in the repeat
    tokens: Ints  # the other tokens that are not rejected
    verdicts: Verdicts  # per token
    stays: Mask  # per token: whether it ends in the repeat
    parts: Ints  # per token: how many parts of the repeat it begins
    bounds: Bounds
    called: bool  # whether the node calls the repeat; otherwise it is the node where each part begins

    def after(self, counts: Counts) -> SortedTokens | None:
        """The accepted and the context-dependent tokens after these counts; None if there are several counts."""
        limits = self._parts_allowed(counts)
        if limits is None:
            return None
        fewest, most = limits
        fits = (self.parts <= most) & (self.stays | (self.parts >= fewest))
        return sort_tokens(self.tokens[fits], self.verdicts[fits], self.whole_slice, most)

    def _parts_allowed(self, counts: Counts) -> tuple[float, float] | None:
        """The fewest parts that a token must begin before it leaves the repeat, and the most that it may begin.

        In the example at the top of this file a token may begin from 1 to 38 parts after two. It must begin one,
        because a token that leaves the repeat at once is read at another node of the state.
        """
        low = self.bounds.low
        high = inf if self.bounds.high is None else self.bounds.high
        if self.called:
            return low, high
        if counts == ANY_COUNT:
            return 1, inf
        (done, last), *others = counts
        if others or last != done:
            return None
        if done == FAR:
            return inf, inf
        return max(low - done, 1), high - done


def read_repeat(
    unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, node: int, counts: Counts
) -> RepeatTokens | None:
    """The tokens at the start of a repeat or at its call; None if no repeat is there, or if a text has several counts.

    >>> unknown = UnknownBottom(gv.grammar('root ::= "<" [a-z]{0,5000} ">" "!"'))
    >>> table = MoveTable(unknown.step, unknown.kinds)
    >>> repeat = read_repeat(unknown, table, gv.Vocabulary([b"a", b"ab", b"b>!", b"b>>"]), 5, ANY_COUNT)
    >>> for counts in (ANY_COUNT, ((4999, 4999),)):
    ...     print(*repeat.after(counts))
    [0 1 2] [] None
    [0 2] [] None
    """
    found = unknown.start_repeat(node, counts)
    if found is None:
        return None
    rule, start = found
    bounds = unknown.nodes.counts[rule]
    assert isinstance(bounds, Bounds)  # the rules that are repeated as a whole
    walk = walk_unknown(unknown, table, vocabulary, start)
    where = table.judge(walk.labels, lambda state: locate(unknown, rule, state))
    if (where == UNCLEAR).any():
        return None
    where[0] = WITHIN_PART  # not BETWEEN_PARTS, because at the root of the trie no part was completed
    trie = walk.trie
    left = np.zeros(len(trie), dtype=np.intp)
    left[walk.nodes] = where == AFTER_REPEAT
    stays = trie.sum_down(left) == 0
    # a token begins the parts that it completes in the repeat, and the one that it ends in
    completed = np.zeros(len(trie), dtype=np.intp)
    completed[walk.nodes] = where == BETWEEN_PARTS
    parts = trie.sum_down(completed * stays)
    parts[walk.nodes] += where == WITHIN_PART
    tokens, verdicts = trie.tokens(walk.nodes, table.judge(walk.labels, classify))
    ends = trie.node_of[tokens]
    cut = vocabulary.trie.characters[tokens] - trie.characters[tokens]  # parts that a slice cut off: a character each
    return RepeatTokens(
        whole_slice=walk.whole_slice,
        tokens=tokens,
        verdicts=verdicts,
        stays=stays[ends],
        parts=parts[ends] + cut,
        bounds=bounds,
        called=unknown.nodes.rule_of[node] != rule,
    )


def locate(unknown: UnknownBottom, rule: int, state: State | None) -> int:
    """Where a state is; unclear if it is at two nodes of the repeat, or if one byte leads on in it and after it."""
    if state is None:
        return AFTER_REPEAT
    in_repeat = nodes_in_repeat(unknown.nodes, rule, state)
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


def nodes_in_repeat(nodes: RuleNodes, rule: int, state: State) -> list[int]:
    """The nodes of a repeat at which a state stands, one per stack."""
    found: list[int] = []
    for node, cells in state.tops:
        if nodes.rule_of[node] == rule and any(cell.rule == rule and cell.counts == ANY_COUNT for cell in cells):
            found += [node for _ in cells]
    return found
