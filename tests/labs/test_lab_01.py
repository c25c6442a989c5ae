"""The true answers of the predictions of lab 01 are what the revealed runs show."""

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
