"""Records in words."""

from dataclasses import replace

import pytest

from guidedviz.decoding.trace import END_IN_WORDS, Candidate, Step
from guidedviz.views.step_words import pack_step, say_step, shown_candidates

CANDIDATES = tuple(Candidate(i, b"t%d" % i, 0.5 / 2**i, 0.0, False, 0.0) for i in range(12))
LEGAL = (Candidate(90, b" yes", 0.001, 0.9, True, 0.9), Candidate(91, b"\n", 0.0001, 0.1, True, 0.1))
STEP = Step(6, 91, b"\n", "sampled", 0.0001, 0.1, 0.1, CANDIDATES + LEGAL, 2, 0.0011, "q1", ("a", "b"), 2.0, 0.003, 0.2)


def test_a_step_says_what_came_how_and_how_likely():
    assert say_step(STEP) == "“↵” sampled, p 0.10 of the legal, 1 in 10,000 of all"
    assert "put in by you" in say_step(replace(STEP, how="inserted"))
    assert "the text was fixed" in say_step(replace(STEP, how="forced"))


@pytest.mark.parametrize("end", [end for end in END_IN_WORDS])
def test_every_end_is_said(end):
    assert END_IN_WORDS[end] in say_step(replace(STEP, end=end))
    assert say_step(replace(STEP, how="none", token=-1, piece=b"", end=end)) == END_IN_WORDS[end]


def test_the_rows_have_the_chosen_the_likely_and_the_legal():
    rows = shown_candidates(STEP)
    assert len(rows) == 9
    assert {90, 91} <= {c.token for c in rows}
    assert [c.raw for c in rows] == sorted((c.raw for c in rows), reverse=True)


def test_a_temperature_is_said_and_gives_a_second_bar_even_where_all_is_legal():
    cold = tuple(replace(c, drawn=float(c.token == 90)) for c in CANDIDATES + LEGAL)
    step = replace(STEP, candidates=cold, drawn=0.0, mass=1.0)
    assert say_step(step) == "“↵” sampled, p 1 in 10,000, drawn with 0"
    frozen = replace(step, changes="bias · T 0.00")
    assert say_step(frozen) == "“↵” taken as the likeliest, p 1 in 10,000", "nothing is drawn"
    packed = pack_step(step)
    assert (packed["free"], packed["after"]) == (False, "as drawn")
    assert pack_step(STEP)["after"] == "after the mask"


def test_one_bar_is_enough_only_where_no_token_shown_is_forbidden():
    """The mass of one legal token may round to 1: the others are forbidden all the same."""
    assert not pack_step(replace(STEP, mass=1.0, legal=1))["free"]
    allowed = tuple(replace(candidate, legal=True) for candidate in STEP.candidates)
    assert pack_step(replace(STEP, mass=1.0, candidates=allowed))["free"]
    assert not pack_step(replace(STEP, mass=0.9, candidates=allowed))["free"]


def test_all_others_have_what_is_left():
    rest = pack_step(STEP)["rest"]
    assert 0 < rest.raw < 0.1
    assert rest.drawn == 0
