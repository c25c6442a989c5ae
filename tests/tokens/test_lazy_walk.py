"""The record of a walk is that of the mask, and its numbers are those of a walk node by node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import SettingError
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import grammar, json
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.lazy import lazy_walk, lazy_walks
from guidedviz.tokens.vocabulary import Vocabulary
from tests.strategies import regexes, vocabularies
from tests.tokens.plain_walk import walk

JSON_TEXT = '{"name": "Ada", "née": [1815, true, {"é": "\\u00e9"}]}'
PLACES = [b"", b'{"a', b'["\xc3', b'{"a": {"b": [', b"[tr"]
NESTED = grammar('root ::= "a" root "b" | "A" root? "B" | [^a]')


class Counted:
    """A machine that counts what it is asked."""

    def __init__(self, machine):
        self.machine = machine
        self.initial = machine.initial
        self.asked = 0
        self.is_accepting = machine.is_accepting

    def step(self, state, byte):
        self.asked += 1
        return self.machine.step(state, byte)


@given(vocabularies(), regexes)
def test_as_many_nodes_are_asked_about_as_in_a_walk_node_by_node(v, pattern):
    machine = regex(pattern)
    counting = Counted(machine)
    live = walk(v.trie, counting, machine.initial)
    record = lazy_walk(machine, v, slices=False)
    assert record.asked == counting.asked
    assert record.live.tolist() == np.flatnonzero(live).tolist()


@given(vocabularies(), st.sampled_from(["", "a", "aa", "A", "aA"]))
def test_each_node_is_live_or_refused_or_below_one_that_was(v, text):
    record = lazy_walk(NESTED, v, text)
    assert record.asked == len(record.live) - 1 + len(record.cut)
    assert record.asked + record.dropped == len(record.trie) - 1
    walked = guide(NESTED, v, engine="trie")
    assert record.mask.tolist() == walked.mask(record.state).tolist()
    assert record.legal == sum(record.mask)


@pytest.mark.parametrize("text", PLACES)
@pytest.mark.quick(every=2)
def test_the_record_is_that_of_the_engine_and_of_every_other_one(text):
    v = Vocabulary.llama3()
    machine = json()
    record = lazy_walk(machine, v, text, slices=True)
    whole = lazy_walk(machine, v, text, slices=False)
    assert np.array_equal(record.mask, whole.mask)
    for engine in ("trie", "split"):
        mask = guide(machine, v, engine=engine).mask(record.state)
        assert np.array_equal(mask, record.mask)
    assert not record.mask.flags.writeable
    assert whole.asked + whole.dropped == whole.nodes == record.nodes == 274_520


def test_in_a_string_few_nodes_are_asked_about():
    record = lazy_walk(json(), Vocabulary.llama3(), '{"a": "x', slices=True)
    assert repr(record).startswith("LazyWalk(122,892 tokens taken as a slice; of 274,520 nodes 343 asked about")


def test_the_walks_of_a_text_are_those_before_each_of_its_tokens():
    v = Vocabulary.llama3()
    machine = json()
    walks = lazy_walks(machine, v, JSON_TEXT)
    assert (
        lazy_walk(machine, v, JSON_TEXT[:5]).legal == lazy_walk(machine, v, read(machine, JSON_TEXT[:5].encode())).legal
    )
    assert b"".join(one.piece for one in walks) == JSON_TEXT.encode()
    read_so_far = b""
    for one in walks:
        assert one.state is read(machine, read_so_far)
        assert one.mask[v.ids(one.piece)[0]]
        read_so_far += one.piece
    assert lazy_walks(machine, v, b"") == ()


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (("[0-9]", Vocabulary([b"1"])), "str"),
        ((regex("[0-9]"), [b"1"]), "list"),
        ((regex("[0-9]"), Vocabulary([b"1"]), "x"), "x"),
    ],
)
def test_what_cannot_be_walked_is_refused(arguments, seen):
    with pytest.raises(SettingError, match=f"lazy_walk: saw {seen}, expected"):
        lazy_walk(*arguments)
