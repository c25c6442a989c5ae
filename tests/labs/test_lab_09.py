"""What lab 09 says in prose is what its outputs show; what none of them shows is measured here."""

import re
from collections import namedtuple

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from tests.labs.solved import read_solved

LAB = read_solved("09_walk_the_trie")
output_of = LAB.output_of
LARGE, INSIDE, REST, SQL = (
    "how often does the jump ask",
    "inside = read",
    "How many questions remain",
    "Our split fills a table",
)
STACKS, LEXER = "after ten it has 1,024 stacks", "asks the lexer 819,860"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Its size is 2, so the loop continues at place 2", "tree = flatten", "0 . size 2 refused, jump to 2 · 1 .5 size 1 left out"),
        ("1,356 of 274,520, half a percent", LARGE, "jump          1,110 legal, asked   1,356 times"),
        ("The loop visits one node per question", LARGE, "1,356 of 274,520 nodes asked about (0.49%)"),
        ("there is little to jump over", INSIDE, "jump        123,259 legal, asked 267,888 times"),
        ("A small regex reads just that", INSIDE, "122,892 tokens in the slice"),
        ("4,221 instead of 267,888, for the same mask", REST, "jump            367 legal, asked   4,221 times"),
        ("Here are its walks along a record", REST, 'before ␣": 3,629 asked'),
        ("A token of 21 letters would break", "three slices", "True False False"),
        ("1,024 stacks in a list", STACKS, "512, 1024]"),
        ("Seven at every depth", STACKS, str([6] + [7] * 10 + [3] + [4] * 9 + [3])),
        ("All other questions are one look-up each", LEXER, "asked 819,860 times; entries so far: 579"),
        ("a mask inside an escape", LEXER, "legal, asked 148,891 times; entries so far: "),
        ("a dot is a break-even", SQL, "split is cheaper than trie after"),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in output_of(words)


def defined(*names):
    """What cells of the lab define."""
    found = {"gv": gv, "namedtuple": namedtuple, "read": read}
    for cell in LAB.cells:
        if cell.cell_type == "code" and any(
            re.search(rf"^(def )?{name}\b", cell.source, re.MULTILINE) for name in names
        ):
            exec("\n".join(line for line in cell.source.splitlines() if not line.startswith(("gv.", "print"))), found)
    return found


@pytest.mark.parametrize(("machine", "text"), [(gv.regex(r"\d+(\.\d+)?"), b"3."), (gv.json(), b'{"a')])
def test_the_jump_and_the_slice_find_the_mask_of_brute_force(machine, text):
    lab = defined("flatten", "jump", "whole")
    pieces = [piece for piece in gv.Vocabulary.llama3().pieces[:128_000:40] if piece]
    state = read(machine, text)
    legal = {token for token, piece in enumerate(pieces) if machine.accepts_prefix(text + piece)}
    assert legal
    assert lab["jump"](machine, state, lab["flatten"](pieces)) == legal
    part = gv.regex(r'[^"\\\x00-\x1f\x7f]*')
    taken = {token for token, piece in enumerate(pieces) if part.accepts_prefix(piece)}
    assert lab["whole"](machine, state, part) == (taken <= legal)
    if taken <= legal:
        rest = [token for token in range(len(pieces)) if token not in taken]
        others = lab["jump"](machine, state, lab["flatten"]([pieces[token] for token in rest]))
        assert taken | {rest[token] for token in others} == legal


def test_the_same_texts_are_a_grammar_and_a_regex():
    sql = defined("same = ")
    assert gv.machines.compare_machines(sql["sql"], sql["same"], 3000).whole


def test_no_slice_helps_in_a_word_of_letters():
    llama = gv.Vocabulary.llama3()
    words = gv.tokens.lazy_walk(defined("same = ")["sql"], llama, "SELECT ti").asked
    assert (words, gv.tokens.lazy_walk(gv.json(), llama, '{"a').asked) == (31_526, 330)
    assert "our walk asks 31,526 nodes there, and 330 in a JSON string" in LAB.prose


def test_only_pairs_that_can_be_compared_are_marked():
    crossed = re.findall(r"(\w+) is cheaper than (\w+)", output_of(SQL))
    assert set(crossed) <= {("split", "trie"), ("xgrammar", "llguidance")}


def test_the_lexer_answers_alone_at_nearly_all_nodes():
    """A machine for the rest of a string, walked over the trie: it ends at 189 nodes, and the parser is asked there."""
    rest, trie = gv.regex(r'([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"'), gv.Vocabulary.llama3().trie
    live = {0: rest.initial} | dict(gv.tokens.walk_steps(trie, rest, rest.initial))
    inside = [node for node, state in live.items() if not rest.is_accepting(state)]
    assert len(live) - len(inside) == 189
    asked = gv.tokens.lazy_walk(gv.json(), gv.Vocabulary.llama3(), '{"a', slices=False).asked
    assert asked - len(trie.children(np.array(inside))) == 438
    assert "Earley's parser is asked only where a lexeme ends" in LAB.prose
