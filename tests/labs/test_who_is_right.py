"""What the page on the engines says is what its outputs show."""

import re

import pytest

from guidedviz.views.engines.museum import WIDTH, known_differences, read_record
from tests.labs.solved import read_solved

PAGE = read_solved("deeper/who_is_right")
NESTED, DECIMAL, MUSEUM = "Brackets around an", "After `3` the number", "Fourteen kinds"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("they agree at every place but one", NESTED, "xgrammar: differs in 1 of 4"),
        ("though its own `accept_token` takes it", NESTED, "its mask omits what its accept takes: in 1, first before ))"),
        ("With forcing, llguidance omits `)`", NESTED, "forced only, the canonical token of a forced run: in 1"),
        ("the point alone", DECIMAL, "drops a token that leaves an end with its last byte: in 1, first before ."),
        ("asks every installed engine", MUSEUM, "RECORDED 20"),
    ],
)  # fmt: skip
def test_what_the_page_says_stands_in_an_output(said, words, shown):
    assert said in PAGE.prose + PAGE.output_of(words)
    assert shown in PAGE.output_of(words)


def test_the_museum_has_fourteen_kinds_and_nine_faults_and_none_of_ours():
    kinds = [one.kind for one in known_differences(read_record())]
    assert (len(kinds), kinds.count("known fault"), kinds.count("lawful choice")) == (14, 9, 4)
    assert not {"ours", "not known"} & set(kinds)
    for engine in ("xgrammar", "llguidance", "outlines-core"):
        assert re.search(rf"{engine} \d+\.\d+", PAGE.output_of(MUSEUM))
    assert "two vocabularies and twenty constraints" in PAGE.prose


def test_the_museum_is_as_wide_as_a_page():
    assert WIDTH <= 920
