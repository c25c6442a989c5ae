"""The true answers of the predictions of lab 01 are what the revealed runs show."""

import math
import re

import numpy as np
import pytest

from tests.labs.solved import read_solved

LAB = read_solved("01_logit_bias")


@pytest.mark.parametrize(
    ("question", "answer", "shown"),
    [
        ("Add 5 to all three", "none of them grows", "[0.665 0.245 0.09 ]\n[0.665 0.245 0.09 ]"),
        ("You add 1 to", "2.718", "bias 0: positive / negative = 0.132\nbias 1: positive / negative = 0.36"),
        ("Which city will the model write", "Prague", '"city": "Prague"}'),
        ("We add 10, 12 and 18", "only 10", '12  {"name": "Maria Cohen"}\n'),
        ("let it go on for twelve", "twelve times", "yesnoyesno"),
    ],
)
def test_the_answer_is_what_the_run_shows(question, answer, shown):
    told = LAB.output_of(question)
    assert answer in told.splitlines()[0]
    assert shown in told


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("0.665 is 2.72 times 0.245", "Add 5 to all three", "[0.665 0.245 0.09 ]"),
        ("by 20 for b = 3", "You add 1 to", "bias 3: positive / negative = 2.66"),
        ("the probability is exactly 0", "apply_mask([0.0, 200.0]", "[1. 0.]"),
        ("Here is the word in four spellings", "Which city will the model write", "'Prague' [2610]"),
        ("The bans close one of these ways", 'ways("Prague")', "12 ways, among them"),
        ("the model writes **another city**", "found = spellings(", '"city": "Auckland"'),
        ("A bias of 6 helps a little: one more text parses", "share of 30 texts", "bias 0 parses 0.97"),
        ("at 10 nine texts in ten parse", "share of 30 texts", "bias 10 parses 0.90 all keys 0.70"),
        ("near 1 at the only right place", "p of", '"} p of "} 0.99'),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in " ".join(LAB.output_of(words).split())


def test_no_bias_gives_all_keys_in_all_texts():
    shares = re.findall(r"all keys (\S+?)(?:,|$)", LAB.output_of("share of 30 texts"))
    assert len(shares) == 7
    assert max(map(float, shares)) < 1


def test_the_puzzle_has_a_bias_of_about_eight():
    bias = math.log(99 * 0.97 / 0.03)
    assert 0.03 * math.exp(bias) / (0.03 * math.exp(bias) + 0.97) == pytest.approx(0.99)
    assert bias == pytest.approx(8.07, abs=0.005)


def test_the_logits_of_clerk_differ_by_much_less_than_a_hundred(clerk):
    assert "differ by much less than 100" in " ".join(LAB.prose.split())
    texts = ("Hi! ", "The staff was rude and charming.\nLabel:\n", '{"name": "Maria Cohen"')
    assert max(float(np.ptp(clerk.logits(clerk.encode(text)))) for text in texts) < 50
