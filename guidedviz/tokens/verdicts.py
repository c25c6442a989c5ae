"""What a walk on a partly known stack finds of a token: it is legal on every stack, on none, or on some.

root ::= "<" item ">" | "[" item "]"        inside item: "ab" is legal on every stack, "?" on none, and "b>" where
item ::= [a-z]+                             "<" has opened item: it depends on the stack
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.arrays import Ints
from guidedviz.tokens.slices import find_slice
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
    """The tokens of a slice, which are legal on every stack, and a walk of the others."""

    whole: Ints
    trie: Trie  # of the other tokens
    nodes: Ints  # of this trie: those that are live
    labels: Ints  # of each of them: the state there, in the table of the walk


def walk_unknown(unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, start: State) -> UnknownWalk:
    """Walk from a state of a partly known stack; a slice that is legal on every stack is not walked."""
    part = find_slice(unknown.sure_step, unknown.kinds, vocabulary, start)
    if part is None:
        no_tokens = vocabulary.trie.nodes[:0]
        return UnknownWalk(no_tokens, vocabulary.trie, *table.walk(vocabulary.trie, start))
    return UnknownWalk(part.tokens, part.rest, *table.walk(part.rest, start))
