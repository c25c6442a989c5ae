"""Context-dependent tokens: their groups, and their legality on a given stack.

`",` and `colour",` reach the end of the string in the same state with the same bytes to come. On every stack they are
legal together, so one token of the group is read for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.stacks import State
from guidedviz.tokens.arrays import Ids, Mask
from guidedviz.tokens.move_table import MoveTable
from guidedviz.tokens.vocabulary import Vocabulary

MANY = 5000  # tokens; reading more one by one takes longer than a walk of the whole trie
REJECTED, ACCEPTED, DEPENDENT = 0, 1, 2
Path = list[State | None]


class Asking(NamedTuple):
    """Context-dependent tokens in byte order, and the group of each; tokens of a group are legal together.

    Groups are numbered in the order of their first tokens.
    """

    tokens: Ids
    group: Ids

    def where(self, chosen: Mask) -> Asking:
        """Keep some of the tokens."""
        return self if chosen.all() else Asking(self.tokens[chosen], number_groups(self.group[chosen]))

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.tokens.nbytes + self.group.nbytes


def say(state: State | None) -> int:
    """Whether the bytes that led to a state of a partly known stack are legal."""
    return REJECTED if state is None else ACCEPTED if state.sure else DEPENDENT


def group_tokens(unknown: OpenStack, vocabulary: Vocabulary, tokens: Ids, start: State) -> Asking:
    """The node's context-dependent tokens, sorted and grouped; more than `MANY` are not grouped."""
    if not tokens.size:
        return single(tokens)
    tokens = tokens[np.argsort(vocabulary.rank[tokens])]
    if len(tokens) > MANY:
        return single(tokens)
    numbers: dict[tuple[State, bytes], int] = {}  # by the last state that every stack shares, and the bytes after it
    groups = []
    for token, path in zip(tokens.tolist(), read_all(unknown, vocabulary, tokens, start), strict=True):
        left, leaver = [(place, state) for place, state in enumerate(path) if state is not None and state.clean][-1]
        rest = vocabulary.pieces[token][left:].translate(unknown.kinds)
        groups.append(numbers.setdefault((leaver, rest), len(numbers)))
    return Asking(tokens, np.array(groups, dtype=np.int32))


def single(tokens: Ids) -> Asking:
    """One group per token."""
    return Asking(tokens, np.arange(len(tokens), dtype=np.int32))


def merge(vocabulary: Vocabulary, parts: list[Asking], legal: Mask) -> Asking:
    """The tokens that depend on the context at some of several nodes and are legal at none of them.

    Tokens of one group at every node are a group.
    """
    if len(parts) == 1:
        return parts[0]
    left = [part.where(~legal[part.tokens]) for part in parts]
    tokens = np.unique(np.concatenate([np.zeros(0, dtype=np.int32), *(part.tokens for part in left)]))
    tokens = tokens[np.argsort(vocabulary.rank[tokens])]
    group = np.zeros(len(tokens), dtype=np.int64)  # its products need 64 bits
    for part in (part for part in left if part.tokens.size):
        here = np.zeros(len(tokens), dtype=np.int64)  # of each token at this node; 0: none
        here[np.searchsorted(vocabulary.rank[tokens], vocabulary.rank[part.tokens])] = part.group + 1
        group = number_groups(group * (here.max() + 1) + here).astype(np.int64)
    return Asking(tokens, group.astype(np.int32))


def number_groups(group: npt.NDArray[np.integer[Any]]) -> Ids:
    """Number groups in the order of their first tokens.

    >>> number_groups(np.array([7, 3, 7, 0], dtype=np.int32)).tolist()
    [0, 1, 0, 2]
    """
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place].astype(np.int32)


def ask_stack(unknown: OpenStack, vocabulary: Vocabulary, asking: Asking, start: State) -> npt.NDArray[np.int8]:
    """The answer for each token on a stack of which more is known; the first token of each group is read."""
    first = np.diff(np.maximum.accumulate(asking.group), prepend=-1) > 0
    chosen = asking.tokens[first]
    if len(chosen) > MANY:
        table = MoveTable[State](unknown)
        tokens, labels = table.walk(vocabulary.trie, start)
        label_of = np.zeros(len(vocabulary), dtype=np.intp)
        label_of[tokens] = labels
        said = np.array(list(map(say, table.states)), dtype=np.int8)[label_of[chosen]]
    else:
        said = np.array([say(path[-1]) for path in read_all(unknown, vocabulary, chosen, start)], dtype=np.int8)
    said_of = np.zeros(asking.group.max() + 1, dtype=np.int8)
    said_of[asking.group[first]] = said
    return said_of[asking.group]


def read_all(unknown: OpenStack, vocabulary: Vocabulary, tokens: Ids, start: State) -> Iterator[Path]:
    """The states along the bytes of each token, up to its end or to the byte that is refused.

    Tokens come in byte order, so the states of a common beginning are computed once.
    """
    path, last = Path([start]), b""
    for token in tokens.tolist():
        piece, same = vocabulary.pieces[token], 0
        for one, other, _ in zip(piece, last, path[1:], strict=False):
            if one != other:
                break
            same += 1
        del path[same + 1 :]
        for byte in piece[same:]:
            if (state := path[-1]) is None:
                break
            path.append(unknown.step(state, byte))
        last = piece
        yield path
