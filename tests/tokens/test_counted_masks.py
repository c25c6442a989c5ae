"""Masks of machines that count, against the masks of the machines with copies."""

import random

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.tokens.guide import split_guide
from tests.common import BYTES, with_end


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
    a{2,30}  [ab]{0,20}b  a*a{2,30}b  (a|aa){2,24}  (ab|a){0,23}b  a{13,}b?  (a{2,9}b){2,13}  a{0,13}a{0,13}
    [ab]{20}a{1,22}  a{0,13}b{1,12}|ab{0,14}  (a{1,12}){2,13}  [ab]*a[ab]{8}  (aa|aaaaa){1,13}b  (a*b){3,17}(ab)?
    (b|a{3,9}b){4,30}  ([aé]|b){5,18}b(a|b[aé]{0,16})?
""".split()


@pytest.mark.parametrize("text", REGEXES)
@pytest.mark.parametrize("engine", ["split", "trie", "index", "unknown"])
@pytest.mark.quick(every=5)
def test_every_mask_is_the_mask_of_the_copies(text, engine):
    machine = counting(text)
    copies = gv.regex(text)
    rng = random.Random(text)
    for longest in (2, 6):
        tokens = vocabulary("abé" if "é" in text else "ab", longest, 60, longest)
        if engine == "unknown":
            guide = split_guide(gv.build_split(machine, tokens, inline=False, expand=False))
        else:
            guide = gv.guide(machine, tokens, engine=engine)
        oracle = gv.guide(copies, tokens)
        for _ in range(12):
            state = guide.initial
            copy = oracle.initial
            for _ in range(20):
                mask = guide.mask(state)
                assert np.array_equal(mask, oracle.mask(copy)), text
                assert guide.forced(state) == oracle.forced(copy)
                legal = mask[:-1].nonzero()[0]
                if not legal.size:
                    break
                token = int(rng.choice(legal))
                assert guide.explain(state, token).legal
                state = guide.advance(state, token)
                copy = oracle.advance(copy, token)


LONG = with_end([b"a", b"aaa", b"a" * 17, b'"', b'a"', b'aa"', b'"x', b"\xc3", b"\xa9"])


@pytest.mark.parametrize("engine", ["split", "index"])
@pytest.mark.parametrize("bounds", [(0, 127), (1, 128), (128, 129), (4094, 4096), (0, 4096), (4095, 4097)])
@pytest.mark.quick(every=3)
def test_masks_at_the_bounds(bounds, engine):
    low, high = bounds
    text = f'"[aé]{{{low},{high}}}"x?'
    guide = gv.guide(counting(text), LONG, engine)
    machine = guide.machine
    state = machine.step(machine.initial, ord('"'))
    for count in range(high + 1):
        if min(abs(count - low), high - count) < 20:
            mask = guide.mask(state)
            a, aaa, a17 = (count + more <= high for more in (1, 3, 17))
            quote, a_quote, aa_quote = (low <= count + more <= high for more in (0, 1, 2))
            assert mask.tolist() == [a, aaa, a17, quote, a_quote, aa_quote, quote, a, False, False], count
        state = machine.step(state, ord("a"))
    assert state is None


@pytest.mark.parametrize("engine", ["split", "index"])
def test_a_node_is_split_once_for_all_counts_far_from_the_bounds(engine):
    pieces = [b"a", b"bc", b"x", b"xa", b"def", b"0"]
    guide = gv.guide(gv.regex("x[a-z]{2,50000}"), gv.Vocabulary(pieces), engine)
    state = guide.advance(guide.initial, 3)
    kept = 0
    for count in range(2400):
        guide.mask(state)
        state = guide.advance(state, 1)
        kept = kept if count != 9 else guide.split.nbytes
    assert guide.split.nbytes == kept > 0
    assert guide.index is None


def test_an_index_of_a_schema_that_counts_has_the_masks_of_its_split():
    properties = {"a": {"type": "string", "maxLength": 700}, "b": {"type": "integer"}}
    schema = {"type": "object", "properties": properties}
    machine = gv.json_schema(schema)
    pieces = [*BYTES, b'{"', b'":', b'", "', b"aaaa", b"\\u00", b'"}', "é".encode()]
    tokens = gv.Vocabulary(pieces)
    index = gv.guide(machine, tokens, "index")
    split = gv.guide(machine, tokens, "split")
    state = machine.initial
    for byte in b'{"a": "' + b"xy\\n\xc3\xa9" * 175 + b'", "b": 7}':
        assert np.array_equal(index.mask(state), split.mask(state))
        state = index.advance(state, byte)
    assert machine.is_accepting(state)
