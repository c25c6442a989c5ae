"""Tokens that must ask the stack: which of them leave their rule alike, and what a stack says of each.

`",` and `colour",` differ only in what is read before the string ends. Where they leave what is known they stand in the
same state with the same bytes to come, so on every stack one answer holds for both, and one of them is read for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.machines.pda import State
from guidedviz.machines.unknown import Unknown
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.storage import Ids
from guidedviz.tokens.table import MoveTable
from guidedviz.tokens.trie import build_trie
from guidedviz.tokens.vocabulary import Vocabulary

MANY = 5000  # tokens; to read so many one by one takes longer than a walk of the whole trie
NO, YES, ASK = 0, 1, 2
Path = list[State | None]


class Asking(NamedTuple):
    """Tokens in the order of their bytes, and for each the number of its group: those of a group leave alike.

    Groups are numbered as they come: the first token of a group has a larger number than all before it.
    """

    tokens: Ids
    group: Ids

    def where(self, chosen: Mask) -> Asking:
        """Some of the groups: all tokens of a group must be chosen, or none."""
        return Asking(self.tokens[chosen], self.group[chosen])

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.tokens.nbytes + self.group.nbytes


def say(state: State | None) -> int:
    """What a state of which only the upper cells are known says of the bytes that led to it."""
    return NO if state is None else YES if state.accepting else ASK


def group_tokens(unknown: Unknown, vocabulary: Vocabulary, tokens: Ids, start: State) -> Asking:
    """The tokens that ask from a node on, put in order and in groups; very many are left single."""
    tokens = in_order(vocabulary, tokens)
    if not 0 < len(tokens) <= MANY:
        return single(tokens)
    numbers: dict[tuple[State, bytes], int] = {}
    groups = []
    for token, path in zip(tokens.tolist(), read_all(unknown, vocabulary, tokens, start), strict=True):
        left = next(place for place, state in enumerate(path) if state is None or not unknown.is_known(state))
        leaver, rest = path[left - 1], vocabulary.pieces[token][left - 1 :].translate(unknown.kinds)
        assert leaver is not None
        groups.append(numbers.setdefault((leaver, rest), len(numbers)))
    return Asking(tokens, np.array(groups, dtype=np.int32))


def single(tokens: Ids) -> Asking:
    """Every token a group of its own."""
    return Asking(tokens, np.arange(len(tokens), dtype=np.int32))


def merge(vocabulary: Vocabulary, parts: list[Asking], legal: Mask) -> Asking:
    """The tokens that ask at one of several nodes and are legal at none; alike at one, they may differ at another."""
    if len(parts) == 1:
        return parts[0]
    found = np.concatenate([np.zeros(0, dtype=np.int32), *(part.tokens for part in parts)])
    return single(in_order(vocabulary, np.unique(found[~legal[found]])))


def ask_stack(unknown: Unknown, vocabulary: Vocabulary, asking: Asking, start: State) -> npt.NDArray[np.int8]:
    """What each token leads to on a stack of which more is known: one of a group is read, or very many by a walk."""
    first = np.diff(np.maximum.accumulate(asking.group), prepend=-1) > 0
    chosen = asking.tokens[first]
    if len(chosen) > MANY:
        table = MoveTable[State](unknown)
        tokens, labels = table.walk(build_trie(vocabulary), start)
        label_of = np.zeros(len(vocabulary), dtype=np.intp)
        label_of[tokens] = labels
        said = np.array(list(map(say, table.states)), dtype=np.int8)[label_of[chosen]]
    else:
        said = np.array([say(path[-1]) for path in read_all(unknown, vocabulary, chosen, start)], dtype=np.int8)
    said_of = np.zeros(asking.group.max() + 1, dtype=np.int8)
    said_of[asking.group[first]] = said
    return said_of[asking.group]


def read_all(unknown: Unknown, vocabulary: Vocabulary, tokens: Ids, start: State) -> Iterator[Path]:
    """The states on the way of each token, to its end or to where it died.

    Tokens come in the order of their bytes, so that the way of one begins where the way of the last one parted.
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


def in_order(vocabulary: Vocabulary, tokens: Ids) -> Ids:
    """The ids in the order of their bytes.

    >>> in_order(Vocabulary([b"b", b"a", b"ab"]), np.arange(3, dtype=np.int32)).tolist()
    [1, 2, 0]
    """
    return tokens[np.argsort(byte_ranks(vocabulary)[tokens])] if len(tokens) > 1 else tokens


@lru_cache(maxsize=8)
def byte_ranks(vocabulary: Vocabulary) -> Ids:
    """For every id its place in the order of bytes."""
    ranks = np.empty(len(vocabulary), dtype=np.int32)
    ranks[sorted(range(len(vocabulary)), key=vocabulary.pieces.__getitem__)] = np.arange(len(vocabulary))
    return ranks
