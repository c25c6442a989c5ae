"""The beginnings of texts that were read, with their keys and values; bounded in bytes and shared between students.

In sorted order, one of the two neighbours of a text has the longest beginning in common with it.
"""

from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from guidedviz.models.language_model import Network
from guidedviz.tokens.arrays import Ids
from guidedviz.tokens.vocabulary import shared_length


class Kept(NamedTuple):
    """A text that was read, its keys and values, and the bytes of all that when it was kept."""

    text: Ids
    cache: Any
    nbytes: int


class Prefixes:
    """The texts that were read, by the bytes of their tokens: in sorted order, and the one used last at the end.

    In sorted order, one of the two neighbours of a text has the longest beginning in common with it. So what was read
    for one student also serves another with the same prompt: the cache is copied up to the last shared token.
    """

    def __init__(self, network: Network, most: int) -> None:
        self.network = network
        self.most = most
        self.nbytes = 0
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()
        self._sorted: list[bytes] = []

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, wanted: Sequence[Ids]) -> list[tuple[int, Any]]:
        """For each text how many of its first tokens were read, and a cache of its own that has read them.

        A cache that one text continues is taken out of the store; all other texts get copies.
        """
        longest = [self._longest(text) for text in wanted]
        asked = Counter(key for key, _ in longest)
        return [self._take(key, shared, asked[key] == 1) for key, shared in longest]

    def _take(self, key: bytes, shared: int, alone: bool) -> tuple[int, Any]:
        """How many tokens a cache has read, and the cache: the kept one if nobody else wants it, else a copy."""
        if shared:
            kept = self._kept[key]
            if alone and shared == len(kept.text):
                return shared, self._drop(key).cache
            cache = kept.cache.fork(shared)
            if cache is not None:  # a network that cannot crop a cache gives none
                return shared, cache
        return 0, self.network.new_cache()

    def keep(self, text: Ids, cache: Any) -> None:
        """Keep the cache of a text; those used longest ago make room for it."""
        key = text.tobytes()
        nbytes = int(cache.nbytes) + text.nbytes
        if key in self._kept:
            self._drop(key)
        insort(self._sorted, key)
        self._kept[key] = Kept(text, cache, nbytes)
        self.nbytes += nbytes
        while self.nbytes > self.most and self._kept:
            self._drop(next(iter(self._kept)))

    def _longest(self, text: Ids) -> tuple[bytes, int]:
        """The kept text with the longest beginning in common with this one, and its length in tokens."""
        place = bisect_left(self._sorted, text.tobytes())
        near = self._sorted[max(0, place - 1) : place + 1]
        tokens = text.tolist()
        best = b""
        most = 0
        for key in sorted(near, key=len):  # of two the shorter one
            shared = shared_length(tokens, self._kept[key].text.tolist())
            if shared > most:
                most = shared
                best = key
        if best:
            self._kept.move_to_end(best)
        return best, most

    def _drop(self, key: bytes) -> Kept:
        """Remove a text."""
        del self._sorted[bisect_left(self._sorted, key)]
        self.nbytes -= self._kept[key].nbytes
        return self._kept.pop(key)
