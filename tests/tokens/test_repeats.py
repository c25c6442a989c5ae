"""Counted repeats: their masks, read without the count and then cut to the bounds, are those of a whole walk."""

import random

import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.guide import split_guide
from guidedviz.tokens.verdicts import read_repeat
from guidedviz.tokens.walk import MoveTable
from tests.common import assert_alike, choose_tokens

QUOTED = '[a-z] | "é" | "\\"" [0-9] "\\""'
PARTS = ("[a-z]", '"ab" [a-z]?', QUOTED, '[a-c] "," | "日"', '"," [0-9]+', '("x" | "xy") "z"?', '("a" [b-z])* ","')


@pytest.fixture(scope="module")
def vocabulary():
    return gv.load_model("clerk").vocabulary


@pytest.fixture(autouse=True)
def no_small_walks(monkeypatch):
    monkeypatch.setattr("guidedviz.tokens.split.FEW", 0)


def random_repeat(draw):
    low = draw.choice([0, 0, 1, 2, 5, 40])
    high = draw.choice(["", low + 3, low + 60, low + 500])
    part = draw.choice(PARTS)
    return f"({part}){{{low},{high}}}"


def random_grammar(draw):
    def part():
        return draw.choice([random_repeat(draw), '"\\""', '">"', "r", '("a" | "b")', "[a-z]*"])

    def sequence():
        return " ".join(part() for _ in range(3))

    first = sequence()
    second = sequence()
    return f'root ::= {first} | "<" {second}\nr ::= {random_repeat(draw)} "\\"" | "q"'


def test_of_a_repeat_at_one_place_no_token_depends_on_the_stack():
    once = 'root ::= "<" [a-z]{0,5000} ">"'
    for text, depends in ((once, False), (once + ' | "[" [a-z]{0,5000} "]"', True)):
        machine = gv.grammar(text)
        split = gv.build_split(machine, gv.Vocabulary([b"a", b"a>", b"a]", b"<"]), inline=False)
        assert any(len(part.dependent) for part in split.build()) == depends


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.quick(every=3)
def test_masks_of_random_repeats_are_those_of_the_whole_walk(seed, vocabulary):
    draw = random.Random(seed)
    machine = gv.grammar(random_grammar(draw))
    walked = gv.guide(machine, vocabulary, engine="trie")
    split = split_guide(gv.build_split(machine, vocabulary, inline=False))
    assert_alike(split, walked, choose_tokens(walked, draw, 12, drawn=9))


@pytest.mark.parametrize("count", [2998, 2999, 3000])
def test_a_repeat_in_the_last_part_of_a_repeat_is_not_followed_by_another(count):
    vocabulary = gv.Vocabulary([b"a", b";", b"a;", b";;", b";>", b"a;a", b"a;>", b">"])
    machine = gv.grammar('root ::= ([a-h]{0,5000} ";"){0,3000} ">"')
    split = gv.build_split(machine, vocabulary, inline=False)
    legal = [machine.accepts_prefix(b";" * count + piece) for piece in vocabulary.pieces]
    assert split.mask(read(machine, b";" * count)).tolist() == legal


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"<" [a-z]{0,900} ">"', True),
        ('"<" [a-z]{0,900} [a-b] ">"', False),  # a letter may be a part or come after them
        ('"<" ("a" | "ab"){0,900} ">"', False),  # a b may be within a part or not
        ('"<" ("a"* "b"){0,900} ">"', True),  # an a leads back to where the part begins, but not between two parts
    ],
)
def test_a_repeat_is_read_without_its_count_only_if_a_text_tells_where_its_parts_begin(text, found):
    unknown = UnknownBottom(gv.grammar(f"root ::= {text}"))
    vocabulary = gv.Vocabulary([b"a", b"ab", b"aab", b"b", b"a>"])
    node = [bool(calls) for calls in unknown.nodes.calls].index(True)
    table = MoveTable(unknown.step, unknown.kinds)
    assert (read_repeat(unknown, table, vocabulary, node, None) is not None) == found
