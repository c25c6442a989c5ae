"""A table of texts agrees with the machine, and marks the first character that cannot come."""

import re

import pytest

import guidedviz as gv
from guidedviz.views.machine.verdicts import judge_text

TIME = r"([01]\d|2[0-3]):[0-5]\d"


@pytest.mark.parametrize("text", ["", "2", "23:59", "24:00", "23:5", "23:599", "7:00", "né"])
def test_a_verdict_is_that_of_re_and_its_place_is_the_longest_possible_beginning(text):
    machine = gv.regex(TIME)
    data = text.encode()
    found = judge_text(machine, data)
    assert (found.verdict == "complete") == bool(re.fullmatch(TIME, text))
    assert (found.verdict == "illegal") == (not machine.accepts_prefix(data))
    assert found.read + found.wrong + found.rest == data
    assert machine.accepts_prefix(found.read)
    if found.wrong:
        refused = found.read + found.wrong[:1]
        assert not machine.accepts_prefix(refused)


def test_the_wrong_character_is_shown_whole_and_in_a_box():
    texts = ["ab", "né", "x" * 100 + "!"]
    figure = gv.views.draw_verdicts(gv.regex("[a-z]+"), texts)
    assert "✗ né" in figure.text
    assert "é cannot come here, only a-z or the end" in figure.text
    assert "! cannot come here" in figure.text
    assert figure.svg.count('fill="none"') == 2


def test_a_machine_by_hand_and_a_grammar_are_judged_as_well():
    fsm = gv.GuidedFSM(gv.Vocabulary([b"a", b"b"]), accepting=1)
    fsm.add_transition(0, {0}, 1)
    assert gv.views.draw_verdicts(fsm, ["a", "b"]).text.startswith("1 of 2 texts is complete")
    assert "… [1,  a prefix" in gv.views.draw_verdicts(gv.json(), ["[1,"]).text
