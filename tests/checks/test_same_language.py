"""A machine is right if it accepts the same texts; else the shortest text that it gets wrong walks through it."""

import re

import pytest
from hypothesis import given, settings

import guidedviz as gv
from guidedviz.checks.same_language import check_machine, follow
from guidedviz.checks.verdict import SIGNS
from guidedviz.views.layout.sketch import sketch_dfa
from tests.strategies import regexes

NUMBER = gv.regex("[0-9]+")


def test_however_it_is_written_the_same_texts_are_right():
    verdict = check_machine("[0-9][0-9]*", NUMBER)
    assert verdict.result == "right"
    assert verdict.figure is None


@pytest.mark.parametrize(
    ("answer", "text", "yours", "path"),
    [
        ("[0-9]*", "the empty text", "accepts it", "q0"),
        ("[0-9]", "00", "refuses it", "q0 → q1 ✕ 0"),
        ("[0-9a]+", "a", "accepts it", "q0 → q1"),
        ("[0-9][0-9]", "0", "refuses it", "q0 → q1"),
        ("é+|[0-9]+", "é", "accepts it", "q0 → q2 → q3"),
    ],
)
def test_the_shortest_wrong_text_is_shown_with_its_path(answer, text, yours, path):
    verdict = check_machine(answer, NUMBER)
    facts = dict(verdict.facts)
    assert verdict.result == "wrong"
    assert (facts["text"], facts["yours"], facts["its path"]) == (text, yours, path)
    assert facts["expected"] != yours


def test_the_machine_of_the_student_is_drawn_with_the_place_where_it_died():
    verdict = check_machine("[0-9]", NUMBER)
    assert "2 states, now in q1" in verdict.figure.text
    assert "where 0 cannot come" in verdict.figure.text
    assert "<svg" in verdict._repr_html_() or "<img" in verdict._repr_html_()


def test_a_machine_wired_by_hand_is_drawn_under_its_own_names():
    fsm = gv.GuidedFSM(gv.Vocabulary([b"1", b"x"]), start="none yet", accepting="some")
    fsm.add_transition("none yet", {0}, "some")
    verdict = check_machine(fsm, gv.regex("1+"))
    assert dict(verdict.facts)["its path"] == "none yet → some ✕ 1"
    assert "none yet" in verdict.figure.text


@pytest.mark.parametrize("answer", [None, ..., "", gv.GuidedFSM(gv.Vocabulary([b"1"]), accepting=6)])
def test_what_accepts_nothing_yet_is_not_done_yet(answer):
    assert check_machine(answer, NUMBER).result == "open"


@pytest.mark.parametrize("answer", ["[0-9", "(?>a)a", "[ab]*a[ab]{24}", 7, NUMBER.accepts, {"type": 3}])
def test_what_is_no_machine_is_wrong_and_says_why(answer):
    verdict = check_machine(answer, NUMBER)
    assert verdict.result == "wrong"
    assert dict(verdict.facts)["because"]
    assert SIGNS["wrong"][1] in repr(verdict)


@settings(max_examples=30)
@given(regexes, regexes)
def test_the_shown_text_is_judged_as_python_judges_it(one, other):
    verdict = check_machine(one or "a", gv.regex(other))
    if verdict.result == "right":
        assert gv.regex(one or "a") == gv.regex(other)
    elif verdict.facts:
        text = gv.machines.shortest_difference(gv.regex(one or "a"), gv.regex(other))
        accepted = bool(re.fullmatch(one or "a", text.decode(), re.ASCII))
        assert dict(verdict.facts)["yours"] == ("accepts it" if accepted else "refuses it")


def test_a_path_ends_at_the_first_byte_without_an_arrow():
    assert follow(sketch_dfa(gv.regex("abc")), b"abx") == [0, 1, 2]


def test_of_a_long_path_the_two_ends_are_named():
    verdict = check_machine("a{40}", gv.regex("a{41}"))
    assert dict(verdict.facts)["its path"] == "q0 → q1 → q2 → … → q37 → q38 → q39 → q40"
