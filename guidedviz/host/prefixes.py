"""The beginnings of texts that were read, with their keys and values; bounded in bytes and shared between students.

In sorted order, one of the two neighbours of a text has the longest beginning in common with it.
"""

from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from guidedviz.models.language_model import Network
from guidedviz.tokens.arrays import Ids
from guidedviz.tokens.spelling import shared_length


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
        self.network, self.most, self.nbytes = network, most, 0
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()
        self._sorted: list[bytes] = []

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, wanted: Sequence[Ids]) -> list[tuple[int, Any]]:
        """For each text how many of its first tokens were read, and a cache of its own that has read them.

        A cache that one text continues is taken out of the store; all other texts get copies.
        """
        found = [self._longest(text) for text in wanted]
        asked = Counter(key for key, _ in found)
        out = []
        for key, shared in found:
            if shared and shared == len(self._kept[key].text) and asked[key] == 1:
                cache = self._drop(key).cache
            else:  # a network that cannot crop a cache gives none
                cache = self._kept[key].cache.fork(shared) if shared else None
            if cache is None:
                shared, cache = 0, self.network.new_cache()
            out.append((shared, cache))
        return out

    def keep(self, text: Ids, cache: Any) -> None:
        """Keep the cache of a text; those used longest ago make room for it."""
        key, nbytes = text.tobytes(), int(cache.nbytes) + text.nbytes
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
        shared, _, key = max(
            ((shared_length(tokens, self._kept[key].text.tolist()), -len(key), key) for key in near),
            default=(0, 0, b""),
        )
        if shared:
            self._kept.move_to_end(key)
        return key, shared

    def _drop(self, key: bytes) -> Kept:
        """Remove a text."""
        del self._sorted[bisect_left(self._sorted, key)]
        self.nbytes -= self._kept[key].nbytes
        return self._kept.pop(key)
