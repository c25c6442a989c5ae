"""The beginnings of texts that were read, with their keys and values; bounded in bytes and shared between students.

A text is found by its own digest, or by the digests of its first 1, 2, 4, 8, 16, 32, 48, ... tokens. So what was read
for one student also serves another with the same prompt: the cache is copied up to the last shared token.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.models.language_model import Network
from guidedviz.tokens.arrays import Ids

BLOCK = 16  # tokens per digest
TRIED = 8  # prefixes with the same digest that are compared, the newest first


@dataclass
class Prefix:
    """The tokens that a cache has read, and its bytes when it was kept."""

    tokens: Ids
    cache: Any
    nbytes: int = 0


class Prefixes:
    """The prefixes that are kept, the one used last at the end."""

    def __init__(self, network: Network, most: int) -> None:
        self.network, self.most, self.nbytes = network, most, 0
        self.hits = self.misses = 0  # tokens that were found, and tokens that had to be read
        self._kept: OrderedDict[int, Prefix] = OrderedDict()
        self._whole: dict[bytes, int] = {}
        self._places: dict[bytes, OrderedDict[int, None]] = {}  # digest -> the prefixes that begin so
        self._next = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, wanted: Sequence[tuple[Ids, int]]) -> list[Prefix]:
        """For each text the longest prefix that is kept, at most so many tokens, with a cache of its own.

        A prefix that one text continues is taken out of the store; all other texts get copies.
        """
        found = [self._longest(tokens, most) for tokens, most in wanted]
        asked = [number for number, _ in found]
        out = []
        for (tokens, _), (number, shared) in zip(wanted, found, strict=True):
            kept = self._kept.get(number)
            if kept is None or shared < len(kept.tokens) or asked.count(number) > 1:
                kept = self._copy(kept, shared)
            self.hits += len(kept.tokens)
            self.misses += len(tokens) - len(kept.tokens)
            out.append(kept)
        for number, prefix in zip(asked, out, strict=True):
            if self._kept.get(number) is prefix:
                self._drop(number)
        return out

    def keep(self, prefix: Prefix) -> None:
        """Keep a prefix; those used longest ago make room for it."""
        if (same := self._whole.get(prefix.tokens.tobytes())) is not None:
            self._drop(same)
        number, self._next = self._next, self._next + 1
        self._kept[number], self._whole[prefix.tokens.tobytes()] = prefix, number
        for place in digests(prefix.tokens):
            self._places.setdefault(place, OrderedDict())[number] = None
        prefix.nbytes = int(prefix.cache.nbytes) + prefix.tokens.nbytes
        self.nbytes += prefix.nbytes
        while self.nbytes > self.most and self._kept:
            self._drop(next(iter(self._kept)))

    def _copy(self, kept: Prefix | None, shared: int) -> Prefix:
        """A copy of the beginning of a prefix; an empty one if there is none, or if it cannot be cropped."""
        cache = self.network.fork(kept.cache, shared) if kept and shared else None
        if kept is None or cache is None:
            return Prefix(np.empty(0, np.int32), self.network.new_cache())
        return Prefix(kept.tokens[:shared], cache)

    def _longest(self, tokens: Ids, most: int) -> tuple[int, int]:
        """The number of the prefix that shares the most tokens with a text, and how many; -1 if there is none."""
        whole = self._whole.get(tokens[:most].tobytes())
        if whole is not None:
            self._kept.move_to_end(whole)
            return whole, most
        place = next((place for place in reversed([*digests(tokens[:most])]) if place in self._places), None)
        if place is None:
            return -1, 0
        tried = [number for _, number in zip(range(TRIED), reversed(self._places[place]), strict=False)]
        shared, number = max((min(most, shared_ids(self._kept[n].tokens, tokens)), n) for n in tried)
        self._kept.move_to_end(number)
        return number, shared

    def _drop(self, number: int) -> None:
        prefix = self._kept.pop(number)
        self.nbytes -= prefix.nbytes
        del self._whole[prefix.tokens.tobytes()]
        for place in digests(prefix.tokens):
            del self._places[place][number]
            if not self._places[place]:
                del self._places[place]


def digests(tokens: Ids) -> Iterator[bytes]:
    """A digest of the first 1, 2, 4, 8, 16, 32, 48, ... tokens.

    >>> len([*digests(np.zeros(50, np.int32))])
    7
    """
    digest, begin = hashlib.blake2b(digest_size=16), 0
    for end in (1, 2, 4, 8, *range(BLOCK, len(tokens) + 1, BLOCK)):
        if end > len(tokens):
            return
        digest.update(tokens[begin:end].tobytes())
        begin = end
        yield digest.digest()


def shared_ids(one: Ids, other: Ids) -> int:
    """How many first tokens two texts share.

    >>> shared_ids(np.array([1, 2, 3]), np.array([1, 2, 4, 5]))
    2
    """
    size = min(len(one), len(other))
    differs = np.flatnonzero(one[:size] != other[:size])
    return int(differs[0]) if len(differs) else size
