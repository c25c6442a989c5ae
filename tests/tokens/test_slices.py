"""A slice holds exactly the tokens of its kind, and a walk with slices makes the same mask as one without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.earley.earley import earley
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import grammar, json
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.models.load import load_model
from guidedviz.tokens import lazy
from guidedviz.tokens import split as split_file
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.lazy import SLICE_PATTERNS, Lazy, lazy_walk, reads_all
from guidedviz.tokens.split import build_split
from guidedviz.tokens.verdicts import walk_unknown
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import one_byte
from tests.strategies import draw_walk, grammars, vocabularies

TEXT = regex(SLICE_PATTERNS["text in quotes"])


@pytest.fixture
def small_slices(monkeypatch):
    """Slices of a few tokens count as well."""
    monkeypatch.setattr(lazy, "FEWEST_IN_SLICE", 1)


def legal_tokens(machine, vocabulary, state):
    """Byte by byte, token by token."""
    legal = [False] * len(vocabulary)
    for token in vocabulary.text_ids:
        legal[token] = read(machine, vocabulary.pieces[token], state) is not None
    for token in vocabulary.eos:
        legal[token] = machine.is_accepting(state)
    return legal


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("build", [grammar, earley])
@given(vocabularies(), grammars, st.data())
def test_slices_change_no_mask_of_a_grammar(build, v, text, data):
    try:
        machine = build(text)
    except PatternError:
        return
    g = guide(machine, v, engine="trie")
    walk = Lazy(machine, v).walk
    try:
        for state, _ in draw_walk(data, g, steps=4):
            mask = g.mask(state).tolist()
            assert mask == walk(state).mask.tolist()
            assert mask == legal_tokens(machine, v, state)
    except PatternError:  # too many ways to read a text of this grammar, with slices or without
        return


QUOTED = [
    r'"([^"\\]|\\.)*"', r'"[^"\\]{3,}"', r'"[^"\\]{0,12}"', r'"\w*"', r'(?s)".*', r'"[^a]*"',
    r'"([a-zé ]|[A-Z])*"', r'"[\x00-\x7f]*"', r'"[^\n"]+(, "[^\n"]+)*"',
]  # fmt: skip


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("pattern", QUOTED)
@given(vocabularies(), st.text(st.sampled_from("abA1_ \né☃🙂"), max_size=8), st.integers(0, 3))
@pytest.mark.quick(every=4)
def test_slices_change_no_mask_inside_quotes(pattern, v, written, short):
    machine = regex(pattern)
    data = b'"' + written.encode()
    state = read(machine, data[: len(data) - short])  # which may cut a character
    if state is not None:
        mask = Lazy(machine, v).mask(state)
        assert mask.tolist() == legal_tokens(machine, v, state)


LIMITED = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 40}}, "required": ["a"]}
TAKEN = [
    (json(), b'{"a": "x', "text in quotes"),
    (json(), '["é'.encode()[:-1], None),  # inside a character
    (earley('root ::= "<" [^>"]* ">"'), b"<a", "words and blanks"),  # > is text in quotes, but ends this
    (grammar('root ::= "\\"" [^"]* "\\""'), b'"', "text in quotes"),
    (json_schema(LIMITED, whitespace="space"), b'{"a": "', None),
    (json_schema(LIMITED, whitespace="space"), b'{"a": "' + b"x" * 35, None),
    (regex(r"[\w ]*;"), b"a", "words and blanks"),
    (regex(r"[a-zA-Z_]\w*"), b"", None),  # no digit may come first
]


@pytest.mark.parametrize(("machine", "text", "name"), TAKEN, ids=[f"{text[:30]!r} {name}" for _, text, name in TAKEN])
def test_the_slice_that_is_taken_and_the_mask_on_a_large_vocabulary(machine, text, name):
    v = Vocabulary.llama3()
    walk = lazy_walk(machine, v, text)
    assert (walk.whole_slice.name if walk.whole_slice else None) == name
    assert np.array_equal(walk.mask, lazy_walk(machine, v, text, slices=False).mask)


@pytest.mark.slow
def test_a_text_that_no_token_holds_may_be_too_ambiguous_to_read():
    machine = grammar('root ::= s\ns ::= s s s | s s | [^"]')
    assert not reads_all(machine.step, one_byte, machine.initial, TEXT)
    mask = Lazy(machine, Vocabulary([b"a", b"ab", b"b", b'"'])).mask(machine.initial)
    assert mask.tolist() == [True, True, True, False]


def test_a_live_beginning_that_cannot_be_finished_is_not_followed():
    endless = grammar('root ::= "\\"" text\ntext ::= "a"* "\\"" | [^"] never\nnever ::= [^"] never')
    state = read(endless, b'"')
    assert not reads_all(endless.step, one_byte, state, TEXT)
    inside = read(endless, b'"aa')
    assert reads_all(endless.step, one_byte, inside, regex("a*"))


def test_bytes_of_one_span_lead_to_the_same_state():
    schema = {"properties": {"name": {"type": "string", "maxLength": 60}, "no": {}}}
    unknown = UnknownBottom(json_schema(schema, extra_keys="open"))
    spans = []
    for node in range(len(unknown.nodes)):
        state = unknown.at(node)
        for byte in range(256):
            low, high = unknown.span(state, byte)
            spans.append((node, low))
            assert low <= byte <= high
            assert unknown.step(state, low) is unknown.step(state, byte) is unknown.step(state, high)
    assert len(set(spans)) * 4 < len(spans)  # few, on average


def test_inside_a_key_of_an_open_object_only_the_text_of_other_keys_is_walked(monkeypatch):
    vocabulary = load_model("clerk").vocabulary
    fields = {"name": {"type": "integer"}, "names": {"type": "string"}, "no": {"type": "null"}}
    machine = json_schema({"type": "object", "properties": fields}, extra_keys="open")
    split = build_split(machine, vocabulary, inline=False)
    walks = []

    def walk(*given):
        walks.append(walk_unknown(*given))
        return walks[-1]

    monkeypatch.setattr(split_file, "walk_unknown", walk)
    for text in (b'{"', b'{"n', b'{"nam', b'{"names', b'{"other'):
        state = read(machine, text)
        mask = Lazy(machine, vocabulary).mask(state)
        assert (split.mask(state) == mask).all()
    assert [walk.whole_slice.name for walk in walks] == ["text in quotes"]
