"""What a walk on a partly known stack says of a token: legal on every stack, on none, or on some."""

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.arrays import Ints
from guidedviz.tokens.lazy import find_slice
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import MoveTable

REJECTED, ACCEPTED, DEPENDENT = 0, 1, 2
Answers = npt.NDArray[np.int8]  # one of the three per token


def say(state: State | None) -> int:
    """Whether the bytes that led to a state of a partly known stack are legal."""
    return REJECTED if state is None else ACCEPTED if state.sure else DEPENDENT


def walk_open(
    unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, start: State
) -> tuple[Ints, Trie, Ints, Ints]:
    """Walk from a state of a partly known stack: the tokens of a slice that is legal on every stack, then the walk.

    The walk is of the other tokens: their trie, its live nodes, and the label of each.
    """
    part = find_slice(unknown.sure_step, unknown.kinds, vocabulary, start)
    trie, whole = (part.rest, part.tokens) if part else (vocabulary.trie, vocabulary.trie.nodes[:0])
    return whole, trie, *table.walk(trie, start)
