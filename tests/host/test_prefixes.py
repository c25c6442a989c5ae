"""Claims about kept prefixes: the longest is found, they are shared, and they stay within their bytes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.host.prefixes import Prefixes


class Cache:
    def __init__(self, net, tokens=()):
        self.net, self.tokens, self.nbytes = net, list(tokens), 100

    def fork(self, length):
        self.net.copied += 1
        return Cache(self.net, self.tokens[:length]) if self.net.crops else None


class Net:
    copied, crops = 0, True

    def new_cache(self):
        return Cache(self)


def ids(*tokens):
    return np.array(tokens, np.int32)


def read(prefixes, *texts):
    """What a pass does: find, read, keep. Gives how many tokens each text found."""
    found = prefixes.find([text[:-1] for text in texts])
    for (size, cache), text in zip(found, texts, strict=True):
        assert cache.tokens == text[:size].tolist(), "the cache is of this text"
        cache.tokens = text.tolist()
        prefixes.keep(text, cache)
    return [size for size, _ in found]


def test_a_text_goes_on_where_it_ended_and_its_cache_is_not_copied():
    prefixes = Prefixes(Net(), 10_000)
    assert read(prefixes, ids(1, 2, 3)) == [0]
    assert read(prefixes, ids(1, 2, 3, 4)) == [3]
    assert (len(prefixes), prefixes.network.copied) == (1, 0)


def test_students_with_the_same_prompt_share_it_also_in_one_pass():
    prefixes = Prefixes(Net(), 10_000)
    read(prefixes, ids(*range(20)))
    assert read(prefixes, *(ids(*range(20), word) for word in (50, 51, 52))) == [20, 20, 20]
    found = read(prefixes, ids(*range(20), 50, 60), ids(*range(20), 53))
    assert found == [21, 20]


def test_prefixes_stay_within_their_bytes_and_the_oldest_goes():
    prefixes = Prefixes(Net(), 350)
    for first in range(10):
        read(prefixes, ids(first, 1, 2))
        assert prefixes.nbytes <= 350
    assert len(prefixes) == 3
    assert read(prefixes, ids(9, 1, 2, 3)) == [3]
    assert read(prefixes, ids(0, 1, 2, 3)) == [0]


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=40), max_size=30), st.integers(1, 1000))
def test_whatever_is_asked_a_found_cache_is_of_this_text(texts, most):
    prefixes = Prefixes(Net(), most)
    for one, other in zip(texts, reversed(texts), strict=True):
        read(prefixes, ids(*one), ids(*other))
        assert prefixes.nbytes <= most


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=20))
def test_the_longest_beginning_that_was_read_is_found(texts):
    prefixes = Prefixes(Net(), 10**9)
    begun = {()}
    for text in texts:
        longest = max(end for end in range(len(text)) if tuple(text[:end]) in begun)
        assert read(prefixes, ids(*text)) == [longest]
        begun.update(tuple(text[:end]) for end in range(len(text) + 1))


def test_a_cache_that_cannot_be_cropped_is_read_anew():
    net = Net()
    net.crops = False
    prefixes = Prefixes(net, 1000)
    read(prefixes, ids(1, 2, 3))
    assert read(prefixes, ids(1, 2, 9)) == [0]


def test_the_bytes_of_a_cache_are_those_of_its_keys_and_values(clerk):
    cache = clerk.network.new_cache()
    clerk.network.read([cache], [[1] * 64])
    assert cache.nbytes == 64 * 4 * 2 * 256 * 4, "tokens, layers, keys and values, numbers, bytes"
