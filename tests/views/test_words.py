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
    stopped = replace(STEP, how="none", token=-1, piece=b"", end=end)
    assert say_step(stopped) == END_IN_WORDS[end]


def test_the_rows_have_the_chosen_the_likely_and_the_legal():
    rows = shown_candidates(STEP)
    assert len(rows) == 8
    assert {90, 91} <= {c.token for c in rows}
    shares = [c.raw for c in rows]
    assert shares == sorted(shares, reverse=True)


def test_a_temperature_is_said_even_where_all_is_legal():
    cold = tuple(replace(c, drawn=float(c.token == 90)) for c in CANDIDATES + LEGAL)
    step = replace(STEP, candidates=cold, drawn=0.0, mass=1.0)
    assert say_step(step) == "“↵” sampled, p 1 in 10,000, drawn with 0"
    assert pack_step(step)["after"] == "as drawn"
    frozen = replace(step, changes="bias · T 0.00")
    assert say_step(frozen) == "“↵” taken as the likeliest, p 1 in 10,000", "nothing is drawn"
    assert pack_step(STEP)["after"] == "after the mask"


def test_all_others_are_the_legal_and_the_forbidden():
    (forbidden,) = pack_step(STEP)["others"]
    assert (forbidden.label, forbidden.legal, forbidden.drawn) == ("others forbidden", False, 0)
    rows = pack_step(STEP)["rows"]
    raw = sum(row.raw for row in rows) + forbidden.raw
    assert raw == pytest.approx(1, abs=1e-3)
    few = replace(STEP, candidates=CANDIDATES + LEGAL[1:])
    legal, _ = pack_step(few)["others"]
    assert (legal.label, legal.legal) == ("others legal", True)
    assert (legal.raw, legal.drawn) == pytest.approx((0.001, 0.9))


def test_a_forced_token_has_no_rows_since_the_model_was_not_asked():
    forced_step = replace(STEP, how="forced", candidates=(), mass=0.0, legal=0)
    forced = pack_step(forced_step)
    assert (forced["rows"], forced["others"]) == ((), ())


def test_a_drawn_token_says_where_the_number_fell_and_one_that_a_person_chose_does_not():
    assert pack_step(replace(STEP, inside=0.25))["inside"] == 0.25
    assert pack_step(replace(STEP, inside=None))["inside"] is None
