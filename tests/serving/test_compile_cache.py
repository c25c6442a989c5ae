"""Claims about the compile cache: what its key tells apart, what it keeps, and what threads may do at once."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.serving import CompileCache, cache_key, memory_of

V = gv.Vocabulary([b"a", b"b", b"</s>"], eos={2})
A, B = {"type": "string"}, {"type": "integer"}
ORDER = {"type": "object", "properties": {"a": A, "b": B}}


@pytest.mark.parametrize(
    ("grammar", "vocabulary", "options"),
    [
        ({"type": "object", "properties": {"b": B, "a": A}}, V, {}),  # the order of the keys is the order of the output
        ({**ORDER, "required": ["a"]}, V, {}),
        (ORDER, gv.Vocabulary([b"a", b"b", b"</s>"]), {}),  # another EOS
        (ORDER, gv.Vocabulary([b"b", b"a", b"</s>"], eos={2}), {}),  # other ids
        (ORDER, V, {"whitespace": "any"}),
        (ORDER, V, {"engine": "xgrammar"}),
        (json.dumps(ORDER) + " | 'x'", V, {}),  # a grammar that begins like a schema
    ],
)
def test_what_changes_the_masks_changes_the_key(grammar, vocabulary, options):
    assert cache_key(grammar, vocabulary, **options) != cache_key(ORDER, V)


def test_what_changes_no_mask_keeps_the_key():
    assert cache_key(json.dumps(ORDER, indent=4), V) == cache_key(ORDER, V)
    assert cache_key(ORDER, gv.Vocabulary([b"a", b"b", b"</s>"], eos={2})) == cache_key(ORDER, V)
    assert cache_key(ORDER, V, x=1, y=2) == cache_key(ORDER, V, y=2, x=1)


def test_a_new_version_of_the_engine_is_another_key(monkeypatch):
    before = cache_key(ORDER, V)
    monkeypatch.setattr("guidedviz.serving.compile_cache.installed", lambda package: "99")
    assert cache_key(ORDER, V) != before


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cache_key(3, V), "grammar: saw 3, expected a text"),
        (lambda: cache_key(ORDER, "llama"), "saw str"),
        (lambda: cache_key({"a": {1, 2}}, V), "expected what JSON can hold"),
        (lambda: cache_key(ORDER, V, machine=V), "expected what JSON can hold"),
        (lambda: CompileCache(9).get("a", 3), "compile: saw int, expected a function"),
        (lambda: CompileCache(9).get(None, dict), "key: saw None, expected a text"),
        (lambda: CompileCache(-1), "most_bytes: saw -1"),
        (lambda: CompileCache(1e6), "most_bytes: saw 1000000.0"),
    ],
)
def test_bad_input_is_refused(call, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        call()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), max_size=60), st.integers(0, 100))
def test_it_is_a_least_recently_used_cache_that_never_exceeds_its_bytes(asked, most):
    sizes = dict(asked)
    cache, order = CompileCache(most_bytes=most, size=lambda value: sizes[value]), []
    for key, _ in asked:
        hit = str(key) in cache
        assert hit == (key in order)
        assert cache.get(str(key), lambda key=key: key) == key
        order = [*(other for other in order if other != key), key]
        while sum(sizes[other] for other in order) > most:
            order.pop(0)
        assert cache.nbytes == sum(sizes[other] for other in order) <= most
    assert cache.hits + cache.misses == len(asked)
    assert len(cache) + cache.evicted == cache.misses


def test_an_entry_that_grew_is_measured_again_and_may_leave():
    grown: list[int] = []
    cache = CompileCache(most_bytes=100, size=lambda value: 10 + len(value))
    cache.get("a", lambda: grown)
    grown += [0] * 50
    cache.get("a", list)
    assert cache.nbytes == 60
    grown += [0] * 50
    assert cache.get("a", list) is grown
    assert cache.nbytes == 60  # not at the third use
    cache.get("a", list)
    assert (len(cache), cache.nbytes, cache.evicted) == (0, 0, 1)


def test_threads_that_ask_for_one_key_wait_for_one_compile_and_other_keys_do_not():
    cache, compiles = CompileCache(most_bytes=1000, size=lambda value: 1), []

    def compile(key):
        compiles.append(key)
        time.sleep(0.02)
        return key

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda key: cache.get(key, lambda: compile(key)), "aabbaabb"))
    assert found == list("aabbaabb")
    assert sorted(compiles) == ["a", "b"]
    assert not cache._compiling, "no lock is kept after its compile"


def test_a_compile_that_fails_is_tried_again():
    cache = CompileCache(most_bytes=1000)
    with pytest.raises(gv.PatternError):
        cache.get("a", lambda: gv.regex("("))
    assert cache.get("a", lambda: "done") == "done"
    assert repr(cache).endswith("0 hits, 2 misses, 0 evicted)")


def test_memory_counts_arrays_and_closures_once_and_no_vocabulary():
    array = np.zeros(100_000, np.uint8)
    assert 100_000 < memory_of([array, array, lambda: array]) < 101_000
    guide = gv.guide(gv.regex("[ab]*"), V)
    assert memory_of([guide, V]) == memory_of([guide]) + 8
    before = memory_of(guide)
    guide.mask(guide.initial)
    assert memory_of(guide) > before
