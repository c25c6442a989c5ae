"""Loops: their tokens are found once per vocabulary, and the masks are those of a walk of the whole trie."""

from __future__ import annotations

import random

import pytest

import guidedviz as gv
from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.tokens.loops import read_loop, walk_loop
from guidedviz.tokens.trie import MoveTable

PARTS = (
    "[a-z]",
    '"ab" [a-z]?',
    '[a-z] | "é" | "\\"" [0-9] "\\""',
    '[a-c] "," | "日"',
    '"," [0-9]+',
    '("x" | "xy") "z"?',
)


@pytest.fixture(scope="module")
def vocabulary():
    return gv.load_model("clerk").vocabulary


@pytest.fixture(autouse=True)
def no_small_walks(monkeypatch):
    monkeypatch.setattr("guidedviz.tokens.split.FEW", 0)


def random_repeat(draw):
    low = draw.choice([0, 0, 1, 2, 5, 40])
    high = draw.choice(["", low + 3, low + 60, low + 500])
    return f"({draw.choice(PARTS)}){{{low},{high}}}"


def random_grammar(draw):
    def sequence():
        return " ".join(
            draw.choice([random_repeat(draw), '"\\""', '">"', "r", '("a" | "b")', "[a-z]*"]) for _ in range(3)
        )

    return f'root ::= {sequence()} | "<" {sequence()}\nr ::= {random_repeat(draw)} "\\"" | "q"'


@pytest.mark.parametrize("seed", range(12))
def test_masks_of_random_repeats_are_those_of_the_whole_walk(seed, vocabulary):
    draw = random.Random(seed)
    machine = gv.grammar(random_grammar(draw))
    walked = gv.guide(machine, vocabulary, engine="trie")
    split, state = gv.build_split(machine, vocabulary, inline=False), machine.initial
    for _ in range(12):
        mask = split.mask(state)
        assert (mask == walked.mask(state)).all()
        tokens = [token for token in mask.nonzero()[0] if vocabulary.pieces[token] and token not in vocabulary.eos]
        if not tokens:
            break
        for byte in vocabulary.pieces[
            max(draw.sample(tokens, min(9, len(tokens))), key=lambda t: len(vocabulary.pieces[t]))
        ]:
            state = machine.step(state, byte)


def test_two_grammars_share_the_walk_of_a_loop():
    vocabulary = gv.Vocabulary([bytes([byte]) for byte in range(32, 127)] + [b"ab", b'a"', b'a",', b'a"}'])
    walk_loop.cache_clear()
    for end in ("!", "?"):
        machine = gv.grammar(f"root ::= '<' [a-z]{{0,900}} '>' '{end}'".replace("'", '"'))
        guide = gv.guide(machine, vocabulary)
        guide.mask(guide.advance(guide.initial, vocabulary.pieces.index(b"<")))
    assert walk_loop.cache_info().misses == 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('root ::= [a-z]{2,4} "!"', ["a", "abc"]),
        ('root ::= [a-z]{4} "!"', ["a", "abc"]),
        ('root ::= [a-z]{1,900} "!"', ["a", "abc", "abcde", "ab!"]),
        ('root ::= ([a-z] | "é"){1,900} "!"', ["a", "abc", "abcde", "ab!", "é"]),
    ],
)
def test_too_few_and_too_many_parts_are_illegal(text, tokens):
    vocabulary = gv.Vocabulary([b"a", b"abc", b"abcde", b"!", b"ab!", "é".encode(), b"\xc3"])
    machine = gv.grammar(text)
    mask = gv.guide(machine, vocabulary).mask(machine.initial)
    legal = {vocabulary.pieces[token] for token in mask.nonzero()[0]} - {b"\xc3"}
    assert legal == {token.encode() for token in tokens} | ({b"ab!"} if "{2,4}" in text else set())


def test_a_repeat_that_can_be_read_in_two_ways_is_walked_with_its_counts():
    unknown, trie = OpenStack(gv.grammar('root ::= "<" [a-z]{0,900} [a-b] ">"')), gv.Vocabulary([b"a"]).trie
    assert read_loop(unknown, MoveTable(unknown.step, unknown.kinds), trie, 1) is None
