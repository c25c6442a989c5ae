"""Masks of machines that count, against the masks of the machines with copies."""

import random
from functools import partial

import pytest

import guidedviz as gv
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.tokens.guide import split_guide
from tests.common import BYTES, assert_alike, choose_tokens, with_end


def counting(text):
    grammar = Grammar((Rule("root", parse_regex(text), (0, 4)),))
    return PDA(grammar, copies=0)


def vocabulary(letters, longest, size, seed):
    rng = random.Random(seed)
    pieces = {b"\xc3", b"\xa9b", *map(str.encode, letters)}
    for _ in range(size):
        length = rng.randint(1, longest)
        piece = "".join(rng.choices(letters, k=length))
        pieces.add(piece.encode())
    return with_end(sorted(pieces))


REGEXES = r"""
    [ab]{0,20}b  a*a{2,30}b  (a|aa){2,24}  (a{2,9}b){2,13}  a{0,13}a{0,13}  [ab]{20}a{1,22}  a{0,13}b{1,12}|ab{0,14}
    (aa|aaaaa){1,13}b  ([aé]|b){5,18}b(a|b[aé]{0,16})?
""".split()


def unknown_bottom(machine, tokens):
    return split_guide(gv.build_split(machine, tokens, inline=False, expand=False))


GUIDES = [
    partial(gv.guide, engine="trie"),
    partial(gv.guide, engine="index"),
    partial(gv.guide, engine="split"),
    unknown_bottom,
]


@pytest.mark.parametrize("text", REGEXES)
@pytest.mark.parametrize("build", GUIDES, ids=["trie", "index", "split", "unknown"])
@pytest.mark.quick(every=5)
def test_every_mask_is_the_mask_of_the_copies(text, build):
    rng = random.Random(text)
    for longest in (2, 6):
        tokens = vocabulary("abé" if "é" in text else "ab", longest, 60, longest)
        guide = build(counting(text), tokens)
        oracle = gv.guide(gv.regex(text), tokens)
        for _ in range(8):
            assert_alike(guide, oracle, choose_tokens(oracle, rng, 20))


LONG = with_end([b"a", b"aaa", b"a" * 17, b'"', b'a"', b'aa"', b'"x', b"\xc3", b"\xa9"])


@pytest.mark.parametrize("engine", ["split", "index"])
@pytest.mark.parametrize(("low", "high"), [(0, 127), (128, 129), (4095, 4097)])
@pytest.mark.quick(every=2)
def test_masks_at_the_bounds(low, high, engine):
    machine = counting(f'"[aé]{{{low},{high}}}"x?')
    guide = gv.guide(machine, LONG, engine)
    for count in {*range(25), *range(max(0, low - 20), high + 1)}:
        state = read(guide.machine, b'"' + b"a" * count)
        more = [count + letters <= high for letters in (1, 3, 17)]
        ends = [low <= count + letters <= high for letters in (0, 1, 2)]
        assert guide.mask(state).tolist() == [*more, *ends, ends[0], more[0], False, False], count


@pytest.mark.parametrize("engine", ["split", "index"])
def test_a_node_is_split_once_for_all_counts_far_from_the_bounds(engine):
    pieces = [b"a", b"bc", b"x", b"xa", b"def", b"0"]
    guide = gv.guide(gv.regex("x[a-z]{2,50000}"), gv.Vocabulary(pieces), engine)
    state = guide.advance(guide.initial, 3)
    kept = 0
    for count in range(600):
        guide.mask(state)
        state = guide.advance(state, 1)
        kept = kept if count != 9 else guide.split.nbytes
    assert guide.split.nbytes == kept > 0
    assert guide.index is None


def test_an_index_of_a_schema_that_counts_has_the_masks_of_its_split():
    properties = {"a": {"type": "string", "maxLength": 120}, "b": {"type": "integer"}}
    machine = gv.json_schema({"type": "object", "properties": properties})
    vocabulary = gv.Vocabulary([*BYTES, b'{"', b'":', b'", "', b"aaaa", b"\\u00", b'"}', "é".encode()])
    text = b'{"a": "' + b"xy\\n\xc3\xa9" * 30 + b'", "b": 7}'
    index = gv.guide(machine, vocabulary, "index")
    split = gv.guide(machine, vocabulary, "split")
    assert_alike(index, split, text)
